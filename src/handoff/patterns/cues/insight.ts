/** How people say that they understood something: a cause, a correction, a rule they did not know. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

export const INSIGHT_CUES: readonly Cue[] = [
  cue(
    "insight",
    "realised",
    2.6,
    pattern`
      \b(?:i|we|just|have|now) (?:just |now |finally |also |have )*(?:learn(?:ed|t)|reali[sz]ed?|
      discovered|figured out|found out|worked out|understood|noticed that|see (?:now )?why|get (?:it|why|how|what)|
      understand(?: now)?|see now|know why|spotted)\b|^(?:learned|learnt|realised|realized|discovered|
      figured out|found out|noticed)\b|\b(?:as i now see|i see, |i see now|had(?: not|n't) (?:understood|known|
      reali[sz]ed)|had no idea that|never knew|did not know that|what i missed|(?:that|which|this) tells (?:me|us))
    `,
    { despite: ["past", "negated"] },
  ),
  cue(
    "insight",
    "turns-out",
    2.6,
    pattern`
      \b(?:turns out|turned out|it appears that|as it happens|lessons? (?:learn(?:ed|t)|for|here|from|:)|key (?:finding|
      takeaway|insight)|takeaway|aha|eureka|found it|so that was it|that was it|interesting(?:ly)?[,:]|
      the (?:trick|key|culprit|catch|secret) (?:is|was)|mystery solved|surprisingly|who knew)\b
    `,
  ),
  cue(
    "insight",
    "apparently",
    1.3,
    String.raw`^(?:so |and |ok )*(?:apparently|interesting(?:ly)?|funny|oh+|huh|ah+)\b[,:]? (?!because of that|ok\b|thanks)`,
  ),
  cue(
    "insight",
    "cause",
    2.2,
    pattern`
      \b(?:root cause|the (?:real |actual |only )?(?:reason|cause|culprit|explanation)\b.{0,60}\b(?:is|was)\b|
      (?:that|which|this) (?:explains|is why|was why|is where)|explains (?:why|the)|comes? (?:down to|from)|came from|
      traced? (?:it |this |that )?(?:back )?to|narrowed it down to|boils down to|due to the fact|is caused by|was caused by|
      what is happening is|what happens is|dominates? the|died because|failed because|pinned it (?:down )?(?:on|to))\b
    `,
  ),
  cue("insight", "because", 0.9, String.raw`\bbecause (?!of (?:that|you|this))\w+`),
  cue(
    "insight",
    "is-so-because",
    1.5,
    String.raw`^(?:so |and |ok )*(?:it|that|this|they|the [\w-]+(?: [\w-]+)?|\w+s) (?:only |just |always )?(?:is|are|was|were|[a-z]+s|did|does) .{0,40}\b(?:because|since) (?!of (?:that|you|this))\w+`,
    { despite: ["past", "negated"] },
  ),
  cue(
    "insight",
    "all-along",
    2.6,
    String.raw`\b(?:all along|(?:the whole|all this|the entire) time|after all[.!]*$|in the end it was|was to blame)\b|^(?:so )?it (?:was|is) (?:just |only |simply )?(?:the|a|an|my|our) (?:\w+ ){0,3}\w+[.!]*$`,
    { despite: ["past"] },
  ),
  cue(
    "insight",
    "only-when",
    1.8,
    pattern`
      \bonly (?:\w+ )?(?:shows? up|happens?|occurs?|fails?|get|gets|breaks?|crash(?:es)?|appears?|works?|\w+s) (?:\w+ )?(?:when|with|if|
      on|in|under|after|while)\b|\b(?:fails?|breaks?|happens?|crash(?:es)?|occurs?) only (?:when|with|if|on|in|under|after|
      while|for)\b
    `,
  ),
  cue(
    "insight",
    "not-the-suspect",
    1.6,
    pattern`
      \bnothing to do with\b|\b(?:is|was|were|are) not (?:\w+ ){1,6}(?:at all|after all)\b|\b(?:is|are|was|were) not (?:\w+ )?(?:because|due to|
      about)\b|\bit is \w+ and not \w+|\bnot the \w+, (?:but )?(?:the|it|a)\b
    `,
    { despite: ["negated", "past"] },
  ),
  cue(
    "insight",
    "share",
    1.6,
    pattern`
      \b(?:\d+ ?%|most|half|nearly all|all|the (?:time|bulk|rest|majority)) (?:of (?:it|the|this|that|our|them)(?: \w+)? )?(?:is|are|
      comes?|goes|go|went|was|were) (?:from|into|retained|spent|caused|due|held|used|lost)\b|\b(?:drives?|accounts? for|explains?|
      dominates?) (?:the|most|all|half|\d)
    `,
  ),
  cue(
    "insight",
    "looked-into",
    1.4,
    pattern`
      ^(?:after .{3,40} (?:of )?(?:digging|debugging|profiling|bisecting|searching|staring|looking).*[,:]|(?:looking|looked|watching|watched|digging|
      dug|comparing|compared|reading|profiling|profiled|going|went|checked|bisected|plotting|plotted) (?:\w+ )?(?:at|into|through|over|again|
      the|them|it)\b.{3,60}[,:] ?(?!i |we |please))
    `,
  ),
  cue(
    "insight",
    "fix-explained",
    1.7,
    pattern`
      \b(?:fixed|solved|found|cracked|nailed)(?: (?:it|that|this|the \w+(?: \w+)?))?[:,] (?:the|it|two|three|a|an|there|\w+ (?:was|were|is|
      had|never))\b.{0,60}\b(?:was|were|is|had|never|did|ran|got|for the same|because|instead)\b
    `,
  ),
  cue(
    "insight",
    "not-but",
    1.2,
    pattern`
      \bnot (?:from|on|the|in|by|per|because of) (?:\w+ ?){1,4}$|\b(?:is|are|per) [\w' -]{1,40} (?:and )?not (?:per|
      on|the|from)\b|\b(?:depends? on|disappears? once|is just|are just|in fact|actually (?:is|
      means|the))\b|\bnever (?:read|run|resets?|drained|\w+ed\b|gave|got|becomes?)
    `,
    { despite: ["negated"] },
  ),
];

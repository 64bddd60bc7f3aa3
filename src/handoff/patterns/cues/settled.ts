/** How people settle something in few words, or by telling what others settled. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

/** Words that answer a proposal before the choice itself is named. */
const ANSWER = pattern`
      (?:(?:ok|okay|k|fine|yes|yep|yeah|yup|sure|nah|nope|no|right|all right|agreed|deal|convinced|sold|then|well|so|cool|great|
      good|good point|fair|fair enough|makes sense|not worth it|sounds (?:good|great|right|fine)|perfect|works for me|you win|you are right|point taken|on reflection|actually|hm+|
      understood|settled|final|done deal|please)[,.:!;]*\s)
    `;
const CHOOSE = pattern`
      keep|drop|take|use|leave|go (?:with|for|ahead)|do (?:it|the|that|both|without)|make it|cut|remove|close|skip|stick|switch|stay|scrap|ship|pick|
      put|kill|merge|order|book|buy|forget|ditch|park|postpone|cancel|hold|roll|revert|squash|delete|rename|split|call it|
      wait|stop|start|move|give|let|refund|decline|accept|reject|approve|only|just|never mind|send|publish|release|limit
    `;
/** Who settles things for others. */
const BODY = pattern`
      (?:(?:the|our|my|your) )?(?:\w+ )?(?:committee|jury|board|council|group|team|client|customer|boss|manager|management|editor|editors|dean|landlord|
      legal|marketing|sales|design|finance|architect|lead|cto|ceo|pm|po|owner|owners|judge|majority|everyone|everybody|both|all|
      family|wife|husband|parents|publisher|director|professor|supervisor|department|school|steering|vote|[a-z]+)
    `;

export const SETTLED_CUES: readonly Cue[] = [
  cue(
    "decision",
    "answered-choice",
    2.2,
    pattern`^${ANSWER}+(?:${CHOOSE})\b(?! (?:problem|worries|a look|me know|your time|in mind|care|it up|it easy))`,
    { despite: ["request", "negated"] },
  ),
  cue(
    "decision",
    "answered-name",
    1.5,
    pattern`
      ^(?:(?:ok|okay|fine|right|nope|nah|yes|so|well|all right|you win|convinced|sold)[,.:;]*\s)+(?!(?:i|we|it|he|she|they|you|that|this|there|what|how|why|problem|thanks|then|and|but|
      please|can|could|is|are|do|does|good|great|cool|nice|bye|see|not|no|yes|the|sure|sorry|well|here|now|so|got|makes|sounds|let|if|my|in)\b)[\w.+#'-]+(?: [\w.+#'-]+){0,3}(?:[.!]*$|[.!,;])|
      ^yes to \w+|^your (?:first|second|third|last|other) (?:suggestion|option|idea|proposal)|^(?:the )?(?:first|second|third|last|former|latter|cheaper|smaller|bigger|blue|other) (?:one|option|variant|version|suggestion)(?: please)?[,.!]*|
      \b(?:one|option) it is\b
    `,
    { despite: ["negated", "request"] },
  ),
  cue(
    "decision",
    "no-thing",
    1.4,
    String.raw`^(?:(?:ok|okay|so|and|nah|nope|right)[,.:]? )*no (?!(?:problem|worries|idea|clue|thanks|luck|one|way|rush|need|news|response|reply|answer|access|objections?|matter|issues?|errors?|more|changes?|comment|preference|pressure|hurry|doubt|kidding|hard feelings|failures?|red)\b)[\w.+#'/-]+(?: [\w.+#'/-]+){0,2}(?:[.!]*$| (?:for|in) (?:v\d|now|the mvp|this)|,)`,
    {
      despite: ["negated"],
    },
  ),
  cue(
    "decision",
    "no-rule",
    1.6,
    String.raw`(?:^|[,:;–-] )(?:so |and |ok |from \w+ on )*no (?:more )?(?!(?:answer|reply|response|news|word|luck|one|way|idea|sign|problems?|issues?|errors?|access|progress|change)\b)(?:[\w-]+ ){1,3}(?:after|before|until|without|unless|during|outside|past|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?|on weekends?) `,
    { despite: ["negated", "request", "possible", "planned", "condition"] },
  ),
  cue(
    "decision",
    "body-settled",
    2.2,
    pattern`
      \b(?<!\b(?:what|why|who|how|if|whether|he|she|did|has|have|when|once|until|anyone|you|not|to|was|were|is|are|be|been|being|got) )(?!(?:he|she|they|who|what|you|not|to|has|have|had|once|if|customer said)\b)${BODY} (?:has |have |just |finally |unanimously |already )*(?:settled (?:on|for)|opted (?:for|to|against)|
      voted (?:for|to|against|down)|okayed|ok'd|vetoed|ruled (?:that|out|for|against)|signed (?:it|that|this|them) off|picked|chose|went (?:with|for)|prefers? .{1,40} and that|agreed (?:to|on|that)|decided (?:to|on|against|that|for)|turned (?:it|that|them) down)\b
    `,
  ),
  cue(
    "decision",
    "assent",
    2,
    pattern`
      (?:,|;|\.|:|\)|-) ?(?:and )?(?:(?!never|not|was|were)\w+ ){0,3}(?:approved|okayed|agreed|confirmed|signed off|signed it off|(?:is|are) (?:ok|okay|fine|happy|on board)(?: with (?:it|this|that))?|said (?:ok|yes|fine)|gave (?:the|his|her|their) (?:ok|okay|blessing))[.!]*$|
      \b(?:unanimous(?:ly)?|by majority|was (?:very )?clear (?:about|on) (?:that|this)|\d+ (?:to|for|:|-) \d+ (?:vote|against)|vote[:(] ?\d)\b|\bvote: |\(\d+ (?:to|:) \d+\)
    `,
  ),
  cue(
    "decision",
    "after-talk",
    1.6,
    pattern`
      ^(?:after|following|per|as per|in) (?:the |our |a |my |yesterday's |today's |last week's |\w+'s )*(?:\w+ )?(?:call|talk|meeting|discussion|chat|vote|review|standup|sync|session|workshop|sleeping on it|long (?:talk|night))\b.{0,50}[:,]|
      ^(?:talked|spoke|discussed|went over|checked|cleared) (?:it |this |that )?(?:over |through )?(?:with|to) \w+[^.]{0,30}:|\b(?:agreed|decided|settled|cleared) (?:it |this )?with \w+|^per (?:the|our|yesterday)\b
    `,
  ),
  cue(
    "decision",
    "becomes",
    1.4,
    pattern`
      \b(?:becomes?|stays? \S+ (?:until|till|for|through)|(?:gets?|is being|are being) (?:dropped|removed|cut|postponed|renamed|replaced|retired|deprecated|sunset|scrapped|shelved|delayed|moved)|stays? (?:at|in|on|as|out|the|with|where)|remains? (?:at|in|as|the)|unchanged|goes? (?:to|on|in|into|with|under) (?:the|a|our|my|\w+)|gets? (?:its|their|his|her) own|comes? (?:next|first|last|later)|
      runs? (?:in|on) \w+ only|extended (?:to|until|by)|capped at|limited to|fixed at|moved to (?:q\d|next|monday|tuesday|wednesday|thursday|friday|january|february|march|april|may|june|july|august|september|october|november|december))\b|\bfrom (?:v\d|version)\S* on\b|^(?:postponed|rescheduled|scrapped|shelved|vetoed|deferred)\b|\b(?:whole team|everyone|everybody|all of us) agrees?\b|\b(?:discussion|debate|topic|matter) is (?:closed|over|settled)\b
    `,
    { despite: ["past"] },
  ),
  cue(
    "decision",
    "that-is-how",
    2.2,
    pattern`
      \bthat is (?:how|what|where|the way) (?:we|i) (?:will|are|am|do|go)\b|\bthat is the (?:split|setup|rule|deal|arrangement|order|format|name|budget)\b|\b(?:do|make|build|keep|leave|have) it like that\b|\bit (?:will|shall) be[.!]*$|\bit will be \w+[.!]*$|
      \bit is a (?:no|yes|go|no-go) (?:from|for|on)\b|\bnot worth (?:it|the)\b|\b(?:left|leave|leaves) (?:the|that|this) (?:choice|decision|call) to me\b|\bas wontfix\b|\boff the table(?! today| until)\b|\bcan live with (?:it|that)\b|
      ^so [\w-]+(?: [\w-]+)?[.!]+$|\bhereby\b|\b(?:is|are) plenty (?:for)?\b|\bwe accept\b|\bi take the (?:job|offer|deal|first|second|cheaper|other)\b
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "settled-talk",
    1.5,
    pattern`
      \b(?:(?:talked|spoke|spoken) (?:to|with) \w+:|after (?:some|much|a lot of|long|lengthy) (?:back and forth|
      discussion|thought|debate)|slept on it:|screw it|on second thought|everyone (?:is on board|
      agrees|agreed)|on board with|abandon\w* (?:the|that|this)|declin\w+ the|ruled out|no matter what[.!]*$|
      across the board|for the mvp|for v\d|i would rather not|since you (?:prefer|asked|want|ruled)|
      you are right, \w+)\b|^you are right, |\b\w+ everywhere[.!]*$|\bstays?[.!]*$|^no more \w+ (?:in|
      on|after|before|for|until)\b|\bdo the \w+ (?:version|one|thing)\b
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "will-be",
    1.1,
    pattern`
      \b(?:will be|is to be|are to be) \w+(?:ed|en)\b(?! (?:soon|tonight|tomorrow|later|by (?:friday|
      monday))).*(?:, not |\bby\b|\bin\b|\bas\b|\bwith\b|instead)|\bplan is (?:fixed|set|clear|
      to|now|:)|\b(?:lock|locking|locked) (?:it|that|this) in\b|\bi accept\b|\bdeliberately\b|\bon purpose\b|
      \bi say we\b|\bas is[.!]*$|\bas they are[.!]*$|\bowns the\b|\bfirst[.!]*$
    `,
    { despite: ["planned", "reported"] },
  ),
  cue(
    "decision",
    "then",
    1.5,
    pattern`
      ^(?:ok(?:ay)?,? |so |fine,? |right,? |all right,? )*(?!(?:and|what|how|see|until|back|by|
      since|why|later|thanks)\b)(?!.*\b(?:would|could|might|is|are|was|were|back|until)\b)[\w.+#'/ -]{2,40}(?<!back|until|by|since|and|what|see you) then[.!]*$|
      ^(?:ok(?:ay)?|fine|right|all right|yes|no|nah)[,.]+ [\w.+#' -]{2,30}[.!]*$|\b[\w.-]+ (?:is|
      are) (?:out|dead),? (?:and )?[\w.-]+ (?:is|are) in\b|\bit is then\b|\bthen it is\b|\bi will (?:use|
      take|go)\b
    `,
    { despite: ["planned"] },
  ),
  cue(
    "decision",
    "must-be",
    1.2,
    pattern`
      \b(?:every|all|each|any) [\w-]+ (?:\w+ )?(?:needs?|must|are|is|has to|have to|go(?:es)?)\b|
      \bsource of truth is\b|\bis going to be (?:quote_|called|the)|\bwill be (?:called|named|quote_|
      the|our|in|on|\d)|\bi will take\b|\bi want .{1,60} and that is\b
    `,
    { despite: ["planned"] },
  ),
];

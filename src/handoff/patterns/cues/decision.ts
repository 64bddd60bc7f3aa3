/** How people say that something is settled: chosen, agreed, ruled, dropped, put off. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

const TALK = pattern`
      get this|get it|get the|see|look|check|talk|discuss|try|find|figure|go over|go!|go$|grab|
      meet|chat|think|wait(?: and see| for| until)?|hope|say|assume|suppose|imagine|start(?: with| by)?|
      begin|take a|get (?:started|going|back|lunch)|have (?:a|lunch)|continue(?! (?:with|without|against|on|in|using|as))|decide|settle this|review|investigate|
      debug|test|verify|run|be (?:honest|real|clear)|know|do this!|walk|dig|explore|focus on|make sure|
      catch up|recap|read|sync|face it|pretend|use the time|celebrate|brainstorm|revisit|circle back|
      measure|hear|ask|sleep|celebrate|party|play|eat|drink
    `;
const CHOICE_ING = pattern`
      going with|sticking with|sticking to|staying with|staying on|switching to|moving (?:to|the|
      all|everything|away|forward with|ahead with)|dropping|cutting|killing|skipping|keeping|using|
      postponing|delaying|rejecting|adopting|scrapping|ditching|removing|deprecating|retiring|holding|
      parking|shelving|replacing|hiring|choosing|picking|opting|settling|launching|making it|calling it|
      limiting|freezing|standardi[sz]ing|merging|splitting|renaming|pausing|cancell?ing|doing it|
      ruling out|leaving (?:it|the|out)|taking (?:the|option)|changing (?:to|the)|committing to|
      buying|signing with|migrating to|rolling with|freezing|defaulting to|not (?:going to|doing|
      supporting|building|using|shipping|adding|touching|hiring)
    `;
const CHOICE = pattern`
      use|go with|stick (?:with|to)|stay (?:with|on|at)|switch to|move (?:to|the|away|forward with)|
      drop|cut|kill|skip|keep|postpone|delay|reject|adopt|scrap|ditch|remove|deprecate|retire|hold off|
      park|shelve|replace|choose|pick|opt|settle|support|ship|release|launch|refund|run|start with|
      take|do|build|write|call (?:it|her|him|them)|name|limit|cap|freeze|require|target|make|merge|
      split|rename|pause|cancel|leave|put|store|cache|count|treat|wait|not|buy|sign|charge|hire|
      default to|allow|give|offer|accept|extend|base|host|have|send|publish|stop|sunset|focus on|
      aim for|pay|set|deliver|deploy
    `;
const CHOSEN = pattern`
      decided|chose|chosen|picked|settled (?:on|for)|agreed|opted|went (?:with|for)|gone (?:with|
      for)|selected|elected to|committed to|ruled out|voted|concluded (?:that we|to)|resolved to|
      made the call|approved|rejected|vetoed|adopted|standardi[sz]ed on|landed on|signed off on|
      greenlit|green-lit|dropped the idea|scrapped|made up (?:my|our) minds?|concluded
    `;

export const DECISION_CUES: readonly Cue[] = [
  cue(
    "decision",
    "decided",
    2.9,
    pattern`
      \b(?<!\b(?:what|why|who|how|which|when|et al\.|authors|they|she|he|last week you|once|after|
      until) (?:did |have |was |has )?(?:we |i |you |it )?)(?:i|we|i have|we have|it is|that is|
      team|board|client|management|just|finally|have|all|everyone|after .{1,40},? (?:we|i)) (?:(?:now|
      just|finally|already|all|both|also|have|officially|mutually|unanimously|collectively|been|
      then|has) )*(?:${CHOSEN})\b
    `,
  ),
  cue(
    "decision",
    "decided-bare",
    2,
    pattern`
      ^(?:ok |so |and |fyi |update |final |then |just )*(?:decided|chose|picked|settled on|agreed|
      opted|went with|approved|rejected|rejecting|ruled out|voted)\b(?! (?:to disagree|by))|(?<!\b(?:he|she|they|you|who) (?:has |have |had )?)\b(?:decided|
      agreed|chose|opted|voted)(?: (?:against|to|on|that|for|unanimously|with))\b|\bchosen(?: by|
      $|:)|\b(?:client|board|boss|team|management|customer|vote|ceo|cto|pm|legal) (?:picked|chose|
      decided|said (?:yes|no)|approved|went with|signed off|voted)\b|\b(?:vote|poll) was\b|\bwins[.!]*$|
      \bsigned off on\b|\b(?:has been|have been|was|were|been) (?:decided|agreed|settled|chosen|
      ruled out|vetoed|voted)\b|\bmade up (?:my|our) minds?\b|\b(?:vendor|winner|name|colou?r|tool|
      \w+) (?:chosen|picked|selected)\b(?=[:.!]|$)
    `,
  ),
  cue(
    "decision",
    "decision-label",
    2.6,
    pattern`
      ^(?:final |the |our |new |my |a )*(?:decision|decided|verdict|conclusion|ruling|resolution|
      policy(?: change)?|rule|change of plans?|final answer|agreed|outcome|call|consensus|plan change)(?: (?:is|
      was|on \w+|here))?(?: ?[:,—–-]| is\b)(?! (?:yours|pending|still|due|up to))|\b(?:the )?(?:decision|
      verdict|consensus|call) (?:is|was) (?:to|that|made|final|no|yes|in)\b|\bfinal answer\b|\bchange of plans?\b
    `,
  ),
  cue(
    "decision",
    "let-us",
    2.4,
    pattern`
      \blet us (?:just |simply |all |both |definitely |instead |then |rather |also |please |actually )?(?!(?:${TALK})\b)(?!(?:go|
      do (?:it|this|that))(?:[!.,]|$)| also)(?:not |\w+)
    `,
    { despite: ["planned"] },
  ),
  cue(
    "decision",
    "let-us-choice",
    1,
    pattern`
      \blet us (?:just |simply |then |not |rather )*(?:use|go with|stick|keep|drop|skip|postpone|
      call|switch|move|do (?:the|it|monthly|\w+ly|option|a|without)|make|park|cut|leave|remove|
      ship|replace|adopt|default|pick|choose|delay|wait|build|put|set|have)\b
    `,
    { despite: ["planned"] },
  ),
  cue(
    "decision",
    "going-with",
    2.5,
    pattern`
      \b(?:i am|we are|am|we|i|so|ok|just|now|then|and) (?:(?:definitely|now|just|officially|all|
      instead|still|therefore|only) )*(?:${CHOICE_ING})\b|^(?:ok |okay |so |then |and |yes |fine |alright |sure |update |cool )*(?:not (?:doing|building|using|adding|going)|going with|sticking with|switching to|dropping|keeping|moving to|rejecting|ditching|scrapping|skipping|
      postponing|using|going for|shipping|opting for|holding|rolling with|cutting|launching|starting with|
      settling on|parking|shelving|no \w+ing)\b
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "will-choose",
    2,
    pattern`
      \b(?:we|i) (?:will|shall|are going to|am going to) (?:(?:just|now|definitely|always|only|
      instead|then|simply|therefore|start|have to|go ahead and) )*(?:${CHOICE})\b(?! (?:a look|
      care|it up|my best|some|sure|you know))
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "will-not",
    1.6,
    pattern`
      \b(?:we|i) (?:will|are|do|shall|am) (?:going to )?not (?:going to |longer )?(?!(?:know|think|
      have|see|sure|agree|blocked|able|understand|forget|really|done|there|yet|ready|stuck|mind|remember|
      need to|want you|like|care|get|believe|familiar|happy|a |the |in |at |on )\b)\w+
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "we-rule",
    1.5,
    pattern`
      \bwe (?:(?:always|only|never|now|just|also|then|simply|still) )*(?:use|go with|keep|drop|
      count|start|stick|release|do it|ship|cache|treat|wait|take|cut|skip|move|delay|stay|switch|
      go|deliver|support|store|run|charge|require|merge|split|limit|launch|hire|leave|call it|freeze|
      put|stop|pick|choose|make|rebuild|rewrite|build|write|patch|host|buy|host|close|open|publish|
      license)\b(?! (?:over|through) )
    `,
  ),
  cue(
    "decision",
    "it-is",
    2.8,
    pattern`
      (?:^|, |: )(?:ok |okay |so |fine |well |all right |right |yes |then )*(?!(?:what|how|that|
      where|who|as|wherever|i think|whatever)\b)[\w.+#'-]+(?: [\w.+#'-]+){0,4} it is(?:[,.!]| then|
      $)|\bit is settled\b|\b(?:is|are|that is|it is|consider (?:it|that)) (?:now |officially )?(?:settled|
      final|decided|agreed|fixed at|set at|set in stone|off the table|a go|a no-go|approved|out of scope|
      capped at|limited to|the plan|the rule|the (?:way|approach) (?:we|i))\b|\bthat is (?:that|
      final|the rule|the decision|settled|the plan)\b|(?:^|[.,;:] ?)final[.!]*$|\bfinal$|\b(?:done|
      end of|no more) discuss\w+|\bsettled[.!:]|\bcall it a day\b|\b(?:end of (?:story|discussion|
      debate)|full stop|period[.!]*$|no exceptions|no discussion|not negotiable|non-?negotiable|
      case closed|that settles it|convinced[.,!])|\bwinner is\b
    `,
  ),
  cue(
    "decision",
    "from-now-on",
    2.6,
    pattern`
      \b(?:from now on|from here on|going forward|henceforth|moving forward|effective (?:immediately|
      today|monday)|starting (?:this|next|today|monday|tomorrow|now)|as of (?:today|now|next)|
      from (?:today|monday|next \w+) on|until further notice)\b
    `,
    { despite: ["planned", "negated", "request"] },
  ),
  cue(
    "decision",
    "go-with-plan",
    1.6,
    pattern`
      \b(?:here is what we (?:do|are doing|will do)|plan [b-z]\b|option (?:[a-f]|one|two|three|
      \d)\b|the (?:first|second|third|latter|former|other) (?:one|option|approach|variant|design)|
      instead of|rather than|in favou?r of|picked .{1,30} over|per (?:the|our|your) (?:meeting|
      call|choice|discussion|decision|agreement|vote))
    `,
    { despite: ["negated", "planned"] },
  ),
  cue(
    "decision",
    "contrast",
    1.3,
    pattern`
      , not (?!(?:today|now|much|many|from|on|because|by|a blocker|an? (?:bug|issue|problem|big)|sure|yet|that|really|
      the (?:problem|issue))\b)(?:the |a |an |in |at |for )?[\w.-]+(?: [\w.-]+){0,3}[.!]*$|\bfor (?:now|
      v1|the mvp|this release|the time being)\b|\b(?:stays?|remains?) (?:at|on|in|as|the|with)\b|
      \b(?:moves?|moved|pushed|shifts?|slips?) to (?:the )?(?:\d|q[1-4]|next|monday|tuesday|wednesday|
      thursday|friday|january|february|march|april|may|june|july|august|september|october|november|
      december)
    `,
    { despite: ["negated"] },
  ),
  cue(
    "decision",
    "scratch",
    1.8,
    pattern`
      ^(?:ok |okay |so |actually |then |and |yeah |fine )*(?:scratch|drop|forget|ditch|kill|scrap|
      nix|skip|keep|use|park|leave|stick with|go with|postpone|hold off on|take|cancel|never mind|
      nah)\b(?! (?:problem|worries|matter|issues?|bugs?|idea|thanks|luck|same|it|response|access|budget|
      changes|reply|access|luck|errors?|one|need|way|rush|clue|more|longer|outage|it|in mind|track|
      going|me|this|care)\b)
    `,
    { despite: ["request", "negated"] },
  ),
  cue(
    "decision",
    "approve",
    1.9,
    pattern`
      ^(?:approved|confirmed|agreed|deal|yes,? (?:option|let us|go|the|we|do|use|keep)|go ahead with|
      ok(?:ay)?,? (?:we|let us|so we|then we|use|do|go with|no)|fine,? (?:we|let us|\w+\.?$)|sure,? let us|
      understood:? (?:we|i)|noted (?:—|-|:)+ ?(?:we|i)|\+1 (?:for|on|to)|noted,? (?:we|i)|sounds good,? (?:let us|
      we)|sold(?! out)|works,? let us|you convinced me|fair enough,? (?:we|let us))\b
    `,
  ),
  cue(
    "decision",
    "assistant-choice",
    2.1,
    pattern`
      \bi (?:have )?(?:deliberately |intentionally |consciously |purposely )?(?:kept|left|chose|
      chosen|picked|opted|defaulted|settled|stuck|avoided|skipped|dropped|limited|preferred|named|
      placed|omitted|treated|went|gone)\b(?! (?:(?:a|an|two|some) )?(?:todo|note|comment|message|through|over|ahead|back)s?\b).{0,80}\b(?:instead|alone|as (?:it|they)|untouched|rather than|
      over|because|since|so that|as (?:you|we)|with|for|out|against|to)\b|\bas (?:we )?(?:agreed|
      discussed|decided|you (?:decided|chose|settled|prefer\w*))|(?:based on|following|per|after|given|by|with) your (?:answer|
      choice|decision|feedback|preference|ruling)\b|^(?:since |because |as )?you (?:settled on|chose|decided|picked|opted|ruled|said (?:not )?to)\b
    `,
  ),
  cue(
    "decision",
    "will-only",
    1.4,
    pattern`
      \b(?:will|shall) (?:only|always|never|not|no longer|just|all|both|stay|remain|continue to|
      keep)\b (?!(?:show|print|turn|play|charge|come|find|pair|stop|fit|finish|complete|work|start|load|open|connect|compile|let|be able|budge|happen|go out|release|
      run|sign|accept|build|install|boot|respond)\b)|\b(?:stays?|remains?) (?:out|off|in|on|at|
      as is|where|the same|optional)\b|^(?:ok(?:ay)?|fine|right|all right|so|nah|no)[,:]* (?:so )?(?:no|
      just|only|one|two|three|weekly|monthly|daily) \w+|\bthe right (?:call|choice|move)\b|\byes please,? (?:the|
      option)|\b(?:launch|release|deadline|demo|date|meeting|go-live) (?:moves|slips|shifts|stays|
      is now|will be|is set)\b
    `,
    { despite: ["planned", "negated"] },
  ),
  cue(
    "decision",
    "we-present",
    1,
    pattern`
      (?:^|: |, |so |then |first )we (?:only |just |all |first |simply )?(?!(?:have|had|are|were|
      was|will|would|can|could|should|might|may|need|want|see|know|think|hope|get|got|normally|
      usually|often|always|sometimes|still|also|do not|did|been|lost|found|hit|ran|went|love|like|
      found|made|took|wrote|sent|built|shipped|saw|met|won|left|lack|must|keep getting|feel|believe|
      agree to disagree|hear|heard)\b)[a-z]+\b(?<!ed)
    `,
  ),
  cue(
    "decision",
    "we-doing",
    1.1,
    pattern`
      \b(?:we are|i am) (?:now |just |only |not )?(?!(?:working|looking|waiting|trying|getting|
      going|having|seeing|running|sitting|thinking|wondering|hoping|losing|missing|struggling|facing|
      leaning|talking|dealing|debugging|feeling|planning|testing|investigating|hitting|reading|
      asking|adding|putting|filing|writing (?:the|a) (?:test|report|mail|email)|still|fighting|learning|enjoying|deploying|
      checking)\b)[\w-]+ing (?:the|a|an|our|my|no|all|it|this|that|every|two|only|straight|on|with|
      out|\w+s)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "decision",
    "will-open",
    1,
    pattern`
      \bwe will (?!(?:see|need|have to|be able|be done|know|decide|discuss|talk|find|get back|let|
      look|try|chase|check|think|send you|call|not)\b)\w+|\b(?:i am|we are) going to (?!(?:bed|lunch|dinner|work|sleep|town|
      see|look|try|check|need|have to|implement|fix|be|start|write|run|read|test|investigate|debug|
      add|update|create|the|use the restroom)\b)\w+|\bthen we will\b
    `,
    { despite: ["planned"] },
  ),
];

/** How people say that something is done, or works at last. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";
import { GOOD_NEWS_PHRASES, GOOD_NEWS_WORDS } from "./lexicon.ts";

const LEAD = pattern`
      (?:(?:ok|okay|and|so|also|just|finally|now|then|already|update|fyi|good news|yay|done|all right|
      successfully|yesterday|today|phew|woohoo|yes|yep|yup|great|nice|both|all|first|next|hooray_|
      done_|i|we|have|i have|we have|he|she|they|it)[,:]? )*
    `;
/** A verb of getting done, as tagDoneVerbs writes it. */
const DID = "D+";
const STATE = pattern`
      done|finished|complete[d]?|fixed|resolved|solved|merged|live|deployed|shipped|released|published|
      in place|up and running|up to date|back (?:up|online|to normal|in)|green|passing|ready|sorted(?: out)?|
      closed|unblocked|unlocked|sent|signed|booked|filed|submitted|running (?:again|smoothly|fine)|
      working (?:again|now|fine|as expected|perfectly|properly|end to end|great|like a charm)|clean|
      healthy|restored|migrated|implemented|pushed|up (?:again|now)|out the door|wrapped(?: up)?|
      installed|configured|set up|gone|history|refreshing again|renewed|backed up|paid|approved and merged|
      exported|stable (?:now|again)|good to go|all set|checked in|committed|over the line|off my plate|
      scheduled|tested|verified|written|covered|updated|enabled|online again|in production|on main|
      in (?:main|master|prod)|uploaded|delivered
    `;
/** The states that are not verbs of getting done. */
const STATE_ONLY = pattern`
      done|complete[d]?|live(?! with)|in place|up and running|up to date|back (?:up|online|to normal|in)|
      green|passing|ready|running (?:again|smoothly|fine)|working (?:again|now|fine|as expected|
      perfectly|properly|end to end|great|like a charm)|clean|healthy|up (?:again|now)|out the door|
      set up|gone|history|refreshing again|backed up|approved and merged|stable (?:now|again)|good to go|
      all set|over the line|off my plate|covered|online again|in production|on main|in (?:main|
      master|prod)
    `;
const GOOD_AGAIN = String.raw`again|now|at last|finally`;

export const ACCOMPLISHMENT_CUES: readonly Cue[] = [
  cue(
    "accomplishment",
    "then-fixed",
    2.2,
    pattern`, (?:(?:but|and|now|just|all|already|since|it is|that is|finally) )*${DID}(?: (?:it|now|that|already|since|again))*[.!]*$`,
    { onTagged: true },
  ),
  cue(
    "accomplishment",
    "got-from",
    2,
    pattern`
      ^(?:(?:finally|just|we|i|have|and|ok|yay)[,]? )*(?:got|received|obtained|secured) (?:(?:the|
      a|an|our|my|full|final|written) )*(?:\w+ )?(?:from|approval|sign-?off|confirmation|access|
      permission|go-ahead|ok|okay|funding|green light|thumbs up|visa|grant|refund|certificate)\b|
      \b(?:is|are|went|go(?:es)?) live\b|\bdropped to (?:zero|0|\d)|\bmerging now\b
    `,
  ),
  cue(
    "accomplishment",
    "i-did",
    2.6,
    pattern`
      \b(?:i|we|i have|we have|have|has) (?:(?:just|now|already|also|finally|successfully|since|
      both|all|then|been|even|manually|quickly|went ahead and) )*(?:${DID})\b(?! (?:to (?:use|go|
      keep|wait)|with|off on|out of|a wall)\b)
    `,
    { onTagged: true },
  ),
  cue(
    "accomplishment",
    "did",
    2.3,
    pattern`
      ^(?!(?:he|she|they|you)\b)${LEAD}(?:${DID})\b(?! (?:off on|out of|this:|that is the goal))(?=$|
      [!.,:;]| (?:the|a|an|all|both|my|our|your|his|her|their|this|that|these|those|it|them|up|
      down|out|off|back|to|from|in|into|on|for|and|with|without|some|every|each|over|most|two|three|
      four|\d[\d.,]*k?|half|new|last|code_|path_|url_|quote_|just|about|yesterday|today|everything|
      around|as|by|at)\b| \w+(?:'s|ing|ed)\b| [\w-]+ (?:the|a|to|from|in|on|for)\b)
    `,
    { onTagged: true, despite: ["request"] },
  ),
  cue(
    "accomplishment",
    "and-did",
    1.4,
    String.raw`\b(?:and|then|,) (?:${DID}) (?:the|a|an|all|both|my|our|your|this|it|them|two|three|\d|code_|path_|everything)\b`,
    { onTagged: true },
  ),
  cue(
    "accomplishment",
    "open-past",
    1.4,
    pattern`
      ^(?!(?:he|she|they|you)\b)${LEAD}(?!(?:need|attempted|signed|watched|shed|wished|guessed|
      assumed|seed|feed|speed|embed|exceed|proceed|indeed|hundred|red|bed|based|related|failed|
      blocked|crashed|decided|agreed|wanted|needed|tried|hoped|wondered|noticed|realised|realized|
      learned|learnt|selected|vetoed|postponed|rescheduled|scrapped|shelved|deferred|noted|used|planned|stuck|tempted|worried|confused|interested|unrelated|excited|asked|
      looked|supposed|expected|proposed|suggested|rejected|approved|scared|bored|tired|limited|
      nested|mixed|shared|required|deprecated|unexpected|advanced|detailed|limited|understood|continued|
      said|waited|concerned|liked|loved|figured|discussed|talked|thought|chosen|named|called|titled)\b)[a-z]{2,}ed\b(?= (?:the|
      a|an|all|both|my|our|your|this|that|these|those|it|them|up|out|off|two|three|\d|to|from|everything|
      every|most|last|code_|path_)\b|$|!)
    `,
    { despite: ["request"] },
  ),
  cue(
    "accomplishment",
    "is-done",
    2.2,
    pattern`
      \b(?<!\b(?:discussion|debate|topic|matter|lab|office|shop|road) )(?:is|are|'s|am|looks|was|were|been|all|now|everything|already|finally|officially|seems|
      stays|got|back) (?:(?:now|all|finally|also|already|officially|completely|fully|both|successfully|
      been|safely|good and|looking|in|totally|again) )*(?:${STATE})\b(?! (?:by|for|until|with (?:it|
      you|this)|to (?:be|go wrong)|when|once|if|only|as soon|here|at) ?)
    `,
  ),
  cue(
    "accomplishment",
    "noun-done",
    1.9,
    pattern`
      (?:^|: |; | - |hooray_ )(?!(?:let|all new|every|customer wrote|the customer wrote|each|any)\b)(?!(?:supposedly|
      allegedly|apparently|probably|maybe|hopefully|well|not|if|when|once|he|she|they|you|what|
      almost|nearly|half|never|no|i|we|the completed|be|get|to|is|are|more)\b)(?:(?!(?:not|well|
      almost|nearly|half|be|being|to|never|is|are|was|un\w+|should|must|when|if|until)\b)[\w#'/-]+ ){1,5}(?:(?:all|
      now|finally|both|successfully|just|already) )?(?:${STATE_ONLY}|${DID}|went (?:out|through|
      well|live|smoothly|fine))(?:,| (?:and (?:tested|pushed|merged|sent|deployed|shipped|paid|
      published|signed|done|reviewed|verified|closed)|today|yesterday|now|already|on time|this \w+|
      last \w+|at last|about .*|on .*|at .*|without .*|in .*|off .*|from .*|after .*|with .*|by .*|
      for .*|hooray_.*|done_.*|to .*))*[!.,:]*(?:$|(?<=[,:]) )
    `,
    { onTagged: true },
  ),
  cue(
    "accomplishment",
    "label-done",
    2,
    String.raw`^[^:?]{2,50}: (?:all |now |finally )?(?:${STATE_ONLY}|${DID})(?:[.!,]|$| and| \()`,
    { onTagged: true },
  ),
  cue(
    "accomplishment",
    "open-passive",
    1.1,
    pattern`
      \b(?:is|are|has been|have been|got|gets|'s) (?:now |all |finally |also |both )*(?!(?:supposed|
      required|needed|based|called|allowed|used|expected|blocked|failed|confused|disabled|located|
      listed|named|designed|related|limited|interested|worried|wrapped|retried|caused|being|rejected|
      locked|suspended|delayed|stalled|corrupted|expired|denied|mixed|raised|charged|flagged|frustrated|
      annoyed|excited|tired|tempted|scared|involved|concerned|embed|hundred|red|indeed|doomed|killed|
      dropped|ignored|deprecated|undefined|unresolved|untested|swapped|jammed|cancelled|canceled|
      postponed|stored|copied|handled|returned|passed to|defined|described|documented|shared|nested|
      tied|needed|covered|restricted|capped|queued|closed|encrypted|deactivated|sorted by|throttled|flawed|broken)\b)[a-z]{2,}ed\b
    `,
  ),
  cue(
    "accomplishment",
    "it-did",
    1.5,
    pattern`
      (?<!\b(?:he|she|they|you|who|wrote|not|never|the|a|an|have|if|has|to|and|be|been) )\b(?!(?:which|
      who|he|she|they|you|not|never|customer|is|are|was|were|be|been|i|we)\b)[a-z]\w+ (?:just |finally |also |already )?(?:fixed|
      solved|resolved|restored|signed|confirmed|approved|delivered|merged|recovered|healed|landed|
      arrived|cleared|finished|completed|paid|succeeded|came through|checks out|cured) (?:it|the|
      that|this|fine|everything|all|without|ok|okay|cleanly|our|my|in|on|at|yesterday|today)\b|
      \b(?:has|have) (?:signed|approved|confirmed|paid|arrived|landed|delivered|agreed|shipped|
      come through|recovered|replied)\b(?! not)
    `,
  ),
  cue(
    "accomplishment",
    "fine-now",
    1.3,
    pattern`
      (?<!ing )\bnow[.!]*$|\b(?<!it is )(?<!^)(?:fine(?! with)|cleanly|smoothly|flawlessly|without (?:any )?(?:errors?|
      issues?|problems?|a hitch|incident|trouble))\b|\b(?:is|are) (?:happy|confirmed|reserved|satisfied)\b|
      \bswitched (?:off|on|over)\b|^good:
    `,
    { despite: ["negated"] },
  ),
  cue(
    "accomplishment",
    "i-past",
    1.2,
    pattern`
      \b(?:i|we) (?:have )?(?:(?:now|just|also|finally|already|then) )*(?!(?:need|seed|feed|speed|
      proceed|decided|agreed|wanted|needed|tried|hoped|wondered|noticed|realised|realized|learned|
      used|planned|asked|looked|expected|proposed|suggested|failed|liked|loved|figured|discussed|
      talked|watched|stopped|guessed|assumed|attempted|missed|rejected|opted|picked|settled|wished|
      waited|stared|preferred|voted|believed|struggled|worried|burned|crashed|experienced|received|
      happened|lived|abandoned|skipped|avoided|received)\b)[a-z]{2,}ed\b
    `,
  ),
  cue(
    "accomplishment",
    "good-event",
    2,
    pattern`
      \b(?:came through|got (?:accepted|approved|signed|merged|paid|funded|published|hired|the (?:job|
      grant|offer|green light|ok|go-ahead))|accepted (?:the|our|my)|(?:was|were|been|got|is|are) (?:accepted|
      approved|granted)|landed|stable (?:for|since|again)|finally (?:have|has)|(?:is|are) (?:now )?over(?=[.!]*$)|
      (?:no|zero) \w+ left|looks? (?:good|great|clean|healthy)|knocked (?:out|off)|(?:checked|ticked|
      crossed) off|(?:ahead of|on) schedule|(?:got|have) a signed|(?:green light|thumbs up|go-ahead) from|
      for good now|all (?:there|accounted for|in place|in one piece))\b|: check\b|\bunder (?:a|
      one|two|\d+) (?:second|minute|ms)\w* now
    `,
  ),
  cue(
    "accomplishment",
    "good-news",
    1.3,
    String.raw`(?<!\b(?:not|no|never|the|a|an|any|be|to) )\b(?:${GOOD_NEWS_PHRASES})\b`,
    { words: GOOD_NEWS_WORDS },
  ),
  cue(
    "accomplishment",
    "able",
    2.4,
    pattern`
      \b(?:was|were|been|am now|are now|finally) able to\b|\bcame out on top\b|\bran (?:cleanly|
      fine|through|without|successfully|smoothly|clean)\b|\b(?:is|are|'s|looks?|feels?|runs?) (?:all |nice and |super |really )?(?!(?:broken|
      down|red|failing|late|stuck|dead|offline|slow|empty|there|back|here|blocked|wrong|it|out|
      happening|not|at|on|in)\b)[a-z-]+ again\b|\b(?<!how )(?:it|that|this|she|he|everything) (?:compiles|
      works|runs|builds|boots|passes|flies|fits|loads|connects)(?:!|$|\.)|^works[!.]|\b(?:works|
      compiles|runs|builds|passes)!|\b(?:export|upload|login|feature|script|search|feed|sync|flow|
      part|version|side|half|endpoint|page|app) works\b|\bcalling it (?:done|solved|fixed)\b|\b(?:is|
      are|'s) (?:plugged|unplugged)
    `,
  ),
  cue(
    "accomplishment",
    "did-weak",
    1,
    pattern`
      ^${LEAD}(?:made|put|ran|cut|brought|took|gave|let|led|held|met|hit|kept|began|drove) (?:the|
      a|all|both|my|our|it|them|together|in)\b(?!.*\blimit)(?! (?:wall|limit|rate|snag|decision|goal))
    `,
    { despite: ["request"] },
  ),
  cue(
    "accomplishment",
    "done-alone",
    2.2,
    pattern`
      ^(?:ok |okay |and |all |yes |finally |it is |just |that is |hooray_ )*(?:done|finished|merged|
      shipped|deployed|fixed|solved|completed|submitted|pushed|resolved|sorted|sent|works|published|
      released|live|committed|landed|nailed it|got it working|success)(?: it)?(?: (?:now|today|
      and (?:\w+)|hooray_))?(?:[!.:,—]|$)|done_|^x_
    `,
  ),
  cue(
    "accomplishment",
    "works-now",
    2.6,
    pattern`
      \b(?:works?|working|runs?|running|builds?|building|compiles?|loads?|boots?|starts?|connects?|
      pass(?:es|ing)?|syncs?|refreshing|responds?|renders?|converges?|prints?|returns?|syncing|
      sending|use|uses|match(?:es)?) (?:\w+ ){0,2}(?:${GOOD_AGAIN})\b|\b(?:now|finally|actually|
      again|just) (?:all )?(?:works?|runs?|builds?|compiles?|pass(?:es)?|loads?|boots?|connects?|
      returns?|match(?:es)?|uses?|converges?|fits?|starts?|prints?|syncs?|responds?)\b|\bworks (?:perfectly|
      great|flawlessly|like a charm|beautifully|as expected|end to end)\b|(?<!glad |hear |happy |how )\b(?:it|
      everything|all of it) works\b|\b(?:works|working)!
    `,
  ),
  cue(
    "accomplishment",
    "succeeded",
    2.4,
    pattern`
      \b(?:succeeded|successfully|went (?:out|through|well|live|smoothly|fine|without)|without a hitch|
      did the trick|\w+ (?:fixed|solved) it|(?:that|this|it|which) (?:fixed|solved|worked|resolved)\b(?: it)?|
      customer confirmed|confirmed (?:it|that it) (?:is )?work\w*|worked(?: like a charm|!|$)|good news|
      passed with|pulled (?:it )?off|made it work|mission accomplished|inbox zero|nailed it|in the bag|
      took care of|taken care of|made (?:me|us) an offer|said yes and signed|all (?:good|set) now|
      problem solved|case closed)\b
    `,
  ),
  cue(
    "accomplishment",
    "got-it",
    2.5,
    pattern`
      \b(?:got|gotten|have (?=it |everything |the \w+ (?:working|running|done|in place|set up))) ?(?:(?:it|
      the|this|that|them|all|a|an|my|our|everything|both|[\w'-]+) ){1,6}?(?:working|running|to (?:work|
      build|run|compile|pass|converge|load|start|connect|boot|agree)|done|down to|deployed|fixed|
      merged|sorted|signed|approved|reconciled|set up|back (?:into|up|online)|out|installed|under control|
      going|green|through|in(?: place)?|up)\b|\bmanaged to\b|\bgot rid of\b|\bfinally (?!(?:watched|
      home|friday|weekend|understand|get it|see)\b)(?:got|\w+ed|wrote|made|found|did)\b
    `,
  ),
  cue(
    "accomplishment",
    "commit-line",
    2,
    String.raw`^(?:feat|fix|chore|refactor|docs|perf|test|build|ci|style)(?:\([\w./-]+\))?!?: |\b(?:closes|fixes|resolves) #\d+`,
  ),
  cue(
    "accomplishment",
    "milestone",
    1.6,
    pattern`
      \b(?:hooray_|🎉|yay|woohoo|woot|phew|hurray|at (?:long )?last|finally)(?:\b|$)|\b(?:that is|
      we are|and) (?:a wrap|done and dusted)\b|\binbox zero\b|\b(?:hit|reached|passed|crossed) (?:\d|
      our (?:goal|target)|the (?:goal|target|milestone|audit|exam|review|test))
    `,
  ),
];

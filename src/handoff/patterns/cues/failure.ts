/** How people say that something does not work: it fails, it is broken, it does harm. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";
import { BAD_NEWS_PHRASES, BAD_NEWS_WORDS } from "./lexicon.ts";

export const ADVERB = pattern`
      (?:(?:still|just|simply|always|completely|totally|currently|again|now|even|all|also|really|
      basically|seemingly|constantly|suddenly|randomly|apparently|fully|permanently|temporarily|
      \w+ly) )*
    `;
const BE = pattern`
      (?:is|are|am|'s|was|were|been|being|be|gets?|got|getting|seems?|looks?|appears?|remains?|
      stays?|went|goes|gone|comes? (?:up|back)|came back|keeps? (?:getting|being)|still|completely|
      totally)
    `;
const FAIL_S = pattern`
      fails|breaks|crashes|hangs|dies|freezes|stalls|chokes|explodes|blows up|bombs out|times out|
      errors? out|segfaults|contradicts|cuts out|dies on|panics|bails|rejects|refuses|mangles|corrupts|
      leaks|bounces|overflows|goes down|falls over|flatlines|deadlocks|stops working|barfs|craps out|
      conks out|gives up|runs out of|grinds to a halt|takes forever|crawls|loops forever
    `;
const FAIL_ING = pattern`
      failing|crashing|breaking|hanging|timing out|throwing|erroring(?: out)?|dying|leaking|flapping|
      looping|misbehaving|acting up|freezing|stalling|bouncing|rejecting|refusing|blocking|choking|
      blowing up|falling over|piling up|getting worse|out of sync
    `;
const FAIL_ED = pattern`
      failed|crashed|broke|died|errored|timed out|blew up|exploded|went down|fell over|hung|froze|
      stalled|choked|got (?:killed|rejected|denied|lost|suspended|revoked|stuck)|ran out of|fell through|
      bounced|collapsed|backfired
    `;
const BAD = pattern`
      broken|dead|borked|busted|hosed|toast|kaput|offline|unreachable|unavailable|unresponsive|
      unusable|corrupt(?:ed)?|expired|suspended|revoked|denied|flaky|misconfigured|on fire|messed up|
      screwed(?: up)?|fubar|unstable|incompatible|jammed|frozen|bricked|locked out|oomkilled|throttled|
      rate[- ]limited|out of (?:memory|disk|space|quota|budget|credits|time|sync|stock)|behind a paywall|
      password[- ]protected|not available|not accessible|not reachable|inaccessible|undocumented|
      understaffed|overloaded|insufficient|delayed
    `;
const WEAK_BAD = pattern`
      down(?! (?:from|to|by|for maintenance))|red|empty|missing|wrong|disabled|locked|full|out|
      gone|rejected|too (?:slow|small|big|large|old|late)|invalid|a mess|garbage|off by|slow|lost|
      pending|blank|nan|swapped|late|useless|mangled|duplicated|nowhere|failing
    `;
const WORKS = pattern`
      work(?:ing)?|load(?:ing)?|start(?:ing)?|compil\w+|build(?:ing)?|connect(?:ing)?|open(?:ing)?|
      respond(?:ing)?|return(?:ing)?|run(?:ning)?|show(?:ing)?(?: up)?|send(?:ing)?|sync(?:ing)?|
      sav(?:e|ing)|render(?:ing)?|updat(?:e|ing)|boot(?:ing)?|install(?:ing)?|pass(?:ing)?|match(?:ing)?|
      fir(?:e|ing)|trigger\w*|let|accept\w*|recogni[sz]e\w*|find|turn on|scale|finish|complete|
      deploy|resolve|play|print|charg(?:e|ing)|arrive|fit|apply|refresh\w*|converge|terminate|exist
    `;
const TROUBLE = pattern`
      problems?|issues?|bugs?|troubles?|errors?|outages?|regressions?|leaks?|conflicts?|deadlocks?|
      exceptions?|timeouts?|crash(?:es)?|failures?|glitch(?:es)?|hiccups?|snags?|roadblocks?|stack traces?|
      warnings?|difficult(?:y|ies)
    `;

/** Verbs of things going wrong, as stems; with an ending they say that it happens. */
const WRONG_S = pattern`
      abort|backfire|balk|bomb|bounc|break|clash|choke|clog|collaps|complain|conflict|contradict|
      corrupt|crash|crawl|degrad|deteriorat|disappear|disconnect|discard|diverg|drift|dupli?cat|
      evict|explod|fail|flake|flap|flicker|freez|garbl|halt|hang|interrupt|jam|lag|laps|leak|los|
      mangl|mismatch|misbehav|miss|overflow|overheat|overrun|oscillat|panic|refus|reject|regress|
      revok|scrambl|segfault|slip|stall|starv|stutter|suspend|swallow|terminat|throttl|truncat|
      vanish|violat|wedg|tank|choke|flood|spam|loop|crumbl|die|drop|vomit|puke|barf|glitch|falter|
      struggl|expir|forbid|prevent|block|hinder|obstruct|cripple|paralyz|paralys
    `;

export const FAILURE_CUES: readonly Cue[] = [
  cue(
    "blocker",
    "harming",
    1.9,
    pattern`
      \b(?:is|are|keeps?) (?:killing|hurting|slowing|holding|costing|ruining|destroying|wrecking|
      eating|breaking|hogging|swamping|spamming|flooding|stopping|keeping|preventing|throwing|returning (?:[45]\d\d|
      errors?|nothing|garbage)) (?:us|me|our|my|the|everything|every|all|any|it)\b|\b(?:cuts?|drops?|
      falls?|dropped|fell) off\b|\bonly (?:shows|loads|returns|half|the first)\b|\b(?:holds?|holding|
      sets?|setting) (?:us|me) back\b|\b(?:conflicts?|clashes|interferes) with\b
    `,
  ),
  cue(
    "blocker",
    "stopped",
    1.8,
    pattern`
      \b(?:ground|grinding|come|came) to a (?:halt|stop|standstill)\b|\bstopped (?:working|responding|
      syncing|sending|updating|running|receiving|accepting|loading|building|showing|firing)\b|\bwent (?:silent|
      dark|offline)\b|\bghosted\b|\bgone (?:silent|dark|awol|missing)\b
    `,
    { despite: ["negated"] },
  ),
  cue("blocker", "fails", 2.2, String.raw`(?<!\b(?:line|page|lunch|coffee|tea|tax|summer|and|or) )\b(?:${FAIL_S})\b`),
  cue(
    "blocker",
    "fail-plain",
    1.4,
    pattern`
      \b(?:tests?|builds?|pods?|jobs?|logins?|uploads?|requests?|payments?|they|deploys?|imports?|
      runs?|emails?|links?|queries|workers?|calls?|we|i|all|both|half|most|some|which|that|and|
      also|just|always|still|constantly|randomly|but|sometimes) (?:still |always |also |all |now |just |randomly |sometimes )*(?:fail|
      break|crash|hang|die|freeze|blow up|explode|time out|error out)\b
    `,
  ),
  cue(
    "blocker",
    "throws",
    1.5,
    pattern`
      \b(?:throws?|returns?|gives?|shows?|spits?(?: out)?|reports?|exits?(?: with)?|produces?|results? in|
      get|gets|getting|got|seeing|see|hit|hitting|hits|receiv\w+|returning|throwing|giving|answers with|
      comes back with) (?:(?:me|us|a|an|the|this|that|these|only|just|nothing but|back|same|another|
      some|weird|strange|random|with|out|code|http|of|every|always|lots|tons|bunch|\d+) )*(?:\w+ )?(?:${TROUBLE}|
      [45]\d\ds?|garbage|nothing|null|nan|undefined|nonsense|blank|empty|code \d+|killed|kicked|
      logged out|rejected|denied|segfaults?|wrong (?:\w+))\b
    `,
  ),
  cue(
    "blocker",
    "failing",
    2.2,
    String.raw`\b(?:is|are|am|keeps?|kept|still|been|started|starts|start|'s|be|now|currently|also) ${ADVERB}(?:${FAIL_ING})\b`,
  ),
  cue(
    "blocker",
    "keeps-on",
    1.8,
    pattern`
      \b(?:keeps?|kept) (?:on )?(?!(?:going|working|running|moving|reading|writing|learning|trying|
      thinking|doing|in mind)\b)\w+ing\b
    `,
  ),
  cue(
    "blocker",
    "failed",
    1.9,
    pattern`
      (?<!^)\b(?<!(?:the|a|an|any|of|for|vs|zero|one|three|two|per|after|count|from|handle|handles|
      retry|status|each|these|0) )(?:${FAIL_ED})\b(?! (?:jobs|runs|orders|requests|attempts|logins|
      deploys|payments|tests|experiment|state|items|uploads|count)\b)|\b(?:[1-9]\d*|some|several|
      many|two|three|four|five) (?:\w+ )?(?:failed|failing|failures|errors|broken)\b|^(?:ran out of|
      lost (?:access|the|my|our|all|vpn|connection)|locked out)\b|^(?:failed|crashed|timed out|
      broke) (?:again|with|on|at|in|to|because|due)\b|\bfailed_
    `,
  ),
  cue("blocker", "bad-state", 2.2, String.raw`\b${BE} ${ADVERB}(?:a (?:bit|little) )?(?:${BAD})\b`),
  cue(
    "blocker",
    "weak-state",
    1.6,
    pattern`
      \b${BE} ${ADVERB}(?:(?:\d+|two|three|four|five|several|a few) (?:days|weeks|hours|months|
      rows|files) )?(?:${WEAK_BAD})\b(?! (?:to|of|the way|there|with|for (?:lunch|today|review)|
      by design)\b)
    `,
  ),
  cue(
    "blocker",
    "not-working",
    2.1,
    pattern`
      \b(?:do|does|did|will|would|is|are|was|were|'s|has|have) (?:just |still |even |simply |really |suddenly |always |longer )*not (?:even |really |actually |properly |correctly |always |yet |been )*(?:${WORKS})\b|
      \bno longer (?:${WORKS}|works|loads|starts|compiles|builds|connects|opens|responds|returns|
      runs|shows|sends|syncs)\b|\bnot working\b|\brefus\w+ to\b|\bwould not (?:budge|start|let)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "does-not",
    1,
    pattern`
      \b(?<!\b(?:i|we|you|they|that|just) )(?:does|do|did|will|is|are|has|have) (?:still |just |simply )?not (?!(?:a|
      an|the|that|so|very|bad|too|necessarily|only|matter|mean|need|want|care|mind|worry|like|think|agree|done|
      finished|fixed|ready|sure)\b)\w+
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "broke-it",
    2,
    pattern`
      \b(?:broke|breaks|broken|killed|kills|took down|takes down|messed up|wiped|bricked|corrupted|
      trashed|nuked) (?:the|our|my|half|all|everything|it|prod|production|main|every|staging|both|
      several|most|ci)\b
    `,
  ),
  cue(
    "blocker",
    "having-trouble",
    2,
    pattern`
      \b(?:there is|there are|have|having|has|had|seeing|running into|run into|ran into|facing|
      hit|hitting|encounter\w*|got|experiencing|we see|cause[sd]?|causing|discovered|found|another|
      big|serious|major|critical|severe|nasty|weird|strange|new|same|huge) (?:(?:an?|some|the|this|
      serious|major|big|weird|strange|nasty|really|critical|huge|intermittent|ongoing|new|another|
      same|lots of|two|three|\d+) )*(?:(?!no |any |not )\w+ ){0,2}(?:${TROUBLE}|criticals?)\b
    `,
  ),
  cue(
    "blocker",
    "the-problem-is",
    1.5,
    pattern`
      \b(?:problem|issue|trouble|snag|catch|bug|obstacle|challenge)s?(?: now| here| right now)? (?:is|
      are|remains?)(?! (?:fixed|solved|gone|resolved|history|closed|that i love))\b|^(?:problem|
      issue|bug|blocker|blocked|stuck|failing|broken)\b ?:
    `,
  ),
  cue(
    "blocker",
    "harm",
    1.7,
    pattern`
      \b(?<!\b(?:i|we|i have|we have|and|just|to|board|client) )(?:rejected|lost|ate|eats|deleted|
      deletes|wiped|wipes|swallowed|swallows|mangled|overwrote|overwrites|skips|denies|denied|refused|
      revoked|banned|flagged|garbled|truncates|truncated|duplicates|ignores|ignored|drops|dropped|
      strips|stripped|closed|cancelled|canceled|kicks|kicked|shut|forgets|forgot|loses|clobbers|
      clobbered|resets|logs (?:me|us) out|hijacks) (?:the|my|our|your|half|all|every|everything|
      us|me|it|them|most|some|any|his|her|their|\d)\b|\b(?:twice|double)\b.{0,40}(?:!|charged|sent|
      order|billed)|\b(?:the|a) wrong \w+|\bcharged (?:twice|double)\b
    `,
  ),
  cue(
    "blocker",
    "wrong-verb",
    1.6,
    pattern`
      (?<!\b(?:the|a|an|of|any|no|for|our|my|your|on|about|in|these|to|handles?|each|per|against|
      and|or|by|i|we) )\b(?:${WRONG_S})(?:s|es|ing)\b(?! (?:value|values|data|fields?|policy|list|
      tests?|rate|fast|over|column|point)\b)|(?<!^)(?<!\b(?:the|a|an|of|any|no|for|our|my|your|
      on|about|in|these|to|handles?|each|per|and|or|were|was|i|we|been|got|zero|quote_) )\b(?:exited|
      quit|lapsed|diverged|vanished|disappeared|disconnected|lost|collapsed|went (?:bust|bankrupt|
      missing|wrong|sideways|south|haywire)|fell (?:apart|behind|over)|slipped(?! (?:a|an|in|into))|stalled|aborted|
      terminated|expired|regressed|mismatched|died|conflicted|quietly \w+ed|silently \w+ed)\b
    `,
  ),
  cue(
    "blocker",
    "took-down",
    2.2,
    pattern`
      \b(?:took|takes|brought|brings|knocked|knocks) (?:\w+ ){1,4}(?:down|offline|out)\b|\b(?:getting|
      going|gets|got|get) nowhere\b|\bimpossible\b|\bdo(?:es)? not (?:add up|make sense|line up|
      match)\b|\b(?:has|have) to wait\b|\b(?:on|at a) (?:pause|hold|standstill|halt)\b|\bbefore (?:i|
      we) can\b|\b(?:with|a|an|http|status|code|constant|only|the) [45]\d\d\b|\b\d+ (?:of|out of) \d+ (?:\w+ )?(?:fail|
      failed|are failing|broke|missing)\b|\b(?:unprocessed|a backlog of|unanswered|overdue|behind schedule|
      past due)\b|\bkeeps? me from\b|\bget past\b|\bhave nothing to\b|\bhave not found (?:the|a) (?:cause|
      reason|way|fix)\b|\b(?:bad|wrong):
    `,
    { despite: ["negated"] },
  ),
  cue("blocker", "bad-news", 1.4, String.raw`(?<!\b(?:not|no|never|the|a|an|any) )\b(?:${BAD_NEWS_PHRASES})\b`, {
    words: BAD_NEWS_WORDS,
  }),
  cue(
    "blocker",
    "half-gone",
    1,
    pattern`
      \bhalf (?:the|of|our|my)\b|\b(?:is|are) (?:off|not (?:right|ok|okay|fine))(?=[.!,]|$)|\bnow (?:half|
      nothing|everything|none|all) |\bitself\b|\b(?:are|is) too \w+ to\b|\b(?:get|gets|got|returns?|
      with) [45]\d\d\b|\bbeen at (?:it|this) (?:since|for|all)
    `,
  ),
  cue(
    "blocker",
    "same-again",
    2,
    pattern`
      \b(?:the )?same (?:error|problem|thing|result|issue|crash|message|stack trace|story|exception|
      failure|outcome)\b|\b(?:flicker|bug|error|issue|problem|crash|leak|warning|it|lag|regression|
      glitch)(?: is|'s)? back\b|\b(?:getting|got|see|seeing|get|shows?|says|gives) (?:this|these)\b(?=[:.]*$| (?:on|every|when|in|for|again|error))|\b(?:like|as) this$
    `,
  ),
  cue(
    "blocker",
    "trailing-not",
    1.6,
    pattern`
      \b(?:does|do|did|is|are|will|would|can) not(?: (?:though|yet|either|at all))?[.!]*$|\b(?:do|
      does|can) not (?:know|see|understand|tell|find|figure out) (?:which|how|what|why|the (?:reason|
      cause)|where|a way)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "breakdown",
    1.7,
    pattern`
      (?<!\b(?:no|zero|without|any|0|a) )\b(?:seg(?:mentation)? ?faults?|stack overflow|null pointer|memory leak|race condition|
      data loss|outage(?! is over)|downtime|kernel panic|blue screen|core dump|deadlock|infinite loop|
      merge conflict|merge hell|memory (?:climbs|grows|blows))\b|\b(?:takes?|taking|took) (?:\w+ )?\d+\+? ?(?:s|
      sec\w*|min\w*|hours?|days?)\b|\b(?:requires|needs) (?:a |an )?(?:login|password|approval|
      sign-?off|vpn|licen[cs]e|captcha)\b|\bshort (?:on|of|this|today|staffed)\b|\bas far as (?:i|
      we) (?:can|could)\b|\bnot (?:moving|progressing|good|enough|there|in the repo|what (?:i|we) (?:need|
      expected))\b|\bat (?:9[0-9]|100) ?%|\b(?:invisible|unreadable|unstable|swamped|overwhelmed|
      at capacity|clueless|baffled|stumped|screwed|lost here|doomed)\b
    `,
    { despite: ["negated"] },
  ),
];

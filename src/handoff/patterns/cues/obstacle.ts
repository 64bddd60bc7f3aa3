/** How people say that they cannot go on: they are stuck, they lack something, they wait for somebody. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";
import { ADVERB } from "./failure.ts";

export const OBSTACLE_CUES: readonly Cue[] = [
  cue(
    "blocker",
    "remaining",
    1.3,
    String.raw`\b(?:remaining|last|only|one) (?:test )?(?:failures?|errors?|problems?|failing)\b`,
  ),
  cue(
    "blocker",
    "not-in-place",
    1.9,
    pattern`
      \b(?:is|are|was|were) not (?:yet )?(?:set(?! in)|installed|configured|available|present|defined|mounted|provided|
      signed|published|approved|provisioned|applied|given|granted|reachable)\b|\b(?:so|and|but) (?:i|we) need (?:a|an|the|your|more)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "lacks",
    1.6,
    pattern`
      \b(?:lacks|lacking|(?:we|i|they) (?:still )?do not (?:yet )?have (?!to\b|time|a preference|
      a strong|an opinion|any (?:questions|objections|preference|issues?|problems?|trouble|complaints|concerns))|does not (?:yet )?have|needs? (?:someone|
      approval|sign-?off|root|admin|permission|access)|(?:version|checksum|type|schema) mismatch|
      dependency (?:conflict|hell)|no longer (?:have|has) (?:access|permission))\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "nothing-does",
    1.4,
    pattern`
      \b(?:nothing|none of (?:the|them|it|our|my)(?: \w+)?|no one|nobody|neither) (?!(?:surprising|
      special|new|urgent|wrong|broken|else|fails?|breaks?|needed|is|has|was|to|of|left|but|yet|
      against|decided|happened)\b)\w+
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "cannot",
    1.9,
    pattern`
      (?<!\byou )\b(?:can|could) (?:still |just |simply |really |currently |even )?not (?!(?:wait|break|fail|complain|believe|agree|thank|recommend|stress|emphasi[sz]e|help but|come|make it|remember|
      say|tell you|decide|imagine|go wrong|hurt|blame|guarantee|promise|give (?:medical|legal|financial)|
      see images|praise|forgive|resist|fault|lose|overstate|picture|be (?:happier|better|sure|bothered|
      more)|stop (?:laughing|smiling|thinking)|unsee|argue|care|afford to)\b)
    `,
    { despite: ["negated", "past"] },
  ),
  cue(
    "blocker",
    "unable",
    2.4,
    pattern`
      \b(?:unable to|not (?:been )?able to|incapable of|failed to|failing to|fails to|struggl\w+ (?:to|
      with)|no way (?:of|to|for)|no luck|no dice|to no avail|without (?:any )?(?:luck|success)|
      giv(?:e|ing) up|gave up|at a loss|out of ideas|at my wit|impossible to|cannot be|tried everything|
      nothing (?:works|helps|helped|worked|comes|happens)|nothing seems to|no matter (?:what|how|
      which))|regardless of\b
    `,
    { despite: ["negated", "past"] },
  ),
  cue(
    "blocker",
    "stuck",
    2.8,
    pattern`
      (?:^|\b(?:am|are|is|'s|been|was|get|gets|got|getting|remains?|completely|totally|still|absolutely|
      kinda|bit|and|but|so|now|be|him|me|us|keeps?|kept) )${ADVERB}(?:blocked|stuck|stalled|stranded|
      held up|hung up(?! (?:with|on))|on hold|on ice|in limbo|dead in the water|at a standstill|at an impasse|paraly[sz]ed|
      frozen|deadlocked|gridlocked|hamstrung)\b
    `,
  ),
  cue(
    "blocker",
    "blocked-by",
    2.2,
    pattern`
      \bblocked (?:on|by|until|because|waiting|for|from|here|at)\b|\b(?:is|are|still|'s) blocking\b|
      \bblocks (?:the|us|me|our|all|every|my|release|anyone)\b|\b(?:blockers?|impediment)(?: (?:is|
      are|for|here|today|at|remain)|:)|\b(?:a|the|our|another|new|main|big|major|only|hard|current) (?:blocker|
      show-?stopper|deal-?breaker|impediment)\b|\bshow-?stopper\b|\bhit (?:a|another) (?:wall|snag|
      roadblock|dead end|brick wall|limit)\b|\bdead end\b|\broadblock\b|\bholding (?:up|me up|us up|
      things up)\b|\bholds (?:up|everything)\b|\bin the way of\b|\bprevent(?:s|ing) (?:us|me|the|
      any|it)\b|\bstops (?:us|me|the)\b
    `,
  ),
  cue(
    "blocker",
    "waiting",
    2.1,
    pattern`
      \b(?:waiting|wait) (?:on|for) (?!(?:my|a|the) (?:coffee|bus|train|lunch|food)|you to|your|
      it to finish)|\bawaiting\b|\bheld (?:up )?(?:by|until)\b|\bpending (?:for|approval|review|
      on|since)\b|\bdepends on (?:it|this|that|them|him|her)\b|\bhinges on\b
    `,
  ),
  cue(
    "blocker",
    "need-first",
    2,
    pattern`
      \bneeds? (?:the|a|an|some|someone|access|admin|approval|your|their|credentials|permission|
      root|\w+'s)\b.{0,60}\b(?:to (?:continue|proceed|go on|move|get (?:any )?further|finish|start)|
      before|first|otherwise)\b|\b(?:can|could) not .{0,60}\b(?:until|without|before|unless)\b|
      \b(?:until|without) .{1,60} (?:can|could) not\b|\bnothing (?:we|i) can do\b|\bno (?:progress|
      movement)\b|\b(?:have|has) to wait\b|\bnot (?:before|until) (?:monday|tuesday|wednesday|thursday|
      friday|next|tomorrow)\b
    `,
    { despite: ["negated", "planned", "possible", "condition"] },
  ),
  cue(
    "blocker",
    "lack",
    1.8,
    pattern`
      \b(?:no(?! single)|lost|lack(?:s|ing)?|without|missing|out of|do not have|does not have|have no|
      has no|not have|not enough) (?:\w+ ){0,2}?(?:access|permissions?|reply(?! needed)|response|
      answer|feedback|word|budget|credentials|rights|quota|approval|capacity|documentation|bandwidth|
      licen[cs]e|funding|staff|time left|environment|idea (?:how|why|what)|clue|way|output|types|
      runs|signal|connection|internet|network|electricity|power)\b|\b(?:nobody|no one|none of us)(?: (?:on|
      in|at|from|of|here|else)(?: \w+){0,3})? (?:knows|can|answers|has|is|replied|responds|published|
      picks|seems|wants)(?! (?:decided|chosen))\b|\bno (?:idea|clue)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "not-yet",
    1.3,
    pattern`
      \b(?:has|have) (?:still )?not (?:yet |even |been |sent |come )?(?:sent|given|come|arrived|
      replied|heard|signed|approved|responded|answered|delivered|refreshed|updated|published|provided|
      paid|shipped|been (?:approved|signed|provisioned|granted|delivered|published|able)|received|
      shown|run|moved|gotten|got|landed|merged|granted|synced|back)\b|\bstill (?:no|not|nothing|
      missing|pending|waiting|broken|red|down|out|failing|open with|the same|getting|happening|
      there|stuck|blocked)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "resource",
    1.4,
    pattern`
      \b(?:out of (?:memory|disk|space|heap|quota)|oom|oomkilled|rate[- ]limit(?:ed)?|quota|permission denied|
      access denied|forbidden|unauthorized|read[- ]only access|only has read|locked out|lock held|
      backoff|exit(?:s|ed)? (?:with )?code [1-9]\d*|merge conflicts?|critical vulnerabilit\w+|[45]0\d errors?|
      paper jam|at 9\d ?%|9\d ?% full)\b
    `,
  ),
  cue(
    "blocker",
    "sigh",
    0.8,
    pattern`
      \b(?:unfortunately|sadly|ugh+|argh+|damn|wtf|bad news|help!|annoyingly|frustrating(?:ly)?|
      nope|crap|dammit|nightmare|driving me (?:nuts|crazy|insane)|sos|urgent)\b|failed_
    `,
  ),
  cue(
    "blocker",
    "persists",
    1,
    pattern`
      \bstill\b|\bagain$|\bagain[.!]|\bsince (?:this morning|yesterday|noon|monday|tuesday|wednesday|
      thursday|friday|last night|the (?:update|upgrade|change|deploy|release|migration))\b|\bfor (?:hours|
      days|weeks|the (?:second|third|fourth) time)\b|\b(?:every|each) time\b|\b(?:is|are|it'?s?) back$
    `,
  ),
  cue(
    "blocker",
    "has-none",
    1.1,
    pattern`
      \b(?:has|have|is|are|there is|there are|got|with|find|found|see) no (?!(?:problem|issue|effect|
      idea|longer|more|error|bug|need|reason|rush|worr|difference|objection|question|doubt|preference|
      opinion|plan|blocker|single|way around|surprise|right answer|finding|data lost|dupe|loss|
      exception|comment needed|sign|evidence|hint|indication|plans)\w*\b)\w+
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "no-outcome",
    1.2,
    pattern`
      \bso (?:there (?:is|are) )?no\b|\bwith no (?!(?:findings|errors|issues|problems|exceptions|
      data)\b)\w+|\bnothing (?:for|to work|gets|comes|in there|goes)\b|\bhave nothing\b|\b(?:is|
      are) not (?:going (?!to)|picking|moving|getting|coming|letting|doing|showing|reaching|receiving|
      syncing|getting)\b|\bwhat is missing\b|\bmissing is\b
    `,
    { despite: ["negated", "question"] },
  ),
  cue(
    "blocker",
    "delay",
    1.3,
    pattern`
      \b(?:days?|weeks?|months?|hours?) (?:late|behind|overdue|and counting|with no)\b|\b(?:sitting|
      lying|stuck|pending|parked|idle|in review|unanswered) (?:\w+ )?(?:for|since)\b|\bfor (?:the (?:last|
      past) |over |almost |about )?(?:\d+|two|three|four|five|ten|several) (?:days|weeks|hours|
      months)\b|\b(?:till|until) (?:tomorrow|monday|tuesday|wednesday|thursday|friday|next|tonight|
      midnight|noon|the (?:customer|client|vendor|team|other)|january|february|march|april|may|
      june|july|august|september|october|november|december|someone|they|he|she|it is|legal|finance|
      we get|i get)\b
    `,
  ),
  cue(
    "blocker",
    "idiom",
    2,
    pattern`
      \b(?:hands are tied|burned through|cut off|no end in sight|(?:in|around in) circles|square one|
      hair out|head against|lost cause|out of my depth|come(?:s)? out (?:as|wrong|blank|garbled|
      empty)|endless(?:ly)?|spinner|embargoed|out of (?:order|action|service|commission)|in the dark|
      no joy|on the fritz|acting (?:weird|strange)|something is (?:off|wrong|up|fishy)|(?:really|
      so|totally|completely) (?:confused|lost)|goes? (?:down|up|wrong) (?:when|whenever|every)|
      spins? for|for ages|forever|fall back on|in the wrong|way off|nobody (?:else )?(?:is|
      picks|seems)|understaffed|won't (?:budge|cooperate)|falling (?:apart|behind)|piling up|bleeding|
      nowhere to be found|tripping over|fighting (?:with|the)|up in the air|clogged|overloaded|
      hosed)\b
    `,
  ),
  cue(
    "blocker",
    "lost-hours",
    1.5,
    pattern`
      \b(?:been|spent|wasted|lost|for) (?:\w+ ){0,3}(?:an hour|hours|days|all day|all morning|the (?:whole|
      entire) (?:day|morning|afternoon)) (?:on|and|trying|staring|now|debugging)|\b(?:three|two|
      four|five|\d+) (?:hours|days) (?:and|in|later)\b.{0,40}\b(?:still|not|no)\b|\bmake no sense\b|
      \bmakes no sense\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "no-output",
    1.7,
    pattern`
      ^(?:still |and |but |so )*no (?!(?:failures?|errors?|problems?|issues?|red|complaints?|one|objections?|more|changes?|news|need|worries|rush)\b)[\w-]+(?: [\w-]+)? (?:from|on|at|since|yet|whatever|to|
      for (?:days|hours|weeks|\d|two|three)|in (?:the|my|our))\b(?!.*\b(?:side|left|anywhere)\b)
    `,
    { despite: ["negated"] },
  ),
  cue(
    "blocker",
    "standing-still",
    1.9,
    pattern`
      \b(?:sit|sits|sitting|stand|standing|stands|lie|lying) (?:there|here|around|idle|still)\b|\b(?:i am|we are|everyone is|team is) idle\b|\b(?:is|are) (?:basically |effectively |now |therefore )?(?:off|off the table|out of the question|on the shelf|up in smoke)(?: today| for now| until|[.!]*$)|
      \bnon-?starter\b|\bnot much \w+ (?:happening|going on)\b|\bnothing to (?:test|work|present|show|go on|build)\b|\b(?:can|could) not (?:happen|go (?:out|ahead|live)|proceed|continue)\b|
      \b(?:is|are|been|got) (?:closed|shut|queued|parked|grounded|quarantined|encrypted|deactivated|on strike|on leave|fully booked|sold out) (?:until|for|since|till|because|and|mid)\b|\bkills the\b|
      \b(?:makes?|leaves?|leaving) .{1,40}\b(?:impossible|unusable|pointless|no way|nothing|empty)\b|\bno end (?:time|date|in sight)\b|\bno replacement\b|\bnobody (?:can find|has the|took over|with (?:admin|access|the))\b|\bthe only one[.!]*$
    `,
    { despite: ["negated", "condition"] },
  ),
  cue(
    "blocker",
    "goes-bad",
    1.8,
    pattern`
      \bgo(?:es)? (?:white|black|blank|dark|silent|offline|haywire|crazy)\b|\bcuts? (?:us|me|it|them) off\b|\bonly (?:boots|starts|opens|works|comes up|prints) (?:into|in|to|with|half|the)\b|\bblows? (?:the|past|through|our)\b|
      \bshow(?:s|ing)? e-?\d+|\bnot want(?:s)? to (?:start|work|open|connect|print|run|load)\b|\bbounces? (?:me|us)\b|\b(?:me|us) in circles\b|\bnot permitted to\b|\bis absent\b|\bstuck there\b|\b(?:we|i) lost (?:the|our|my|all|access|contact|half|a)\b|\bonly (?:he|she|they|one person|\w+) (?:can|could|has the|have the|knows?|may)\b|\b(?:throws|returns|complains|errors with|fails with|crashes with) quote_|\buntil (?:the|it|my|our) [\w ]{2,30}(?:kills|dies|crashes|fails|runs out|hangs|freezes|reboots|stops)\b|\bdisagree by\b|\baccumulate\b|\bempty pages\b
    `,
    { despite: ["negated", "condition", "possible"] },
  ),
];

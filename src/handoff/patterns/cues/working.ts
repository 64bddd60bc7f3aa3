/** How people say that a thing does what it should now, and how they tick things off in few words. */
import { pattern } from "../pattern.ts";
import { type Cue, cue } from "./cue.ts";

/** A participle that ticks something off, as tagSteps writes it. */
const STEP = "S+";

export const WORKING_CUES: readonly Cue[] = [
  cue(
    "accomplishment",
    "now-does",
    1.7,
    pattern`
      ^(?!(?:so |and |but )?(?:now|i|we|he|she|they|you|what|why|if|when)\b)(?!.*\b(?:wants?|needs?|asks?|expects?|fails?|says|shows?|not|no|only|error|broken|instead of working|crash\w*)\b)(?:[\w'#./_-]+ ){1,6}(?:now (?:also |automatically |correctly |properly |only )?(?!(?:wants?|needs?|has|is|was|says|shows|includes|touches|asks|fails|costs)\b)[a-z]{3,}s\b|
      (?:[a-z]{2,}s|go|open|close|run|turn|come|start|stop|get|load|print|work|show|do|use|have|talk|sync|pass|match) (?:[\w'-]+ ){0,6}now\b(?! (?:that|we|i|and then)\b))
    `,
  ),
  cue(
    "accomplishment",
    "as-it-should",
    1.4,
    pattern`
      \b(?:as (?:it|they|he|she) should|as (?:expected|intended|requested|planned|promised)|properly|by (?:itself|themselves)|on (?:its|their|her|his) own(?: now)?[.!]*|for everyone|across (?:reloads|restarts|all)|
      still hold|on both sides|in one go|end to end|(?:first|second) try|nothing to (?:say|complain|report)|(?:no|zero|without (?:a single|any)) (?:downtime|findings?|regressions?|complaints|warnings|errors? (?:left|reported|any ?more)))\b|
      \breports? no (?:errors|problems|issues)\b|\bfirst time (?:since|in|ever)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "accomplishment",
    "ticked-off",
    1.6,
    pattern`
      (?:^|[:;,–-] |hooray_ )(?:(?:the|my|our|all|both|and|also|new|last|final) )*(?!(?:i|we|he|she|they|you|it|that|this|what|which|who|not|if|when|once|no|is|are|was|were|has|have|be|to|if|nobody|somebody|let|please|people|legal|someone|never|just|should|would|will|can|as|than)\b)(?:(?!(?:is|are|was|were|be|been|being|has|have|had|not|never|to|gets?|got|will|would|should|can|could|must|if|when|that|which|who|we|i|he|she|they|you|the|a|an|of the|as)\b)[\w#.'/&+-]+ ){1,4}(?:all |now |just |finally |already |fully |safely )?${STEP}(?: (?:in|out|off|up|over|down|back|through|away|on|round))?(?=$|[,.!;:)]| (?:and|\+|&|on|to|in|at|from|for|with|today|this|yesterday|again|now|without|into|across|twice)\b)
    `,
    { onSteps: true },
  ),
  cue(
    "accomplishment",
    "step-list",
    1.5,
    String.raw`^(?:${STEP}(?:,| and| \+| &) ){1,4}(?:and )?${STEP}\b|(?<!\b(?:be|is|are|was|were|not|to|if|once|when|get|gets) (?:\w+ )?)\b${STEP} (?:and|\+|&) ${STEP}(?=[.!,;]|$)`,
    { onSteps: true },
  ),
  cue(
    "accomplishment",
    "is-through",
    1.8,
    pattern`
      (?<!\bthe (?:green|red|second|other|first) one )\b(?:is|are) (?:now |finally |all |already |officially |safely )*(?:in(?: main| master| prod)?|through|over|behind us|up|back|out (?:the door|there|now|to)|off (?:my|our|the) (?:desk|plate|list|table now)|on air|handed (?:over|in)|signed off|wired|memori[sz]ed|printed|covered by|working and)(?=[.!,:;]|$| (?:since|now|as of|to|and|main|by)\b)|
      \b(?:the )?last of the\b.{1,40}\b(?:off|done|out|gone)\b|\bwe are (?:back|live|through|green|in|done)\b|\bno \w+ left (?:on|in)\b|\boff (?:my|our) (?:desk|plate|list)\b
    `,
  ),
  cue(
    "accomplishment",
    "got-done",
    1.8,
    String.raw`^(?:finally |just |and |ok |we |i |so )*(?:got|had|have) (?!not\b)(?:the|my|our|all|both|it|them|everything|\w+)(?: [\w-]+){0,4} (?:${STEP}|talking|to talk|going|aligned|in sync|up again)\b|\bi have (?:now|just|already) (?:finish|complete|fix|solve|make|send|write|translate|prepare|do)\b`,
    { onSteps: true },
  ),
  cue(
    "accomplishment",
    "came-through",
    1.7,
    pattern`
      \b(?:came back (?:in|up|clean|normal|ok|okay|good|green|empty-handed|signed|countersigned|approved|online|fine|positive|negative|with (?:a|the) (?:yes|ok))|gave us (?:first|second|third|the|an?)|survived (?:the|a|all|every)|held up|crossed (?:the|\d)|
      closed without|confirms? (?:\w+ )?(?:it|that|she|he|they|everything)|(?:can|could) (?:now|finally|again|\w+ (?:\w+ )?again)|(?:our|my|the) (?:very )?first (?:paying|real|external|complete|full|successful|working|clean)|found (?:a|an|the) \w+ (?:for|that|who)|went through|go through|goes through|wrapped up|struck .{1,30} (?:from|off)|took me a while|made it (?:in|through|to)|in under \d)\b
    `,
    { despite: ["possible", "past"] },
  ),
  cue(
    "accomplishment",
    "measured-better",
    1.8,
    pattern`
      \b(?:is|at|to|now|of) [~<]?\d[\d.,]*\S*,? (?:was|down from|up from|used to be|compared to|instead of|from) \S*\d|\bfrom \S*\d\S* (?:\w+ )?(?:down |up )?to \S*\d|\bstays? (?:flat|stable|below|under|green|at \d)\b|\bback (?:to|at|under|below|within) (?:baseline|normal|target|zero|budget|\d)|
      \ball \d+ (?:\w+ ){0,3}(?:pass|green|done|collected|migrated|fixed|match)|\b(\w+) (?:of|out of|\/) (?:the )?\1\b|\bexit(?:s|ed)? (?:with )?(?:code )?0\b|\b(?:rose|climbed|grew|jumped|fell|dropped|shrank) (?:up |down )?(?:to|by|from|below|under|above) \S*\d|\bwithout (?:a|any|one|a single) (?:crash|error|problem|issue|hitch|complaint|glitch|hiccup|warning|failure)|\bwent (?:great|well|smoothly|perfectly|quiet|fine)\b|\bclosing the (?:incident|ticket|issue)\b|\b\d+ tests? (?:pass|green)|\bcollects? all\b|\bcounts match\b
    `,
  ),
  cue(
    "accomplishment",
    "stays-away",
    2.2,
    pattern`
      \b(?:has|have) not (?:\w+ )?(?:come back|returned|recurred|reappeared|shown up|happened|failed|crashed|flaked|dropped|occurred|been seen|had (?:a|any) \w+)\b.{0,40}\b(?:since|once|again|in \d)|\b(?:no|not a single|not one) (?:\w+ )?(?:failure|crash|alert|error|complaint|drop|timeout|duplicate)s? since\b|
      \bno more (?:double|duplicate|broken|missing|failed|failing|lost|weird|random|false|flaky|timeouts?|crash\w*|errors?|alerts?)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "accomplishment",
    "is-gone",
    2.2,
    pattern`
      \b(?:is|are|'s|has|have|error|errors|alerts|problem|bug|warning|crash) (?:now |finally |all |completely |just )*(?:gone|
      disappeared|stopped|vanished|cleared(?: up)?|went away|no more)\b|\bno longer (?:crash\w*|
      fail\w*|break\w*|jump\w*|hang\w*|throw\w*|flicker\w*|leak\w*|happen\w*|appear\w*|an issue|
      blocked|stuck|broken|occur\w*|a problem|see\w*|get\w*|time\w*|need\w*|lag\w*|depend\w*)\b|\bno more (?!.*\b(?:today|tomorrow|until|tonight|this week)\b)(?!(?:than|
      wifi|manual|meetings|changes|features|of|time|money|questions|excuses|deploys|new|budget)\b)\w+|
      \bhas not (?:failed|crashed|happened|broken|flaked|occurred) (?:once|since|again)\b|\bnot (?:failed|
      crashed) once\b|\b(?:stopped|quit) (?:failing|crashing|leaking|flapping|happening|throwing|
      timing|flickering)\b
    `,
    { despite: ["negated"] },
  ),
  cue(
    "accomplishment",
    "improved",
    1.8,
    pattern`
      \b(?:down|up|dropped|went|cut|reduced|fell|rose|improved|brought|shrank|sped up) (?:\w+ ){0,4}?(?:from .{1,30} to|
      by \d|to \d|in half|back to normal)\b|\b\d[\d.,]*\w* ?(?:->|→|=>) ?\d|\bback to normal\b|
      \b\d+x (?:faster|smaller|cheaper)\b|\bhalved\b
    `,
  ),
  cue(
    "accomplishment",
    "tests-pass",
    2.2,
    pattern`
      \b(?:tests?|checks?|suite|ci|build|builds|pipeline|linters?|everything|specs?|all|audit|types|
      board|\d+) (?:(?!(?:should|must|will|to|can|not|would|could|if|when|need)\b)\w+ ){0,2}(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?|compile[sd]?)\b|
      \ball green\b|\b(?:0|zero|no) (?:failures|failed|errors|failing)(?:,| left| remaining)|\beverything(?:'s| is)? green\b
    `,
  ),
  cue(
    "accomplishment",
    "pr-up",
    1.9,
    pattern`
      \b(?:pr|mr|patch|draft|fix|branch|release|build|mockups|slides|site|page|link|service|server|
      prod|version|docs?)(?:'s| is| are| has been)? (?:\w+ )?(?:up|out|live|in(?! review| progress| the| question| a| figma)|
      pushed|back|back up|ready for review|merged|in figma|online)\b(?! (?:of|to|for (?:you|a)|
      and down))
    `,
  ),
];

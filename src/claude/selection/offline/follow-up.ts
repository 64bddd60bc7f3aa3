/**
 * Whether a task leans on what was done before instead of naming a subject of its own: "continue",
 * "it still fails", "now do the same for the other one". What it says besides decides: the more
 * subject of its own it has, the clearer its reference back must be.
 */
const GO_ON =
  /^(?:(?:ok(?:ay)?|hey|hi|yes|yep|yeah|great|good|perfect|nice|thanks|thank you|cool|alright|right|sure|fine|please|pls|and|now|then|so|hmm|well|lgtm|looks good)[\s,.!:-]*)*(?:continue|go on|go ahead|proceed|keep going|carry on|resume|pick up|do it|do that|do this|do so|try again|retry|try once more|once more|again|more of|next(?: step| one| part| item)?$|finish (?:it|this|that|up|what)|wrap (?:it|this|that|up)|same (?:again|thing|for|here|error|problem|issue)|let's (?:continue|go on|finish|proceed)|undo|revert|roll (?:it|that|this) back|yes|yep|sounds good|merge it|ship it|commit|push|amend|squash|and\b.{0,12}$)/;
const LOOKS_BACK =
  /\b(?:as (?:discussed|agreed|planned|proposed|suggested|before|you (?:said|suggested|proposed|described|planned))|like (?:before|last time|you (?:did|said))|(?:where|what) (?:you|we) (?:left|stopped|were|had|did|just|started|discussed)|left off|left over|you(?:'ve| have)? (?:just |already )?(?:forgot|missed|did|changed|said|suggested|wrote|broke|mentioned|proposed|started|made|added|introduced|removed|created|left|skipped|overlooked|promised|showed)|your (?:(?:last|first|second|third|previous|latest|earlier) )?(?:suggestion|change|changes|plan|proposal|idea|fix|patch|approach|solution|version|commit|edit|answer|refactoring|implementation|work|draft|attempt|list|summary|comment|question|points?|findings?|notes?|review|analysis)|(?:the|that|this) (?:first|second|third|last|latter|former|previous|other|remaining|next|same|earlier|above)(?: (?:one|ones|two|three|point|item|bullet|question|option|suggestion|approach|step|part|half|point|item|bullet|question|idea|variant|version|alternative|thing|error|problem|issue|change|place|file|files|page|case|cases))?(?=\s*(?:$|[.,;:!?]|\b(?:but|and|with|without|instead|please|too|again|as|now|is|was|still|broke|fails|for|from)\b))|(?:do|does|apply|make|want|need|try|repeat) (?:exactly )?the same|the same (?:for|in|with|to|way|again|as|thing|change|fix|treatment)\b|same (?:thing|error|problem|issue|again|as before|for the)|the rest(?: of (?:it|them|that|those))?\b|still (?:fail|fails|failing|broken|breaks|wrong|not|doesn't|does not|there|red|slow|happens|happening|the same|crashes|crashing|get|getting|see|seeing|an? |open|missing|flaky|too)|not yet|what(?:'s| is) (?:left|next|missing|the status|still open)|anything (?:else|left)|are (?:we|you) (?:done|finished|ready)|is (?:it|that|this|everything) (?:done|finished|ready)|(?:show|explain|summari[sz]e|describe) (?:me )?(?:what|which|why|how) (?:you|we)|(?:show|see) (?:me )?(?:the|your) (?:diff|changes)|which files did you|not what i (?:meant|asked|wanted)|didn't (?:work|help|fix)|did not (?:work|help|fix)|doesn't work (?:yet|either)|no luck|instead of (?:that|this|it)|other way (?:a)?round|one more time|back to (?:it|that|what)|from (?:before|earlier|yesterday|last time)|(?:yesterday(?!'s)|earlier|last time|previously|just now|a (?:moment|minute|second) ago)\b|you (?:stopped|were (?:on|at|working|about)|are not (?:done|finished)))/;
const POINTS =
  /(?:^|\b(?:for|do|does|did|to|of|like|with|about|after|from|on|in|into|around|behind|without|is|was|are|why|how|when|make|made|fix|change|undo|revert|use|rename|remove|test|tests|explain|move|keep|drop|commit|merge|push|ship|try|run|extract|split|document|delete|simplify|shorten|call|put|cover|squash|clean up|speed up|turn|see|think|and|but|hmm|hm|ok|also|now|then|finish|deploy|release|review|check|verify|format|wrap|handle|replace|update|extend|log|cache|translate|squash) )[\s,]*(?:it|that|this|those|these|them|they)\b(?! (?:possible|easy|easier|harder|clear|clearer|impossible|should|would|shows|lists|has|contains|handles|posts|sends))/;
const AS_WELL = /\b(?:as well|too)[\s.!?]*$/;
const GIT_ERRAND =
  /^(?:please |pls |now |then |and |ok,? |great,? |so )*(?:commit|push|squash|rebase|amend|merge|open (?:a |the )?(?:pr|pull request|mr)|create (?:a |the )?(?:pr|pull request|mr)|raise a pr|make a (?:pr|commit)|stage|stash|tag it)\b/;
const ADDS =
  /^(?:one more thing|while you(?:'re| are) at it|and|also|plus|additionally|now|then|next|but|hmm|actually|ah|oh|ok|okay|wait)\b/;

/** Who writes more than this says what it is about. */
const MAX_FOLLOW_UP = 300;

const STARTS_ANEW =
  /\b(?:new (?:task|topic|thing|job|subject)|(?:next|another|different|other|separate) (?:topic|task|subject)|something (?:completely |entirely |totally |else |)(?:different|new|else|unrelated)|unrelated(?:ly)?|switch(?:ing)? (?:gears|topics?)|change of (?:topic|plan|subject)|from scratch|start(?:ing)? (?:over|afresh|anew|fresh)|forget (?:that|about|the)|on another note|separately|next (?:ticket|issue|story))\b|^next:|^(?:ok(?:ay)?,? )?now something else/;

/** Whether a task says itself that it is something else. */
export function startsAnew(task: string): boolean {
  return STARTS_ANEW.test(task.slice(0, MAX_FOLLOW_UP).toLowerCase());
}

/**
 * `subject`: how much own subject such a reference bears, in weights of units. `named`: how much evidence
 * that subject must be for a session to be meant instead of the one used last; `isClear`: even if it is
 * too little evidence without the reference.
 */
interface Reference {
  subject: number;
  named: number;
  isClear?: boolean;
}

/** "Doesn't work on my machine": a task without any subject can only mean what went before. */
const SAYS_NOTHING: Reference = { subject: 0.05, named: -1 };

const REFERENCES: readonly (readonly [RegExp, Reference])[] = [
  [LOOKS_BACK, { subject: 1.8, named: -0.3, isClear: true }],
  [GO_ON, { subject: 1.3, named: -1, isClear: true }],
  [POINTS, { subject: 1.2, named: 0.5 }],
  [AS_WELL, { subject: 0.8, named: 0.3 }],
  [GIT_ERRAND, { subject: 0.8, named: 0.3 }],
  [ADDS, { subject: 0.35, named: 0 }],
];

/** How a task may refer back, and what it says besides; undefined when it cannot. */
export function referenceBack(task: string): { reference: Reference; rest: string } | undefined {
  if (task.length > MAX_FOLLOW_UP) return undefined;
  const text = task.toLowerCase().replaceAll("’", "'").trim();
  if (startsAnew(text)) return undefined;
  const found = REFERENCES.find(([pattern]) => pattern.test(text));
  return found === undefined
    ? { reference: SAYS_NOTHING, rest: text }
    : { reference: found[1], rest: text.replace(found[0], " ") };
}

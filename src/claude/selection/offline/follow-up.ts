/**
 * Whether a task is a follow-up: it has no topic of its own and can only mean the work before it, as
 * "continue", "push it", "it still fails" and "now the tests" do. A verb proves nothing: "push
 * notifications" and "undo support" are new work. So the other words decide: in a follow-up they have
 * no topic, or they are words of the session.
 */
import { wordWeight } from "./lexicon/common-words.ts";
import { stem } from "./stem.ts";
import { readUnits } from "./units.ts";
import { takeApart } from "./words.ts";

export interface FollowUp {
  /** How much topic the task has that a session does not share. `shared`: stems of the words of both. */
  ownTopic(shared: ReadonlySet<string>): number;
  /** With up to this much topic of its own the task surely refers back. */
  sure: number;
  /** With up to this much it may refer back. */
  doubtful: number;
}

/** One ordinary word: "make it blue". */
const LITTLE = 0.45;
/** One word with a topic. */
const SOME = 1.2;
/** Two or three of them. */
const MUCH = 2.5;

/** Longer messages say what they are about. */
const MAX_FOLLOW_UP = 300;
/** In words, for messages without any reference: "the tests are still red". */
const MAX_PLAIN = 9;

const STARTS_ANEW =
  /\b(?:new (?:task|topic|thing|job|subject)|(?:next|another|different|other|separate) (?:topic|task|subject)|something (?:completely |entirely |totally |else |)(?:different|new|else|unrelated)|unrelated(?:ly)?|switch(?:ing)? (?:gears|topics?)|change of (?:topic|plan|subject)|from scratch|start(?:ing)? (?:over|afresh|anew|fresh)|forget (?:that|about|the)|on another note|separately|next (?:ticket|issue|story))\b|^next:|^(?:ok(?:ay)?,? )?now something else/;

/** Speaks of what the agent did, or of the conversation. */
const CONVERSATION =
  /\b(?:as (?:discussed|agreed|planned|proposed|suggested|before|you (?:said|suggested|proposed|described|planned))|like (?:before|last time|you (?:did|said))|(?:where|what) (?:you|we) (?:left|stopped|were|had|did|just|started|discussed)|left off|you(?:'ve| have)? (?:just |already )?(?:forgot|missed|did|changed|said|suggested|wrote|broke|mentioned|proposed|started|made|added|introduced|removed|created|left|skipped|overlooked|promised|showed|stopped)|you were (?:on|at|working|about)|not what i (?:meant|asked|wanted)|(?:did not|didn't) (?:work|help|fix))\b/;

const PHRASE_END = String.raw`(?=\s*(?:$|[.,;!?)]|(?:is|was|are|were|for|to|in|into|on|as|with|without|and|but|or|again|now|too|please|first|instead|then|up|out|back|down|over|still|here|there|does|doesn't|did|didn't|also)\b))`;
/** "Do this: …", "this is the task: …". */
const ANNOUNCES = String.raw`(?: (?:please|now|first|next|instead|is (?:the|my|our|your|a) (?:\w+ )?\w+))?\s*:`;
/** "It would be nice to …", "make it possible to …". */
const EMPTY_IT = String.raw` (?:(?:would|should|could|might|must) be )?(?:possible|impossible|easy|easier|hard|harder|clear|clearer|nice|good|great|helpful|useful|cool)\b`;
/** A word for something said before. Not "this app", "check that the", nor one for what comes next. */
const PRONOUN = new RegExp(
  String.raw`\b(?:(?:it|them)\b(?!\s*:|${EMPTY_IT})|(?:(?:that|this|those|these)(?!${ANNOUNCES})|same|the rest|the other|the (?:\w+ )?ones?|your (?:\w+ )?(?:suggestion|changes?|plan|proposal|idea|fix|patch|approach|solution|version|commits?|edits?|answer|refactoring|implementation|work|draft|attempt|list|summary|comments?|questions?|points?|findings?|notes?|review|analysis))${PHRASE_END})`,
);
const VERB_WITH_PRONOUN = new RegExp(String.raw`(\w+) ${PRONOUN.source}`, "g");
const INSTEAD = /\binstead\s*(?:$|[.,;!?)])/;

/** Verbs and nouns for the work at hand, whatever it is about. */
const ACTS = new Set(
  "continue proceed ahead resume retry rerun redo undo revert commit push merge ship amend squash rebase finish wrap".split(
    " ",
  ),
);
/** Before the name of a feature: "add undo", "support resume". */
const MAKING = new Set("add implement support introduce build".split(" "));
/** "Push-to-talk" is a name. */
const NAME_OF_ACT = new RegExp(`\\b(?:${[...ACTS].join("|")})-\\w`);
const WORK = new Set(
  "change changes commits edits fix fixes work implementation diff result origin docs documentation".split(" "),
);

/** Before the name of something new. */
const INDEFINITE = new Set("a an new another some every each of for".split(" "));

/** Whether a task says itself that it is something else. */
export function startsAnew(task: string): boolean {
  return STARTS_ANEW.test(task.slice(0, MAX_FOLLOW_UP).toLowerCase());
}

/** Undefined when the task surely has a topic of its own. */
export function readFollowUp(task: string): FollowUp | undefined {
  const text = task.toLowerCase().replaceAll("’", "'").trim();
  if (text.length > MAX_FOLLOW_UP || startsAnew(text)) return undefined;
  const { words, codes, paths } = takeApart(task);
  if (codes.size + paths.length > 0 || NAME_OF_ACT.test(text)) return undefined;
  const verbs = new Set(Array.from(text.matchAll(VERB_WITH_PRONOUN), ([, verb = ""]) => verb));
  const isAboutConversation = CONVERSATION.test(text);
  const mayRefer = isAboutConversation || INSTEAD.test(text) || hasLoosePronoun(text, verbs);
  const refers = mayRefer || words.some((word) => ACTS.has(word));
  if (!refers && words.length > MAX_PLAIN) return undefined;
  return {
    // Words of a session are no reference to it by themselves.
    ownTopic: (shared) => topicOf(words, verbs, refers ? shared : NOTHING_SHARED),
    sure: isAboutConversation ? MUCH : LITTLE,
    doubtful: isAboutConversation ? MUCH : mayRefer ? SOME : LITTLE,
  };
}

const NOTHING_SHARED: ReadonlySet<string> = new Set();

/** A pronoun for nothing in the message itself. In "add a list and sort it", "it" is the list. */
function hasLoosePronoun(text: string, verbs: ReadonlySet<string>): boolean {
  const first = text.search(PRONOUN);
  return first >= 0 && topicOf(takeApart(text.slice(0, first)).words, verbs, NOTHING_SHARED) < SOME;
}

function topicOf(words: readonly string[], verbs: ReadonlySet<string>, shared: ReadonlySet<string>): number {
  const units = readUnits(words);
  const craft = new Set(units.flatMap(({ aspect, label }) => (aspect === undefined ? [] : label.split(" "))));
  const hasTopic = (word: string): boolean =>
    wordWeight(word) > 0 &&
    !/^\d+$/.test(word) &&
    ![craft, ACTS, WORK, verbs].some((topicless) => topicless.has(word)) &&
    !shared.has(stem(word));
  const sum = units
    .filter(({ weight, label }) => weight >= 0.3 && label.split(" ").some(hasTopic))
    .reduce((total, { weight }) => total + weight, 0);
  // "Undo support", "a list": there even a common word names something new. "The list" was mentioned before.
  const isName = (word: string, before: string): boolean =>
    ACTS.has(word)
      ? MAKING.has(before)
      : hasTopic(word) &&
        !word.endsWith("ing") &&
        (INDEFINITE.has(before) || (wordWeight(before) > 0 && !craft.has(before)));
  const namesSomething = words.some((word, at) => at > 0 && isName(word, words[at - 1] ?? ""));
  return namesSomething ? Math.max(sum, SOME) : sum;
}

/**
 * The second step of a capture: from digests to the lines of a hand-off, from scratch each time. Facts come first (to-do
 * lists, an unresolved failure, commits, requests without a completed answer); sentences are listed only where the
 * signals around them make the judge sure enough. No sentence is listed twice, and at most three in a section.
 */
import { overlap } from "../matter.ts";
import { excerpt } from "../patterns/content.ts";
import type { CarriedState, SummaryItem, SummaryKind } from "../state.ts";
import { type Conversation, type Line, readConversation, type Spoken } from "./conversation.ts";
import { hasCue } from "./cues.ts";
import { factItems } from "./facts.ts";
import { standingInheritance } from "./inherited.ts";
import { openRequests } from "./requests.ts";
import { type JudgeWeights, SECTIONS, shippedWeights, sureness, WEIGHED, type Weighed } from "./score.ts";
import { isUndisputed, signalsOf, type Situation, situationOf } from "./signals.ts";

const MOST_LINES = 3;
const MOST: Readonly<Record<Weighed, number>> = {
  blocker: 2,
  decision: 3,
  accomplishment: 2,
  "next-step": 1,
};
/** Two lines of one section that share so much say the same. */
const SAME = 0.5;

export interface JudgeOptions {
  project: string;
  /** Default: the shipped ones. */
  weights?: JudgeWeights | undefined;
}

/** By kind, in the order of a hand-off. */
export function judge(carried: CarriedState, { project, weights = shippedWeights() }: JudgeOptions): SummaryItem[] {
  const digests = carried.digests.filter((digest) => digest.project === project);
  const conversation = readConversation(digests);
  const todos = carried.todos?.project === project ? carried.todos.items.filter(({ text }) => text !== "") : [];
  const open = todos.filter(({ status }) => status !== "completed");
  const situation = situationOf(conversation, { open: open.length, all: todos.length });
  const candidates = readCandidates(conversation, situation, weights);
  const chosen = choose(candidates, weights, conversation);
  const lines = toLines(chosen);
  const place = carried.todos;
  const listed = place === undefined ? [] : todoLines(open, place);
  const taken = takenIn(chosen);
  const nextStep = chosen.get("next-step")?.[0]?.spoken;
  const isUnfinished = situation.isUnfinished || nextStep !== undefined || chosen.get("blocker")?.length !== 0;
  const inProgress =
    listed.length > 0 ? listed : openRequests(conversation, { ...situation, isUnfinished }, { taken, nextStep });
  const done = [...commitLines(conversation), ...(lines.get("accomplishment") ?? [])];
  const own: SummaryItem[] = [
    ...as("in-progress", inProgress.slice(0, MOST_LINES)),
    ...as("blocker", lines.get("blocker") ?? []),
    ...as("decision", lines.get("decision") ?? []),
    ...as("accomplishment", distinct(done).slice(0, MOST_LINES)),
    ...as("next-step", lines.get("next-step") ?? []),
  ];
  const inherited = standingInheritance(carried.inherited, conversation, own, project);
  const all = [...own, ...inherited].sort(byKind);
  // Small talk has an end as well, and nobody needs to know it.
  return all.length === 0 && !conversation.hasTools ? [] : [...all, ...factItems(carried, conversation, project)];
}

interface Candidate {
  spoken: Spoken;
  section: Weighed;
  sure: number;
}

function readCandidates(conversation: Conversation, situation: Situation, weights: JudgeWeights): Candidate[] {
  return conversation.turns
    .filter(({ digest }) => digest.isEcho !== true && digest.isCut !== true)
    .flatMap(({ spoken }) => spoken)
    .filter(({ said }) => isListable(said.text))
    .flatMap((one) => {
      const signals = signalsOf(one, situation);
      const isPlain = isUndisputed(one, situation);
      return WEIGHED.map((section) => {
        const sure = sureness(signals, weights[section]);
        return { spoken: one, section, sure: isPlain && saysPlainly(one, section) ? Math.max(sure, PLAIN) : sure };
      });
    });
}

const JOKE = /[😂🤣💀🙃😅😎🤡]|\b(?:lol|haha+|hehe)\b/iu;
const QUOTE = /["“”„«»]/;

/** Jokes, other people's words and a mere "go on" are never listed. */
function isListable(text: string): boolean {
  if (JOKE.test(text) || (QUOTE.test(text) && hasCue(text, "reports"))) return false;
  return text.length >= SHORT || !hasCue(text, "goesOn");
}

/** How sure the judge is of a plain statement that nobody disputes. */
const PLAIN = 0.85;
const PLAIN_SCORE = 1;
/** Longer sentences say with what to go on. */
const SHORT = 60;
const SCORE_OF: Partial<Record<Weighed, number>> = { blocker: 0, decision: 1 };

function saysPlainly({ said: { text, scores = [] } }: Spoken, section: Weighed): boolean {
  if (section === "next-step") return hasCue(text, "namesNext") || /^next\b/i.test(text);
  const score = scores[SCORE_OF[section] ?? -1] ?? -1;
  return score >= (hasCue(text, "declares") ? 0 : PLAIN_SCORE) && score === Math.max(...scores);
}

/** The surest first; a sentence belongs to one section. */
function choose(
  candidates: readonly Candidate[],
  weights: JudgeWeights,
  conversation: Conversation,
): ReadonlyMap<Weighed, Candidate[]> {
  const chosen = new Map<Weighed, Candidate[]>(WEIGHED.map((section) => [section, []]));
  const failed = failureReport(candidates, conversation);
  if (failed !== undefined) chosen.get("blocker")?.push(failed);
  const sure = candidates.filter(({ section, sure: value }) => value >= weights[section].threshold);
  for (const candidate of sure.toSorted((a, b) => b.sure - a.sure)) {
    const list = chosen.get(candidate.section) ?? [];
    const isTaken =
      takenIn(chosen).has(candidate.spoken) || list.some(({ spoken }) => isSame(spoken, candidate.spoken));
    if (!isTaken && list.length < MOST[candidate.section]) list.push(candidate);
  }
  return chosen;
}

function takenIn(chosen: ReadonlyMap<Weighed, readonly Candidate[]>): Set<Spoken> {
  return new Set(Array.from(chosen.values()).flatMap((list) => list.map(({ spoken }) => spoken)));
}

function isSame(a: Spoken, b: Spoken): boolean {
  return overlap(a.matter, b.matter, 2) > SAME;
}

/** The agent's own words about a failure that was not seen to pass since. */
function failureReport(candidates: readonly Candidate[], { failure }: Conversation): Candidate | undefined {
  if (failure === undefined) return undefined;
  return candidates
    .filter(
      ({ section, spoken }) => section === "blocker" && spoken.turn === failure.turn && spoken.said.isQuestion !== true,
    )
    .reduce<Candidate | undefined>((best, one) => (best === undefined || one.sure > best.sure ? one : best), undefined);
}

function toLines(chosen: ReadonlyMap<Weighed, readonly Candidate[]>): Map<Weighed, Line[]> {
  const taken = takenIn(chosen);
  return new Map(
    Array.from(chosen, ([section, list]) => [
      section,
      list
        .toSorted((a, b) => b.spoken.turn.place - a.spoken.turn.place)
        .map(({ spoken }) => lineOf(spoken, section, taken)),
    ]),
  );
}

const LONGEST = 200;
/** Sections whose lines need the sentence before ("She is out until Thursday.") or after to be understood. */
const WITH_BEFORE: ReadonlySet<Weighed> = new Set(["blocker", "decision"]);
const WITH_AFTER: ReadonlySet<Weighed> = new Set(["decision"]);

/** With a neighbour of the same message, where both fit into one line. */
function lineOf(spoken: Spoken, section: Weighed, taken: Set<Spoken>): Line {
  const { turn, said } = spoken;
  const at = turn.spoken.indexOf(spoken);
  let text = said.text;
  const join = (other: Spoken | undefined, isBefore: boolean): void => {
    if (other === undefined || taken.has(other) || !mayJoin(other)) return;
    const joined = isBefore ? `${other.said.text} ${text}` : `${text} ${other.said.text}`;
    if (joined.length > LONGEST) return;
    text = joined;
    taken.add(other);
  };
  if (WITH_AFTER.has(section)) join(turn.spoken[at + 1], false);
  if (WITH_BEFORE.has(section)) join(turn.spoken[at - 1], true);
  return { text: tidy(text), entryId: turn.digest.entryId, timestamp: turn.digest.timestamp };
}

function mayJoin({ said, matter }: Spoken): boolean {
  return said.isQuestion !== true && said.isItem !== true && matter.size > 1 && !hasCue(said.text, "chats");
}

/** The word that ties a sentence to the one before it ties a line to nothing. */
function tidy(text: string): string {
  return excerpt(text.replace(/^(?:(?:but|and|also|so|ok(?:ay)?|hmm?|ugh|well|yeah|then)[,:]?\s+)+(?=\S)/i, ""));
}

function todoLines(
  open: readonly { text: string; status: string }[],
  { entryId, timestamp }: Pick<SummaryItem, "entryId" | "timestamp">,
): Line[] {
  const begun = open.filter(({ status }) => status === "in_progress");
  const pending = open.filter(({ status }) => status !== "in_progress");
  return [...begun, ...pending].slice(0, MOST_LINES).map(({ text }) => ({ text, entryId, timestamp }));
}

function commitLines({ turns }: Conversation): Line[] {
  const commits = turns.flatMap(({ digest }) => digest.commits ?? []);
  return commits.slice(-2).map(({ hash, subject, entryId, timestamp }) => {
    return { text: excerpt(`Committed ${hash}: ${subject}`), entryId, timestamp };
  });
}

function distinct(lines: readonly Line[]): Line[] {
  return lines.filter(({ text }, index) => !lines.slice(0, index).some((before) => before.text === text));
}

const ORDER: readonly SummaryKind[] = ["topic", ...SECTIONS];

function byKind(a: SummaryItem, b: SummaryItem): number {
  return ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind);
}

function as(kind: SummaryKind, lines: readonly Line[]): SummaryItem[] {
  return lines.map((line) => ({ kind, ...line }));
}

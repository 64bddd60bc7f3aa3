/**
 * The second step of a capture: from digests to the lines of a hand-off, from scratch each time. Facts come first (to-do
 * lists, an unresolved failure, commits); sentences are listed only where the signals around them make the judge sure
 * enough. No sentence is listed twice, and a section has at most three lines.
 */
import { overlap } from "../matter.ts";
import { excerpt } from "../patterns/content.ts";
import { type Section, SECTIONS, WORDED } from "../patterns/note.ts";
import { type CarriedState, SUMMARY_KINDS, type SummaryItem } from "../state.ts";
import { UNANSWERED, workFacts } from "../work-facts.ts";
import type { Conversation, Line, Outcome, Spoken, Turn } from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";
import { standingInheritance } from "./inherited.ts";
import { LONGEST, linesInProgress } from "./open-work.ts";
import { type JudgeWeights, shippedWeights } from "./score.ts";
import { holds, isFragment, isListable, mayBe, weigh, type Weighed, type Work } from "./weigh.ts";

const MOST_LINES = 3;
const MOST: Readonly<Record<Section, number>> = {
  "in-progress": 1,
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
  const weighed = weigh(carried, { project, weights });
  const { conversation } = weighed;
  // All sections choose before lines are joined with their neighbours.
  const sentencesOf = WORDED.map((section) => [section, choose(weighed, section)] as const);
  const chosen = new Map<Section, Line[]>(
    sentencesOf.map(([section, found]) => [section, found.map((one) => lineOf(one, section, weighed))]),
  );
  const inProgress = linesInProgress(weighed, carried, project);
  const done = [...commitLines(conversation), ...(chosen.get("accomplishment") ?? [])];
  chosen.set("in-progress", inProgress).set("accomplishment", done.slice(0, MOST_LINES));
  const own = SECTIONS.flatMap((kind) => (chosen.get(kind) ?? []).map((line): SummaryItem => ({ kind, ...line })));
  const inherited = standingInheritance(carried.inherited, conversation, own, project);
  const all = [...own, ...inherited].sort((a, b) => orderOf(a) - orderOf(b));
  // Small talk has an end as well, but it is not worth a line.
  if (all.length === 0 && !conversation.hasTools) return [];
  const digests = conversation.turns.map(({ digest }) => digest);
  return [...all, ...requestFact(conversation), ...workFacts(carried, digests, project)];
}

function orderOf({ kind }: SummaryItem): number {
  return SUMMARY_KINDS.findIndex((one) => one === kind);
}

/** The surest first. A sentence belongs to one section. */
function choose(work: Work, section: Section): Weighed[] {
  const { sentences, taken, conversation } = work;
  const failed = section === "blocker" ? failureReport(work) : undefined;
  const chosen = failed === undefined ? [] : [failed];
  for (const { spoken } of chosen) taken.add(spoken);
  const sure = sentences.filter((one) => {
    const { spoken, sure } = one;
    return (
      sure[section] >= 0 &&
      WORDED.every((other) => sure[section] >= sure[other]) &&
      isListable(spoken) &&
      (!isFragment(spoken) || (section === "decision" && proposalFor(spoken, work) !== undefined)) &&
      holds(one, section, conversation) &&
      mayBe(spoken, section, conversation)
    );
  });
  for (const one of sure.toSorted((a, b) => b.sure[section] - a.sure[section])) {
    if (chosen.length >= MOST[section]) break;
    const isSaid = chosen.some(({ spoken }) => isSame(spoken, one.spoken) || isNext(spoken, one.spoken));
    if (isSaid || taken.has(one.spoken)) continue;
    chosen.push(one);
    taken.add(one.spoken);
  }
  if (section === "next-step") work.nextStep = chosen[0]?.spoken;
  return chosen.sort((a, b) => b.spoken.turn.place - a.spoken.turn.place);
}

/** Below this, the words are about something else. */
const LEAST_FAILURE = -1;

/** The agent's own words about a failure that was not seen to pass since. */
function failureReport({ sentences, conversation: { failure } }: Work): Weighed | undefined {
  return sentences
    .filter(
      ({ spoken, sure }) =>
        failure !== undefined &&
        spoken.turn === failure.turn &&
        isListable(spoken) &&
        !isFragment(spoken) &&
        sure.blocker >= LEAST_FAILURE,
    )
    .reduce<Weighed | undefined>((a, b) => (a === undefined || b.sure.blocker > a.sure.blocker ? b : a), undefined);
}

function isSame(a: Spoken, b: Spoken): boolean {
  return overlap(a.matter, b.matter, 2) > SAME;
}

/** Two sentences in a row make one line. */
function isNext(a: Spoken, b: Spoken): boolean {
  return a.turn === b.turn && Math.abs(a.said.at - b.said.at) === 1;
}

/** With its neighbours in the message, the surer one first, where they fit into one line. */
function lineOf({ spoken }: Weighed, section: Section, work: Work): Line {
  const { sentences, taken } = work;
  const { turn } = spoken;
  const parts = [spoken];
  const near = sentences
    .filter((one) => isNext(one.spoken, spoken) && one.sure[section] >= 0 && mayJoin(one.spoken))
    .sort((a, b) => b.sure[section] - a.sure[section]);
  for (const one of near) {
    const length = [...parts, one.spoken].reduce((sum, { said }) => sum + said.text.length + 1, 0);
    if (taken.has(one.spoken) || length > LONGEST) continue;
    parts.push(one.spoken);
    taken.add(one.spoken);
  }
  const text = parts
    .sort((a, b) => a.said.at - b.said.at)
    .map(({ said }) => said.text)
    .join(" ");
  const { entryId, timestamp } = turn.digest;
  const partner = section === "decision" ? proposalFor(spoken, work) : undefined;
  const added = partner === undefined ? text : `${text.replace(/[.\s]+$/, "")} — ${partner.said.text}`;
  if (partner === undefined || added.length > LONGEST) return { text: tidy(text), entryId, timestamp };
  work.taken.add(partner);
  return { text: tidy(added), entryId, alsoFrom: partner.turn.digest.entryId, timestamp };
}

/** The proposal that a mere "yes" accepts, or that a pick of one or two words names. */
function proposalFor(spoken: Spoken, { conversation, taken, sentences }: Work): Spoken | undefined {
  const { turn, matter } = spoken;
  const isYes = turn.agrees && matter.size === 0;
  if (!isYes && !(isFragment(spoken) && turn.digest.role === "user")) return undefined;
  const before = conversation.before(turn);
  const proposals = sentences.filter(
    ({ spoken: one }) =>
      one.turn === before &&
      one.turn.digest.role === "assistant" &&
      isListable(one) &&
      one.matter.size >= 2 &&
      !taken.has(one) &&
      !hasCue(one.said.text, "or") &&
      (isYes || overlap(matter, one.matter) > 0),
  );
  return proposals.sort((a, b) => b.sure.decision - a.sure.decision)[0]?.spoken;
}

function mayJoin(spoken: Spoken): boolean {
  return (
    isListable(spoken) && spoken.said.isItem !== true && spoken.matter.size > 1 && !hasCue(spoken.said.text, "chats")
  );
}

/** The word that ties a sentence to the one before it ties a line to nothing. */
function tidy(text: string): string {
  return excerpt(text.replace(/^(?:(?:but|and|also|so|ok(?:ay)?|hmm?|ugh|well|yeah)[,:]?\s+)+(?=\S)/i, ""));
}
function commitLines({ turns }: Conversation): Line[] {
  const commits = turns.flatMap(({ digest }) => digest.commits ?? []);
  const lines = commits.slice(-2).map(({ hash, subject, entryId, timestamp }) => {
    return { text: excerpt(`Committed ${hash}: ${subject}`), entryId, timestamp };
  });
  return lines.filter(({ text }, index) => !lines.slice(0, index).some((before) => before.text === text));
}

/** The last request, if no completed answer followed. */
function requestFact({ turns, outcomeOf, failure }: Conversation): SummaryItem[] {
  const last = turns.findLast(({ digest, isChat }) => digest.role === "user" && !isChat && digest.sentences > 0);
  if (last === undefined || isRemark(last) || isMereYes(last)) return [];
  const { entryId, timestamp } = last.digest;
  const outcome = outcomeOf(last);
  // Words of trouble are not a fact; a failed command is.
  if (outcome === "failed" && failure === undefined) return [];
  const text = REQUESTS[outcome];
  return text === undefined ? [] : [{ kind: "request", text, entryId, timestamp }];
}

/** Praise or a statement needs no answer. In other languages, statements and requests look the same. */
function isRemark({ agrees, asks, spoken }: Turn): boolean {
  const isRequesting = spoken.some(({ said }) => isRequest(said.text) || said.scores === undefined);
  return !asks && !isRequesting && (agrees || spoken.every(({ said }) => (said.scores?.[TASK] ?? 0) < 0));
}

/** In any language. */
function isMereYes({ agrees, asks, spoken }: Turn): boolean {
  return agrees && !asks && spoken.every(({ matter }) => matter.size < 2);
}

/** Of a sentence's scores: asks for a piece of work. */
const TASK = 3;

const REQUESTS: Partial<Record<Outcome, string>> = {
  ...UNANSWERED,
  asked: "The agent asked back and got no answer.",
  failed: "The last answer ended with a failure.",
};

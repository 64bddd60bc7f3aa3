/**
 * The second step of a capture: from digests to the lines of a hand-off, from scratch each time. Facts come first (to-do
 * lists, an unresolved failure, commits); sentences are listed only where the signals around them make the judge sure
 * enough. No sentence is listed twice, and a section has at most three lines.
 */
import { overlap } from "../matter.ts";
import { excerpt } from "../patterns/content.ts";
import type { CarriedState, Digest, SummaryItem, SummaryKind } from "../state.ts";
import {
  type Conversation,
  type Line,
  type Outcome,
  readConversation,
  type Spoken,
  type Turn,
} from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";
import { factItems } from "./facts.ts";
import { standingInheritance } from "./inherited.ts";
import { type JudgeWeights, type Section, SECTIONS, shippedWeights, sureness } from "./score.ts";
import { isUndisputed, type Signals, signalsOf, type Situation, situationOf } from "./signals.ts";

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
  const { conversation, situation, sentences } = weighed;
  const chosen = new Map<Section, Line[]>(
    WORDED.map((section) => [section, choose(weighed, section).map((one) => lineOf(one, section, weighed))]),
  );
  const isCalledOff = situation.lastUser !== undefined && isCallOff(situation.lastUser);
  const isOpen = !isCalledOff && sureness(openSignals(situation, sentences), weights.open) >= 0;
  const todos = todoLines(carried, project);
  const candidates = [
    todos,
    openRequests(weighed, NO_ANSWER),
    isOpen ? openWork(weighed) : [],
    openRequests(weighed, FAILED_ANSWER),
  ];
  const inProgress = candidates.find((lines) => lines.length > 0) ?? [];
  const done = [...commitLines(conversation), ...(chosen.get("accomplishment") ?? [])];
  chosen.set("in-progress", inProgress).set("accomplishment", done.slice(0, MOST_LINES));
  const own = SECTIONS.flatMap((kind) => (chosen.get(kind) ?? []).map((line): SummaryItem => ({ kind, ...line })));
  const inherited = standingInheritance(carried.inherited, conversation, own, project);
  const all = [...own, ...inherited].sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  // Small talk has an end as well, but it is not worth a line.
  return all.length === 0 && !conversation.hasTools ? [] : [...all, ...factItems(carried, conversation, project)];
}

const ORDER: readonly SummaryKind[] = ["topic", ...SECTIONS];
/** In the order in which sections take their sentences. */
export const WORDED = ["next-step", "blocker", "decision", "accomplishment"] as const satisfies readonly Section[];

/** A sentence with how sure each section is of it. */
export interface Weighed {
  spoken: Spoken;
  signals: Signals;
  sure: Readonly<Record<Section, number>>;
}

interface Work {
  conversation: Conversation;
  situation: Situation;
  sentences: readonly Weighed[];
  taken: Set<Spoken>;
  weights: JudgeWeights;
  nextStep: Spoken | undefined;
}

function weigh(carried: CarriedState, { project, weights }: { project: string; weights: JudgeWeights }): Work {
  const conversation = readConversation(carried.digests.filter((digest) => digest.project === project));
  const todos = carried.todos?.project === project ? carried.todos.items.filter(({ text }) => text !== "") : [];
  const open = todos.filter(({ status }) => status !== "completed").length;
  const situation = situationOf(conversation, { open, all: todos.length });
  const sentences = conversation.turns
    .filter(({ digest }) => digest.isEcho !== true && digest.isCut !== true)
    .flatMap(({ spoken }) => spoken)
    .map((spoken) => {
      const signals = signalsOf(spoken, situation);
      const plain = plainly(spoken, signals, situation);
      const entries = SECTIONS.map((section) => {
        const sure = sureness(signals, weights[section]);
        return [section, plain === undefined ? sure : section === plain ? Math.max(sure, PLAIN) : NEVER] as const;
      });
      return { spoken, signals, sure: Object.fromEntries(entries) as Record<Section, number> };
    });
  return { conversation, situation, sentences, taken: new Set(), weights, nextStep: undefined };
}

/** How sure the judge is of a plain statement, and that it belongs to no other section. */
const PLAIN = 1;
const NEVER = -9;
/** The scorer's log-odds for a report that leaves no doubt. */
const SURE_REPORT = 3;
const SCORED = ["blocker", "decision", "accomplishment"] as const satisfies readonly Section[];

/** The section of a statement that says what it is ("we decided …"), or that is not disputed. */
function plainly(spoken: Spoken, signals: Signals, situation: Situation): Section | undefined {
  const { text, scores = [], isQuestion } = spoken.said;
  if (isQuestion === true || signals.has("laterReversed")) return undefined;
  const isLastReport = spoken.turn === situation.lastAgent && situation.conversation.after(spoken.turn) === undefined;
  if (isLastReport && (scores[2] ?? 0) >= SURE_REPORT) return "accomplishment";
  const declares = hasCue(text, "declares");
  const isAlone = isUndisputed(spoken, situation);
  if (!declares && !isAlone) return undefined;
  if (isAlone && (hasCue(text, "namesNext") || /^next\b/i.test(text))) return "next-step";
  const isSolo = situation.conversation.isUncontested(spoken.turn);
  const least = isSolo && declares ? 0 : isSolo && hasCue(text, "fails") ? -0.5 : 1;
  const found = SCORED.find(
    (_one, index) => (scores[index] ?? NEVER) >= least && scores[index] === Math.max(...scores),
  );
  // A trouble that was named before the person's last message may be over.
  const isOld = !isAlone && situation.lastUser !== undefined && spoken.turn.place < situation.lastUser.place;
  return found === "blocker" && isOld ? undefined : found;
}

const JOKE = /[😂🤣💀🙃😅😎🤡]|\b(?:lol|haha+|hehe)\b/iu;
const QUOTE = /["“”„«»]/;
/** Longer sentences say with what to go on. */
const SHORT = 60;

/** Questions, jokes, other people's words and a mere "go on" are never listed. */
function isListable({ said: { text, isQuestion } }: Spoken): boolean {
  if (isQuestion === true || JOKE.test(text) || (QUOTE.test(text) && hasCue(text, "reports"))) return false;
  return text.length >= SHORT || !hasCue(text, "goesOn");
}

/** The surest first. A sentence belongs to one section. */
function choose(work: Work, section: Section): Weighed[] {
  const { sentences, taken, conversation } = work;
  const failed = section === "blocker" ? failureReport(work) : undefined;
  const chosen = failed === undefined ? [] : [failed];
  for (const { spoken } of chosen) taken.add(spoken);
  const sure = sentences.filter(
    ({ spoken, sure: { [section]: value } }) =>
      value >= 0 && isListable(spoken) && mayBe(spoken, section, conversation),
  );
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
        failure !== undefined && spoken.turn === failure.turn && isListable(spoken) && sure.blocker >= LEAST_FAILURE,
    )
    .reduce<Weighed | undefined>((a, b) => (a === undefined || b.sure.blocker > a.sure.blocker ? b : a), undefined);
}

/** The agent decides nothing: its words are a decision where a person accepted them, or where they repeat a person's. */
export function mayBe(spoken: Spoken, section: Section, { before, after }: Conversation): boolean {
  const { turn, said, matter } = spoken;
  if (section !== "decision" || turn.digest.role === "user" || hasCue(said.text, "declares")) return true;
  const isChoice = hasCue(said.text, "or") || hasCue(said.text, "offers");
  const asked = before(turn);
  const echoes =
    asked?.spoken.some((one) => one.said.isQuestion !== true && overlap(matter, one.matter) >= ECHO) === true;
  if (echoes && !isChoice) return true;
  const answer = after(turn);
  const isAccepted = answer?.agrees === true && !answer.reverses;
  const adds = answer?.spoken.reduce((sum, one) => sum + one.matter.size, 0) ?? 0;
  return isAccepted && adds <= FEW_WORDS && !hasCue(said.text, "or");
}

const ECHO = 0.4;
const FEW_WORDS = 3;

function isSame(a: Spoken, b: Spoken): boolean {
  return overlap(a.matter, b.matter, 2) > SAME;
}

/** Two sentences in a row make one line. */
function isNext(a: Spoken, b: Spoken): boolean {
  return a.turn === b.turn && Math.abs(a.said.at - b.said.at) === 1;
}

const LONGEST = 200;
/** The sentence before belongs to the line, even if it is less sure by this much. The one after is often a joke. */
const NEARLY: Readonly<Record<Section, number>> = {
  "in-progress": 2,
  blocker: 1,
  decision: 2,
  accomplishment: 0.5,
  "next-step": 0.5,
};

/** With its neighbours in the message, the surer one first, where they fit into one line. */
function lineOf({ spoken }: Weighed, section: Section, { sentences, taken }: Work): Line {
  const { turn } = spoken;
  const parts = [spoken];
  const near = sentences
    .filter(
      (one) =>
        isNext(one.spoken, spoken) &&
        one.sure[section] >= (one.spoken.said.at < spoken.said.at ? -NEARLY[section] : 0) &&
        mayJoin(one.spoken),
    )
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
  return { text: tidy(text), entryId: turn.digest.entryId, timestamp: turn.digest.timestamp };
}

function mayJoin(spoken: Spoken): boolean {
  return (
    isListable(spoken) && spoken.said.isItem !== true && spoken.matter.size > 1 && !hasCue(spoken.said.text, "chats")
  );
}

/** The word that ties a sentence to the one before it ties a line to nothing. */
function tidy(text: string): string {
  return excerpt(text.replace(/^(?:(?:but|and|also|so|ok(?:ay)?|hmm?|ugh|well|yeah|then)[,:]?\s+)+(?=\S)/i, ""));
}

/** What the end of the conversation says about whether something is unfinished. */
export function openSignals({ conversation, ...situation }: Situation, sentences: readonly Weighed[]): Signals {
  const { turns, outcomeOf, hasTools, failure } = conversation;
  const { lastUser, lastAgent } = situation;
  const best = (section: Section): number =>
    Math.max(-3, Math.min(2, Math.max(...sentences.map(({ sure }) => sure[section]))));
  const ends = turns.slice(-2).flatMap(({ spoken }) => spoken);
  const found: Signals = new Map();
  const add = (name: string, value: number | boolean): void => {
    if (Number(value) !== 0) found.set(name, Number(value));
  };
  add("bias", 1);
  for (const section of WORDED) add(`best-${section}`, best(section) / 2);
  add("unfinished", situation.isUnfinished);
  add("openTodos", situation.hasOpenTodos);
  add("todosDone", situation.hasTodos && !situation.hasOpenTodos);
  add("failure", failure !== undefined);
  add("tools", hasTools);
  add("endsWithPerson", turns.at(-1) === lastUser);
  add("chatAtEnd", lastUser?.isChat === true);
  add("agreesAtEnd", lastUser?.agrees === true);
  add("asksAtEnd", lastUser?.asks === true);
  add("agentAsks", lastAgent?.asks === true && turns.at(-1) === lastAgent);
  add("requestAtEnd", lastUser?.spoken.some(({ said }) => isRequest(said.text)) === true);
  if (lastUser !== undefined) add(`outcome-${outcomeOf(lastUser)}`, 1);
  for (const cue of ["remains", "waits", "firstThing", "later", "fails", "chats", "past", "plans"] as const) {
    add(
      `end-${cue}`,
      ends.some(({ said }) => hasCue(said.text, cue)),
    );
  }
  add("long", Math.min(turns.length, 30) / 30);
  return found;
}

const NO_ANSWER: ReadonlySet<Outcome> = new Set(["none", "cut"]);
const FAILED_ANSWER: ReadonlySet<Outcome> = new Set(["failed"]);

/** Requests whose answer ended so, or said nothing. */
function openRequests({ conversation, taken }: Work, outcomes: ReadonlySet<Outcome>): Line[] {
  const { turns, outcomeOf, isUncontested, isSolo } = conversation;
  const calledOff = turns.findLastIndex(isCallOff);
  return turns
    .slice(calledOff + 1)
    .filter(({ digest, isChat }) => digest.role === "user" && !isChat)
    .filter((turn) => {
      return outcomes.has(outcomeOf(turn)) || (isUncontested(turn) && !turn.asks);
    })
    .flatMap(({ spoken }) => {
      const free = spoken.filter((one) => one.matter.size >= 2 && !taken.has(one) && !hasCue(one.said.text, "goesOn"));
      const asking = free.filter(({ said }) => isRequest(said.text));
      const found = asking.find(({ matter }) => matter.size >= 3) ?? asking[0];
      // Where only a person speaks, a plain sentence is what the work is about.
      return found ?? (isSolo ? free.find(isPlain) : undefined) ?? [];
    })
    .slice(-MOST_LINES)
    .map(({ said, turn: { digest } }) => ({
      text: said.text,
      entryId: digest.entryId,
      timestamp: digest.timestamp,
    }));
}

/** Neither a question nor news of another kind. */
function isPlain({ said: { isQuestion, scores = [] } }: Spoken): boolean {
  return isQuestion !== true && Math.max(-1, ...scores.slice(0, 3)) < 0;
}

/** "Never mind" and nothing else. */
function isCallOff({ digest, reverses, spoken }: Turn): boolean {
  if (digest.role !== "user" || !reverses) return false;
  return spoken.every(({ matter, said }) => matter.size <= 4 && !isRequest(said.text) && !hasCue(said.text, "chooses"));
}

/** Open work is named in the first message of a person or in the last turns. */
const END = 4;
const MOST_SECOND = 3;
/** In messages of people and turns of the agent. */
const LONG = 8;

/** One line of at most two sentences; both entries are cited. */
function openWork(work: Work): Line[] {
  const { conversation, sentences, taken, weights, nextStep } = work;
  const { turns } = conversation;
  // In a long conversation, the next step also says what the work has come to.
  const mayRepeat = (spoken: Spoken): boolean => spoken === nextStep && turns.length > LONG;
  const opening = turns.find(({ digest, isChat }) => digest.role === "user" && !isChat);
  const [best, ...others] = sentences
    .filter(({ spoken: { turn } }) => turn === opening || turn.place >= turns.length - END)
    .filter(({ spoken }) => spoken.matter.size >= 2 && isListable(spoken) && (!taken.has(spoken) || mayRepeat(spoken)))
    .map(({ spoken, signals }) => {
      const all = openWorkSignals(spoken, signals, sentences);
      return { spoken, sure: sureness(all, weights["in-progress"]) };
    })
    .sort((a, b) => b.sure - a.sure);
  if (best === undefined || best.sure < 0) return [];
  const room = LONGEST - best.spoken.said.text.length - 3;
  const second = others.slice(0, MOST_SECOND).find(({ spoken }) => spoken.said.text.length <= room);
  const parts = [best, second].flatMap((one) => one?.spoken ?? []).sort(byPlace);
  const text = parts.map(({ said }) => said.text.replace(/[.\s]+$/, "")).join(" — ");
  const [{ entryId, timestamp }, other] = parts.map(({ turn }) => turn.digest) as [Digest, Digest | undefined];
  const line = { text: excerpt(parts.length === 1 ? best.spoken.said.text : text), entryId, timestamp };
  return [other === undefined || other.entryId === entryId ? line : { ...line, alsoFrom: other.entryId }];
}

function byPlace(a: Spoken, b: Spoken): number {
  return a.turn.place - b.turn.place || a.said.at - b.said.at;
}

/** Beside its own signals: how much a sentence shares with what comes next, is in the way, or is done. */
export function openWorkSignals({ matter }: Spoken, signals: Signals, sentences: readonly Weighed[]): Signals {
  const found: Signals = new Map(signals);
  for (const section of WORDED) {
    const best = sentences.reduce<Weighed | undefined>(
      (a, b) => (a === undefined || b.sure[section] > a.sure[section] ? b : a),
      undefined,
    );
    const share = best === undefined || best.sure[section] < -1 ? 0 : overlap(matter, best.spoken.matter);
    if (share > 0) found.set(`near-${section}`, share);
  }
  return found;
}

function todoLines({ todos }: CarriedState, project: string): Line[] {
  if (todos === undefined || todos.project !== project) return [];
  const { entryId, timestamp } = todos;
  const open = todos.items.filter(({ text, status }) => text !== "" && status !== "completed");
  const begun = open.filter(({ status }) => status === "in_progress");
  const pending = open.filter(({ status }) => status !== "in_progress");
  return [...begun, ...pending].slice(0, MOST_LINES).map(({ text }) => ({ text, entryId, timestamp }));
}

function commitLines({ turns }: Conversation): Line[] {
  const commits = turns.flatMap(({ digest }) => digest.commits ?? []);
  const lines = commits.slice(-2).map(({ hash, subject, entryId, timestamp }) => {
    return { text: excerpt(`Committed ${hash}: ${subject}`), entryId, timestamp };
  });
  return lines.filter(({ text }, index) => !lines.slice(0, index).some((before) => before.text === text));
}

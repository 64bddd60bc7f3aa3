/** The lines in progress: open to-dos, else requests without a completed answer, or what the end leaves unfinished. */
import { overlap } from "../matter.ts";
import { excerpt } from "../patterns/content.ts";
import { type Section, WORDED } from "../patterns/note.ts";
import type { CarriedState, Digest } from "../state.ts";
import { openTodos } from "../work-facts.ts";
import type { Conversation, Line, Outcome, Spoken, Turn } from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";
import { sureness } from "./score.ts";
import type { Signals } from "./signals.ts";
import type { Situation } from "./situation.ts";
import { CODE, isIdle, isListable, NO_ANSWER, type Weighed, type Work } from "./weigh.ts";

const MOST_LINES = 3;
/** In characters. */
export const LONGEST = 200;

export function linesInProgress(work: Work, carried: CarriedState, project: string): Line[] {
  const { situation, sentences, weights } = work;
  const isCalledOff = situation.lastUser !== undefined && isCallOff(situation.lastUser);
  const isOpen = !isCalledOff && sureness(openSignals(situation, sentences), "user", weights.open) >= 0;
  const candidates = [
    openTodos(carried, project),
    openRequests(work, NO_ANSWER),
    isOpen ? openWork(work) : [],
    openRequests(work, FAILED_ANSWER),
  ];
  return candidates.find((lines) => lines.length > 0) ?? [];
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

const FAILED_ANSWER: ReadonlySet<Outcome> = new Set(["failed"]);

/** Requests whose answer ended so, or said nothing. */
function openRequests({ conversation, taken }: Work, outcomes: ReadonlySet<Outcome>): Line[] {
  const { turns, outcomeOf, isUncontested, isSolo } = conversation;
  const calledOff = turns.findLastIndex(isCallOff);
  return turns
    .slice(calledOff + 1)
    .filter(({ digest, isChat }) => digest.role === "user" && !isChat)
    .filter((turn) => outcomes.has(outcomeOf(turn)) || (isSolo && isUncontested(turn) && !turn.asks))
    .flatMap(({ spoken }) => {
      const free = spoken.filter(
        (one) =>
          one.matter.size >= 2 &&
          !taken.has(one) &&
          !isIdle(one) &&
          !CODE.test(one.said.text) &&
          !hasCue(one.said.text, "goesOn"),
      );
      const asking = free.filter(({ said }) => isRequest(said.text));
      const found = asking.find(({ matter }) => matter.size >= 3) ?? asking[0];
      // Where only a person speaks, a plain sentence is what the work is about.
      return found ?? (isSolo ? free.find((one) => isPlain(one) && isListable(one)) : undefined) ?? [];
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

/** Open work is named in the last turns, or in the first message of a person if the last turns are still about it. */
const END = 4;
const MOST_SECOND = 3;
/** For the surer one of two sentences. */
const MIN_SURE = 0.5;
/** In messages of people and turns of the agent. */
const LONG = 11;

/** One line of at most two sentences; both entries are cited. */
function openWork(work: Work): Line[] {
  const { conversation, sentences, taken, weights, nextStep } = work;
  const { turns } = conversation;
  // In a long conversation, the next step also says what the work has come to.
  const mayRepeat = (spoken: Spoken): boolean => spoken === nextStep && turns.length > LONG;
  const opening = turns.find(({ digest, isChat }) => digest.role === "user" && !isChat);
  // The agent only said that it would do it, so it is open even if the last turns are about something else.
  const isAnnounced = opening !== undefined && conversation.outcomeOf(opening) === "planned";
  const [best, ...others] = sentences
    .filter(({ spoken: { turn }, signals }) =>
      turn === opening
        ? isAnnounced ||
          (signals.has("wordsAtEnd") && !(isAnswered(turn, conversation) && asksAgain(turn, conversation)))
        : turn.place >= turns.length - END && !isAnswered(turn, conversation),
    )
    .filter(({ spoken }) => spoken.matter.size >= 2 && isListable(spoken) && !hasCue(spoken.said.text, "supposes"))
    .filter(({ spoken }) => !taken.has(spoken) || mayRepeat(spoken))
    .map(({ spoken, signals }) => {
      const all = openWorkSignals(spoken, signals, sentences);
      return { spoken, sure: sureness(all, spoken.turn.digest.role, weights["in-progress"]) };
    })
    .sort((a, b) => b.sure - a.sure);
  const minSure = isAnnounced && best?.spoken.turn === opening ? 0 : MIN_SURE;
  if (best === undefined || best.sure < minSure) return [];
  const room = LONGEST - best.spoken.said.text.length - 3;
  const second = others.slice(0, MOST_SECOND).find(({ spoken, sure }) => sure >= 0 && spoken.said.text.length <= room);
  const parts = [best, second].flatMap((one) => one?.spoken ?? []).sort(byPlace);
  const text = parts.map(({ said }) => said.text.replace(/[.\s]+$/, "")).join(" — ");
  const [{ entryId, timestamp }, other] = parts.map(({ turn }) => turn.digest) as [Digest, Digest | undefined];
  const line = { text: excerpt(parts.length === 1 ? best.spoken.said.text : text), entryId, timestamp };
  return [other === undefined || other.entryId === entryId ? line : { ...line, alsoFrom: other.entryId }];
}

/** A request that was done is no longer open. */
function isAnswered(turn: Turn, { outcomeOf }: Conversation): boolean {
  return (
    turn.digest.role === "user" && turn.spoken.some(({ said }) => isRequest(said.text)) && outcomeOf(turn) === "done"
  );
}

function asksAgain({ place }: Turn, { turns }: Conversation): boolean {
  const later = turns.slice(place + 1).filter(({ digest }) => digest.role === "user");
  return later.some(({ spoken }) => spoken.some(({ said }) => isRequest(said.text)));
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

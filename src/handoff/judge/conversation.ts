/**
 * The conversation as the judge sees it: digests with what follows from their order. Who answered whom, whether the
 * answer completed what was asked, which command failed and has not passed since, and what each sentence is about.
 */
import { type Matter, matterOf } from "../matter.ts";
import type { Digest, Run, Said } from "../state.ts";
import { openFailure } from "../work-facts.ts";
import { hasCue, isRequest, startsWithCue } from "./cues.ts";

/** A line of a hand-off before it has a kind. */
export interface Line {
  text: string;
  entryId: string;
  alsoFrom?: string | undefined;
  timestamp: string;
}

/** A sentence with its place. */
export interface Spoken {
  said: Said;
  turn: Turn;
  matter: Matter;
}

export interface Turn {
  digest: Digest;
  /** Among the turns of the conversation. */
  place: number;
  spoken: Spoken[];
  /** Of a person: accepts what was said before. Of both: a short remark. */
  agrees: boolean;
  /** Takes back something. */
  reverses: boolean;
  asks: boolean;
  /** Nothing but small talk. */
  isChat: boolean;
}

export type Outcome = "none" | "cut" | "asked" | "failed" | "planned" | "done";

export interface Conversation {
  turns: readonly Turn[];
  /** The last failure that was not seen to pass since. */
  failure: { run: Run; turn: Turn } | undefined;
  hasTools: boolean;
  /** Only the person says anything of substance. */
  isSolo: boolean;
  /** A person's message got no answer with any content. */
  isUncontested: (turn: Turn) => boolean;
  /** How the agent's turn after a person's message ended. */
  outcomeOf: (turn: Turn) => Outcome;
  before: (turn: Turn) => Turn | undefined;
  after: (turn: Turn) => Turn | undefined;
}

export function readConversation(digests: readonly Digest[]): Conversation {
  const turns = digests.map(readTurn);
  const failure = failureIn(turns);
  const isSolo = turns.every((turn) => turn.digest.role === "user" || saysNothing(turn));
  const before = ({ place }: Turn): Turn | undefined => turns[place - 1];
  const after = ({ place }: Turn): Turn | undefined => turns[place + 1];
  return {
    turns,
    failure,
    isSolo,
    hasTools: digests.some(({ runs, edits }) => runs !== undefined || edits !== undefined),
    before,
    after,
    outcomeOf: (turn) => {
      const answer = lastAnswer(turns, turn);
      return answer === undefined ? "none" : outcome(answer, turn, failure?.turn);
    },
    isUncontested: (turn) => {
      if (turn.digest.role !== "user") return false;
      const answer = after(turn);
      return answer === undefined ? isSolo : answer.digest.role === "user" || saysNothing(answer);
    },
  };
}

/** The last words of the agent before a person speaks again. */
function lastAnswer(turns: readonly Turn[], asked: Turn): Turn | undefined {
  const rest = turns.slice(asked.place + 1);
  const next = rest.findIndex(({ digest }) => digest.role === "user");
  // Two messages of a person in a row have one answer.
  if (next === 0 && rest[0] !== undefined) return lastAnswer(turns, rest[0]);
  return rest.slice(0, next === -1 ? rest.length : next).at(-1);
}

const SHORT = 60;

function readTurn(digest: Digest, place: number): Turn {
  const texts = digest.said.map(({ text }) => text);
  const [first = ""] = texts;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const turn: Turn = {
    digest,
    place,
    spoken: [],
    agrees: startsWithCue(first, "agrees") && !digest.said[0]?.isQuestion,
    reverses: texts.some((text) => startsWithCue(text, "reverses") || startsWithCue(text, "declines")),
    asks: digest.said.slice(-1).some(isAsked),
    isChat: length < SHORT && texts.every((text) => hasCue(text, "chats")),
  };
  turn.spoken = digest.said.map((said) => ({
    said: isAsked(said) ? { ...said, isQuestion: true } : said,
    turn,
    matter: matterOf(said.text),
  }));
  return turn;
}

/** In a chat, many questions have no question mark. */
function isAsked({ text, isQuestion }: Said): boolean {
  return isQuestion === true || (startsWithCue(text, "asks") && !isRequest(text));
}

function outcome({ digest, asks, spoken }: Turn, asked: Turn, failing: Turn | undefined): Outcome {
  if (digest.isCut === true || digest.isOpen === true) return "cut";
  if (digest === failing?.digest) return "failed";
  if (asks) return "asked";
  const [trouble = -1, , finished = -1] = spoken.at(-1)?.said.scores ?? [];
  if (trouble > Math.max(0, finished)) return "failed";
  if ((digest.edits ?? digest.runs) !== undefined) return "done";
  const reports = spoken.some(({ said }) => hasCue(said.text, "past") || (said.scores?.[2] ?? -1) > 0);
  const plans = spoken.some(({ said }) => hasCue(said.text, "plans"));
  if (plans && !reports) return "planned";
  // Any answer settles a question. Work is settled by a report or by its result.
  const isWork = asked.spoken.some(({ said }) => said.isQuestion !== true && isRequest(said.text));
  const words = spoken.reduce((sum, { matter }) => sum + matter.size, 0);
  return isWork && !reports && words < FEW_WORDS ? "planned" : "done";
}

const FEW_WORDS = 6;
/** "Noted.", "The log says the same." */
const SAYS_NOTHING = 3;

function saysNothing({ digest, spoken, asks }: Turn): boolean {
  if (digest.isEcho === true) return true;
  if (asks) return false;
  const words = spoken.reduce((sum, { matter }) => sum + matter.size, 0);
  return words <= SAYS_NOTHING && digest.runs === undefined && digest.edits === undefined;
}

function failureIn(turns: readonly Turn[]): Conversation["failure"] {
  const found = openFailure(turns.map(({ digest }) => digest));
  const turn = turns.find(({ digest }) => digest === found?.digest);
  return found === undefined || turn === undefined ? undefined : { run: found.run, turn };
}

/** The context of all sentences of a conversation, found once: who spoke last, open work, denials. */
import { matterOf } from "../matter.ts";
import type { Said } from "../state.ts";
import type { Conversation, Spoken, Turn } from "./conversation.ts";
import { hasCue, isRequest } from "./cues.ts";

export interface Situation {
  conversation: Conversation;
  firstUser: Turn | undefined;
  lastUser: Turn | undefined;
  lastAgent: Turn | undefined;
  hasOpenTodos: boolean;
  hasTodos: boolean;
  /** Something at the end says that more is to come. */
  isUnfinished: boolean;
  /** The turns that use a word. */
  usedIn: ReadonlyMap<string, ReadonlySet<number>>;
  denials: ReadonlyMap<string, readonly Denial[]>;
  choices: readonly Spoken[];
}

export function situationOf(conversation: Conversation, todos: { open: number; all: number }): Situation {
  const { turns, failure } = conversation;
  const last = turns.at(-1);
  const asked = turns.findLast(({ digest }) => digest.role === "user" && digest !== last?.digest);
  const isStopped = asked !== undefined && STOPPED.has(conversation.outcomeOf(asked));
  const endsOpen = last?.digest.role === "user" ? asksForMore(last) : isStopped;
  const points = turns.slice(-2).some(({ spoken }) => spoken.some(({ said }) => pointsAhead(said.text)));
  return {
    conversation,
    firstUser: turns.find(({ digest }) => digest.role === "user"),
    lastUser: turns.findLast(({ digest }) => digest.role === "user"),
    lastAgent: turns.findLast(({ digest }) => digest.role === "assistant"),
    hasTodos: todos.all > 0,
    hasOpenTodos: todos.open > 0,
    isUnfinished: todos.open > 0 || failure !== undefined || endsOpen || points,
    usedIn: usedWords(turns),
    denials: denialsIn(turns),
    choices: choicesIn(turns),
  };
}

const STOPPED: ReadonlySet<string> = new Set(["none", "cut", "asked", "failed", "planned"]);

/** A last message of a person that is more than thanks and goodbye. */
function asksForMore({ spoken, isChat, asks }: Turn): boolean {
  if (isChat) return false;
  return asks || spoken.some(({ said }) => isRequest(said.text) || pointsAhead(said.text));
}

function pointsAhead(text: string): boolean {
  return hasCue(text, "firstThing") || hasCue(text, "remains") || hasCue(text, "waits");
}

function usedWords(turns: readonly Turn[]): Map<string, Set<number>> {
  const used = new Map<string, Set<number>>();
  for (const { place, spoken } of turns) {
    for (const word of spoken.flatMap(({ matter }) => [...matter])) {
      const places = used.get(word) ?? new Set();
      used.set(word, places.add(place));
    }
  }
  return used;
}

/** A clause that denies or undoes what it names. */
export interface Denial {
  spoken: Spoken;
  isDenied: boolean;
  isUndone: boolean;
}

const CLAUSE_END = /[,.;:—()]\s|\s-\s| but /;

/** By each word of the clause. */
function denialsIn(turns: readonly Turn[]): Map<string, Denial[]> {
  const found = new Map<string, Denial[]>();
  for (const spoken of turns.flatMap((turn) => turn.spoken)) {
    const { text } = spoken.said;
    if (!isDenial(text) && !hasCue(text, "undoes")) continue;
    for (const clause of text.split(CLAUSE_END)) {
      const denial = { spoken, isDenied: isDenial(clause), isUndone: hasCue(clause, "undoes") };
      if (!denial.isDenied && !denial.isUndone) continue;
      for (const word of matterOf(clause)) found.set(word, [...(found.get(word) ?? []), denial]);
    }
  }
  return found;
}

function isDenial(text: string): boolean {
  return hasCue(text, "denies") || hasCue(text, "reverses");
}

/** What a person chose, or chose differently. */
function choicesIn(turns: readonly Turn[]): Spoken[] {
  return turns
    .filter(({ digest }) => digest.role === "user")
    .flatMap(({ spoken, reverses }) =>
      spoken.filter(
        ({ said }) => said.isQuestion !== true && (scoreOf(said, 1) > 0 || hasCue(said.text, "chooses") || reverses),
      ),
    );
}

/** The score of a sentence, within bounds. */
export function scoreOf({ scores }: Said, index: number): number {
  return Math.max(-4, Math.min(4, scores?.[index] ?? -1));
}

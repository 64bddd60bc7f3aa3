/**
 * The first step of a capture: each message becomes a short digest with its author, its tool facts and a few scored
 * sentences. Digests are made message by message, so it does not matter where a capture ends. Old ones keep only their
 * most telling sentences.
 */
import { redactText } from "../base/redact.ts";
import { hasCue } from "./judge/cues.ts";
import { matterOf } from "./matter.ts";
import { excerpt } from "./patterns/content.ts";
import type { ScoredSentence } from "./patterns/detect-patterns.ts";
import { PATTERN_TYPES } from "./patterns/note.ts";
import type { Sentence } from "./patterns/sentences.ts";
import type { CarriedState, Digest, ReadMessage, Run, Said, TodoChange, TodoItem, ToolResult } from "./state.ts";

const MAX_SENTENCES = 8;
const MAX_DIGESTS = 90;
/** Number of newest digests that keep all sentences. */
const RECENT = 40;
const MAX_OLD_SENTENCES = 2;
const MAX_RUNS = 12;
const MAX_EDITS = 30;
const MAX_COMMITS = 6;
const MAX_CALLS = 30;
const MAX_TODOS = 50;
/** A longer message names its subject. */
const SHORT = 60;

export interface MessagePlace {
  index: number;
  project: string;
}

export function nothingCarried(): CarriedState {
  return { counts: { user: 0, assistant: 0, tools: 0 }, digests: [], inherited: [], open: [] };
}

/** A sentence of a message. Secrets are removed, unless nobody stores or shows the digest. */
export interface Heard extends Pick<ScoredSentence, "scores" | "words"> {
  sentence: Pick<Sentence, "text" | "isQuestion" | "isItem" | "checked">;
}

type Hear<One extends Heard> = (message: Pick<ReadMessage, "text"> & Pick<Digest, "role">) => One[];

/** Adds one message, in place. Returns its sentences for notes; none for tools, echoes and cut turns. */
export function takeMessage<One extends Heard>(
  carried: CarriedState,
  message: ReadMessage,
  place: MessagePlace,
  hear: Hear<One>,
): One[] {
  takeTodos(carried, message, place.project);
  if (message.role === "user") return takePerson(carried, message, place, hear);
  if (message.role === "assistant") return takeAgent(carried, message, place, hear);
  takeResults(carried, message);
  return [];
}

function takePerson<One extends Heard>(
  carried: CarriedState,
  message: ReadMessage,
  place: MessagePlace,
  hear: Hear<One>,
): One[] {
  const scored = hear({ role: "user", text: message.text });
  const digest: Digest = { ...blank(message, place), ...saidIn(scored) };
  carried.digests.push(digest);
  if (digest.said.some(({ text }) => text.length < SHORT && hasCue(text, "goesOn"))) carried.goesOn = true;
  if (digest.said.some(({ text }) => matterOf(text).size >= 2)) carried.isAbout = true;
  condense(carried);
  return scored;
}

/** The agent's messages until the next one of a person are one turn; its last text counts. */
function takeAgent<One extends Heard>(
  carried: CarriedState,
  message: ReadMessage,
  place: MessagePlace,
  hear: Hear<One>,
): One[] {
  const turn = turnOf(carried, message, place);
  const isSaid = message.text.trim() !== "" && message.isEcho !== true;
  const scored = isSaid ? hear({ role: "assistant", text: message.text }) : [];
  if (isSaid) Object.assign(turn, { entryId: message.entryId, timestamp: message.timestamp }, saidIn(scored));
  const reports = scored.filter(({ scores }) => (scores[DONE] ?? -1) > 1);
  if (reports.some(({ sentence }) => matterOf(sentence.text).size >= 2)) carried.isAbout = true;
  if (message.isEcho === true) {
    turn.isEcho = true;
    dropEchoSteps(carried);
  }
  if (message.isCut === true) turn.isCut = true;
  else delete turn.isCut;
  if (message.callsTools === true) turn.isOpen = true;
  else if (isSaid || message.isEcho === true) delete turn.isOpen;
  if (message.calls !== undefined && message.calls.length > 0) {
    turn.calls = [...(turn.calls ?? []), ...message.calls].slice(-MAX_CALLS);
  }
  return message.isCut === true ? [] : scored;
}

/** A step of the echo engine's script (`tool:list_files .`), which has no subject. */
const ECHO_STEP = /^(?:tool|say|notice|sleep|tokens|flood|fail):/;

export function isEchoStep(text: string): boolean {
  return ECHO_STEP.test(text);
}

function dropEchoSteps({ digests }: CarriedState): void {
  const asked = digests.findLast(({ role }) => role === "user");
  if (asked !== undefined) asked.said = asked.said.filter(({ text }) => !isEchoStep(text));
}

function turnOf(carried: CarriedState, message: ReadMessage, place: MessagePlace): Digest {
  const last = carried.digests.at(-1);
  const isSameTurn = last?.role === "assistant" && last.project === place.project;
  // Text after text is another message; text after tool calls replaces the earlier text of the turn.
  if (isSameTurn && (last.isOpen === true || last.sentences === 0 || message.text.trim() === "")) return last;
  const turn: Digest = { ...blank(message, place), said: [], sentences: 0 };
  carried.digests.push(turn);
  condense(carried);
  return turn;
}

function blank(
  { role, entryId, timestamp }: ReadMessage,
  { index, project }: MessagePlace,
): Omit<Digest, keyof Spoken> {
  return { role: role === "user" ? "user" : "assistant", entryId, timestamp, index, project };
}

type Spoken = Pick<Digest, "said" | "sentences">;

function saidIn(scored: readonly Heard[]): Spoken {
  const all = scored.map(toSaid);
  return { said: mostTelling(all, MAX_SENTENCES), sentences: all.length };
}

/** The scorer's types that the judge weighs: blocker, decision, accomplishment, task_created. */
const DONE = PATTERN_TYPES.indexOf("accomplishment");
const COLUMNS = [
  PATTERN_TYPES.indexOf("blocker"),
  PATTERN_TYPES.indexOf("decision"),
  DONE,
  PATTERN_TYPES.indexOf("task_created"),
];

function toSaid({ sentence, scores, words }: Heard, at: number): Said {
  const said: Said = { text: excerpt(sentence.text), at };
  if (sentence.isQuestion) said.isQuestion = true;
  if (sentence.isItem) said.isItem = true;
  if (sentence.checked !== undefined) said.checked = sentence.checked;
  // `+ 0` turns -0 into 0, because JSON has no -0.
  if (scores.length > 0) said.scores = COLUMNS.map((column) => Math.round((scores[column] ?? 0) * 10) / 10 + 0);
  if (words.some((one) => one !== 0)) said.words = words.map((one) => Math.round(one * 100) / 100 + 0);
  return said;
}

/** The first, the last and sentences with the highest scores, in their order. */
function mostTelling(all: readonly Said[], most: number): Said[] {
  if (all.length <= most) return [...all];
  const worth = (said: Said): number => {
    const ends = said.at === 0 ? 6 : said.at === all.length - 1 ? 5 : 0;
    return Math.max(ends, ...(said.scores ?? []));
  };
  const kept = new Set([...all].sort((a, b) => worth(b) - worth(a)).slice(0, most));
  return all.filter((said) => kept.has(said));
}

function condense(carried: CarriedState): void {
  const { digests } = carried;
  const old = digests[digests.length - RECENT];
  if (old !== undefined) {
    old.said = mostTelling(old.said, MAX_OLD_SENTENCES);
    delete old.calls;
  }
  if (digests.length > MAX_DIGESTS) digests.splice(leastTelling(digests), 1);
}

const UNSCORED: readonly number[] = [-1];

/** The place of the least telling old digest. The first digest stays. */
function leastTelling(digests: readonly Digest[]): number {
  let least = { place: 1, worth: Number.POSITIVE_INFINITY };
  for (const [place, digest] of digests.slice(0, -RECENT).entries()) {
    let worth = digest.commits === undefined ? -9 : 9;
    for (const { scores } of digest.said) worth = Math.max(worth, ...(scores ?? UNSCORED));
    if (place > 0 && worth < least.worth) least = { place, worth };
  }
  return least.place;
}

function takeResults(carried: CarriedState, { results = [], entryId, timestamp }: ReadMessage): void {
  const turn = carried.digests.at(-1);
  if (turn?.role !== "assistant") return;
  turn.isOpen = true;
  if (results.length > 0) carried.isAbout = true;
  for (const result of results) takeResult(turn, result, { entryId, timestamp });
}

function takeResult(turn: Digest, result: ToolResult, place: Pick<Run, "entryId" | "timestamp">): void {
  const call = turn.calls?.find(({ id }) => id === result.id);
  if (turn.calls !== undefined) turn.calls = turn.calls.filter((one) => one !== call);
  if (result.isDenied === true) turn.isDenied = true;
  if (result.pullRequest !== undefined) turn.pullRequest = result.pullRequest;
  if (call === undefined || result.isDenied === true) return;
  const failed = result.isError === true;
  if (call.command !== undefined) {
    turn.runs = [...(turn.runs ?? []), { command: call.command, failed, ...place }].slice(-MAX_RUNS);
  }
  if (call.file !== undefined && !failed) {
    turn.edits = [...(turn.edits ?? []).filter((file) => file !== call.file), call.file].slice(-MAX_EDITS);
  }
  if (result.commit !== undefined && call.command?.includes("commit") === true) {
    delete turn.edits;
    turn.commits = [...(turn.commits ?? []), { ...result.commit, ...place }].slice(-MAX_COMMITS);
  }
}

/** The agent's to-do list, given as a whole or changed item by item. */
function takeTodos(carried: CarriedState, message: ReadMessage, project: string): void {
  const { todos, todoChanges, entryId, timestamp } = message;
  if (todos === undefined && todoChanges === undefined) return;
  const before = todos === undefined ? (carried.todos?.items ?? []) : todos.map(cleanTodo);
  const items = (todoChanges ?? []).reduce(changeTodo, before).slice(-MAX_TODOS);
  carried.todos = { items, entryId, timestamp, project };
}

function changeTodo(items: TodoItem[], { id, text, status }: TodoChange): TodoItem[] {
  const known = items.find((item) => item.id === id);
  if (status === "deleted") return items.filter((item) => item !== known);
  const next = { id, text: text ?? known?.text ?? "", status: status ?? known?.status ?? "pending" };
  if (known !== undefined) return items.map((item) => (item === known ? cleanTodo(next) : item));
  return next.text === "" ? items : [...items, cleanTodo(next)];
}

function cleanTodo(item: TodoItem): TodoItem {
  const clean = { ...item, text: excerpt(redactText(item.text)) };
  if (clean.id !== undefined) clean.id = redactText(clean.id);
  return clean;
}

/**
 * The lines of a hand-off, chosen from what is noted and carried: what a colleague would write down. Each
 * has the entry that it came from. Only lines of one project are chosen.
 */
import type {
  CarriedLine,
  CarriedRequest,
  CarriedState,
  StateNote,
  SummaryItem,
  SummaryKind,
  TodoItem,
} from "../state.ts";
import { excerpt } from "../patterns/content.ts";
import { type Subject, isHalfTheSame, isSameMatter, isSameSubject, isUnnamed, subjectOf } from "./subject.ts";

const MOST_IN_PROGRESS = 5;
const MOST_BLOCKERS = 5;
const MOST_DECISIONS = 7;
const MOST_ACCOMPLISHMENTS = 5;
const MOST_TASKS = 5;

export interface ItemOptions {
  project: string;
  /** Work is about something, also when nobody said what is being done. */
  isWork: boolean;
}

/** By kind, in the order of the summary. */
export function itemsOf(
  notes: readonly StateNote[],
  carried: CarriedState,
  { project, isWork }: ItemOptions,
): SummaryItem[] {
  const own = notes.filter((note) => note.project === project);
  const isOwn = (line: CarriedLine): boolean => line.project === project;
  const requests = carried.requests.filter(isOwn).toReversed();
  const todos = openTodos(carried, project);
  const blockers = openBlockers(own, errorOf(carried, project, requests));
  const working = carried.working.filter(isOwn).toReversed();
  const said = carried.next.findLast(isOwn);
  const open = distinct(
    [...todos, ...newestFirst(requests, working), ...openTasks(own).filter(({ text }) => !isToCome(text, carried))],
    MOST_IN_PROGRESS,
  );
  const inProgress = open.length > 0 || !isWork ? open : topicsOf(carried).filter(isOwn).slice(0, 1);
  const next = newerRequest(requests, said) ?? said ?? impliedNext(todos, requests, blockers) ?? continued(inProgress);
  const topic = carried.topic !== undefined && isOwn(carried.topic) ? [carried.topic] : [];
  const done = own.filter(({ type }) => type === "accomplishment").toReversed();
  return [
    ...as("topic", topic),
    ...as("in-progress", inProgress),
    ...as("blocker", blockers),
    ...as("decision", standingDecisions(own)),
    ...as("accomplishment", distinct(done.map(lineOf), MOST_ACCOMPLISHMENTS)),
    ...as("next-step", next === undefined ? [] : [next]),
  ];
}

/** What a person asked for or is at, then what the agent does about it. */
function newestFirst(requests: readonly CarriedRequest[], working: readonly CarriedLine[]): CarriedLine[] {
  const byPerson = [...requests, ...working.filter(({ isPersons }) => isPersons === true)];
  byPerson.sort((a, b) => b.index - a.index);
  return [...byPerson, ...working.filter(({ isPersons }) => isPersons !== true)];
}

function isToCome(text: string, { next }: CarriedState): boolean {
  return next.some((line) => line.text === text);
}

/** Nobody said what is being done: what it is about, or what a person will do. */
function topicsOf({ about, next }: CarriedState): CarriedLine[] {
  return [...(about === undefined ? [] : [about]), ...next.filter(({ isPersons }) => isPersons === true).toReversed()];
}

function continued([line]: readonly Line[]): Line | undefined {
  return line === undefined ? undefined : { ...line, text: excerpt(`Continue: ${withoutLink(line.text)}`) };
}

type Line = Pick<SummaryItem, "text" | "entryId" | "timestamp">;

function as(kind: SummaryKind, lines: readonly Line[]): SummaryItem[] {
  return lines.map(({ text, entryId, timestamp }) => ({ kind, text: withoutLink(text), entryId, timestamp }));
}

/** The word that ties a sentence to the one before it ties a line to nothing. */
function withoutLink(text: string): string {
  return text.replace(/^(?:(?:but|and|also|so|ok(?:ay)?|hmm?|ugh|well|yeah)[,:]?\s+)+(?=\S)/i, "");
}

function lineOf({ content, sourceEntryId, timestamp }: StateNote): Line {
  return { text: content, entryId: sourceEntryId, timestamp };
}

interface OpenTodo extends Line {
  status: TodoItem["status"];
}

/** What is being done before what is to be done. */
function openTodos({ todos }: CarriedState, project: string): OpenTodo[] {
  if (todos === undefined || todos.project !== project) return [];
  const { entryId, timestamp } = todos;
  const open = todos.items.filter(({ status, text }) => status !== "completed" && text !== "");
  return [...open.filter(isBegun), ...open.filter((item) => !isBegun(item))].map(({ text, status }) => {
    return { text, status, entryId, timestamp };
  });
}

function isBegun({ status }: TodoItem): boolean {
  return status === "in_progress";
}

/** A tool's error matters when nobody came to say what became of it. */
function errorOf({ error }: CarriedState, project: string, requests: readonly CarriedRequest[]): Line[] {
  if (error === undefined || error.project !== project || requests.length === 0) return [];
  return [{ ...error, text: excerpt(`A tool failed: ${error.text}`) }];
}

function openBlockers(notes: readonly StateNote[], error: readonly Line[]): Line[] {
  const open = notes.filter(({ type, resolved }) => type === "blocker" && resolved !== true);
  return distinct([...error, ...open.toReversed().map(lineOf)], MOST_BLOCKERS);
}

/** A later decision about the same thing takes the place of the earlier one; one message decides several things. */
function standingDecisions(notes: readonly StateNote[]): Line[] {
  const made = notes.filter(({ type }) => type === "decision").toReversed();
  return distinct(made.map(lineOf), MOST_DECISIONS, (a, b) => {
    if (a.line.entryId === b.line.entryId) return false;
    return isSameMatter(a.subject, b.subject) || (REPLACES.test(a.line.text) && isHalfTheSame(a.subject, b.subject));
  });
}

/** Says that it is not as it was going to be. */
const REPLACES = /\b(?:instead|after all|rather|no longer|any ?more|chang\w+ (?:our|my) minds?|on second thoughts?)\b/i;

function openTasks(notes: readonly StateNote[]): Line[] {
  const tasks: Line[] = [];
  const done: Subject[] = [];
  for (const note of notes.toReversed()) {
    if (tasks.length >= MOST_TASKS) break;
    if (note.type === "accomplishment") done.push(subjectOf(note.content));
    if (note.type !== "task_created") continue;
    const subject = subjectOf(note.content);
    // "Will do" says nothing without what it answers.
    if (isUnnamed(subject)) continue;
    if (!done.some((one) => isSameSubject(one, subject))) tasks.push(lineOf(note));
  }
  return tasks;
}

/** A person who waits for an answer comes before what was planned before they asked. */
function newerRequest(requests: readonly CarriedRequest[], said: CarriedLine | undefined): CarriedRequest | undefined {
  if (said === undefined) return undefined;
  return requests.find(({ state, index }) => state !== "begun" && index > said.index);
}

/** Nobody said what comes next: what somebody waits for does. */
function impliedNext(
  todos: readonly OpenTodo[],
  requests: readonly CarriedRequest[],
  blockers: readonly Line[],
): Line | undefined {
  const waiting = requests.find(({ state }) => state !== "begun");
  const [blocker] = blockers;
  return (
    todos.find(({ status }) => status === "pending") ??
    waiting ??
    (blocker === undefined ? undefined : { ...blocker, text: excerpt(`Resolve: ${withoutLink(blocker.text)}`) }) ??
    todos[0] ??
    requests[0]
  );
}

interface Told {
  line: Line;
  subject: Subject;
}

/** The first of those that are about the same thing. */
function distinct(lines: readonly Line[], most: number, isSame = isSameTold): Line[] {
  const kept: Told[] = [];
  for (const line of lines) {
    if (kept.length >= most) break;
    const told = { line, subject: subjectOf(line.text) };
    if (!kept.some((one) => one.line.text === line.text || isSame(one, told))) kept.push(told);
  }
  return kept.map(({ line }) => line);
}

function isSameTold(a: Told, b: Told): boolean {
  return isSameSubject(a.subject, b.subject);
}

/**
 * What is carried from message to message: what was asked for and is not done, what somebody is doing, what
 * comes next. Each function takes in one side of a message, in place. The lists stay short: what is old,
 * done, called off or said anew leaves them.
 */
import type { CarriedLine, CarriedRequest, CarriedState, ReadMessage, StateNote } from "../state.ts";
import { excerpt } from "../patterns/content.ts";
import { normalize } from "../patterns/normalize.ts";
import { redactText } from "../../base/redact.ts";
import { decisionOf } from "./notes.ts";
import type { MessageReading } from "./read-message.ts";
import { type Subject, isSameSubject, isUnnamed, subjectOf } from "./subject.ts";
import { asksForText, reportsPart } from "./words.ts";

export type ToLine = (text: string) => CarriedLine;

const MOST_LINES = 5;
const MOST_REQUESTS = 8;
/** In messages of people. What was not heard of for so long is not under way any more, and not next. */
const WORKING_AGE = 6;
const NEXT_AGE = 12;
/** A piece of work that was left open is talked about again, or given up. */
const REQUEST_AGE = 25;

export function dropOld(carried: CarriedState): void {
  const age = ({ turn }: CarriedLine): number => carried.counts.user - turn;
  carried.working = carried.working.filter(
    (line) => age(line) <= (line.isPersons === true ? REQUEST_AGE : WORKING_AGE),
  );
  carried.next = carried.next.filter((line) => age(line) <= NEXT_AGE);
  carried.requests = carried.requests.filter((line) => age(line) <= REQUEST_AGE);
}

export function takeToolResult(carried: CarriedState, message: ReadMessage, line: ToLine): void {
  reopen(carried);
  if (message.isError === true && message.text.trim() !== "") carried.error = line(excerpt(redactText(message.text)));
  else delete carried.error;
}

/** Whoever goes on after an answer had not finished with what was asked. */
function reopen(carried: CarriedState): void {
  carried.requests.push(...carried.answered);
  carried.requests.sort((a, b) => a.index - b.index);
  carried.answered = [];
}

export function takeCut(carried: CarriedState): void {
  reopen(carried);
  carried.requests = carried.requests.map((request) => {
    return request.state === undefined ? { ...request, state: "cut" } : request;
  });
}

export interface Taken {
  /** The decision that the person made by agreeing to a proposal. */
  agreed?: StateNote;
  /** Nothing that came of this message, by its index, and later is to be done any more. */
  calledOffFrom?: number;
}

export function takePerson(carried: CarriedState, reading: MessageReading, line: ToLine): Taken {
  const { offer } = carried;
  delete carried.offer;
  carried.answered = [];
  carried.isCasual = reading.isCasual && !reading.agrees && !reading.goesOn;
  if (reading.goesOn) carried.goesOn = true;
  const calledOffFrom = reading.calledOff === undefined ? undefined : callOff(carried, subjectOf(reading.calledOff));
  const taken: Taken = calledOffFrom === undefined ? {} : { calledOffFrom };
  if (reading.topic !== undefined) carried.topic = line(reading.topic);
  const work = reading.requests.filter(({ isQuestion }) => !isQuestion);
  carried.counts.requests += work.length;
  for (const { text, isQuestion } of reading.requests) addRequest(carried, { ...line(text), isQuestion });
  if (offer === undefined || !reading.agrees) return taken;
  const { kind, ...offered } = offer;
  if (kind === "proposal") return { ...taken, agreed: decisionOf(offered) };
  carried.counts.requests += 1;
  addRequest(carried, { ...offered, isQuestion: false });
  return taken;
}

/** What a person tells and is no note of its own: of one message the first, of several the newest. */
export function takeAbout(
  carried: CarriedState,
  { told }: MessageReading,
  found: readonly StateNote[],
  line: ToLine,
): void {
  const noted = new Set(found.map(({ content }) => content));
  const plain = told.find((text) => !noted.has(text));
  const isDone = found.some(({ type }) => type === "accomplishment");
  const about = plain ?? (carried.about === undefined && !isDone ? told[0] : undefined);
  if (about !== undefined) carried.about = line(about);
}

/** A question that nobody answered gives way to the next one; the same work asked for again is one piece of work. */
function addRequest(carried: CarriedState, request: CarriedRequest): void {
  const subject = subjectOf(request.text);
  const others = carried.requests.filter((one) => {
    if (one.index === request.index) return true;
    return !(one.isQuestion && request.isQuestion) && !isAbout(subject, one.text);
  });
  carried.requests = [...others, request].slice(-MOST_REQUESTS);
}

/** With what is called off goes what was said in answer to it. Returns the index of the first of it. */
function callOff(carried: CarriedState, subject: Subject): number | undefined {
  const own = [...carried.requests, ...carried.working.filter(({ isPersons }) => isPersons === true)];
  const called = isUnnamed(subject) ? newest(own) : own.filter(({ text }) => isAbout(subject, text));
  const turns = new Set(called.map(({ turn }) => turn));
  const keeps = ({ turn, text }: CarriedLine): boolean => !turns.has(turn) && !isAbout(subject, text);
  carried.requests = carried.requests.filter((request) => !called.includes(request));
  carried.working = carried.working.filter((one) => !called.includes(one) && (one.isPersons === true || keeps(one)));
  carried.next = carried.next.filter(keeps);
  if (carried.about !== undefined && (isUnnamed(subject) || isAbout(subject, carried.about.text))) delete carried.about;
  return called.length === 0 ? undefined : Math.min(...called.map(({ index }) => index));
}

function newest<L extends CarriedLine>(lines: readonly L[]): L[] {
  const index = Math.max(...lines.map((line) => line.index));
  return lines.filter((line) => line.index === index).slice(-1);
}

/** An answer that says nothing of its own: questions have had theirs, work goes on. */
export function takeEcho(carried: CarriedState, goesOn: boolean): void {
  dropSteps(carried);
  delete carried.offer;
  if (goesOn) {
    reopen(carried);
    return;
  }
  delete carried.error;
  carried.answered = carried.requests.filter(({ isQuestion }) => isQuestion);
  carried.requests = begun(carried.requests.filter(({ isQuestion }) => !isQuestion));
}

/** A step of the echo engine's script (`tool:list_files .`): the engine has run it, and it is about nothing. */
const STEP = /^(?:tool|say|notice|sleep|tokens|flood|fail):/;

export function isStep(text: string): boolean {
  return STEP.test(text);
}

function isSaid({ text }: CarriedLine): boolean {
  return !isStep(text);
}

function dropSteps(carried: CarriedState): void {
  carried.counts.requests -= carried.requests.filter((one) => !isSaid(one) && !one.isQuestion).length;
  carried.requests = carried.requests.filter(isSaid);
  carried.answered = carried.answered.filter(isSaid);
  carried.next = carried.next.filter(isSaid);
  carried.working = carried.working.filter(isSaid);
  if (carried.topic !== undefined && !isSaid(carried.topic)) delete carried.topic;
  if (carried.about !== undefined && !isSaid(carried.about)) delete carried.about;
}

function begun(requests: readonly CarriedRequest[]): CarriedRequest[] {
  return requests.map((request) => (request.state === undefined ? { ...request, state: "begun" } : request));
}

export interface Answer {
  reading: MessageReading;
  found: readonly StateNote[];
  /** It called tools: the answer is still to come. */
  goesOn: boolean;
}

export function takeAnswer(carried: CarriedState, answer: Answer, line: ToLine): void {
  const { reading, goesOn } = answer;
  delete carried.offer;
  if (goesOn) {
    reopen(carried);
    return;
  }
  delete carried.error;
  const { offer } = reading;
  if (offer !== undefined) carried.offer = { ...line(offer.text), kind: offer.kind };
  if (reading.text.trim() === "") return;
  // What was said on the way to an answer is over with it.
  const isBefore = ({ turn, isPersons }: CarriedLine): boolean => turn < carried.counts.user || isPersons === true;
  carried.working = carried.working.filter(isBefore);
  carried.next = carried.next.filter((one) => one.isPromise !== true || isBefore(one));
  const open = carried.requests.filter((request) => isLeftOpen(request, answer));
  carried.answered = carried.requests.filter((request) => !open.includes(request));
  carried.requests = begun(open);
}

/** Whether an answer leaves a piece of work to be done: all do that neither report nor hand over the whole of it. */
function isLeftOpen(request: CarriedRequest, { reading, found }: Answer): boolean {
  if (request.state !== undefined) return true;
  if (request.isQuestion) return false;
  if (isInTheWay(reading, found)) return true;
  const isReported = found.some(({ type }) => type === "accomplishment");
  if (isReported && (reading.reportsPart || isFewer(request.text, reading.text))) return true;
  if (reading.saysDone || reading.delivers || isReported) return false;
  const { working, next, promises, asksBack, offer } = reading;
  const isPut = working.length + next.length + promises.length > 0 || asksBack || offer !== undefined;
  return isPut || !(asksForText(request.text) && reading.text.length >= TEXT_LENGTH);
}

/** An answer of this length may be the text that was asked for. */
const TEXT_LENGTH = 200;

const RANGE = /\b\d{1,3} ?(?:to|-|–|and|&) ?(\d{1,3})\b/;
const COUNT = /\b(?:all|the) (\d{1,3})\b|\b(\d{1,3}) [a-z]+s\b/;

/** "Chapters 1 to 3" are not "all 14 chapters". */
function isFewer(asked: string, answer: string): boolean {
  const [, last] = RANGE.exec(answer) ?? [];
  const [, all, some] = COUNT.exec(asked) ?? [];
  return last !== undefined && Number(last) < Number(all ?? some ?? 0);
}

function isInTheWay(reading: MessageReading, found: readonly StateNote[]): boolean {
  return reading.reportsFailure || found.some(({ type }) => type === "blocker");
}

/** What is reported done is neither asked for, nor under way, nor to come. */
export function closeWith(carried: CarriedState, reading: MessageReading, found: readonly StateNote[]): void {
  const isBlocked = isInTheWay(reading, found);
  for (const { type, content } of found) {
    if (type !== "accomplishment") continue;
    const subject = subjectOf(content);
    const isHalf = isBlocked || reading.leavesRest || reportsPart({ plain: normalize(content) });
    const isOver = ({ text }: CarriedLine): boolean => isAbout(subject, text);
    if (!isHalf) carried.requests = carried.requests.filter((one) => !isOver(one) || isFewer(one.text, content));
    carried.working = carried.working.filter((one) => !isOver(one) || (isHalf && one.isPersons === true));
    carried.next = carried.next.filter((one) => !isOver(one));
    if (carried.about !== undefined && isOver(carried.about)) delete carried.about;
  }
  if (!reading.saysDone || isBlocked) return;
  delete carried.about;
  const [last] = newest([...carried.working.filter(({ isPersons }) => isPersons === true), ...carried.requests]);
  if (last === undefined) return;
  carried.requests = carried.requests.filter((one) => one !== last);
  const subject = subjectOf(last.text);
  for (const list of ["working", "next"] as const) remove(carried, list, subject);
}

/** What is under way and what comes next, as this message says it. */
export function takeLater(
  carried: CarriedState,
  reading: MessageReading,
  by: "user" | "assistant",
  line: ToLine,
): void {
  const isPersons = by === "user";
  for (const text of reading.working) {
    const subject = subjectOf(text);
    // An agent that says what it does about a person's work does not take it off their hands.
    carried.working = carried.working.filter(
      (one) => !isAbout(subject, one.text) || (one.isPersons === true && !isPersons),
    );
    remove(carried, "next", subject);
    carried.working.push({ ...line(text), ...(isPersons ? { isPersons } : {}) });
  }
  carried.working = mostOf(carried.working);
  // Said first comes first, so it is put last: the newest of all is what comes next.
  const later = reading.next.length > 0 ? reading.next : reading.promises;
  const isPromise = reading.next.length === 0 && !isPersons;
  const before = carried.next.filter(
    ({ turn, isPersons: own }) => isPromise && own === true && turn === carried.counts.user,
  );
  for (const text of later.toReversed()) {
    remove(carried, "next", subjectOf(text));
    const said = { ...line(text), ...(isPromise ? { isPromise } : {}) };
    carried.next.push(isPersons && reading.next.length > 0 ? { ...said, isPersons } : said);
  }
  // What the person has just said comes next does so, whatever is promised about it.
  carried.next = [...carried.next.filter((one) => !before.includes(one)), ...before].slice(-MOST_LINES);
}

/** The newest of each side: neither pushes out what the other said. */
function mostOf(lines: readonly CarriedLine[]): CarriedLine[] {
  const persons = lines.filter(({ isPersons }) => isPersons === true);
  const agents = lines.filter(({ isPersons }) => isPersons !== true);
  const kept = new Set([...persons.slice(-MOST_LINES), ...agents.slice(-MOST_LINES)]);
  return lines.filter((line) => kept.has(line));
}

function remove(carried: CarriedState, list: "working" | "next", subject: Subject): void {
  carried[list] = carried[list].filter(({ text }) => !isAbout(subject, text));
}

function isAbout(subject: Subject, text: string): boolean {
  return isSameSubject(subject, subjectOf(text));
}

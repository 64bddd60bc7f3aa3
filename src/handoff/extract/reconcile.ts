/**
 * One sentence can look like several things: a plan like a decision, a decision with its reason like a
 * blocker, an answer that repeats what a person said like news. Here each is told as what it is first.
 */
import type { ReadMessage, StateNote } from "../state.ts";
import type { MessageReading } from "./read-message.ts";
import { isCovered, isSameSubject, subjectOf } from "./subject.ts";
import { normalize } from "../patterns/normalize.ts";
import { dismisses, settles } from "./words.ts";

interface Context {
  role: ReadMessage["role"];
  /** The notes of the messages before, of all projects. */
  before: readonly StateNote[];
  project: string;
}

export interface Reconciled {
  reading: MessageReading;
  found: StateNote[];
}

export function reconcile(reading: MessageReading, detected: readonly StateNote[], context: Context): Reconciled {
  const { role } = context;
  const plans = new Set([...reading.working, ...reading.next, ...(role === "assistant" ? ownPromises(reading) : [])]);
  const found = detected.filter((note) => {
    if ((note.type === "decision" || note.type === "accomplishment") && plans.has(note.content)) return false;
    if (note.type === "decision" && (isOnlyAsked(note, reading) || dismisses({ plain: normalize(note.content) })))
      return false;
    if (role === "assistant" && isRepeated(note, context)) return false;
    if (note.type === "accomplishment" && isRatherBlocked(note, detected)) return false;
    return note.type !== "blocker" || !isReason(note, detected);
  });
  const decided = new Set(found.filter(({ type }) => type === "decision").map(({ content }) => content));
  return {
    found,
    reading: {
      ...reading,
      promises: reading.promises.filter((line) => !decided.has(line)),
      requests: reading.requests.filter(({ text }) => !(decided.has(text) && settles({ plain: normalize(text) }))),
    },
  };
}

const ASKS = /^(?:\w+[,.!]? ){0,2}?(?:please|pls|plz|can you|could you|would you|will you)\b/i;

const PROPOSES = /^(?:\w+[,.!]? ){0,2}?let(?:['’]s| us)\b/i;
/** From here on more than the words "let us" speak for a decision. */
const SURE = 0.6;

/** "Please rename it" and "let us plan it" ask for work; "please use the other name" settles something. */
function isOnlyAsked({ content, confidence }: StateNote, { requests }: MessageReading): boolean {
  const isAsked = ASKS.test(content) || (PROPOSES.test(content) && confidence < SURE);
  return isAsked && requests.some(({ text }) => text === content) && !settles({ plain: normalize(content) });
}

/** "I'll …" of an agent is what it does next; "we'll …" may be what was agreed. */
function ownPromises({ promises }: MessageReading): string[] {
  return promises.filter((line) => /\bI(?:['’]ll| will|['’]m going)\b/i.test(line));
}

const ACKNOWLEDGES =
  /^(?:ok(?:ay)?|got it|then|noted|understood|right|makes sense|i see|good|agreed|sure|so|all right|alright|yes|fine|thanks)\b/i;

/** How many notes back an answer may repeat something. */
const NEARBY = 12;

/** An answer that repeats what was said before; that is where it comes from. */
function isRepeated({ type, content, sourceMessageIndex }: StateNote, context: Context): boolean {
  const said = nearby(context);
  const just = said.filter((note) => note.sourceMessageIndex === sourceMessageIndex - 1);
  if (type === "task_created") return just.some((note) => note.type === type);
  if (type !== "blocker" && type !== "decision") return false;
  if (ACKNOWLEDGES.test(content) && just.some((note) => note.type === "blocker" || note.type === "decision"))
    return true;
  const subject = subjectOf(content);
  return said.some((note) => {
    if (note.type !== type || note.resolved === true) return false;
    const known = subjectOf(note.content);
    return note.sourceMessageIndex === sourceMessageIndex - 1
      ? isSameSubject(known, subject)
      : isCovered(subject, known);
  });
}

function nearby({ before, project }: Context): StateNote[] {
  const near: StateNote[] = [];
  for (let index = before.length - 1; index >= 0 && near.length < NEARBY; index -= 1) {
    const note = before[index];
    if (note?.project === project) near.push(note);
  }
  return near.reverse();
}

/** "It is booked out, so we can't go on": what is in the way is no success. */
function isRatherBlocked({ content, confidence }: StateNote, detected: readonly StateNote[]): boolean {
  return detected.some((note) => note.type === "blocker" && note.content === content && note.confidence > confidence);
}

const WAY_OUT = /\b(?:instead|work ?around)\b/i;

/** The trouble that a decision of the same message is about: decided rather than in the way. */
function isReason(blocker: StateNote, detected: readonly StateNote[]): boolean {
  const place = detected.indexOf(blocker);
  return detected.some((note, index) => {
    if (note.type !== "decision") return false;
    if (note.content === blocker.content) return note.confidence > blocker.confidence;
    return index > place && WAY_OUT.test(note.content);
  });
}

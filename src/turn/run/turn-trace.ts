/**
 * What the earlier attempts of a repeated turn left. The search starts at the end of the current window and
 * follows the conversation, so that lines of a process without the lease do not count. It continues in
 * earlier windows, because the session may have been reset meanwhile, and in archives.
 *
 * A turn continues in the window that has its message. In another window it would not see the results of its
 * tools, and would run them twice.
 */
import { errorMessage } from "../../base/errors.ts";
import {
  type AgentHandle,
  locateWindowTranscript,
  transcriptPath,
  windowTranscriptName,
} from "../../session/agent-handle.ts";
import { listArchives } from "../../session/archive.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Window } from "../../store/store.ts";
import { type TranscriptEntry, FLUSH_TURN_PREFIX } from "../../transcript/entries.ts";
import { walkPath } from "../../transcript/walk.ts";
import { isHandoffNote } from "./hooks-and-handoff.ts";
import { type EngineMessage, type TurnWords, isAnswered, turnNoteOf } from "./turn-record.ts";
import { contentText, handoffText, isFlushEntry, turnIdOf } from "../../transcript/messages.ts";

export interface TurnTrace extends Pick<FileTrace, "asked" | "handedOver" | "words" | "steered"> {
  /** It had opened a window or written its message. */
  begun: boolean;
  /** Where the message was written, if not in the current window. */
  place?: EarlierPlace | undefined;
  complete: boolean;
  flush: FlushTrace;
}

export interface EarlierPlace {
  window: Window;
  path: string;
  /** The whole session was archived or deleted, so nothing is written there. */
  isArchived: boolean;
}

export interface FlushTrace {
  asked: boolean;
  messages: EngineMessage[];
}

export async function findTurn(agent: AgentHandle, sessionKey: string, turnId: string): Promise<TurnTrace> {
  const entry = await agent.store.get(sessionKey);
  const here = entry === undefined ? emptyTrace() : await readTrace(agent, await transcriptPath(agent, entry), turnId);
  const earlier = here.asked === undefined && !here.steered ? await findEarlier(agent, sessionKey, entry, turnId) : [];
  const found = earlier.find(isOfTurn);
  const source = found ?? here;
  const { asked, words } = source;
  return {
    begun: entry?.openedByTurn === turnId || isOfTurn(here) || earlier.some((trace) => trace.opened || isOfTurn(trace)),
    asked,
    place: found?.place,
    handedOver: asked !== undefined && source.handedOver,
    words,
    complete: !source.waits && isAnswered(words),
    steered: source.steered && asked === undefined,
    flush: {
      asked: source.flushAsked,
      messages: [...earlier.toReversed(), here].flatMap(({ flushed }) => flushed),
    },
  };
}

function isOfTurn({ asked, steered }: FileTrace): boolean {
  return asked !== undefined || steered;
}

interface FileTrace {
  /** The message as the engine reads it. Undefined when it was not written. */
  asked: string | undefined;
  /** The turn has a hand-off, which may not be marked as offered. */
  handedOver: boolean;
  words: TurnWords;
  /** A message joined the turn and was not answered. */
  waits: boolean;
  /** The message joined another turn, which has ended. */
  steered: boolean;
  givenUp: Set<string>;
  flushAsked: boolean;
  flushed: EngineMessage[];
}

const MAX_EARLIER_WINDOWS = 20;

/** Newest first, up to the window with the message. */
async function findEarlier(agent: AgentHandle, sessionKey: string, entry: SessionEntry | undefined, turnId: string) {
  const traces: (FileTrace & { place: EarlierPlace; opened: boolean })[] = [];
  for (const place of await earlierPlaces(agent, sessionKey, entry)) {
    const opened = place.window.state?.openedByTurn === turnId;
    const trace = { place, opened, ...(await readTrace(agent, place.path, turnId)) };
    traces.push(trace);
    if (isOfTurn(trace)) break;
  }
  return traces;
}

async function earlierPlaces(agent: AgentHandle, sessionKey: string, entry: SessionEntry | undefined) {
  const left = (await agent.store.windows(sessionKey)).filter(({ sessionId }) => sessionId !== entry?.sessionId);
  const archived = (await listArchives(agent)).filter(({ key }) => key === sessionKey);
  const windows = [
    ...left.toReversed().map((window) => ({ window, isArchived: window.archive !== undefined })),
    ...archived.flatMap((record) => record.windows.toReversed().map((window) => ({ window, isArchived: true }))),
  ];
  return await Promise.all(
    windows.slice(0, MAX_EARLIER_WINDOWS).map(async ({ window, isArchived }) => {
      const archive = isArchived ? windowTranscriptName(window) : undefined;
      const path = await locateWindowTranscript(agent, archive === undefined ? window : { ...window, archive });
      return { window, path, isArchived };
    }),
  );
}

/** More than a turn of several days writes. */
const MAX_ENTRIES = 20_000;

async function readTrace(agent: AgentHandle, path: string, turnId: string): Promise<FileTrace> {
  const trace = emptyTrace();
  let count = 0;
  try {
    for await (const { entry } of walkPath(path, { onProblem: () => undefined })) {
      if (isForeignQuestion(entry, turnId) || ++count > MAX_ENTRIES) break;
      addEntry(trace, entry, turnId);
      if (trace.asked !== undefined) break;
    }
  } catch (error) {
    // A missing file has no trace. The turn creates the transcript of the current window again.
    agent.logger.warn("cannot look for earlier attempts of a turn", { path, turnId, reason: errorMessage(error) });
  }
  trace.words.messages.reverse();
  trace.words.notices.reverse();
  trace.words.sent.reverse();
  trace.flushed.reverse();
  return trace;
}

function emptyTrace(): FileTrace {
  return {
    asked: undefined,
    handedOver: false,
    words: { messages: [], notices: [], sent: [] },
    waits: false,
    steered: false,
    givenUp: new Set(),
    flushAsked: false,
    flushed: [],
  };
}

/** Entries before the question of another turn are older than this turn. A message that joined a turn is no question. */
function isForeignQuestion(entry: TranscriptEntry, turnId: string): boolean {
  if (entry.type !== "message" || entry.message.role !== "user" || entry.steered === true) return false;
  return turnIdOf(entry) !== turnId && !isFlushEntry(entry);
}

/** Adds one entry. Entries come newest first; the caller reverses the lists. */
function addEntry(trace: FileTrace, entry: TranscriptEntry, turnId: string): void {
  const remark = turnNoteOf(entry);
  if (remark?.givenUp === true) trace.givenUp.add(remark.turnId);
  if (remark?.turnId === turnId) {
    if (remark.notice !== undefined) trace.words.notices.push(remark.notice);
    if (remark.sent !== undefined) trace.words.sent.push(remark.sent);
  }
  if (isHandoffNote(entry)) trace.handedOver = true;
  if (entry.type !== "message") return;
  const { message } = entry;
  const writer = turnIdOf(entry);
  if (message.role === "user" && entry.steered === true && entry.steeredAs === turnId) {
    // If the turn that it joined was given up, the message is answered in a turn of its own.
    if (writer !== undefined && trace.givenUp.has(writer)) trace.asked = contentText(message.content);
    else trace.steered = true;
  }
  if (message.role === "user" && writer === turnId && entry.steered === true) {
    // No answer follows it.
    if (trace.words.messages.length === 0) trace.waits = true;
    return;
  }
  const isFlush = writer === FLUSH_TURN_PREFIX + turnId;
  if (message.role === "user" && writer === turnId) {
    trace.asked = contentText(message.content);
    trace.handedOver ||= handoffText(message.content) !== undefined;
  }
  if (message.role === "user" && isFlush) trace.flushAsked = true;
  if (message.role !== "assistant" && message.role !== "toolResult") return;
  if (writer === turnId) trace.words.messages.push(message);
  else if (isFlush) trace.flushed.push(message);
}

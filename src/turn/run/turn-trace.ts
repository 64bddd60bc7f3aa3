/**
 * What a turn that is begun again had left before its process died. It is looked for at the end of the
 * current window, along the conversation, so that lines of a process that had lost the lease do not
 * count; and in the windows before it, because somebody may have moved the session meanwhile. An answer
 * that was complete there is delivered. Anything less is asked again where the person is now.
 */
import { errorMessage } from "../../base/errors.ts";
import { type AgentHandle, locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { contentText, handoffText } from "../../transcript/text.ts";
import { FLUSH_TURN_PREFIX, isFlushEntry, turnIdOf } from "../../transcript/turn-mark.ts";
import { walkPath } from "../../transcript/walk.ts";
import { isHandoffNote } from "./hand-over.ts";
import { type EngineMessage, type TurnWords, isAnswered, turnNoteOf } from "./turn-record.ts";

export interface TurnTrace {
  /** It had opened a window or written its message, here or in an earlier window. */
  begun: boolean;
  /** The message as the engine reads it, when it stands in the current window. */
  asked: string | undefined;
  /** The message, or the turn, has what an earlier conversation left; nobody knows whether that was marked. */
  handedOver: boolean;
  /** What was said in the window that holds the message: the current one, or an earlier one if complete. */
  words: TurnWords;
  complete: boolean;
  /** The message went into another turn, which has ended: it is dealt with. */
  steered: boolean;
  /** How often the engine was asked again since the message was written. */
  repeats: number;
  /** What the agent said while it saved its memory for this turn. */
  flush: FlushTrace;
}

export interface FlushTrace {
  /** The question stands in the current window. */
  asked: boolean;
  messages: EngineMessage[];
}

const NO_TRACE: TurnTrace = {
  begun: false,
  asked: undefined,
  handedOver: false,
  words: { messages: [], notices: [], sent: [] },
  complete: false,
  steered: false,
  repeats: 0,
  flush: { asked: false, messages: [] },
};

/** How many earlier windows are looked at. */
const EARLIER_WINDOWS = 2;

export async function findTurn(agent: AgentHandle, sessionKey: string, turnId: string): Promise<TurnTrace> {
  const entry = await agent.store.get(sessionKey);
  if (entry === undefined) return NO_TRACE;
  const here = await readTrace(agent, transcriptPath(agent, entry), turnId);
  const earlier = await readEarlier(agent, sessionKey, entry, turnId);
  const messages = [...earlier.flatMap((trace) => trace.flushed), ...here.flushed];
  const begun =
    entry.openedByTurn === turnId ||
    here.asked !== undefined ||
    here.steered ||
    earlier.some((trace) => trace.opened || trace.asked !== undefined);
  const answered = here.asked === undefined ? earlier.find(isComplete) : undefined;
  const source = answered ?? here;
  const { words } = source;
  return {
    begun,
    asked: here.asked,
    handedOver: here.asked !== undefined && here.handedOver,
    words,
    complete: isComplete(source),
    // Turns end in order; in a window that was left, nobody knows whether the other one got to it.
    steered: here.steered && here.asked === undefined,
    repeats: here.repeats,
    flush: { asked: here.flushAsked, messages },
  };
}

function isComplete({ words, waits }: FileTrace): boolean {
  return !waits && isAnswered(words);
}

interface FileTrace {
  asked: string | undefined;
  handedOver: boolean;
  words: TurnWords;
  /** Somebody said something into the turn that it has not answered. */
  waits: boolean;
  steered: boolean;
  repeats: number;
  flushAsked: boolean;
  flushed: EngineMessage[];
}

interface EarlierTrace extends FileTrace {
  /** The turn had opened this window. */
  opened: boolean;
}

/** Oldest first. */
async function readEarlier(
  agent: AgentHandle,
  sessionKey: string,
  entry: SessionEntry,
  turnId: string,
): Promise<EarlierTrace[]> {
  const windows = (await agent.store.windows(sessionKey)).filter(({ sessionId }) => sessionId !== entry.sessionId);
  return await Promise.all(
    windows.slice(-EARLIER_WINDOWS).map(async (window) => ({
      opened: window.state?.openedByTurn === turnId,
      ...(await readTrace(agent, await locateWindowTranscript(agent, window), turnId)),
    })),
  );
}

/** A turn with more entries than this has been running for days. */
const MOST_ENTRIES = 20_000;

async function readTrace(agent: AgentHandle, path: string, turnId: string): Promise<FileTrace> {
  const trace = nothing();
  let count = 0;
  try {
    for await (const { entry } of walkPath(path, { onProblem: () => undefined })) {
      if (isForeignQuestion(entry, turnId) || ++count > MOST_ENTRIES) break;
      note(trace, entry, turnId);
      if (trace.asked !== undefined) break;
    }
  } catch (error) {
    // A window whose file is gone tells nothing; the current one is made anew by the turn itself.
    agent.logger.warn("cannot look for an earlier attempt of this turn", { path, turnId, reason: errorMessage(error) });
  }
  trace.words.messages.reverse();
  trace.words.notices.reverse();
  trace.words.sent.reverse();
  trace.flushed.reverse();
  return trace;
}

function nothing(): FileTrace {
  return {
    asked: undefined,
    handedOver: false,
    words: { messages: [], notices: [], sent: [] },
    waits: false,
    steered: false,
    repeats: 0,
    flushAsked: false,
    flushed: [],
  };
}

/** What stands before the question of another turn is older than this turn. What was said into one is no question. */
function isForeignQuestion(entry: TranscriptEntry, turnId: string): boolean {
  if (entry.type !== "message" || entry.message.role !== "user" || entry.steered === true) return false;
  return turnIdOf(entry) !== turnId && !isFlushEntry(entry);
}

/** Newest first; the caller turns it round. */
function note(trace: FileTrace, entry: TranscriptEntry, turnId: string): void {
  const remark = turnNoteOf(entry, turnId);
  if (remark?.notice !== undefined) trace.words.notices.push(remark.notice);
  if (remark?.repeated === true) trace.repeats += 1;
  if (remark?.sent !== undefined) trace.words.sent.push(remark.sent);
  if (isHandoffNote(entry)) trace.handedOver = true;
  if (entry.type !== "message") return;
  const { message } = entry;
  const writer = turnIdOf(entry);
  if (entry.steered === true && entry.steeredAs === turnId) trace.steered = true;
  if (message.role === "user" && writer === turnId && entry.steered === true) {
    // The newest first: nothing was said after it.
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

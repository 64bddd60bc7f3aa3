/**
 * The messages of one of Holdfast's own transcripts, from a place on. Only whole lines count: a line that
 * is still being written is read the next time. Damaged lines, entries of other kinds, summaries and the
 * turns in which the agent saved its memory are passed over.
 */
import { damageNoticeOf } from "../../transcript/damage.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { openForReading, scanHead, scanLines, transcriptError } from "../../transcript/scan.ts";
import { projectBefore } from "../project-mark.ts";
import type { ReadMessage } from "../state.ts";
import { type ReadOptions, type ReadTranscript, boundedText, readingStart, toolText } from "./read-transcript.ts";
import { callOf, resultOf } from "./tool-facts.ts";
import { joinTodos, todosOfCall, todosOfResult } from "./todos.ts";
import { hashTranscript } from "./transcript-hash.ts";
import { messageText, isFlushEntry, isHeartbeatEntry, saidText } from "../../transcript/messages.ts";

/** Fails as every reader of transcripts does: `transcript-missing` when there is none. */
export async function readSession(
  path: string,
  from: { offset: number },
  options: ReadOptions = {},
): Promise<ReadTranscript> {
  await using handle = await openForReading(path);
  try {
    const { size } = await handle.stat();
    const start = readingStart(from.offset, size, options);
    const messages: ReadMessage[] = [];
    let marked = 0;
    let damagedAt: string | undefined;
    let offset = start;
    let header = start === 0 ? undefined : (await scanHead(handle)).header;
    for await (const scanned of scanLines(handle, { start })) {
      if (!scanned.line.terminated) break;
      offset = scanned.line.end;
      header ??= scanned.header;
      const entry = scanned.located?.entry;
      if (entry === undefined) continue;
      if (damageNoticeOf(entry) !== undefined) damagedAt = entry.timestamp;
      const before = projectBefore(entry);
      if (before !== undefined) {
        // What was said until then belongs to what was worked on until then.
        for (const message of messages.slice(marked)) message.project = before;
        marked = messages.length;
      }
      const message = readEntry(entry);
      if (message !== undefined) messages.push(message);
    }
    return {
      messages,
      start,
      offset,
      hash: await hashTranscript(handle, offset),
      ...(damagedAt === undefined ? {} : { damagedAt }),
      ...(header === undefined ? {} : { sessionId: header.id }),
      ...(header === undefined || header.cwd === "" ? {} : { cwd: header.cwd }),
    };
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}

function readEntry(entry: TranscriptEntry): ReadMessage | undefined {
  if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
  const { message } = entry;
  const place = { entryId: entry.id, timestamp: entry.timestamp };
  switch (message.role) {
    case "user":
      // A heartbeat begins a turn, and nobody has said anything.
      return { ...place, role: "user", text: isHeartbeatEntry(entry) ? "" : boundedText(saidText(entry)) };
    case "assistant":
      return { ...place, role: "assistant", text: boundedText(messageText(message)), ...turnFlags(message) };
    case "toolResult":
      return toolMessage(place, message, message.isError);
    case "bashExecution":
      return toolMessage(place, message, message.exitCode !== undefined && message.exitCode !== 0);
    default:
      return undefined;
  }
}

function turnFlags(message: Extract<TranscriptMessage, { role: "assistant" }>): Partial<ReadMessage> {
  const { stopReason, content } = message;
  const echo = isEcho(message) ? { isEcho: true } : {};
  if (stopReason === "aborted" || stopReason === "error") return { ...echo, isCut: true };
  const calls = typeof content === "string" ? [] : content.filter((block) => block.type === "toolCall");
  return {
    ...echo,
    ...(calls.length > 0 || stopReason === "toolUse" ? { callsTools: true } : {}),
    ...joinTodos(calls.map((call) => todosOfCall(call.name, call.arguments))),
    ...(calls.length === 0 ? {} : { calls: calls.flatMap((call) => callOf(call.id, call.name, call.arguments)) }),
  };
}

/** The echo engine says what the person said; its words are nobody's. */
function isEcho(message: Extract<TranscriptMessage, { role: "assistant" }>): boolean {
  return (message.provider === "holdfast" && message.model === "echo") || messageText(message).startsWith("[echo]");
}

function toolMessage(
  place: Pick<ReadMessage, "entryId" | "timestamp">,
  message: TranscriptMessage,
  isError: boolean,
): ReadMessage {
  const text = messageText(message);
  return {
    ...place,
    role: "tool",
    text: toolText(text, isError),
    ...(isError ? { isError } : todosOfResult(text)),
    ...(message.role === "toolResult" ? { results: resultOf(message.toolCallId, text, isError) } : {}),
  };
}

/**
 * Reads the messages of one of Holdfast's own transcripts. Only complete lines count. Damaged lines, entries of other
 * kinds, summaries, and the turns in which the agent saved its memory are skipped.
 */
import { damageNoticeOf } from "../../transcript/damage.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { messageText, isFlushEntry, isHeartbeatEntry, saidText } from "../../transcript/messages.ts";
import { openForReading, scanHead, scanLines, transcriptError } from "../../transcript/scan.ts";
import { projectBefore } from "../project.ts";
import type { ReadMessage } from "../state.ts";
import {
  type ReadOptions,
  type ReadTranscript,
  boundedText,
  hashTranscript,
  readingStart,
  toolText,
} from "./read-transcript.ts";
import { callFacts, resultOf, todosOfResult } from "./tool-facts.ts";

/** Fails with `transcript-missing` if there is no transcript. */
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
        // The messages up to this mark belong to the previous project.
        for (const message of messages.slice(marked)) message.project = before;
        marked = messages.length;
      }
      const message = readEntry(entry);
      if (message !== undefined) messages.push(message);
    }
    const hash = await hashTranscript(handle, offset);
    const cwd = header?.cwd === "" ? undefined : header?.cwd;
    return { messages, start, offset, hash, damagedAt, sessionId: header?.id, cwd };
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
      // A heartbeat begins a turn without words of a person.
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

type AgentMessage = Extract<TranscriptMessage, { role: "assistant" }>;

function turnFlags(message: AgentMessage): Partial<ReadMessage> {
  const { stopReason, content } = message;
  const isEcho = isEchoed(message) ? true : undefined;
  if (stopReason === "aborted" || stopReason === "error") return { isEcho, isCut: true };
  const calls = typeof content === "string" ? [] : content.filter((block) => block.type === "toolCall");
  const facts = callFacts(
    calls.map(({ id, name, arguments: input }) => ({ id, name, input })),
    stopReason === "toolUse",
  );
  return { isEcho, ...facts };
}

/** The echo engine only repeats the person's words. */
function isEchoed(message: AgentMessage): boolean {
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
    results: message.role === "toolResult" ? resultOf(message.toolCallId, text, isError) : undefined,
  };
}

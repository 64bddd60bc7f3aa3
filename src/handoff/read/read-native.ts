/**
 * Reads the messages of a Claude Code transcript. The format changes without notice: every member may be missing or of
 * another type, and unknown lines are skipped. Lines of subagents, hooks, commands and compactions are not part of the
 * conversation.
 */
import { fileError } from "../../base/errors.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { type Line, readLines } from "../../base/jsonl.ts";
import { readMarker } from "../../claude/attribution.ts";
import { openNativeFile } from "../../claude/native/layout.ts";
import {
  INTERRUPTED,
  NAME_LENGTH,
  SYNTHETIC_MODEL,
  blocksOf,
  contentText,
  hasText,
  isRealPrompt,
  promptText,
} from "../../claude/native/line-format.ts";
import type { ReadMessage } from "../state.ts";
import {
  type ReadOptions,
  type ReadTranscript,
  boundedText,
  hashTranscript,
  readingStart,
  toolText,
} from "./read-transcript.ts";
import { callFacts, joinTodos, resultOf, todosOfResult } from "./tool-facts.ts";

/** Undefined if the path is not a file. */
export async function readNative(
  path: string,
  from: { offset: number },
  options: ReadOptions = {},
): Promise<ReadTranscript | undefined> {
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const start = readingStart(from.offset, size, options);
    const messages: ReadMessage[] = [];
    const envelope: Envelope = {};
    let offset = start;
    for await (const line of readLines(handle, { start })) {
      if (!line.terminated) break;
      offset = line.end;
      const record = readRecord(line);
      if (record === undefined) continue;
      readEnvelope(record, envelope);
      const message = readMessage(record);
      if (message !== undefined) messages.push(message);
    }
    return { messages, start, offset, hash: await hashTranscript(handle, offset), ...envelope };
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** With and without a space, because other programs write this format too. */
const MARKS = ['"type":"user"', '"type":"assistant"', '"type": "user"', '"type": "assistant"'];

/** Only lines of people and the model are parsed; some of the others are large. */
function readRecord({ bytes }: Line): JsonRecord | undefined {
  if (!MARKS.some((mark) => bytes.includes(mark))) return undefined;
  const record = parseJson(bytes.toString("utf8"));
  return isRecord(record) && record["isSidechain"] !== true ? record : undefined;
}

type Envelope = Pick<ReadTranscript, "sessionId" | "cwd" | "branch">;

/** A file can name several folders and branches: the last ones count. */
function readEnvelope(record: JsonRecord, envelope: Envelope): void {
  const { sessionId, cwd, gitBranch } = record;
  if (typeof sessionId === "string" && sessionId !== "") envelope.sessionId ??= sessionId.slice(0, NAME_LENGTH);
  if (typeof cwd === "string" && cwd !== "") envelope.cwd = cwd.slice(0, NAME_LENGTH);
  if (typeof gitBranch === "string" && gitBranch !== "") envelope.branch = gitBranch.slice(0, NAME_LENGTH);
}

type Place = Pick<ReadMessage, "entryId" | "timestamp">;

const UNKNOWN_TIME = new Date(0).toISOString();

function readMessage(record: JsonRecord): ReadMessage | undefined {
  const { type, uuid, timestamp, message } = record;
  if (typeof uuid !== "string" || uuid === "" || !isRecord(message)) return undefined;
  const place = { entryId: uuid, timestamp: typeof timestamp === "string" ? timestamp : UNKNOWN_TIME };
  if (type === "user") return readUser(record, message["content"], place);
  return type === "assistant" ? readAssistant(record, message, place) : undefined;
}

function readUser(record: JsonRecord, content: unknown, place: Place): ReadMessage | undefined {
  if (record["isMeta"] === true || record["isCompactSummary"] === true) return undefined;
  const results = blocksOf(content).filter(({ type }) => type === "tool_result");
  if (results.length > 0) return readResults(results, place);
  if (record["toolUseResult"] !== undefined || !hasText(content)) return undefined;
  // Claude Code writes this when a turn ends without an answer.
  if (promptText(content).startsWith(INTERRUPTED)) return { ...place, role: "assistant", text: "", isCut: true };
  if (!isRealPrompt(content)) return undefined;
  const { text } = readMarker(promptText(content));
  if (text === "") return undefined;
  return { ...place, role: "user", text: boundedText(text) };
}

function readResults(results: readonly JsonRecord[], place: Place): ReadMessage {
  const texts = results.map(({ tool_use_id: id, content, is_error: isError }) => ({
    id,
    text: contentText(content),
    isError: isError === true,
  }));
  const failed = texts.find(({ isError }) => isError);
  return {
    ...place,
    role: "tool",
    text: toolText(failed?.text ?? "", true),
    isError: failed?.isError,
    ...joinTodos(texts.map(({ text }) => todosOfResult(text))),
    results: texts.flatMap(({ id, text, isError }) => resultOf(id, text, isError)),
  };
}

function readAssistant(record: JsonRecord, message: JsonRecord, place: Place): ReadMessage | undefined {
  const { content, model, stop_reason: stopReason } = message;
  if (record["isApiErrorMessage"] === true) return { ...place, role: "assistant", text: "", isCut: true };
  if (model === SYNTHETIC_MODEL || !hasText(content)) return undefined;
  const text = contentText(content);
  const calls = blocksOf(content).filter(({ type }) => type === "tool_use");
  // A line that has only thoughts.
  if (text.trim() === "" && calls.length === 0) return undefined;
  const facts = callFacts(
    calls.map(({ id, name, input }) => ({ id, name, input })),
    stopReason === "tool_use",
  );
  return { ...place, role: "assistant", text: boundedText(text), ...facts };
}

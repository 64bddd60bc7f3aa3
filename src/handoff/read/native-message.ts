/** The meaning of one line of Claude Code's transcripts as a part of a conversation. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { readMarker } from "../../claude/attribution.ts";
import type { ReadMessage } from "../state.ts";
import { boundedText, toolText } from "./read-transcript.ts";
import { callOf, resultOf } from "./tool-facts.ts";
import { joinTodos, todosOfCall, todosOfResult } from "./todos.ts";
import { isRealPrompt, promptText, SYNTHETIC_MODEL } from "../../claude/native/line-format.ts";

type Place = Pick<ReadMessage, "entryId" | "timestamp">;

export function readNativeLine(record: JsonRecord): ReadMessage | undefined {
  const { type, uuid, timestamp, message } = record;
  if (typeof uuid !== "string" || uuid === "" || !isRecord(message)) return undefined;
  const place = { entryId: uuid, timestamp: typeof timestamp === "string" ? timestamp : UNKNOWN_TIME };
  if (type === "user") return readUser(record, message["content"], place);
  return type === "assistant" ? readAssistant(record, message, place) : undefined;
}

const UNKNOWN_TIME = new Date(0).toISOString();

function readUser(record: JsonRecord, content: unknown, place: Place): ReadMessage | undefined {
  if (record["isMeta"] === true || record["isCompactSummary"] === true) return undefined;
  const results = blocksOf(content).filter(({ type }) => type === "tool_result");
  if (results.length > 0) return readResults(results, place);
  if (record["toolUseResult"] !== undefined || !hasText(content)) return undefined;
  // The turn ended here without an answer; nobody wrote this.
  if (promptText(content).startsWith(INTERRUPTED)) return { ...place, role: "assistant", text: "", isCut: true };
  if (!isRealPrompt(content)) return undefined;
  const { text } = readMarker(promptText(content).replace(REMINDER, "").trim());
  if (text === "" || BY_A_PROGRAM.test(text)) return undefined;
  return { ...place, role: "user", text: boundedText(text) };
}

const INTERRUPTED = "[Request interrupted";
/** What Claude Code adds to a person's words for the model. */
const REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g;
const BY_A_PROGRAM =
  /^<(?:command-message|bash-input|bash-stdout|bash-stderr|user-memory-input|task-notification|teammate-message)>/;

function readResults(results: readonly JsonRecord[], place: Place): ReadMessage {
  const texts = results.map((result) => ({
    id: result["tool_use_id"],
    text: resultText(result),
    isError: result["is_error"] === true,
  }));
  const failed = texts.find(({ isError }) => isError);
  return {
    ...place,
    role: "tool",
    text: failed === undefined ? "" : toolText(failed.text, true),
    ...(failed === undefined ? {} : { isError: true }),
    ...joinTodos(texts.map(({ text }) => todosOfResult(text))),
    results: texts.flatMap(({ id, text, isError }) => resultOf(id, text, isError)),
  };
}

function resultText({ content }: JsonRecord): string {
  return hasText(content) ? promptText(content) : "";
}

function readAssistant(record: JsonRecord, message: JsonRecord, place: Place): ReadMessage | undefined {
  const { content, model, stop_reason: stopReason } = message;
  if (record["isApiErrorMessage"] === true) return { ...place, role: "assistant", text: "", isCut: true };
  if (model === SYNTHETIC_MODEL || !hasText(content)) return undefined;
  const text = promptText(content);
  const calls = blocksOf(content).filter(({ type }) => type === "tool_use");
  // A thought alone says nothing to anybody.
  if (text.trim() === "" && calls.length === 0) return undefined;
  return {
    ...place,
    role: "assistant",
    text: boundedText(text),
    ...(calls.length > 0 || stopReason === "tool_use" ? { callsTools: true } : {}),
    ...joinTodos(calls.map(({ name, input }) => todosOfCall(typeof name === "string" ? name : "", input))),
    ...(calls.length === 0 ? {} : { calls: calls.flatMap(({ id, name, input }) => callOf(id, name, input)) }),
  };
}

function hasText(content: unknown): content is string | unknown[] {
  return typeof content === "string" || Array.isArray(content);
}

function blocksOf(content: unknown): JsonRecord[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

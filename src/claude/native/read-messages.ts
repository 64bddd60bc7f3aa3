/**
 * The messages of a transcript in order, for people: prompts, answers, tool calls, results and summaries. Reads a copy
 * from the archive as well. Nothing is redacted here. Lines of subagents are not in a session's own transcript.
 */
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { type Line, readLines } from "../../base/jsonl.ts";
import { isUnpackingError, readPartLines } from "../archive/archive-part.ts";
import { partOwner } from "../archive/catalogue.ts";
import { readMarker } from "../attribution.ts";
import { openNativeFile } from "./layout.ts";
import { blocksOf, contentText, isRealPrompt, promptText } from "./line-format.ts";

export interface NativeMessage {
  role: "user" | "assistant" | "tool" | "summary";
  /** In ms. */
  at?: number | undefined;
  text: string;
  /** Tool calls of an answer. */
  calls: NativeCall[];
}

export interface NativeCall {
  name: string;
  input: JsonRecord;
}

const MAX_LINE = 16 * 1024 * 1024;

/** Every line that is a JSON object. Yields nothing if the file is gone. */
export async function* readNativeLines(path: string): AsyncGenerator<{ record: JsonRecord; text: string }> {
  await using handle = await openNativeFile(path);
  if (handle === undefined) return;
  const isCopy = partOwner(basename(path)) !== undefined;
  const lines = isCopy
    ? unpacked(handle)
    : readLines(handle, { end: (await handle.stat()).size, maxLineBytes: MAX_LINE });
  for await (const { bytes, oversized } of lines) {
    if (oversized || bytes.length === 0) continue;
    const text = bytes.toString("utf8");
    const record = parseJson(text);
    if (isRecord(record)) yield { record, text };
  }
}

/** What comes after a damaged place in a copy cannot be read. */
async function* unpacked(handle: FileHandle): AsyncGenerator<Line> {
  try {
    yield* readPartLines(handle, { maxLineBytes: MAX_LINE });
  } catch (error) {
    if (!isUnpackingError(error)) throw error;
  }
}

export async function* readNativeMessages(path: string): AsyncGenerator<NativeMessage> {
  let isFirst = true;
  for await (const { record } of readNativeLines(path)) {
    const message = messageOf(record);
    if (message === undefined) continue;
    if (message.role === "user" && isFirst) {
      isFirst = false;
      message.text = readMarker(message.text).text;
    }
    yield message;
  }
}

/** Undefined for lines that are not messages, and for those of subagents and of Claude Code itself. */
export function messageOf(record: JsonRecord): NativeMessage | undefined {
  const { type, message, isMeta, isSidechain } = record;
  if (!isRecord(message) || isMeta === true || isSidechain === true) return undefined;
  const { content } = message;
  const at = typeof record["timestamp"] === "string" ? Date.parse(record["timestamp"]) : Number.NaN;
  const base = { at: Number.isNaN(at) ? undefined : at, calls: [] };
  if (type === "assistant") {
    const [text, calls] = [contentText(content).trim(), callsOf(content)];
    return text === "" && calls.length === 0 ? undefined : { ...base, role: "assistant", text, calls };
  }
  if (type !== "user") return undefined;
  if (record["isCompactSummary"] === true) return { ...base, role: "summary", text: contentText(content).trim() };
  const isPrompt = record["toolUseResult"] === undefined && isRealPrompt(content);
  if (isPrompt) return { ...base, role: "user", text: promptText(content) };
  const result = resultText(content);
  return result === "" ? undefined : { ...base, role: "tool", text: result };
}

function callsOf(content: unknown): NativeCall[] {
  return blocksOf(content).flatMap(({ type, name, input }) =>
    type === "tool_use" && typeof name === "string" ? [{ name, input: isRecord(input) ? input : {} }] : [],
  );
}

function resultText(content: unknown): string {
  return blocksOf(content)
    .flatMap((block) => (block["type"] === "tool_result" ? [contentText(block["content"]).trim()] : []))
    .join("\n")
    .trim();
}

/**
 * The messages of one of Claude Code's transcripts, from a place on. The format belongs to Claude Code and
 * changes without notice: every member may be missing or of another type, and a line that is not understood
 * is passed over. What subagents, hooks, commands and compactions wrote is no part of the conversation.
 */
import type { FileHandle } from "node:fs/promises";
import { openNativeFile } from "../../claude/native/layout.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { fileError } from "../../base/errors.ts";
import { type Line, readLines, readLinesBackward } from "../../base/jsonl.ts";
import type { ReadMessage } from "../state.ts";
import { readNativeLine } from "./native-message.ts";
import { type ReadOptions, type ReadTranscript, readingStart } from "./read-transcript.ts";
import { hashTranscript } from "./transcript-hash.ts";

export interface NativeReadOptions extends ReadOptions {
  /** Reads at least this many messages that say something, back to the last one of a person. Default: all. */
  mostMessages?: number | undefined;
}

/** Undefined when there is no such file, or something else has its name. */
export async function readNative(
  path: string,
  from: { offset: number },
  options: NativeReadOptions = {},
): Promise<ReadTranscript | undefined> {
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const start = readingStart(from.offset, size, options);
    const { mostMessages } = options;
    const read = await (mostMessages === undefined ? readAll(handle, start) : readLast(handle, start, mostMessages));
    return { ...read, start, hash: await hashTranscript(handle, read.offset) };
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

type Read = Omit<ReadTranscript, "start" | "hash">;

async function readAll(handle: FileHandle, start: number): Promise<Read> {
  const messages: ReadMessage[] = [];
  const envelope: Envelope = {};
  let offset = start;
  for await (const line of readLines(handle, { start })) {
    if (!line.terminated) break;
    offset = line.end;
    const record = readRecord(line);
    if (record === undefined) continue;
    readEnvelope(record, envelope);
    const message = readNativeLine(record);
    if (message !== undefined) messages.push(message);
  }
  return { messages, offset, ...envelope };
}

/** From the end: what lies before the messages that are wanted is not even looked at. */
async function readLast(handle: FileHandle, start: number, most: number): Promise<Read> {
  const messages: ReadMessage[] = [];
  const records: JsonRecord[] = [];
  let offset: number | undefined;
  let said = 0;
  let isAsked = false;
  for await (const line of readLinesBackward(handle, { start })) {
    if (!line.terminated) continue;
    offset ??= line.end;
    const record = readRecord(line);
    if (record === undefined) continue;
    records.push(record);
    const message = readNativeLine(record);
    if (message === undefined) continue;
    messages.push(message);
    if (message.text !== "") said += 1;
    isAsked ||= message.role === "user" && message.text !== "";
    if (said >= most && isAsked) break;
  }
  const envelope: Envelope = {};
  for (const record of records.reverse()) readEnvelope(record, envelope);
  return { messages: messages.reverse(), offset: offset ?? start, ...envelope };
}

/** Undefined for what is no part of the conversation. */
function readRecord({ bytes }: Line): JsonRecord | undefined {
  const record = isConversation(bytes) ? parseJson(bytes.toString("utf8")) : undefined;
  return isRecord(record) && record["isSidechain"] !== true ? record : undefined;
}

/** As Claude Code writes it, and as others do who write its format. */
const MARKS = ['"type":"user"', '"type":"assistant"', '"type": "user"', '"type": "assistant"'];

/** Lines of people and the model; parsing the others, some of them large, would tell nothing. */
function isConversation(bytes: Buffer): boolean {
  return MARKS.some((mark) => bytes.includes(mark));
}

type Envelope = Pick<ReadTranscript, "sessionId" | "cwd" | "branch">;

const NAME_LENGTH = 4096;

/** One file can hold several folders and branches: the last ones count. */
function readEnvelope(record: JsonRecord, envelope: Envelope): void {
  const { sessionId, cwd, gitBranch } = record;
  if (typeof sessionId === "string" && sessionId !== "") envelope.sessionId ??= sessionId.slice(0, NAME_LENGTH);
  if (typeof cwd === "string" && cwd !== "") envelope.cwd = cwd.slice(0, NAME_LENGTH);
  if (typeof gitBranch === "string" && gitBranch !== "") envelope.branch = gitBranch.slice(0, NAME_LENGTH);
}

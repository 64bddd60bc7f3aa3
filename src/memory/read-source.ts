/**
 * Reads the passages of a file line by line from an offset. An unfinished last line is skipped, because it may still
 * be written, except in a copy. Only one line is in memory at a time. Lines over `MAX_LINE` and unreadable lines are
 * counted and skipped.
 */
import type { FileHandle } from "node:fs/promises";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type Line, readLines } from "../base/jsonl.ts";
import { isHoldfastEntrypoint, readMarker } from "../claude/attribution.ts";
import { decodeEntry, parseLine } from "../transcript/codec.ts";
import { idOfPlace, migrateRecord, needsMigration } from "../transcript/migrations.ts";
import { entryPassages, markdownPassages, type Passage } from "./passages.ts";
import type { SourceFile } from "./sources.ts";
import { isUnpackingError, readPartLines } from "../claude/archive/archive-part.ts";
import { isRealPrompt, promptText } from "../claude/native/line-format.ts";
import { isFlushEntry, saidText } from "../transcript/messages.ts";

export interface ReadStep {
  /** Offset of the next line. */
  end: number;
  /** Number of lines read. */
  lines: number;
  passages: Passage[];
  /** The working folder from here on. */
  folder?: string | undefined;
  damaged?: true | undefined;
  skipped?: true | undefined;
  /** Set at a native session's first prompt. `agentId`: the agent that wrote it, if known. */
  settled?: { agentId?: string | undefined } | undefined;
}

/** Reads one line. */
type LineReader = (line: Line, place: { line: number; endLine: number; offset: number }) => Partial<ReadStep>;

interface ReadFrom {
  offset: number;
  lines: number;
  folder?: string | undefined;
  /** The session's owner is already known. */
  settled: boolean;
}

const MAX_LINE = 16 * 1024 * 1024;
const MAX_MEMORY_FILE = 8 * 1024 * 1024;

export async function* readSource(
  handle: FileHandle,
  file: Pick<SourceFile, "kind" | "size" | "modifiedAt" | "copyOf">,
  from: ReadFrom,
): AsyncGenerator<ReadStep> {
  if (file.kind === "memory") {
    yield await readMemory(handle, file);
    return;
  }
  const read = file.kind === "native" ? createNativeLineReader(from.settled) : createOwnLineReader(from.folder);
  let count = from.lines;
  const isCopy = file.copyOf !== undefined;
  const range = { start: from.offset, maxLineBytes: MAX_LINE };
  const lines = isCopy ? linesOfCopy(handle, range) : readLines(handle, { ...range, end: file.size });
  for await (const line of lines) {
    if (!line.terminated && !isCopy) return;
    count += 1;
    const step: ReadStep = { end: line.end, lines: 1, passages: [] };
    if (line.oversized) yield { ...step, skipped: true };
    else yield { ...step, ...read(line, { line: count, endLine: count, offset: line.offset }) };
  }
}

/** Reports the rest after a damaged place as one unreadable line. */
async function* linesOfCopy(handle: FileHandle, range: { start: number; maxLineBytes: number }): AsyncGenerator<Line> {
  let end = range.start;
  try {
    for await (const line of readPartLines(handle, range)) {
      ({ end } = line);
      yield line;
    }
  } catch (error) {
    if (!isUnpackingError(error)) throw error;
    yield { bytes: Buffer.from("{"), offset: end, end, terminated: false, oversized: false };
  }
}

async function readMemory(handle: FileHandle, file: { size: number; modifiedAt: number }): Promise<ReadStep> {
  const step: ReadStep = { end: file.size, lines: 0, passages: [] };
  if (file.size > MAX_MEMORY_FILE) return { ...step, skipped: true };
  const content = Buffer.alloc(file.size);
  const { bytesRead } = await handle.read(content, 0, file.size, 0);
  const at = Math.round(file.modifiedAt);
  const passages = markdownPassages(content.toString("utf8", 0, bytesRead)).map((passage) => ({ ...passage, at }));
  return { ...step, passages };
}

/** Reads lines of Holdfast's transcripts, of every version. */
function createOwnLineReader(folderBefore: string | undefined): LineReader {
  let folder = folderBefore;
  return (line, place) => {
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return line.bytes.length === 0 ? {} : { damaged: true };
    if (parsed.kind === "header") {
      folder = parsed.header.cwd === "" ? undefined : parsed.header.cwd;
      return { folder };
    }
    const { record } = parsed;
    const whereabouts = { id: idOfPlace(line.offset), parentId: null, firstKeptEntryId: undefined };
    const { entry } = decodeEntry(needsMigration(record) ? migrateRecord(record, whereabouts) : record);
    if (entry === undefined) return { damaged: true };
    // A flush ends up in the memory files, which are indexed themselves.
    if (entry.type !== "message" || isFlushEntry(entry)) return {};
    const { message } = entry;
    if (message.role !== "user" && message.role !== "assistant") return {};
    const passages = entryPassages(saidText(entry), {
      ...place,
      role: message.role,
      entryId: entry.id,
      at: instant(entry.timestamp),
      folder,
    });
    return { passages };
  };
}

/** Owner of sessions whose agent is unknown. No agent has this id, so no agent sees them. */
const UNKNOWN_AGENT = "?";

const SYNTHETIC_MODEL = "<synthetic>";
const NAME_LENGTH = 4096;

/**
 * Reads lines of Claude Code: prompts and answers. Tool output, which is most of a transcript, and compaction
 * summaries are not indexed.
 */
function createNativeLineReader(wasSettled: boolean): LineReader {
  let settled = wasSettled;

  return (line, place) => {
    if (line.bytes.length === 0) return {};
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return { damaged: true };
    const content = parsed.kind === "record" ? spokenContent(parsed.record) : undefined;
    if (parsed.kind !== "record" || content === undefined) return {};

    const { type, timestamp, uuid, cwd, entrypoint, isSidechain } = parsed.record;
    const isFirst = !settled && type === "user" && isSidechain !== true;
    const marked = isFirst ? readMarker(promptText(content)) : { text: promptText(content) };
    const folder = typeof cwd === "string" && cwd !== "" ? cwd.slice(0, NAME_LENGTH) : undefined;
    const passages = entryPassages(marked.text, {
      ...place,
      role: type === "user" ? "user" : "assistant",
      at: instant(timestamp),
      entryId: typeof uuid === "string" ? uuid : undefined,
      folder,
    });
    if (!isFirst) return { passages, folder };
    settled = true;
    return { passages, folder, settled: starter(marked, entrypoint) };
  };
}

/** Undefined: neither a real prompt nor an answer of the model. */
function spokenContent(record: JsonRecord): string | unknown[] | undefined {
  const { type, message } = record;
  if (!isRecord(message)) return undefined;
  const { content, model } = message;
  if (type === "user") {
    if (record["isMeta"] === true || record["isCompactSummary"] === true) return undefined;
    return record["toolUseResult"] == null && isRealPrompt(content) ? content : undefined;
  }
  if (type !== "assistant" || model === SYNTHETIC_MODEL) return undefined;
  return typeof content === "string" || Array.isArray(content) ? content : undefined;
}

/** A session that some agent started, but does not name, is hidden from all agents. */
function starter({ agentId }: { agentId?: string | undefined }, entrypoint: unknown): { agentId?: string | undefined } {
  if (agentId !== undefined) return { agentId };
  return isHoldfastEntrypoint(entrypoint) ? { agentId: UNKNOWN_AGENT } : {};
}

/** Undefined: unknown. The epoch itself also means unknown. */
function instant(timestamp: unknown): number | undefined {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) || at === 0 ? undefined : at;
}

/**
 * Converts lines to headers or entries, and back. Decoding never throws: a bad line gives a problem, and an entry with
 * unexpected fields is still an entry, so that its children keep their parent.
 */
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type Line, encodeLine } from "../base/jsonl.ts";
import type { EntryBase, OtherEntry, TranscriptEntry, TranscriptHeader } from "./entries.ts";

export type ParsedLine =
  | { kind: "header"; header: TranscriptHeader }
  | { kind: "record"; record: JsonRecord }
  | { kind: "problem"; reason: string };

/** Strict, because replacement characters would silently change the text. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** First step: bytes to a header, or to a record that may need migration. */
export function parseLine(line: Line): ParsedLine {
  if (line.oversized) return problem(`line of ${line.end - line.offset} bytes is too long to be read`);
  let text: string;
  try {
    text = utf8.decode(line.bytes);
  } catch {
    return problem("invalid UTF-8");
  }
  if (text.trim() === "") return problem("blank line");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return problem(text.includes("\0") ? "NUL bytes instead of text" : "invalid JSON");
  }
  if (!isRecord(value)) return problem("not a JSON object");
  return value["type"] === "session" ? parseHeader(value) : { kind: "record", record: value };
}

function parseHeader(record: JsonRecord): ParsedLine {
  const { id, version = 1, timestamp, cwd } = record;
  if (typeof id !== "string" || id === "") return problem("header without a session id");
  if (typeof version !== "number") return problem("header with an unreadable version");
  const header = {
    ...record,
    type: "session" as const,
    version,
    id,
    timestamp: isoTime(timestamp) ?? UNKNOWN_TIME,
    cwd: typeof cwd === "string" ? cwd : "",
  };
  return { kind: "header", header };
}

export type DecodedEntry =
  | { entry: TranscriptEntry; reason?: string | undefined }
  | { entry?: undefined; reason: string };

/** Second step: a record of version 3 to an entry. `reason` is set if something is wrong. */
export function decodeEntry(record: JsonRecord): DecodedEntry {
  const { id, parentId, type } = record;
  if (typeof type !== "string") return { reason: "entry without a type" };
  if (typeof id !== "string" || id === "") return { reason: "entry without an id" };
  const timestamp = isoTime(record["timestamp"]);
  const place: EntryBase = {
    id,
    parentId: typeof parentId === "string" ? parentId : null,
    timestamp: timestamp ?? UNKNOWN_TIME,
  };
  if (typeof record["leaseEpoch"] === "number") place.leaseEpoch = record["leaseEpoch"];
  const fits = ENTRY_SHAPES.get(type);
  if (fits === undefined) return { entry: other(place, record) };
  if (!fits(record)) return { entry: other(place, record), reason: `${type} entry with missing or unreadable fields` };
  // The shape was checked above; unknown fields are kept.
  const { leaseEpoch: _checked, ...fields } = record;
  const entry = { ...fields, ...place } as TranscriptEntry;
  const served = hasKnownRole(entry) ? entry : other(place, record);
  return timestamp === undefined ? { entry: served, reason: "entry without a readable time" } : { entry: served };
}

export function entryToJson(entry: TranscriptEntry): JsonRecord {
  if (entry.type !== "other") return { ...entry };
  return { ...entry.original, id: entry.id, parentId: entry.parentId, timestamp: entry.timestamp };
}

export function encodeEntry(entry: TranscriptEntry): string {
  return encodeLine(entryToJson(entry));
}

export function encodeHeader(header: TranscriptHeader): string {
  return encodeLine(header);
}

/** For lines without a readable time; the reader reports them. */
const UNKNOWN_TIME = new Date(0).toISOString();

/** Accepts ISO text and milliseconds since the epoch. Undefined for anything else. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "number" || Math.abs(value) > 8.64e15) return undefined;
  return new Date(value).toISOString();
}

function problem(reason: string): ParsedLine {
  return { kind: "problem", reason };
}

function other(place: EntryBase, original: JsonRecord): OtherEntry {
  return { type: "other", ...place, original };
}

type Shape = (record: JsonRecord) => boolean;

const ENTRY_SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ["message", ({ message }) => isRecord(message) && hasMessageShape(message)],
  ["model_change", (record) => hasStrings(record, "provider", "modelId")],
  ["thinking_level_change", (record) => hasStrings(record, "thinkingLevel")],
  ["compaction", (record) => hasStrings(record, "summary", "firstKeptEntryId")],
  ["branch_summary", (record) => hasStrings(record, "summary", "fromId")],
  ["custom", (record) => hasStrings(record, "customType")],
  ["custom_message", (record) => hasStrings(record, "customType") && hasContentShape(record["content"])],
  ["label", (record) => hasStrings(record, "targetId")],
  ["session_info", () => true],
]);

const ROLES_WITH_CONTENT: ReadonlySet<string> = new Set(["user", "assistant", "toolResult", "custom"]);
const KNOWN_ROLES: ReadonlySet<string> = new Set([
  ...ROLES_WITH_CONTENT,
  "bashExecution",
  "branchSummary",
  "compactionSummary",
]);

function hasMessageShape(message: JsonRecord): boolean {
  const { role, content } = message;
  if (typeof role !== "string") return false;
  return !ROLES_WITH_CONTENT.has(role) || hasContentShape(content);
}

function hasContentShape(content: unknown): boolean {
  if (typeof content === "string") return true;
  return Array.isArray(content) && content.every(hasBlockShape);
}

function hasBlockShape(block: unknown): boolean {
  if (!isRecord(block) || typeof block["type"] !== "string") return false;
  return block["type"] !== "text" || typeof block["text"] === "string";
}

function hasKnownRole(entry: TranscriptEntry): boolean {
  return entry.type !== "message" || KNOWN_ROLES.has(entry.message.role);
}

function hasStrings(record: JsonRecord, ...names: string[]): boolean {
  return names.every((name) => typeof record[name] === "string");
}

/**
 * Older forms of transcript lines → version 3, one function per step. Every step is a pure function
 * of one record, so that reading forward, reading backward and rewriting a file give the same entries.
 *
 * - flat: `{"type":"user","content":[…],"timestamp":ms}` or `{"role":"assistant",…}`, no envelope
 * - version 1: no ids; a compaction counts lines (`firstKeptEntryIndex`)
 * - version 2: ids; messages of extensions have the role `hookMessage`
 *
 * A line without an id gets one from its place in the file. The place never changes before the file
 * is rewritten, and rewriting stores the id, so the id of an entry is the same before and after.
 */
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { isoTime } from "./codec.ts";

/** Facts that a line without an id does not contain. */
export interface LinePlace {
  id: string;
  /** The entry of the previous line; old forms are plain lists. */
  parentId: string | null;
  /** The id of the line that `firstKeptEntryIndex` points to, if it exists. */
  firstKeptEntryId: string | undefined;
}

/** True if the record is not in version 3. */
export function needsMigration(record: JsonRecord): boolean {
  return record["id"] === undefined || isFlat(record) || hasHookRole(record);
}

export function migrateRecord(record: JsonRecord, place: LinePlace): JsonRecord {
  return renameHookRole(addTreeIds(wrapFlatMessage(record), place));
}

/** Flat → version 1: adds the envelope. */
export function wrapFlatMessage(record: JsonRecord): JsonRecord {
  if (!isFlat(record)) return record;
  const { type, id, parentId, ...message } = record;
  return {
    type: "message",
    ...(id === undefined ? {} : { id, parentId }),
    timestamp: isoTime(record["timestamp"]),
    message: { ...message, role: record["role"] ?? type },
  };
}

/** Version 1 → version 2: adds id and parent. */
export function addTreeIds(record: JsonRecord, place: LinePlace): JsonRecord {
  if (record["id"] !== undefined) return record;
  const { firstKeptEntryIndex, ...rest } = record;
  const counted = rest["type"] === "compaction" && firstKeptEntryIndex !== undefined;
  return {
    ...rest,
    id: place.id,
    parentId: place.parentId,
    // An invalid count keeps nothing: the compaction replaces everything before it.
    ...(counted ? { firstKeptEntryId: place.firstKeptEntryId ?? place.id } : {}),
  };
}

/** Version 2 → version 3: one role for messages of extensions. */
export function renameHookRole(record: JsonRecord): JsonRecord {
  if (!hasHookRole(record)) return record;
  return { ...record, message: { ...(record["message"] as JsonRecord), role: "custom" } };
}

/** The id for a line without one: its offset. */
export function idOfPlace(offset: number): string {
  return (offset % 2 ** 32).toString(16).padStart(8, "0");
}

/** The line number, counting the header, of the first line that a compaction of version 1 keeps. */
export function countedFirstKept(record: JsonRecord): number | undefined {
  const index = record["id"] === undefined ? record["firstKeptEntryIndex"] : undefined;
  return typeof index === "number" && Number.isSafeInteger(index) && index > 0 ? index : undefined;
}

const FLAT_ROLES: ReadonlySet<unknown> = new Set([
  "user",
  "assistant",
  "toolResult",
  "system",
  "custom",
  "hookMessage",
]);

function isFlat(record: JsonRecord): boolean {
  if (record["message"] !== undefined || record["content"] === undefined || record["customType"] !== undefined) {
    return false;
  }
  return (
    FLAT_ROLES.has(record["type"] ?? record["role"]) || (record["type"] === "message" && FLAT_ROLES.has(record["role"]))
  );
}

function hasHookRole(record: JsonRecord): boolean {
  return record["type"] === "message" && isRecord(record["message"]) && record["message"]["role"] === "hookMessage";
}

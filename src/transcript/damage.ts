/**
 * A damaged transcript has lost written entries. A store records the last entry (`TranscriptEnd`), so a file cut at the
 * end of a line is noticed as well as a missing, empty or unreadable one. A writer that finds damage keeps the file as
 * `<file>.damaged-<time>`, writes the readable entries to a new file and ends it with a notice. The new file is
 * complete: the notice replaces the lost entries.
 */
import { lstatSync } from "node:fs";
import { type FileHandle, rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { hasCode } from "../base/errors.ts";
import { freeName, syncFolder } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { readLines } from "../base/jsonl.ts";
import type { TranscriptBacking } from "./appender.ts";
import { encodeEntry, encodeHeader } from "./codec.ts";
import type { DraftEntry, TranscriptEntry, TranscriptHeader } from "./entries.ts";
import { isFlushEntry, isHeartbeatEntry } from "./messages.ts";
import { createEntryIds } from "./new-entries.ts";
import { copyRange, rewriteTranscript, writeNewFile } from "./rewrite.ts";
import {
  type FileHead,
  type LocatedEntry,
  type OnProblem,
  leafOfWindow,
  openIfPresent,
  scanEntriesBackward,
  scanHead,
  scanLines,
} from "./scan.ts";

/** The last known entry of a file, and the end of its line. */
export interface TranscriptEnd {
  id: string;
  bytes: number;
}

/** Facts that a store knows about a transcript. */
export interface ExpectedTranscript {
  /** False before the first write: then the file may be missing or empty. */
  written: boolean;
  end?: TranscriptEnd | undefined;
}

export type DamageKind = "missing" | "not-a-file" | "empty" | "unreadable" | "no-header" | "cut" | "gap";

export interface TranscriptDamage {
  kind: DamageKind;
  /** A clause, such as `the file is missing`. */
  reason: string;
}

export async function findDamage(path: string, expected: ExpectedTranscript): Promise<TranscriptDamage | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await openIfPresent(path);
  } catch (error) {
    if (!hasCode(error, "not-a-file")) throw error;
    return { kind: "not-a-file", reason: "something else is in place of the file" };
  }
  if (handle === undefined) return expected.written ? { kind: "missing", reason: "the file is missing" } : undefined;
  await using file = handle;
  return await damageIn(file, expected, { head: await scanHead(file), newest: await newestEntry(file) });
}

export interface FileEnds {
  head: FileHead;
  /** The newest entries, newest first. At least one, if there is any. */
  newest: readonly LocatedEntry[];
}

export async function damageIn(
  handle: FileHandle,
  { written, end }: ExpectedTranscript,
  { head, newest }: FileEnds,
): Promise<TranscriptDamage | undefined> {
  const { size } = await handle.stat();
  if (size === 0) return written ? { kind: "empty", reason: "the file is empty" } : undefined;
  if (head.header === undefined && newest.length === 0) {
    return written || (await hasWholeLine(handle)) ? await unreadable(handle) : undefined;
  }
  if (head.header === undefined && !head.isOldForm) {
    return { kind: "no-header", reason: "its header line is missing or damaged" };
  }
  const isWhole =
    end === undefined || newest.some(({ entry }) => standsFor(entry, end.id)) || (await holds(handle, end));
  return isWhole ? undefined : { kind: "cut", reason: whatIsMissing(end, size) };
}

function whatIsMissing({ id, bytes }: TranscriptEnd, size: number): string {
  const length = size < bytes ? `it has ${size} bytes of at least ${bytes}, and ` : "";
  return `its end is missing: ${length}entry ${id}, the last one known, is not there`;
}

async function unreadable(handle: FileHandle): Promise<TranscriptDamage> {
  const { buffer } = await handle.read({ buffer: Buffer.alloc(1), position: 0 });
  const reason = buffer[0] === 0 ? "it holds NUL bytes instead of text" : "no line of it can be read";
  return { kind: "unreadable", reason };
}

/** Only an unfinished first line: a process died while it created the file. */
async function hasWholeLine(handle: FileHandle): Promise<boolean> {
  for await (const { terminated } of readLines(handle, { maxLineBytes: 0 })) return terminated;
  return false;
}

async function newestEntry(handle: FileHandle): Promise<LocatedEntry[]> {
  for await (const located of scanEntriesBackward(handle)) return [located];
  return [];
}

/** Looks at the old position first. In a compacted file the entry is elsewhere, near the end. */
async function holds(handle: FileHandle, { id, bytes }: TranscriptEnd): Promise<boolean> {
  if (bytes <= (await handle.stat()).size) {
    for await (const { entry } of scanEntriesBackward(handle, { end: bytes })) {
      if (standsFor(entry, id)) return true;
      break;
    }
  }
  for await (const { entry } of scanEntriesBackward(handle)) if (standsFor(entry, id)) return true;
  return false;
}

function standsFor(entry: TranscriptEntry, id: string): boolean {
  return entry.id === id || damageNoticeOf(entry)?.lostId === id;
}

const DAMAGE_TYPE = "holdfast.damage";

export function damageNoticeOf(entry: TranscriptEntry) {
  if (entry.type !== "custom_message" || entry.customType !== DAMAGE_TYPE) return undefined;
  const { content, details } = entry;
  const lostId = isRecord(details) ? details["lostId"] : undefined;
  return {
    text: typeof content === "string" ? content : "Part of this conversation was lost.",
    lostId: typeof lostId === "string" ? lostId : undefined,
  };
}

/** The newest notice, if no person has written since. The next one to write must see it. */
export function untoldNotice(newestFirst: readonly LocatedEntry[]): string | undefined {
  for (const { entry } of newestFirst) {
    const notice = damageNoticeOf(entry);
    if (notice !== undefined) return notice.text;
    if (isSaidByPerson(entry)) return undefined;
  }
  return undefined;
}

export function isSaidByPerson(entry: TranscriptEntry): boolean {
  if (entry.type !== "message" || entry.message.role !== "user") return false;
  return !isFlushEntry(entry) && !isHeartbeatEntry(entry);
}

const LOSSES: Record<DamageKind, string> = {
  missing: "the file that held it is missing",
  "not-a-file": "something else is in place of the file that held it",
  empty: "the file that held it was emptied",
  unreadable: "the file that held it can no longer be read",
  "no-header": "the beginning of the file that held it is missing or damaged",
  cut: "the end of the file that held it is missing",
  gap: "some lines of the file that held it can no longer be read",
};

/** An entry that tells people and engines what happened. It is shown in the conversation. */
export function damageNotice(
  kind: DamageKind,
  { kept, end }: { kept: number; end?: TranscriptEnd | undefined },
): Extract<DraftEntry, { type: "custom_message" }> {
  const rest =
    kept === 0
      ? "Nothing of it could be read."
      : `The readable part is kept (${kept === 1 ? "1 message" : `${kept} messages`}).`;
  return {
    type: "custom_message",
    customType: DAMAGE_TYPE,
    content: `Part of this conversation was lost: ${LOSSES[kind]}. ${rest} Run \`holdfast doctor\` for details.`,
    display: true,
    details: { kind, lostId: end?.id },
  };
}

export interface SetAside {
  kind: DamageKind;
  /** Path of the file that was set aside. */
  keptAs: string;
}

/**
 * Frees the path of a missing transcript. A folder, a broken link or whatever is there is kept like a damaged file.
 * Otherwise an empty file takes that name, so that `doctor` reports a missing transcript too. Undefined: nothing was
 * written and nothing is there.
 */
export async function setAsideMissing(
  path: string,
  { written, clock }: { written: boolean; clock: Clock },
): Promise<SetAside | undefined> {
  const isTaken = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (!isTaken && !written) return undefined;
  const keptAs = await freeName(path, "damaged", clock.now());
  if (isTaken) await rename(path, keptAs);
  else await writeNewFile(keptAs, async () => undefined);
  await syncFolder(dirname(keptAs));
  return { kind: isTaken ? "not-a-file" : "missing", keptAs };
}

export interface DamagedFile {
  path: string;
  original: FileHandle;
  header: TranscriptHeader;
  damage: TranscriptDamage;
}

export interface RebuildOptions {
  clock: Clock;
  /** The expected content. A file without it is kept aside and rebuilt. Default: unknown. */
  expected?: ExpectedTranscript | undefined;
  onProblem?: OnProblem | undefined;
  backing?: TranscriptBacking | undefined;
}

/** Keeps the damaged file aside, writes a new one and reports that. */
export async function rebuildDamaged(file: DamagedFile, options: RebuildOptions): Promise<void> {
  const { path, original, header, damage } = file;
  const { backing } = options;
  const at = options.clock.now();
  const end = options.expected?.end;
  const aside = await rewriteTranscript({ path, original, at, keptAs: "damaged", backing }, async (write) => {
    await write(encodeHeader(header));
    const seen = new Set<string>();
    const newest: LocatedEntry[] = [];
    let kept = 0;
    let read = 0;
    for await (const { line, located } of scanLines(original)) {
      read = line.end;
      if (located === undefined) continue;
      const { entry } = located;
      const isWhole = entry.parentId === null || seen.has(entry.parentId);
      // An entry without its parent follows the previous entry.
      const placed = isWhole ? entry : { ...entry, parentId: newest[0]?.entry.id ?? null };
      seen.add(entry.id);
      newest.unshift({ ...located, entry: placed });
      if (newest.length > NEWEST) newest.pop();
      if (entry.type === "message") kept++;
      if (isWhole && !located.migrated) await copyRange(original, line.offset, line.end, write);
      else await write(encodeEntry(placed));
    }
    await write(encodeEntry(placeNotice(damageNotice(damage.kind, { kept, end }), newest, at)));
    return read;
  });
  options.onProblem?.({ reason: `${damage.reason}; the readable part was kept`, file: aside });
}

/** How many of the last entries decide where a new one continues, as in an opened log. */
const NEWEST = 64;

function placeNotice(
  draft: ReturnType<typeof damageNotice>,
  newest: readonly LocatedEntry[],
  at: number,
): TranscriptEntry {
  const ids = createEntryIds();
  ids.continueAfter(newest.map(({ entry }) => entry));
  const parentId = leafOfWindow(newest)?.entry.id ?? null;
  return { ...draft, id: ids.next(at), parentId, timestamp: new Date(at).toISOString() };
}

/**
 * Reads folders, `sessions.json` and transcripts. OpenClaw and other tools may have written them, so nothing in them is
 * trusted.
 */
import type { Dirent } from "node:fs";
import { basename } from "node:path";
import { errorMessage } from "../base/errors.ts";
import { readFileIfPresent, readFolderIfPresent, statIfPresent, decodeUtf8 } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type AgentHandle, windowTranscriptName } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { isPlainName, isSessionId, sessionIdOfTranscript, transcriptFileName } from "../transcript/paths.ts";
import { readTail, readTranscript } from "../transcript/reader.ts";
import { type SessionMark, sessionMarkOf } from "../session/window.ts";
import { type KeyOwner, ownKeyOrUndefined } from "../store/store-rules.ts";

/** In alphabetical order; empty if the folder does not exist. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  const items = await readFolderIfPresent(folder);
  return items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export async function listFiles(folder: string): Promise<string[]> {
  return (await listFolder(folder)).filter((item) => item.isFile()).map(({ name }) => name);
}

export type SessionsFile =
  | { state: "missing" }
  | { state: "unreadable"; reason: string }
  /** `sessions` has no prototype, so every name is a key. */
  | { state: "read"; sessions: Readonly<JsonRecord> };

export async function readSessionsFile(path: string): Promise<SessionsFile> {
  const content = await readFileIfPresent(path);
  if (content === undefined) return { state: "missing" };
  const text = decodeUtf8(content);
  if (text === undefined) return { state: "unreadable", reason: "it is not UTF-8 text" };
  try {
    const value = await parse(text);
    if (!isRecord(value)) return { state: "unreadable", reason: "it is not a JSON object" };
    return { state: "read", sessions: Object.assign(Object.create(null) as JsonRecord, value) };
  } catch (error) {
    return { state: "unreadable", reason: errorMessage(error) };
  }
}

/** OpenClaw reads the file as JSON5; a file that needs it is rare. */
async function parse(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch (error) {
    const { default: json5 } = await import("json5");
    try {
      return json5.parse(text);
    } catch {
      throw error;
    }
  }
}

/** The agent's entries by canonical key; several if the file has more than one spelling of a key. */
export function entriesByKey(file: SessionsFile, owner: KeyOwner): Map<string, SessionEntry[]> {
  const entries = new Map<string, SessionEntry[]>();
  if (file.state !== "read") return entries;
  for (const [fileKey, value] of Object.entries(file.sessions)) {
    const key = ownKeyOrUndefined(fileKey, owner);
    if (key !== undefined && isEntry(value)) entries.set(key, [...(entries.get(key) ?? []), value]);
  }
  return entries;
}

export function isEntry(value: unknown): value is SessionEntry {
  if (!isRecord(value)) return false;
  return typeof value["sessionId"] === "string" && value["sessionId"] !== "" && typeof value["updatedAt"] === "number";
}

/** The transcript's name inside the sessions folder; undefined if the id cannot be part of a file name. */
export function entryFile({ sessionFile, sessionId }: SessionEntry): string | undefined {
  const named = typeof sessionFile === "string" ? basename(sessionFile.replaceAll("\\", "/")) : "";
  if (named.endsWith(".jsonl") && isPlainName(named)) return named;
  return isSessionId(sessionId) ? transcriptFileName(sessionId) : undefined;
}

/** The same for a window. */
export function windowFile(window: Window): string | undefined {
  const named = window.transcript ?? window.archive;
  if (named === undefined && !isSessionId(window.sessionId)) return undefined;
  const name = windowTranscriptName(window);
  return isPlainName(name) ? name : undefined;
}

/** Every window of every session: all session ids start with the empty string. */
export async function allWindows({ store }: AgentHandle): Promise<Window[]> {
  return await store.findWindows("", Number.MAX_SAFE_INTEGER);
}

export type TranscriptSummary = Awaited<ReturnType<typeof summarizeTranscript>>;

/** As many as the log checks for lines of stale holders. */
const TAIL_ENTRIES = 64;

/** Reads only the two ends of the transcript. */
export async function summarizeTranscript(path: string) {
  const name = basename(path);
  const { firstAt, ...beginning } = await readBeginning(path);
  const { header, entries } = await readTail(path, TAIL_ENTRIES);
  const modifiedAt = (await statIfPresent(path))?.mtimeMs ?? 0;
  const openedAt = parseTime(header?.timestamp) ?? firstAt ?? modifiedAt;
  return {
    name,
    /** From the file name: headers written by other tools may have other ids. */
    sessionId: sessionIdOfTranscript(name) ?? name,
    ...beginning,
    openedAt,
    lastAt: Math.max(openedAt, parseTime(entries.at(-1)?.entry.timestamp) ?? openedAt),
    /** Highest epoch among the last lines; 0 if they have none. */
    epoch: Math.max(0, ...entries.map(({ entry }) => entry.leaseEpoch ?? 0)),
  };
}

/** Reads up to the first message, which is near the beginning. A new window has only bookkeeping entries. */
async function readBeginning(path: string) {
  let mark: SessionMark | undefined;
  let firstAt: number | undefined;
  for await (const item of readTranscript(path)) {
    if (item.kind !== "entry") continue;
    firstAt ??= parseTime(item.entry.timestamp);
    mark ??= sessionMarkOf(item.entry);
    if (!BOOKKEEPING.has(item.entry.type)) return { mark, hasMessages: true, firstAt };
  }
  return { mark, hasMessages: false, firstAt };
}

const BOOKKEEPING: ReadonlySet<TranscriptEntry["type"]> = new Set([
  "custom",
  "model_change",
  "thinking_level_change",
  "session_info",
  "label",
]);

/** Undefined for an invalid time, and for 0, which other code stores for a missing time. */
function parseTime(timestamp: string | undefined): number | undefined {
  return Date.parse(timestamp ?? "") || undefined;
}

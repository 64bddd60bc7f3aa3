/** `sessions.json` as it stands, whoever wrote it: OpenClaw, the `json` store, or the `sqlite` store as a view. */
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { readFileIfPresent } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { type KeyOwner, ownSessionKey } from "../store/store-key.ts";

export type SessionsFile =
  | { state: "missing" }
  | { state: "unreadable"; reason: string }
  /** `sessions` inherits nothing: every name is a key. */
  | { state: "read"; sessions: Readonly<JsonRecord> };

export async function readSessionsFile(path: string): Promise<SessionsFile> {
  const content = await readFileIfPresent(path);
  if (content === undefined) return { state: "missing" };
  try {
    const value = await parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
    if (!isRecord(value)) return { state: "unreadable", reason: "it does not hold an object" };
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

/** The entries of an agent by canonical key; several when the file has more than one spelling of it. */
export function entriesByKey(file: SessionsFile, owner: KeyOwner): Map<string, SessionEntry[]> {
  const entries = new Map<string, SessionEntry[]>();
  if (file.state !== "read") return entries;
  for (const [fileKey, value] of Object.entries(file.sessions)) {
    const key = ownKeyOrUndefined(fileKey, owner);
    if (key !== undefined && isEntry(value)) entries.set(key, [...(entries.get(key) ?? []), value]);
  }
  return entries;
}

/** Undefined for what is no key, and for keys of other agents. */
export function ownKeyOrUndefined(key: string, owner: KeyOwner): string | undefined {
  try {
    return ownSessionKey(key, owner);
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

export function isEntry(value: unknown): value is SessionEntry {
  if (!isRecord(value)) return false;
  return typeof value["sessionId"] === "string" && value["sessionId"] !== "" && typeof value["updatedAt"] === "number";
}

/**
 * Rules that every store shares: which keys it accepts, how entries are listed and found, how windows follow session
 * ids, and how values are copied. A store never shares an object with its callers: values go in and out as copies made
 * through JSON, because JSON is the stored form.
 */
import { basename } from "node:path";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { printableLine } from "../base/text.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { encodeName } from "../keys/encoding.ts";
import { type SessionKind, resolveAgentIdFromSessionKey, sessionKindOf } from "../keys/session-key.ts";
import type { DeliveryRoute } from "./queues.ts";
import type { SessionEntry, WindowState } from "./session-entry.ts";
import type { ListQuery, Window, WindowReason } from "./store.ts";

export interface KeyOwner {
  agentId: string;
  /** Default: `main`. */
  mainKey?: string | undefined;
}

/** The canonical form of a key of this agent. Throws for keys of other agents; `global` exists for each agent. */
export function ownSessionKey(key: string, owner: KeyOwner): string {
  // Text with half a surrogate pair cannot be stored as UTF-8: two such keys would become one.
  if (key.trim() === "" || !key.isWellFormed()) throw invalidKey(key);
  const canonical = canonicalSessionKey(key, owner);
  if (canonical !== "global" && resolveAgentIdFromSessionKey(canonical) !== owner.agentId) {
    throw foreignSession(canonical, owner.agentId);
  }
  return canonical;
}

/** Undefined for invalid keys and for keys of other agents. */
export function ownKeyOrUndefined(key: string, owner: KeyOwner): string | undefined {
  try {
    return ownSessionKey(key, owner);
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function invalidKey(key: string): HoldfastError {
  return new HoldfastError("usage", "invalid-key", `"${printableLine(key, 80)}" is not a session key`, {
    hint: "A session key is well-formed text such as agent:main:main.",
  });
}

function foreignSession(key: string, agentId: string): HoldfastError {
  return new HoldfastError(
    "forbidden",
    "foreign-session",
    `${printableLine(key, 80)} is not a session of the agent ${agentId}`,
    { hint: `Name its agent: --agent ${resolveAgentIdFromSessionKey(key)}.`, data: { key, agentId } },
  );
}

export function accountLeaseKey(
  subject: AccountSubject,
  agentId: string,
  { channel, accountId }: DeliveryRoute,
): string {
  return `${subject}:${agentId}:${encodeName(channel)}:${encodeName(accountId)}`;
}

/** Not the lease of a session. */
export function isAccountLease(agentId: string, key: string): boolean {
  return ACCOUNT_SUBJECTS.some((subject) => key.startsWith(`${subject}:${agentId}:`));
}

/** `poll`: the connection to the platform. */
const ACCOUNT_SUBJECTS = ["delivery", "poll"] as const;
type AccountSubject = (typeof ACCOUNT_SUBJECTS)[number];

/** The fields that lists show. Stores answer queries for these fields fastest. */
export const LISTED_FIELDS = [
  "sessionId",
  "updatedAt",
  "systemSent",
  "abortedLastRun",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "responseUsage",
  "groupActivation",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "model",
  "contextTokens",
  "label",
  "displayName",
  "subject",
  "channel",
  "sendPolicy",
] as const satisfies readonly (keyof SessionEntry)[];

export function entryFacets(key: string, entry: SessionEntry) {
  const { channel, lastChannel, deliveryContext, label, displayName, subject, groupId, groupChannel, space } = entry;
  const texts = [key, label, displayName, subject, groupId, groupChannel, space];
  return {
    kind: sessionKindOf(key, entry),
    channel: channel ?? lastChannel ?? deliveryContext?.channel,
    label,
    // Separated by a character that no query word contains, so that no word matches across two fields.
    search: texts
      .filter((text) => typeof text === "string")
      .join("\n")
      .toLowerCase(),
  };
}

/** A JSON object without its opening brace, so that the age can be put in front of it. */
export function toListing(key: string, kind: SessionKind, entry: SessionEntry): string {
  const shown = LISTED_FIELDS.filter((field) => entry[field] !== undefined && entry[field] !== null);
  return JSON.stringify({ key, kind, ...Object.fromEntries(shown.map((field) => [field, entry[field]])) }).slice(1);
}

/** The words of a text query, in lower case as in `search`. */
export function searchWords(text: string | undefined): string[] {
  return (text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

export function checkListQuery({ limit, offset }: ListQuery): void {
  for (const [name, value] of Object.entries({ limit, offset })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new HoldfastError("usage", "invalid-query", `${name} must be a whole number of at least 0, not ${value}`, {
        hint: "Omit it to get everything.",
        data: { [name]: value },
      });
    }
  }
}

export interface WindowMove {
  key: string;
  /** The previous session id. Undefined for a new key. */
  from: string | undefined;
  to: string;
  leaving: WindowState | undefined;
  transcript: string | undefined;
  reason: WindowReason | undefined;
  now: number;
}

/**
 * The window that is open after an update, also if the session id did not change. `known` is the key's existing window
 * with this session id.
 */
export function openedWindow({ key, from, to, reason, now, ...entry }: WindowMove, known: Window | undefined): Window {
  const transcript = entry.transcript ?? known?.transcript;
  const named = transcript === undefined ? {} : { transcript };
  if (known !== undefined && from === to) return { ...known, ...named };
  return {
    key,
    sessionId: to,
    openedAt: now,
    reason: reason ?? (from === undefined ? "initial" : "switch"),
    ...named,
  };
}

export function transcriptName({ sessionFile }: SessionEntry): string | undefined {
  // Another tool may have stored something else.
  return typeof sessionFile === "string" ? basename(sessionFile) : undefined;
}

/** The entry as it will be read from disk. Throws if JSON cannot represent it. */
export function copyEntry(entry: SessionEntry): SessionEntry {
  const copy: unknown = JSON.parse(toJson(entry, "entry"));
  if (!isRecord(copy)) throw notJson("entry", "it is not an object");
  return copy as SessionEntry;
}

const STORED = { entry: "session entry", handoff: "hand-off", payload: "message" } as const;

export function toJson(value: unknown, what: keyof typeof STORED): string {
  try {
    // JSON.stringify returns undefined for functions and symbols, although its type does not say so.
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
  } catch (error) {
    throw notJson(what, errorMessage(error), error);
  }
  throw notJson(what, `it is a ${typeof value}`);
}

function notJson(what: keyof typeof STORED, reason: string, cause?: unknown): HoldfastError {
  const message = `The ${STORED[what]} cannot be stored as JSON: ${reason}`;
  const hint = `Nothing was changed. A ${STORED[what]} may contain only JSON values.`;
  return new HoldfastError("usage", `invalid-${what}`, message, { hint, cause });
}

/** In bytes of UTF-8. */
const MAX_STATE_BYTES = 1024 * 1024;

/**
 * Throws if JSON cannot represent the state, or if it is too large. The store cannot look into a state, and one that
 * grows without limit would slow down every session.
 */
export function handoffToJson(state: unknown): string {
  const json = toJson(state, "handoff");
  const bytes = Buffer.byteLength(json);
  if (bytes > MAX_STATE_BYTES) throw tooLarge(bytes);
  return json;
}

/** Returns damaged text as it is. Callers check a state before they use it, and the other states stay readable. */
export function handoffFromJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

function tooLarge(bytes: number): HoldfastError {
  const message = `The hand-off has ${bytes} bytes; a store keeps up to ${MAX_STATE_BYTES}`;
  const hint = "Nothing was changed. Keep fewer or shorter notes in it.";
  return new HoldfastError("usage", "handoff-too-large", message, { hint, data: { bytes, largest: MAX_STATE_BYTES } });
}

type StoredValue = string | number | bigint | boolean | Uint8Array | null;

/** The row as an object: camel case, without NULLs, and with these columns parsed as JSON. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the columns
export function fromRow<T>(row: Readonly<Record<string, StoredValue>>, jsonColumns: readonly string[]): T {
  const object: Record<string, unknown> = {};
  for (const column in row) {
    const value = row[column];
    if (value === null || value === undefined) continue;
    object[memberOf(column)] = jsonColumns.includes(column) ? JSON.parse(String(value)) : value;
  }
  return object as T;
}

const memberNames = new Map<string, string>();

/** `session_key` → `sessionKey`. Every turn reads dozens of rows, so the names are kept. */
function memberOf(column: string): string {
  const known = memberNames.get(column);
  if (known !== undefined) return known;
  const name = column.replace(/_[a-z]/g, (letter) => letter.slice(1).toUpperCase());
  memberNames.set(column, name);
  return name;
}

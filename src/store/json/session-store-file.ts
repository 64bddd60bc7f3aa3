/**
 * `sessions.json` through the functions that OpenClaw has for it: the map of session keys to
 * entries, read and rewritten as a whole. Every change re-reads the file under its lock. Keys and
 * entries that are not understood stay as they are. Callers get copies and may do with them what
 * they like.
 */
import { dirname, resolve } from "node:path";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { type FileLockOptions, isLockHeldHere, lockReentered, withFileLock } from "../../base/lock-file.ts";
import type { SessionEntry } from "../session-entry.ts";
import { type GroupCommit, createGroupCommit } from "./group-commit.ts";
import { forgetDocuments, readDocument, writeDocument } from "./json-document.ts";
import { copyJson, parseJson, shallowCopy } from "./json-value.ts";

export type SessionMap = Record<string, SessionEntry>;

/** The sessions in the file; none when there is no file. A damaged file is an error. */
export function loadSessionStore(storePath: string, options: { skipCache?: boolean } = {}): SessionMap {
  const sessions = readDocument(resolve(storePath), { fresh: options.skipCache === true })?.value ?? {};
  const copy = shallowCopy(sessions);
  for (const key of Object.keys(copy)) copy[key] = copyJson(copy[key]);
  return copy as SessionMap;
}

/** Replaces the whole map. `updateSessionStore` does not lose what others wrote meanwhile. */
export async function saveSessionStore(storePath: string, store: SessionMap): Promise<void> {
  await commitOf(storePath).run((draft) => {
    draft.sessions = shallowCopy(parseJson(JSON.stringify(store)) as SessionMap);
  });
}

/** Hands the map to `mutator`, which changes it in place; what it returns is passed on. */
export async function updateSessionStore<T>(
  storePath: string,
  mutator: (store: SessionMap) => T | Promise<T>,
): Promise<T> {
  return await commitOf(storePath).run(async (draft) => {
    const { view, finish } = isolate(draft.sessions);
    const result = await mutator(view);
    draft.sessions = finish();
    return result;
  });
}

/** Lays the fields that `update` returns over an existing entry; null when there is none. */
export async function updateSessionStoreEntry(params: {
  storePath: string;
  sessionKey: string;
  update: (entry: SessionEntry) => Partial<SessionEntry> | null | Promise<Partial<SessionEntry> | null>;
}): Promise<SessionEntry | null> {
  return await updateSessionStore(params.storePath, async (store) => {
    const existing = store[params.sessionKey];
    if (existing === undefined) return null;
    const patch = await params.update(copyJson(existing));
    if (patch === null) return existing;
    const updatedAt = Math.max(existing.updatedAt ?? 0, patch.updatedAt ?? 0, Date.now());
    const next = copyJson({ ...existing, ...patch, updatedAt });
    store[params.sessionKey] = next;
    return next;
  });
}

/** Keeps every other process from changing the file. The functions above take this lock themselves. */
export async function withSessionStoreLock<T>(
  storePath: string,
  fn: () => Promise<T>,
  options: FileLockOptions = {},
): Promise<T> {
  const path = resolve(storePath);
  await ensurePrivateFolder(dirname(path));
  return await withFileLock(sessionLockPath(path), options, fn);
}

export function sessionLockPath(path: string): string {
  return `${path}.lock`;
}

export function clearSessionStoreCacheForTest(): void {
  forgetDocuments();
}

interface Draft {
  sessions: SessionMap;
  /** What the file holds now; shared, not to be changed. */
  before: Readonly<JsonRecord>;
}

const commits = new Map<string, GroupCommit<Draft>>();

function commitOf(storePath: string): GroupCommit<Draft> {
  const path = resolve(storePath);
  if (isLockHeldHere(sessionLockPath(path))) throw lockReentered(sessionLockPath(path));
  const existing = commits.get(path);
  if (existing !== undefined) return existing;
  const created = createGroupCommit<Draft>({
    exclusively: (task) => withSessionStoreLock(path, task),
    begin: () => loadDraft(path),
    commit: (draft) => saveDraft(path, draft),
  });
  commits.set(path, created);
  return created;
}

function loadDraft(path: string): Draft {
  const before = readDocument(path, { fresh: true })?.value ?? {};
  faultPoint("json.loaded");
  return { sessions: shallowCopy(before) as SessionMap, before };
}

async function saveDraft(path: string, { sessions, before }: Draft): Promise<void> {
  if (holdsTheSame(sessions, before)) return;
  await writeDocument(path, sessions);
  faultPoint("json.written");
}

/** What no mutator touched is the same object, so only the rest has to be compared. */
function holdsTheSame(sessions: SessionMap, before: Readonly<JsonRecord>): boolean {
  const keys = Object.keys(sessions);
  const isSame = (key: string): boolean =>
    sessions[key] === before[key] || JSON.stringify(sessions[key]) === JSON.stringify(before[key]);
  return keys.length === Object.keys(before).length && keys.every(isSame);
}

/**
 * A map in which every entry becomes a private copy at the first touch: a mutator that throws half
 * way leaves nothing behind, without copying the entries that it never looks at.
 */
function isolate(sessions: SessionMap): { view: SessionMap; finish: () => SessionMap } {
  const own = shallowCopy(sessions);
  const touched = new Set<string | symbol>();
  const touch = (key: string | symbol): void => {
    if (typeof key !== "string" || touched.has(key) || own[key] === undefined) return;
    touched.add(key);
    own[key] = copyJson(own[key]);
  };
  const view = new Proxy(own, {
    get: (target, key) => {
      touch(key);
      return Reflect.get(target, key) as unknown;
    },
    getOwnPropertyDescriptor: (target, key) => {
      touch(key);
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
    set: (target, key, value) => {
      touched.add(key);
      return Reflect.set(target, key, value);
    },
  });
  const finish = (): SessionMap => {
    for (const key of touched) {
      if (typeof key === "string" && own[key] !== undefined) own[key] = asStored(own[key]);
    }
    return own;
  };
  return { view, finish };
}

/** What the file will hold: the mutator keeps its own objects and may go on changing them. */
function asStored(entry: SessionEntry): SessionEntry {
  return parseJson(JSON.stringify(entry)) as SessionEntry;
}

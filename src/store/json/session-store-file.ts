/**
 * `sessions.json` with OpenClaw's functions for it: the map of session keys to entries, read and rewritten as a whole.
 * Every change reads the file again under its lock. Unknown keys and entries stay as they are. Callers get copies.
 * A store creates the file first, so a missing file later is a loss. It is refused like a damaged one.
 */
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, fileExists, readFolderIfPresent } from "../../base/files.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { type FileLockOptions, isLockHeldHere, lockReentered, withFileLock } from "../../base/lock-file.ts";
import { agentLayout, resolveHome } from "../../config/layout.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { SessionEntry } from "../session-entry.ts";
import {
  copyJson,
  forgetDocuments,
  parseLosslessJson,
  readDocument,
  shallowCopy,
  writeDocument,
} from "./json-document.ts";
import { sidecarPath } from "./sidecar.ts";

export type SessionMap = Record<string, SessionEntry>;

/** The sessions in the file. Empty if there is no file. A damaged file is an error. */
export function loadSessionStore(storePath: string, options: { skipCache?: boolean | undefined } = {}): SessionMap {
  return copySessions(readDocument(resolve(storePath), { fresh: options.skipCache === true })?.value ?? {});
}

function copySessions(sessions: Readonly<JsonRecord>): SessionMap {
  const copy = shallowCopy(sessions);
  for (const key of Object.keys(copy)) copy[key] = copyJson(copy[key]);
  return copy as SessionMap;
}

/** Replaces the whole map. `updateSessionStore` keeps changes of others. */
export async function saveSessionStore(storePath: string, store: SessionMap): Promise<void> {
  await commitOf(storePath).run((draft) => {
    draft.sessions = asStored(store);
  });
}

/** Passes the map to `mutator`, which changes it in place. Resolves to its result. */
export async function updateSessionStore<T>(
  storePath: string,
  mutator: (store: SessionMap) => T | Promise<T>,
): Promise<T> {
  return await commitOf(storePath).run(async (draft) => {
    // A mutator that throws leaves nothing behind.
    const copy = copySessions(draft.sessions);
    const result = await mutator(copy);
    draft.sessions = asStored(copy);
    return result;
  });
}

/** Merges the fields that `update` returns into an existing entry. Null if there is none. */
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

/** Keeps other processes from changing the file. The functions above take this lock themselves. */
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
  /** The content of the file. Shared; do not change it. */
  before: Readonly<JsonRecord>;
}

const commits = new Map<string, ReturnType<typeof createGroupCommit<Draft>>>();

function commitOf(storePath: string) {
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

function holdsTheSame(sessions: SessionMap, before: Readonly<JsonRecord>): boolean {
  const keys = Object.keys(sessions);
  const isSame = (key: string): boolean => JSON.stringify(sessions[key]) === JSON.stringify(before[key]);
  return keys.length === Object.keys(before).length && keys.every(isSame);
}

/** The map as it will be stored. The caller may keep changing its own objects. */
function asStored(sessions: SessionMap): SessionMap {
  return shallowCopy(parseLosslessJson(JSON.stringify(sessions)) as SessionMap);
}

export async function ensureSessionsFile(path: string): Promise<void> {
  if (await fileExists(path)) return;
  await withSessionStoreLock(path, async () => {
    if (await fileExists(path)) return;
    const trace = await traceOfSessions(path);
    if (trace !== undefined) throw sessionsFileLost(path, trace);
    await writeDocument(path, {});
  });
}

/** A file that shows that there were sessions. */
export async function traceOfSessions(path: string): Promise<string | undefined> {
  if (await fileExists(sidecarPath(path))) return sidecarPath(path);
  const items = await readFolderIfPresent(dirname(path));
  return items.find(({ name }) => name.endsWith(".jsonl"))?.name;
}

export function sessionsFileLost(path: string, trace: string): HoldfastError {
  return new HoldfastError("corrupt", "store-lost", lossOf(path, trace), {
    hint: "Run `holdfast doctor --fix` to rebuild the store from the files that are left. Nothing was changed.",
    data: { path, trace },
  });
}

export function lossOf(path: string, trace: string): string {
  return `${path} is missing, but ${trace} shows that there were sessions`;
}

export interface GroupCommitSteps<State> {
  /** Runs a group while other processes are locked out. */
  exclusively(task: () => Promise<void>): Promise<void>;
  begin(): State;
  commit(state: State): Promise<void>;
}

interface Member<State> {
  change: (state: State) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits the waiting changes of one process together: one lock, one read, one write. Changes run in order. A change
 * that throws rejects alone and must leave the state as it was; a failed write rejects all changes of the group.
 */
export function createGroupCommit<State>(steps: GroupCommitSteps<State>) {
  const waiting: Member<State>[] = [];
  let working: Promise<void> | undefined;

  const work = async (): Promise<void> => {
    while (waiting.length > 0) await commitGroup(steps, waiting);
    working = undefined;
  };

  return {
    /** Resolves when the change is durable. */
    run<T>(change: (state: State) => T | Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      waiting.push({ change, resolve: resolve as (value: unknown) => void, reject });
      working ??= work();
      return promise;
    },
    /** Resolves when no change is running. */
    async idle(): Promise<void> {
      await working;
    },
  };
}

async function commitGroup<State>(steps: GroupCommitSteps<State>, waiting: Member<State>[]): Promise<void> {
  let group: Member<State>[] | undefined;
  let acknowledgements: (() => void)[] = [];
  try {
    await steps.exclusively(async () => {
      group = waiting.splice(0);
      const state = steps.begin();
      const results = await runChanges(group, state);
      await steps.commit(state);
      acknowledgements = results;
    });
  } catch (error) {
    // A committed change is durable, even if releasing the lock failed.
    if (acknowledgements.length === 0) for (const { reject } of group ?? waiting.splice(0)) reject(error);
  }
  for (const acknowledge of acknowledgements) acknowledge();
}

/** Runs the changes in order. Returns the functions that resolve them. */
async function runChanges<State>(group: readonly Member<State>[], state: State): Promise<(() => void)[]> {
  const acknowledgements: (() => void)[] = [];
  for (const { change, resolve, reject } of group) {
    try {
      const value = await change(state);
      acknowledgements.push(() => resolve(value));
    } catch (error) {
      reject(error);
    }
  }
  return acknowledgements;
}

export function resolveDefaultSessionStorePath(agentId?: string): string {
  return agentLayout(resolveHome(), normalizeAgentId(agentId)).sessionsFile;
}

export function resolveSessionTranscriptsDirForAgent(agentId?: string): string {
  return agentLayout(resolveHome(), normalizeAgentId(agentId)).sessionsFolder;
}

/** Fills in `{agentId}` and `~` of a configured path. Default: the agent's own file. */
export function resolveStorePath(store?: string, options: { agentId?: string | undefined } = {}): string {
  const path = store?.trim();
  if (path === undefined || path === "") return resolveDefaultSessionStorePath(options.agentId);
  const expanded = path.replaceAll("{agentId}", normalizeAgentId(options.agentId));
  return resolve(expanded.replace(/^~(?=$|[\\/])/, homedir()));
}

/**
 * Takes sessions out of use without losing them. The manifest with the entry and all windows is durable
 * first, then the session leaves the store, then its transcripts move. After a crash at any point, `restore`
 * finds everything, because it looks for transcripts in both folders.
 */
import { fileStamp } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { fileExists } from "../base/files.ts";
import { parseJson } from "../base/json-record.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { Documents } from "../store/documents.ts";
import type { TranscriptFolder } from "../store/transcripts.ts";
import { isSessionId } from "../transcript/paths.ts";
import { type AgentHandle, windowTranscriptName } from "./agent-handle.ts";
import { entryForNewWindow } from "./entry.ts";
import { assertExpected, sessionNotFound } from "./window.ts";
import type { Lease } from "../store/queues.ts";

export interface ArchivedSession {
  version: 1;
  archivedAt: number;
  /** `archived`, `deleted`, or the maintenance rule that applied. */
  reason: string;
  key: string;
  entry: SessionEntry;
  windows: Window[];
  /** The hand-off of a deleted session. An archived session's hand-off stays in the store. */
  handoff?: unknown;
}

export interface ArchiveRecord extends ArchivedSession {
  /** The manifest's name without `.json`. */
  id: string;
}

const DELETED = "deleted";

export interface ArchiveOptions {
  reason?: string | undefined;
  expectedSessionId?: string | undefined;
  lease?: Lease | undefined;
}

/** The hand-off stays in the store for the next conversation, unless the session is deleted. */
export async function archiveSession(
  agent: AgentHandle,
  key: string,
  options: ArchiveOptions = {},
): Promise<ArchiveRecord> {
  const entry = await agent.store.get(key);
  if (entry === undefined) throw sessionNotFound(key);
  assertExpected(key, entry, options.expectedSessionId);
  const withHandoff = options.reason === DELETED;
  const handoff = withHandoff ? await agent.store.handoffs.get(key) : undefined;
  const record = await writeManifest(agent, {
    version: 1,
    archivedAt: agent.clock.now(),
    reason: options.reason ?? "archived",
    key: canonicalSessionKey(key, agent),
    entry,
    windows: await agent.store.windows(key),
    handoff,
  });
  faultPoint("archive.written");
  try {
    await agent.store.delete(key, { withHandoff, lease: options.lease });
  } catch (error) {
    await withdrawManifest(agent, record);
    throw error;
  }
  for (const window of record.windows) await moveTranscript(agent, window, "archive");
  return record;
}

export async function deleteSession(
  agent: AgentHandle,
  key: string,
  options: ArchiveOptions = {},
): Promise<ArchiveRecord> {
  assertDeletable(agent, key);
  return await archiveSession(agent, key, { ...options, reason: DELETED });
}

/** Refuses the main session, which handles everything without a channel. */
export function assertDeletable(agent: AgentHandle, key: string): void {
  const mainKey = buildAgentMainSessionKey(agent);
  if (canonicalSessionKey(key, agent) !== mainKey) return;
  throw new HoldfastError("usage", "main-session", `Cannot delete the main session (${mainKey})`, {
    hint: "Use `holdfast sessions reset` to start it over.",
  });
}

export async function restoreSession(agent: AgentHandle, id: string): Promise<ArchiveRecord> {
  const record = await readManifest(agent, id);
  const existing = await agent.store.get(record.key);
  // If it is the same session, an earlier restore died half way and this one finishes it.
  if (existing !== undefined && existing.sessionId !== record.entry.sessionId) {
    throw new HoldfastError("conflict", "session-exists", `Session ${record.key} already exists`, {
      hint: "Archive that one first, then restore this one.",
      data: { key: record.key, sessionId: existing.sessionId },
    });
  }
  for (const window of record.windows) await moveTranscript(agent, window, "sessions");
  // Closed windows first, so that the session never exists without them.
  for (const window of record.windows) {
    if (window.sessionId !== record.entry.sessionId) await agent.store.putWindow(window);
  }
  // The same for the hand-off. If the restore dies here, the next gateway start removes it, but the manifest keeps it.
  if (record.handoff !== undefined) await agent.store.handoffs.update(record.key, (newer) => newer ?? record.handoff);
  await agent.store.update(record.key, (current) => current ?? record.entry, { windowReason: "restore" });
  await agent.store.transcripts.manifests.remove(manifestName(record));
  return record;
}

/** Newest first. Logs and skips unreadable manifests. */
export async function listArchives(agent: AgentHandle): Promise<ArchiveRecord[]> {
  const { records, unreadable } = await readManifests(agent.store.transcripts.manifests);
  for (const name of unreadable) agent.logger.warn("Cannot read an archive manifest", { name });
  return records;
}

/**
 * Windows deleted since an instant and not in use again, with their keys. Manifests are written first and never
 * removed by a deletion, so this holds after any crash. The newest manifest of a window decides; an older one may
 * belong to a deletion that failed.
 */
export async function deletedWindows(agent: AgentHandle, since: number): Promise<Map<string, string>> {
  const { records } = await readManifests(agent.store.transcripts.manifests, { since });
  const deleted = new Map<string, string>();
  const seen = new Set<string>();
  for (const { key, reason, windows } of records) {
    const undecided = idsOf(windows).filter((sessionId) => !seen.has(sessionId));
    for (const sessionId of undecided) seen.add(sessionId);
    if (reason !== DELETED) continue;
    const inUse = new Set(idsOf(await agent.store.windows(key)));
    for (const sessionId of undecided) if (!inUse.has(sessionId)) deleted.set(sessionId, key);
  }
  return deleted;
}

function idsOf(windows: readonly Window[]): string[] {
  return windows.map(({ sessionId }) => sessionId);
}

/** All readable manifests, newest first, and the names of the unreadable ones. */
export async function readManifests(
  manifests: Documents,
  { since = 0 }: { since?: number | undefined } = {},
): Promise<{ records: ArchiveRecord[]; unreadable: string[] }> {
  const records: ArchiveRecord[] = [];
  const unreadable: string[] = [];
  // Names start with the time.
  const names = (await manifests.names()).filter((name) => since === 0 || name >= fileStamp(since));
  for (const name of names) {
    const record = parseManifest(name, await manifests.read(name));
    if (record === undefined) unreadable.push(name);
    else records.push(record);
  }
  return { records: records.toSorted((a, b) => b.archivedAt - a.archivedAt), unreadable };
}

/** Moves a closed window's transcript to the archive. The window stays listed. */
export async function archiveWindow(agent: AgentHandle, window: Window): Promise<void> {
  const transcript = windowTranscriptName(window);
  // Mark the window first: readers look in both folders while the file moves.
  await agent.store.putWindow({ ...window, transcript, archive: transcript });
  await moveTranscript(agent, window, "archive");
}

/** Moves a window's transcript back, so that it can be written again. */
async function unarchiveWindow(agent: AgentHandle, window: Window): Promise<Window> {
  if (window.archive === undefined) return window;
  await moveTranscript(agent, window, "sessions");
  const { archive: _archive, ...unarchived } = window;
  await agent.store.putWindow(unarchived);
  return unarchived;
}

export async function writeManifest({ store }: AgentHandle, session: ArchivedSession): Promise<ArchiveRecord> {
  const text = `${JSON.stringify(session, undefined, 2)}\n`;
  // Ids of other tools may hold any character.
  const start = session.entry.sessionId.slice(0, 8).replace(/[^\w-]/g, "_");
  const base = `${fileStamp(session.archivedAt)}-${start}`;
  for (let attempt = 0; ; attempt++) {
    // Two sessions may be archived in the same millisecond.
    const id = attempt === 0 ? base : `${base}-${attempt}`;
    if (await store.transcripts.manifests.add(manifestName({ id }), text)) return { ...session, id };
  }
}

/** Removes the manifest after a failure, but only if the session is certainly still in the store. */
async function withdrawManifest(agent: AgentHandle, record: ArchiveRecord): Promise<void> {
  try {
    const current = await agent.store.get(record.key);
    if (current?.sessionId === record.entry.sessionId)
      await agent.store.transcripts.manifests.remove(manifestName(record));
  } catch (error) {
    agent.logger.warn("Cannot withdraw the manifest of a session that was not archived", { id: record.id, error });
  }
}

const ENDING = ".json";

export function manifestName({ id }: Pick<ArchiveRecord, "id">): string {
  return `${id}${ENDING}`;
}

/** `id`: the archive's id or a unique part of it, or a session key for its newest archive. */
async function readManifest(agent: AgentHandle, id: string): Promise<ArchiveRecord> {
  const { manifests } = agent.store.transcripts;
  const names = await manifests.names();
  const exact = manifestName({ id });
  const matches = names.includes(exact) ? [exact] : names.filter((name) => name.includes(id));
  const [name] = matches;
  if (name === undefined) {
    const key = canonicalSessionKey(id, agent);
    const newest = (await readManifests(manifests)).records.find((record) => record.key === key);
    if (newest !== undefined) return newest;
    throw new HoldfastError("not-found", "archive-not-found", `No archived session matches "${id}"`, {
      hint: "Run `holdfast sessions restore` without an id to see the archive.",
    });
  }
  if (matches.length > 1) {
    const message = `"${id}" matches several archived sessions: ${matches.join(", ")}`;
    const hint = "Use a longer prefix.";
    throw new HoldfastError("usage", "ambiguous-prefix", message, { hint });
  }
  const record = parseManifest(name, await manifests.read(name));
  if (record !== undefined) return record;
  throw archiveUnreadable(name);
}

export function archiveUnreadable(manifest: string): HoldfastError {
  return new HoldfastError("corrupt", "archive-unreadable", `The archive manifest ${manifest} cannot be read`, {
    hint: "Its transcripts are still next to it; `holdfast doctor` lists them.",
  });
}

/** Undefined: unreadable. */
function parseManifest(name: string, text: string | undefined): ArchiveRecord | undefined {
  const session = parseJson(text ?? "") as ArchivedSession | undefined;
  const isWhole = session?.version === 1 && typeof session.key === "string" && Array.isArray(session.windows);
  return isWhole ? { ...session, id: name.slice(0, -ENDING.length) } : undefined;
}

/** Does nothing if the transcript is missing: it may have moved already. */
export async function moveTranscript(agent: AgentHandle, window: Window, to: TranscriptFolder): Promise<void> {
  // An id of another tool that is not a valid file name has no transcript.
  if (window.transcript === undefined && window.archive === undefined && !isSessionId(window.sessionId)) return;
  await agent.store.transcripts.move(windowTranscriptName(window), to);
}

export async function reopenWindow(
  agent: AgentHandle,
  window: Window,
  options: {
    lease?: Lease | undefined;
    /** Recognizes the turn when it runs again. Optional. */
    turnId?: string | undefined;
  } = {},
): Promise<SessionEntry> {
  const { key, sessionId } = window;
  const { lease, turnId } = options;
  const openedBy = turnId === undefined ? {} : { openedByTurn: turnId };
  await unarchiveWindow(agent, window);
  const sessionFile = await agent.store.transcripts.locate(windowTranscriptName(window));
  if (!(await fileExists(sessionFile))) throw transcriptMissing(window, sessionFile);

  const entry = await agent.store.update(
    key,
    (current) =>
      current === undefined || current.sessionId === sessionId
        ? undefined
        : {
            ...entryForNewWindow(current, { sessionId, sessionFile, now: agent.clock.now() }),
            ...window.state,
            ...openedBy,
          },
    { windowReason: "restore", lease },
  );
  if (entry === undefined) throw sessionNotFound(key);
  return entry;
}

function transcriptMissing({ key, sessionId }: Window, path: string): HoldfastError {
  const message = `The transcript of window ${sessionId} is gone: ${path}`;
  const hint = "Run `holdfast doctor` to see what else is missing.";
  return new HoldfastError("not-found", "transcript-missing", message, { hint, data: { key, sessionId, path } });
}

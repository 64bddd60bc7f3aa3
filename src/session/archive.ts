/**
 * Taking sessions out of use without losing them. Order: the manifest with the whole entry and all
 * windows is durable first, then the session leaves the store, then its transcripts move. After a
 * crash between any two of these, `restore` finds everything: it looks for a transcript in both
 * folders.
 */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileStamp } from "../base/clock.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import {
  ensurePrivateFolder,
  fileExists,
  readFileIfPresent,
  readFolderIfPresent,
  syncFolder,
  writeFileDurable,
} from "../base/files.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease, Window } from "../store/store.ts";
import { isSessionId } from "../transcript/paths.ts";
import { type AgentHandle, windowTranscriptName } from "./agent-handle.ts";
import { assertExpected, sessionNotFound } from "./window.ts";

export interface ArchivedSession {
  version: 1;
  archivedAt: number;
  /** `archived` by a person, `deleted` by a person, or the maintenance rule that applied. */
  reason: string;
  key: string;
  entry: SessionEntry;
  windows: Window[];
  /** What a deleted session had left for the next. Left out: nothing, or it stays in the store. */
  handoff?: unknown;
}

export interface ArchiveRecord extends ArchivedSession {
  /** Names the archive for `restore`: the manifest's file name without `.json`. */
  id: string;
}

const DELETED = "deleted";

export interface ArchiveOptions {
  reason?: string;
  expectedSessionId?: string;
  lease?: Lease;
}

/**
 * What the session left for the next stays, so that whoever writes to it again is told; of one that is deleted it
 * goes, and comes back, with the session.
 */
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
    ...(handoff === undefined ? {} : { handoff }),
  });
  faultPoint("archive.written");
  try {
    await agent.store.delete(key, { withHandoff, ...(options.lease === undefined ? {} : { lease: options.lease }) });
  } catch (error) {
    await withdrawManifest(agent, record);
    throw error;
  }
  for (const window of record.windows) await moveTranscript(window, agent.sessionsFolder, agent.archiveFolder);
  return record;
}

/** Refuses the main session: everything that an agent is asked without a channel ends up there. */
export async function deleteSession(
  agent: AgentHandle,
  key: string,
  options: ArchiveOptions = {},
): Promise<ArchiveRecord> {
  if (canonicalSessionKey(key, agent) === buildAgentMainSessionKey(agent)) {
    throw new HoldfastError(
      "usage",
      "main-session",
      `Cannot delete the main session (${canonicalSessionKey(key, agent)})`,
      {
        hint: "Use `holdfast sessions reset` to start it afresh.",
      },
    );
  }
  return await archiveSession(agent, key, { ...options, reason: DELETED });
}

export async function restoreSession(agent: AgentHandle, id: string): Promise<ArchiveRecord> {
  const record = await readManifest(agent, id);
  const existing = await agent.store.get(record.key);
  // The same session: a restore that died has brought it back, and this one does the rest.
  if (existing !== undefined && existing.sessionId !== record.entry.sessionId) {
    throw new HoldfastError("conflict", "session-exists", `There is a session ${record.key} already`, {
      hint: "Archive that one first, then restore this one.",
      data: { key: record.key, sessionId: existing.sessionId },
    });
  }
  for (const window of record.windows) await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder);
  // The closed windows come first: a session that is there again has all of them.
  for (const window of record.windows) {
    if (window.sessionId !== record.entry.sessionId) await agent.store.putWindow(window);
  }
  // So does what it left: nobody would miss it in a session that is there. Without the session it is that of a deleted
  // one, which the next start of a gateway forgets; the manifest has it still.
  if (record.handoff !== undefined) await agent.store.handoffs.update(record.key, (newer) => newer ?? record.handoff);
  await agent.store.update(record.key, (current) => current ?? record.entry, { windowReason: "restore" });
  await removeManifest(agent, record);
  return record;
}

/** Newest first. A manifest that cannot be read hides no other; it is told to the log. */
export async function listArchives(agent: AgentHandle): Promise<ArchiveRecord[]> {
  const { records, unreadable } = await readManifests(agent);
  for (const name of unreadable) agent.logger.warn("an archive manifest cannot be read", { name });
  return records;
}

/**
 * The windows, with their keys, that were deleted since an instant and are not in use again. Manifests are written
 * first and stay, so they tell it whatever a process died of while it was deleting. The newest that names a window
 * decides: an older one may be of a deletion that never came about.
 */
export async function deletedWindows(agent: AgentHandle, since: number): Promise<Map<string, string>> {
  const { records } = await readManifests(agent, { since });
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

/** Every manifest that can be read, newest first, and the file names of those that cannot. */
export async function readManifests(
  agent: Pick<AgentHandle, "archiveFolder">,
  { since = 0 }: { since?: number } = {},
): Promise<{ records: ArchiveRecord[]; unreadable: string[] }> {
  const records: ArchiveRecord[] = [];
  const unreadable: string[] = [];
  // Their names begin with when they were written.
  const names = (await manifestNames(agent)).filter((name) => since === 0 || name >= fileStamp(since));
  for (const name of names) {
    const content = await readFileIfPresent(join(agent.archiveFolder, name));
    try {
      records.push({ ...parseManifest(name, content), id: name.slice(0, -".json".length) });
    } catch {
      unreadable.push(name);
    }
  }
  return { records: records.toSorted((a, b) => b.archivedAt - a.archivedAt), unreadable };
}

/** Puts one closed window's transcript away; the window stays listed. */
export async function archiveWindow(agent: AgentHandle, window: Window): Promise<void> {
  const transcript = windowTranscriptName(window);
  await ensurePrivateFolder(agent.archiveFolder);
  // The window is marked first: a reader looks in both folders while the file moves.
  await agent.store.putWindow({ ...window, transcript, archive: transcript });
  await moveTranscript(window, agent.sessionsFolder, agent.archiveFolder);
}

/** Brings a window's transcript back from the archive, so that it can be written again. */
export async function unarchiveWindow(agent: AgentHandle, window: Window): Promise<Window> {
  if (window.archive === undefined) return window;
  await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder);
  const { archive: _archive, ...unarchived } = window;
  await agent.store.putWindow(unarchived);
  return unarchived;
}

async function writeManifest(agent: AgentHandle, session: ArchivedSession): Promise<ArchiveRecord> {
  await ensurePrivateFolder(agent.archiveFolder);
  const id = await freeArchiveId(agent, session);
  await writeFileDurable(join(agent.archiveFolder, `${id}.json`), `${JSON.stringify(session, undefined, 2)}\n`);
  return { ...session, id };
}

/**
 * After a failure: a session that is still there was not archived, and nothing may say so. One that is not, or that
 * nobody can tell of, keeps its manifest: without it the session would be lost.
 */
async function withdrawManifest(agent: AgentHandle, record: ArchiveRecord): Promise<void> {
  try {
    const current = await agent.store.get(record.key);
    if (current?.sessionId === record.entry.sessionId) await removeManifest(agent, record);
  } catch (error) {
    agent.logger.warn("the manifest of a session that was not archived may have stayed", { id: record.id, error });
  }
}

async function removeManifest({ archiveFolder }: AgentHandle, { id }: ArchiveRecord): Promise<void> {
  await rm(join(archiveFolder, `${id}.json`), { force: true });
  await syncFolder(archiveFolder);
}

/** Two sessions may be archived in one millisecond, and ids of other tools may begin alike or hold anything. */
async function freeArchiveId({ archiveFolder }: AgentHandle, session: ArchivedSession): Promise<string> {
  const start = session.entry.sessionId.slice(0, 8).replace(/[^\w-]/g, "_");
  const base = `${fileStamp(session.archivedAt)}-${start}`;
  for (let attempt = 0; ; attempt++) {
    const id = attempt === 0 ? base : `${base}-${attempt}`;
    if (!(await fileExists(join(archiveFolder, `${id}.json`)))) return id;
  }
}

async function readManifest(agent: AgentHandle, id: string): Promise<ArchiveRecord> {
  const names = await manifestNames(agent);
  const matches = names.includes(`${id}.json`) ? [`${id}.json`] : names.filter((name) => name.includes(id));
  const [name] = matches;
  if (name === undefined) {
    throw new HoldfastError("not-found", "archive-not-found", `No archived session fits "${id}"`, {
      hint: "Run `holdfast sessions restore` without an id to see the archive.",
    });
  }
  if (matches.length > 1) {
    throw new HoldfastError(
      "usage",
      "ambiguous-prefix",
      `"${id}" fits several archived sessions: ${matches.join(", ")}`,
      {
        hint: "Give more of the name.",
      },
    );
  }
  const content = await readFileIfPresent(join(agent.archiveFolder, name));
  return { ...parseManifest(name, content), id: name.slice(0, -".json".length) };
}

function parseManifest(name: string, content: Buffer | undefined): ArchivedSession {
  try {
    const session = JSON.parse(String(content)) as ArchivedSession;
    if (session.version === 1 && typeof session.key === "string" && Array.isArray(session.windows)) return session;
  } catch {
    // Told below, with the file's name.
  }
  throw new HoldfastError("corrupt", "archive-unreadable", `The archive manifest ${name} cannot be read`, {
    hint: "Its transcripts lie beside it untouched; `holdfast doctor` lists them.",
  });
}

async function manifestNames(agent: Pick<AgentHandle, "archiveFolder">): Promise<string[]> {
  const items = await readFolderIfPresent(agent.archiveFolder);
  return items
    .map(({ name }) => name)
    .filter((name) => name.endsWith(".json"))
    .toSorted();
}

/** Does nothing when the file is not there: it may have moved already. */
export async function moveTranscript(window: Window, from: string, to: string): Promise<void> {
  // Another tool may use ids that cannot name a file; a window with one has no transcript.
  if (window.transcript === undefined && window.archive === undefined && !isSessionId(window.sessionId)) return;
  const name = windowTranscriptName(window);
  const source = join(from, name);
  if (!(await fileExists(source))) return;
  await ensurePrivateFolder(to);
  try {
    await rename(source, join(to, name));
  } catch (error) {
    throw fileError(error, "move", source);
  }
  await Promise.all([syncFolder(from), syncFolder(to)]);
}

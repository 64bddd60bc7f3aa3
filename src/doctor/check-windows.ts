/**
 * Checks of windows, transcripts and the archive: in the wrong folder, without a session, without a window, or moved
 * half way. The order of steps in `archiveSession` and `restoreSession` decides what each half-done state means.
 */
import { inParallel } from "../base/async.ts";
import { fileExists, statIfPresent } from "../base/files.ts";
import { type AgentHandle, expectedOfWindow } from "../session/agent-handle.ts";
import { type ArchiveRecord, manifestName, moveTranscript, readManifests } from "../session/archive.ts";
import { entryForNewWindow } from "../session/entry.ts";
import { withSessionLease } from "../session/lease.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { Documents } from "../store/documents.ts";
import type { Diagnosis } from "./finding.ts";
import { markedKey, recoveredKey } from "./check-store.ts";
import { type TranscriptSummary, allWindows, entryFile, summarizeTranscript, windowFile } from "./session-files.ts";

export async function* checkWindows(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile", "systemSent", "transcriptEnd"] });
  const entries = new Map(sessions.map(({ key, entry }) => [key, entry]));
  const windows = await allWindows(agent);
  const lost = windows.filter(({ key }) => !entries.has(key));
  yield* windowsWithoutSession(agent, lost);
  const { transcripts } = agent.store;
  const files = new Set(await transcripts.list("sessions"));
  const archived = new Set(await transcripts.list("archive"));
  for (const window of windows) {
    const { key, sessionId } = window;
    const file = windowFile(window);
    if (file === undefined) {
      if (!expectedOfWindow(window, entries.get(key)).written) continue;
      const message = `The id of window ${sessionId} cannot be used as a file name`;
      yield { severity: "error", message, key, path: transcripts.folders?.sessions };
    } else if (!files.has(file) && archived.has(file) && window.archive === undefined) {
      yield {
        severity: "error",
        message: `The transcript of window ${sessionId} is in the archive, but the window is in use`,
        key,
        path: await transcripts.locate(file, "archive"),
        fix: "bring it back into use",
        repair: async () => await moveTranscript(agent, window, "sessions"),
      };
    }
  }
}

/** Caused by a crash while a session was deleted, or by another tool that removed the entry. */
async function* windowsWithoutSession(agent: AgentHandle, windows: readonly Window[]): AsyncGenerator<Diagnosis> {
  const { records } = windows.length === 0 ? { records: [] } : await readManifests(agent.store.transcripts.manifests);
  const archived = new Set(records.flatMap((record) => record.windows.map(({ sessionId }) => sessionId)));
  for (const [key, ofKey] of Map.groupBy(windows, (window) => window.key)) {
    const isArchived = ofKey.every(({ sessionId }) => archived.has(sessionId));
    yield {
      severity: "warning",
      message: "Windows of a session that does not exist",
      key,
      fix: isArchived ? "remove them here; the archive has them" : "restore the session at its newest window",
      repair: async () => {
        if (isArchived) for (const { sessionId } of ofKey) await agent.store.removeWindow(key, sessionId);
        else await restoreSession(agent, key, ofKey);
      },
    };
  }
}

async function restoreSession(agent: AgentHandle, key: string, windows: readonly Window[]): Promise<void> {
  const places = await inParallel(windows, async (window) => {
    const file = windowFile(window);
    const path = file === undefined ? undefined : await agent.store.transcripts.locate(file);
    return path !== undefined && (await fileExists(path)) ? [{ window, path }] : [];
  });
  const newest = places.flat().toSorted((a, b) => b.window.openedAt - a.window.openedAt)[0];
  if (newest === undefined) return;
  const { sessionId } = newest.window;
  await createEntry(agent, key, { sessionId, sessionFile: newest.path, now: agent.clock.now() });
}

/** Unless the session exists meanwhile. */
async function createEntry(
  agent: AgentHandle,
  key: string,
  window: { sessionId: string; sessionFile: string; now: number },
): Promise<void> {
  const create = (current: SessionEntry | undefined): SessionEntry => current ?? entryForNewWindow(undefined, window);
  await agent.store.update(key, create, { windowReason: "restore" });
}

/**
 * Transcripts that no window names. One without messages comes from a crash while a window was opened: nothing is lost,
 * and it is archived. Any other is a conversation and gets its session back.
 */
export async function* checkOrphans(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const named = await namedFiles(agent);
  const { transcripts } = agent.store;
  const names = (await transcripts.list("sessions")).filter((name) => !named.has(name));
  const orphans = await inParallel(names, async (name) => await summarizeSettled(await transcripts.locate(name)));
  // Newest first: of several orphans of one lost session, the newest becomes the current window.
  for (const orphan of orphans.flat().toSorted((a, b) => b.openedAt - a.openedAt)) {
    const path = await transcripts.locate(orphan.name);
    const marked = markedKey(orphan, agent);
    if (!orphan.hasMessages) {
      const message = "A transcript without messages that no window names: opening it was interrupted";
      const task = async (): Promise<void> =>
        await moveTranscript(agent, closedWindow(marked ?? "", orphan), "archive");
      const repair = async (): Promise<void> => await whileStillOrphan(agent, marked, orphan, task);
      yield { severity: "info", message, path, fix: "move it to the archive", repair };
      continue;
    }
    const key = marked ?? (await freshKey(agent, orphan));
    if (key === undefined) continue;
    const repair = async (): Promise<void> =>
      await whileStillOrphan(agent, key, orphan, async () => await adopt(agent, key, orphan));
    const message = "A conversation that no window names";
    yield { severity: "warning", message, key, path, fix: `give it back to ${key}`, repair };
  }
}

async function namedFiles(agent: AgentHandle): Promise<Set<string | undefined>> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile"] });
  return new Set([...sessions.map(({ entry }) => entryFile(entry)), ...(await allWindows(agent)).map(windowFile)]);
}

/** Younger transcripts may belong to a window that is just being opened. */
const SETTLED_MS = 2000;

async function summarizeSettled(path: string): Promise<TranscriptSummary[]> {
  const writtenAt = (await statIfPresent(path))?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return Date.now() - writtenAt < SETTLED_MS ? [] : [await summarizeTranscript(path)];
}

async function freshKey(agent: AgentHandle, { sessionId }: TranscriptSummary): Promise<string | undefined> {
  const { sessions } = await agent.store.list({ fields: [], text: ":recovered:" });
  const taken = new Set(sessions.map(({ key }) => key));
  return recoveredKey(sessionId, agent, (key) => taken.has(key));
}

/** Checks again under the session's lease, which every process that opens or resets the session holds. */
async function whileStillOrphan(
  agent: AgentHandle,
  key: string | undefined,
  { name }: TranscriptSummary,
  task: () => Promise<void>,
): Promise<void> {
  const checked = async (): Promise<void> => {
    const exists = await fileExists(await agent.store.transcripts.locate(name));
    if (exists && !(await namedFiles(agent)).has(name)) await task();
  };
  if (key === undefined) await checked();
  else await withSessionLease(agent, key, {}, checked);
}

async function adopt(agent: AgentHandle, key: string, orphan: TranscriptSummary): Promise<void> {
  const { name, sessionId, lastAt } = orphan;
  if ((await agent.store.get(key)) !== undefined) return await agent.store.putWindow(closedWindow(key, orphan));
  const sessionFile = await agent.store.transcripts.locate(name);
  await createEntry(agent, key, { sessionId, sessionFile, now: lastAt });
}

function closedWindow(key: string, { name, sessionId, mark, openedAt, lastAt }: TranscriptSummary): Window {
  return { key, sessionId, openedAt, closedAt: lastAt, reason: mark?.reason ?? "restore", transcript: name };
}

export async function* checkArchive(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { manifests } = agent.store.transcripts;
  const { records, unreadable } = await readManifests(manifests);
  for (const name of unreadable) yield unreadableManifest(manifests, name);
  const inUse = new Set((await allWindows(agent)).map(windowFile));
  for (const record of records) {
    const entry = await agent.store.get(record.key);
    const isInUse = entry !== undefined && record.entry.sessionId === entry.sessionId;
    const others = record.windows.filter((window) => !inUse.has(windowFile(window)));
    if (isInUse) yield unfinishedManifest(agent, record);
    else yield* unmoved(agent, others, "A transcript of an archived session");
  }
  const archived = (await allWindows(agent)).filter((window) => window.archive !== undefined);
  yield* unmoved(agent, archived, "The transcript of an archived window");
  yield* looseTranscripts(agent);
}

function unreadableManifest(manifests: Documents, name: string): Diagnosis {
  return {
    severity: "error",
    message: "The manifest of an archived session cannot be read",
    path: manifests.locationOf(name),
    fix: "set it aside and bring its transcripts back into use",
    repair: async () => await manifests.setAside(name, "corrupt"),
  };
}

/** Archiving did not reach the store, or restoring stopped before its last step: the session is in use. */
function unfinishedManifest(agent: AgentHandle, record: ArchiveRecord): Diagnosis {
  const { manifests } = agent.store.transcripts;
  const name = manifestName(record);
  return {
    severity: "warning",
    message: "A session in use is also in the archive: archiving or restoring it was interrupted",
    key: record.key,
    path: manifests.locationOf(name),
    fix: "keep the session in use and set the manifest aside",
    repair: async () => {
      const known = new Set((await agent.store.windows(record.key)).map(({ sessionId }) => sessionId));
      for (const window of record.windows) {
        if (!known.has(window.sessionId)) await agent.store.putWindow({ closedAt: record.archivedAt, ...window });
        if (window.archive === undefined) await moveTranscript(agent, window, "sessions");
      }
      await manifests.setAside(name, "unfinished");
    },
  };
}

/** Windows whose transcripts are still among those in use. */
async function* unmoved(agent: AgentHandle, windows: readonly Window[], subject: string): AsyncGenerator<Diagnosis> {
  for (const window of windows) {
    const name = windowFile(window);
    if (name === undefined) continue;
    const path = await agent.store.transcripts.locate(name);
    if (!(await fileExists(path))) continue;
    yield {
      severity: "warning",
      message: `${subject} was not moved to the archive`,
      key: window.key,
      path,
      fix: "move it to the archive",
      repair: async () => await moveTranscript(agent, window, "archive"),
    };
  }
}

/** After the repair, the orphan check gives the transcript a session. */
async function* looseTranscripts(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { transcripts } = agent.store;
  const { records } = await readManifests(transcripts.manifests);
  const windows = [...(await allWindows(agent)), ...records.flatMap((record) => record.windows)];
  const named = new Set(windows.map(windowFile));
  for (const name of await transcripts.list("archive")) {
    if (named.has(name)) continue;
    const path = await transcripts.locate(name, "archive");
    const { hasMessages, sessionId } = await summarizeTranscript(path);
    if (!hasMessages) continue;
    const window: Window = { key: "", sessionId, openedAt: 0, reason: "restore", transcript: name };
    yield {
      severity: "warning",
      message: "An archived transcript that belongs to no archived session",
      path,
      fix: "bring it back into use",
      repair: async () => await moveTranscript(agent, window, "sessions"),
    };
  }
}

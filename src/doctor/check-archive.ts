/**
 * Checks of the archive: unreadable manifests, and moves into or out of it that were interrupted. The order of steps in
 * `archiveSession` and `restoreSession` decides what each half-done state means.
 */
import { join } from "node:path";
import { fileExists, setAside } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { type ArchiveRecord, moveTranscript, readManifests } from "../session/archive.ts";
import type { Window } from "../store/store.ts";
import type { Diagnosis } from "./finding.ts";
import { allWindows, summarizeTranscript, windowFile, listTranscripts } from "./session-files.ts";

export async function* checkArchive(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { records, unreadable } = await readManifests(agent);
  for (const name of unreadable) yield unreadableManifest(agent, name);
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

function unreadableManifest({ archiveFolder, clock }: AgentHandle, name: string): Diagnosis {
  const path = join(archiveFolder, name);
  return {
    severity: "error",
    message: "The manifest of an archived session cannot be read",
    path,
    fix: "set it aside and bring its transcripts back into use",
    repair: async () => void (await setAside(path, "corrupt", clock.now())),
  };
}

/** Archiving did not reach the store, or restoring stopped before its last step: the session is in use. */
function unfinishedManifest(agent: AgentHandle, record: ArchiveRecord): Diagnosis {
  const path = join(agent.archiveFolder, `${record.id}.json`);
  return {
    severity: "warning",
    message: "A session in use is also in the archive: archiving or restoring it was interrupted",
    key: record.key,
    path,
    fix: "keep the session in use and set the manifest aside",
    repair: async () => {
      const known = new Set((await agent.store.windows(record.key)).map(({ sessionId }) => sessionId));
      for (const window of record.windows) {
        if (!known.has(window.sessionId)) await agent.store.putWindow({ closedAt: record.archivedAt, ...window });
        if (window.archive === undefined) await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder);
      }
      await setAside(path, "unfinished", agent.clock.now());
    },
  };
}

/** Windows whose transcripts are still among those in use. */
async function* unmoved(agent: AgentHandle, windows: readonly Window[], subject: string): AsyncGenerator<Diagnosis> {
  for (const window of windows) {
    const name = windowFile(window);
    const path = join(agent.sessionsFolder, name ?? "");
    if (name === undefined || !(await fileExists(path))) continue;
    yield {
      severity: "warning",
      message: `${subject} was not moved to the archive`,
      key: window.key,
      path,
      fix: "move it to the archive",
      repair: async () => await moveTranscript(window, agent.sessionsFolder, agent.archiveFolder),
    };
  }
}

/** After the repair, the orphan check gives the transcript a session. */
async function* looseTranscripts(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { records } = await readManifests(agent);
  const windows = [...(await allWindows(agent)), ...records.flatMap((record) => record.windows)];
  const named = new Set(windows.map(windowFile));
  for (const name of await listTranscripts(agent.archiveFolder)) {
    const path = join(agent.archiveFolder, name);
    if (named.has(name)) continue;
    const { hasMessages, sessionId } = await summarizeTranscript(path);
    if (!hasMessages) continue;
    const window: Window = { key: "", sessionId, openedAt: 0, reason: "restore", transcript: name };
    yield {
      severity: "warning",
      message: "An archived transcript that belongs to no archived session",
      path,
      fix: "bring it back into use",
      repair: async () => await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder),
    };
  }
}

/**
 * The archive: manifests that cannot be read, and moves into or out of it that were interrupted.
 * The order of `archiveSession` and `restoreSession` decides what each half-done state means.
 */
import { join } from "node:path";
import { fileExists, setAside } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { type ArchiveRecord, moveTranscript, readManifests } from "../session/archive.ts";
import type { Window } from "../store/store.ts";
import { allWindows } from "./all-windows.ts";
import type { Diagnosis } from "./finding.ts";
import { listTranscripts } from "./folders.ts";
import { summarizeTranscript } from "./transcript-summary.ts";
import { windowFile } from "./window-file.ts";

export async function* checkArchive(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { records, unreadable } = await readManifests(agent);
  for (const name of unreadable) yield unreadableManifest(agent, name);
  const inUse = new Set((await allWindows(agent)).map(windowFile));
  for (const record of records) {
    const entry = await agent.store.get(record.key);
    const isInUse = entry !== undefined && record.entry.sessionId === entry.sessionId;
    if (isInUse) yield unfinishedManifest(agent, record);
    else yield* unmovedTranscripts(agent, record, inUse);
  }
  yield* unmovedWindows(agent);
  yield* looseTranscripts(agent);
}

function unreadableManifest(agent: AgentHandle, name: string): Diagnosis {
  const path = join(agent.archiveFolder, name);
  return {
    finding: {
      severity: "error",
      message: "The manifest of an archived session cannot be read",
      path,
      fix: "set it aside and bring its transcripts back into use",
    },
    mend: async () => {
      await setAside(path, "corrupt", agent.clock.now());
    },
  };
}

/** Archiving had not reached the store, or restoring was done up to the last step: the session is in use. */
function unfinishedManifest(agent: AgentHandle, record: ArchiveRecord): Diagnosis {
  const path = join(agent.archiveFolder, `${record.id}.json`);
  return {
    finding: {
      severity: "warning",
      message: "A session that is in use also lies in the archive: archiving or restoring it was interrupted",
      key: record.key,
      path,
      fix: "keep the session in use and set the manifest aside",
    },
    mend: async () => {
      const known = new Set((await agent.store.windows(record.key)).map(({ sessionId }) => sessionId));
      for (const window of record.windows) {
        if (!known.has(window.sessionId)) await agent.store.putWindow({ closedAt: record.archivedAt, ...window });
        if (window.archive === undefined) await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder);
      }
      await setAside(path, "unfinished", agent.clock.now());
    },
  };
}

async function* unmovedTranscripts(
  agent: AgentHandle,
  record: ArchiveRecord,
  inUse: ReadonlySet<string | undefined>,
): AsyncGenerator<Diagnosis> {
  for (const window of record.windows) {
    const name = windowFile(window);
    if (name === undefined || inUse.has(name) || !(await fileExists(join(agent.sessionsFolder, name)))) continue;
    yield unmoved(agent, window, join(agent.sessionsFolder, name), "A transcript of an archived session");
  }
}

async function* unmovedWindows(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  for (const window of await allWindows(agent)) {
    const name = windowFile(window);
    if (window.archive === undefined || name === undefined) continue;
    const path = join(agent.sessionsFolder, name);
    if (await fileExists(path)) yield unmoved(agent, window, path, "The transcript of an archived window");
  }
}

function unmoved(agent: AgentHandle, window: Window, path: string, what: string): Diagnosis {
  return {
    finding: {
      severity: "warning",
      message: `${what} was not moved to the archive`,
      key: window.key,
      path,
      fix: "move it to the archive",
    },
    mend: async () => await moveTranscript(window, agent.sessionsFolder, agent.archiveFolder),
  };
}

/** The check of orphans finds what this brings back, and gives it a session. */
async function* looseTranscripts(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { records } = await readManifests(agent);
  const windows = [...(await allWindows(agent)), ...records.flatMap((record) => record.windows)];
  const named = new Set(windows.map(windowFile));
  for (const name of await listTranscripts(agent.archiveFolder)) {
    const path = join(agent.archiveFolder, name);
    if (named.has(name)) continue;
    const { said, sessionId } = await summarizeTranscript(path);
    if (!said) continue;
    const window: Window = { key: "", sessionId, openedAt: 0, reason: "restore", transcript: name };
    yield {
      finding: {
        severity: "warning",
        message: "An archived transcript that belongs to no archived session",
        path,
        fix: "bring it back into use",
      },
      mend: async () => await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder),
    };
  }
}

/** Checks of windows: transcripts in the wrong folder, and windows without a session. */
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import { type AgentHandle, expectedOfWindow } from "../session/agent-handle.ts";
import { moveTranscript, readManifests } from "../session/archive.ts";
import { entryForNewWindow } from "../session/entry.ts";
import type { Window } from "../store/store.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listTranscripts } from "./folders.ts";
import { allWindows, windowFile } from "./session-files.ts";

export async function* checkWindows(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile", "systemSent", "transcriptEnd"] });
  const entries = new Map(sessions.map(({ key, entry }) => [key, entry]));
  const windows = await allWindows(agent);
  const lost = windows.filter(({ key }) => !entries.has(key));
  yield* windowsWithoutSession(agent, lost);
  const files = new Set(await listTranscripts(agent.sessionsFolder));
  const archived = new Set(await listTranscripts(agent.archiveFolder));
  for (const window of windows) {
    const { key, sessionId } = window;
    const file = windowFile(window);
    if (file === undefined) {
      if (!expectedOfWindow(window, entries.get(key)).written) continue;
      const message = `The id of window ${sessionId} cannot be used as a file name`;
      yield { severity: "error", message, key, path: agent.sessionsFolder };
    } else if (!files.has(file) && archived.has(file) && window.archive === undefined) {
      yield {
        severity: "error",
        message: `The transcript of window ${sessionId} is in the archive, but the window is in use`,
        key,
        path: join(agent.archiveFolder, file),
        fix: "bring it back into use",
        repair: async () => await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder),
      };
    }
  }
}

/** Caused by a crash while a session was deleted, or by another tool that removed the entry. */
async function* windowsWithoutSession(agent: AgentHandle, windows: readonly Window[]): AsyncGenerator<Diagnosis> {
  const { records } = windows.length === 0 ? { records: [] } : await readManifests(agent);
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
    const path = file === undefined ? undefined : join(agent.sessionsFolder, file);
    return path !== undefined && (await fileExists(path)) ? [{ window, path }] : [];
  });
  const newest = places.flat().toSorted((a, b) => b.window.openedAt - a.window.openedAt)[0];
  if (newest === undefined) return;
  const { sessionId } = newest.window;
  const now = agent.clock.now();
  await agent.store.update(
    key,
    (current) => current ?? entryForNewWindow(undefined, { sessionId, sessionFile: newest.path, now }),
    { windowReason: "restore" },
  );
}

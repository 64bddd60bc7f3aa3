/** Windows whose transcript is not where it should be, and windows whose session is gone. */
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { moveTranscript, readManifests } from "../session/archive.ts";
import { entryForNewWindow } from "../session/entry.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import { allWindows } from "./all-windows.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listTranscripts } from "./folders.ts";
import { windowFile } from "./window-file.ts";

export async function* checkWindows(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile", "systemSent"] });
  const entries = new Map(sessions.map(({ key, entry }) => [key, entry]));
  const windows = await allWindows(agent);
  yield* windowsWithoutSession(
    agent,
    windows.filter(({ key }) => !entries.has(key)),
  );
  const files = new Set(await listTranscripts(agent.sessionsFolder));
  const archived = new Set(await listTranscripts(agent.archiveFolder));
  for (const window of windows) {
    const file = windowFile(window);
    if (file !== undefined && (files.has(file) || (window.archive !== undefined && archived.has(file)))) continue;
    if (isNotWrittenYet(window, entries.get(window.key))) continue;
    const isArchived = file !== undefined && archived.has(file);
    yield isArchived ? misplaced(agent, window, file) : missing(agent, window, file);
  }
}

/** OpenClaw makes the transcript with the first message, and names it only then. */
function isNotWrittenYet(window: Window, entry: SessionEntry | undefined): boolean {
  if (window.transcript !== undefined || window.archive !== undefined) return false;
  return entry?.sessionId !== window.sessionId || entry.systemSent !== true;
}

function misplaced(agent: AgentHandle, window: Window, file: string): Diagnosis {
  return {
    finding: {
      severity: "error",
      message: `The transcript of window ${window.sessionId} lies in the archive, but the window is in use`,
      key: window.key,
      path: join(agent.archiveFolder, file),
      fix: "bring it back into use",
    },
    mend: async () => await moveTranscript(window, agent.archiveFolder, agent.sessionsFolder),
  };
}

function missing(agent: AgentHandle, { key, sessionId }: Window, file: string | undefined): Diagnosis {
  const message =
    file === undefined
      ? `The window ${sessionId} has an id that cannot name a transcript`
      : `The transcript of window ${sessionId} is missing. Put it back from a backup; until then the session starts from nothing`;
  return {
    finding: { severity: "error", message, key, path: join(agent.sessionsFolder, file ?? "") },
  };
}

/** Left by a crash while a session was deleted, or by another tool that removed the entry. */
async function* windowsWithoutSession(agent: AgentHandle, windows: readonly Window[]): AsyncGenerator<Diagnosis> {
  const { records } = windows.length === 0 ? { records: [] } : await readManifests(agent);
  const archived = new Set(records.flatMap((record) => record.windows.map(({ sessionId }) => sessionId)));
  for (const [key, ofKey] of Map.groupBy(windows, (window) => window.key)) {
    const isArchived = ofKey.every(({ sessionId }) => archived.has(sessionId));
    yield {
      finding: {
        severity: "warning",
        message: "Windows of a session that is not there",
        key,
        fix: isArchived ? "forget them here: the archive has them" : "bring the session back at its newest window",
      },
      mend: async () => {
        if (isArchived) for (const { sessionId } of ofKey) await agent.store.removeWindow(key, sessionId);
        else await reviveSession(agent, key, ofKey);
      },
    };
  }
}

async function reviveSession(agent: AgentHandle, key: string, windows: readonly Window[]): Promise<void> {
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

/**
 * Transcripts that no window names. One without messages comes from a crash while a window was opened and is archived.
 * Any other is a conversation and gets its session back.
 */
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { moveTranscript } from "../session/archive.ts";
import { entryForNewWindow } from "../session/entry.ts";
import { withSessionLease } from "../session/lease.ts";
import type { Window } from "../store/store.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listTranscripts, lookAt } from "./folders.ts";
import { markedKey, recoveredKey } from "./recover-sessions.ts";
import { type TranscriptSummary, allWindows, entryFile, summarizeTranscript, windowFile } from "./session-files.ts";

export async function* checkOrphans(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const named = await namedFiles(agent);
  const names = (await listTranscripts(agent.sessionsFolder)).filter((name) => !named.has(name));
  const orphans = await inParallel(names, async (name) => await summarizeSettled(join(agent.sessionsFolder, name)));
  // Newest first: of several orphans of one lost session, the newest becomes the current window.
  for (const orphan of orphans.flat().toSorted((a, b) => b.openedAt - a.openedAt)) {
    const path = join(agent.sessionsFolder, orphan.name);
    const marked = markedKey(orphan, agent);
    if (!orphan.hasMessages) {
      const message = "A transcript without messages that no window names: opening it was interrupted";
      const task = async (): Promise<void> =>
        await moveTranscript(closedWindow(marked ?? "", orphan), agent.sessionsFolder, agent.archiveFolder);
      const repair = async (): Promise<void> => await whileStillOrphan(agent, marked, orphan, task);
      yield { severity: "warning", message, path, fix: "move it to the archive", repair };
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
  const writtenAt = (await lookAt(path))?.modifiedAt ?? Number.POSITIVE_INFINITY;
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
    const exists = await fileExists(join(agent.sessionsFolder, name));
    if (exists && !(await namedFiles(agent)).has(name)) await task();
  };
  if (key === undefined) await checked();
  else await withSessionLease(agent, key, {}, checked);
}

async function adopt(agent: AgentHandle, key: string, orphan: TranscriptSummary): Promise<void> {
  const { name, sessionId, lastAt } = orphan;
  if ((await agent.store.get(key)) !== undefined) return await agent.store.putWindow(closedWindow(key, orphan));
  const sessionFile = join(agent.sessionsFolder, name);
  await agent.store.update(
    key,
    (current) => current ?? entryForNewWindow(undefined, { sessionId, sessionFile, now: lastAt }),
    { windowReason: "restore" },
  );
}

function closedWindow(key: string, { name, sessionId, mark, openedAt, lastAt }: TranscriptSummary): Window {
  return { key, sessionId, openedAt, closedAt: lastAt, reason: mark?.reason ?? "restore", transcript: name };
}

/**
 * Transcripts that no window names. One in which nothing was said is what a crash between the two
 * phases of opening a window leaves: it goes to the archive. Any other holds a conversation, and
 * gets its session back.
 */
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { moveTranscript } from "../session/archive.ts";
import { entryForNewWindow } from "../session/entry.ts";
import { withSessionLease } from "../session/lease.ts";
import type { Window } from "../store/store.ts";
import { allWindows } from "./all-windows.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listTranscripts, lookAt } from "./folders.ts";
import { markedKey, recoveredKey } from "./recover-sessions.ts";
import { type TranscriptSummary, summarizeTranscript } from "./transcript-summary.ts";
import { entryFile, windowFile } from "./window-file.ts";

export async function* checkOrphans(agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const named = await namedFiles(agent);
  const names = (await listTranscripts(agent.sessionsFolder)).filter((name) => !named.has(name));
  const orphans = await inParallel(names, async (name) => await summarizeSettled(join(agent.sessionsFolder, name)));
  // The newest first: of several that belong to one lost session, it becomes the current window.
  for (const orphan of orphans.flat().toSorted((a, b) => b.openedAt - a.openedAt)) {
    const marked = markedKey(orphan, agent);
    if (!orphan.said) {
      yield unused(agent, marked, orphan);
      continue;
    }
    const key = marked ?? (await freshKey(agent, orphan));
    if (key !== undefined) yield conversation(agent, key, orphan);
  }
}

async function namedFiles(agent: AgentHandle): Promise<Set<string | undefined>> {
  const { sessions } = await agent.store.list({ fields: ["sessionFile"] });
  return new Set([...sessions.map(({ entry }) => entryFile(entry)), ...(await allWindows(agent)).map(windowFile)]);
}

/** A process may be opening a window just now; its two phases take far less than this. */
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

function unused(agent: AgentHandle, key: string | undefined, orphan: TranscriptSummary): Diagnosis {
  return {
    finding: {
      severity: "warning",
      message: "A transcript in which nothing was said and that no window names: opening it was interrupted",
      path: join(agent.sessionsFolder, orphan.name),
      fix: "move it to the archive",
    },
    mend: async () =>
      await whileStillOrphan(agent, key, orphan, async () => {
        await moveTranscript(closedWindow(key ?? "", orphan), agent.sessionsFolder, agent.archiveFolder);
      }),
  };
}

function conversation(agent: AgentHandle, key: string, orphan: TranscriptSummary): Diagnosis {
  return {
    finding: {
      severity: "warning",
      message: "A conversation that no window names",
      key,
      path: join(agent.sessionsFolder, orphan.name),
      fix: `give it back to ${key}`,
    },
    mend: async () => await whileStillOrphan(agent, key, orphan, async () => await adopt(agent, key, orphan)),
  };
}

/** Whoever opens or resets a session holds its lease; what names no session has nobody to ask. */
async function whileStillOrphan(
  agent: AgentHandle,
  key: string | undefined,
  { name }: TranscriptSummary,
  task: () => Promise<void>,
): Promise<void> {
  const checked = async (): Promise<void> => {
    const isThere = await fileExists(join(agent.sessionsFolder, name));
    if (isThere && !(await namedFiles(agent)).has(name)) await task();
  };
  if (key === undefined) await checked();
  else await withSessionLease(agent, key, {}, checked);
}

async function adopt(agent: AgentHandle, key: string, orphan: TranscriptSummary): Promise<void> {
  const { name, sessionId, lastAt } = orphan;
  const existing = await agent.store.get(key);
  if (existing !== undefined) {
    await agent.store.putWindow(closedWindow(key, orphan));
    return;
  }
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

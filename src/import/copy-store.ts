/**
 * Copies everything that an agent's store holds into another store, through the contract that both share. Order of the
 * writes: transcripts, closed windows, entry, so that an interrupted copy is completed by the next one. What the target
 * already has stays as it is, and the source is only read.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isTemporaryName, readFolderIfPresent } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { Documents } from "../store/documents.ts";
import type { Store } from "../store/store.ts";
import type { TranscriptFolder } from "../store/transcripts.ts";

const KINDS = [
  "sessions",
  "windows",
  "transcripts",
  "archivedSessions",
  "handoffs",
  "groupMessages",
  "systemEvents",
  "waitingMessages",
  "waitingReplies",
  "documents",
  "files",
] as const;

export type CopiedKind = (typeof KINDS)[number];

/** How many there are, and how many the target lacked. */
export type CopyCounts = Record<CopiedKind, { found: number; copied: number }>;

export interface CopyOptions {
  dryRun: boolean;
}

export function emptyCounts(): CopyCounts {
  return Object.fromEntries(KINDS.map((kind) => [kind, { found: 0, copied: 0 }])) as CopyCounts;
}

export async function copyAgent(from: AgentHandle, to: AgentHandle, options: CopyOptions): Promise<CopyCounts> {
  const counts = emptyCounts();
  const copy: Copy = { from: from.store, to: to.store, counts, files: new Set(), ...options };
  for (const folder of ["sessions", "archive"] as const) await copyTranscripts(copy, folder);
  await copyDocuments(
    from.store.transcripts.manifests,
    to.store.transcripts.manifests,
    counts.archivedSessions,
    options,
  );
  const { sessions } = await from.store.list({ fields: [], sort: "key" });
  for (const { key } of sessions) {
    await copySession(copy, key);
    await copyPending(copy, key);
  }
  await copyHandoffs(copy);
  await copyQueues(copy);
  await copyNamedFiles(copy);
  return counts;
}

interface Copy extends CopyOptions {
  from: Store;
  to: Store;
  counts: CopyCounts;
  /** Paths of files in the database, as transcripts and waiting messages name them. */
  files: Set<string>;
}

async function copyTranscripts({ from, to, counts, files, dryRun }: Copy, folder: TranscriptFolder): Promise<void> {
  const there = new Set(await to.transcripts.list(folder, { kept: true }));
  for (const name of await from.transcripts.list(folder, { kept: true })) {
    counts.transcripts.found++;
    const content = await readFile(await from.transcripts.locate(name, folder));
    for (const path of storedFilesIn(content.toString())) files.add(path);
    if (there.has(name)) {
      const known = await readFile(await to.transcripts.locate(name, folder));
      if (known.length >= content.length) continue;
    }
    counts.transcripts.copied++;
    if (!dryRun) await to.transcripts.put(name, content, folder);
  }
}

export async function copyDocuments(
  from: Documents,
  to: Documents,
  counts: { found: number; copied: number },
  { dryRun }: CopyOptions,
): Promise<void> {
  const there = new Set(await to.names());
  for (const name of await from.names()) {
    counts.found++;
    const text = await from.read(name);
    if (text === undefined || there.has(name)) continue;
    counts.copied++;
    if (!dryRun) await to.add(name, text);
  }
}

/** Files that people sent, which transcripts name by their paths. */
export async function copyFiles(
  folder: string,
  to: Store["media"],
  counts: { found: number; copied: number },
  { dryRun }: CopyOptions,
): Promise<void> {
  for (const item of await readFolderIfPresent(folder)) {
    if (!item.isFile() || isTemporaryName(item.name)) continue;
    counts.found++;
    const path = join(folder, item.name);
    if (await to.has(path)) continue;
    counts.copied++;
    if (!dryRun) await to.keep(path);
  }
}

/** JSON strings that are the path of a file in a database. */
function storedFilesIn(json: string): string[] {
  const found = json.matchAll(/"\/(?:[^"\\]|\\.)*\/[0-9a-f]{64}\/(?:[^"\\/]|\\.)+"/g);
  return Array.from(found, ([text]) => JSON.parse(text) as string);
}

async function copyNamedFiles({ from, to, files, counts, dryRun }: Copy): Promise<void> {
  for (const path of files) {
    if (!(await from.media.has(path))) continue;
    counts.files.found++;
    if (await to.media.has(path)) continue;
    counts.files.copied++;
    if (!dryRun) await to.media.adopt(path, await from.media.locate(path));
  }
}

async function copySession({ from, to, counts, dryRun }: Copy, key: string): Promise<void> {
  const entry = await from.get(key);
  if (entry === undefined) return;
  const windows = await from.windows(key);
  const there = new Set((await to.windows(key)).map(({ sessionId }) => sessionId));
  const current = windows.find(({ sessionId }) => sessionId === entry.sessionId);
  counts.sessions.found++;
  counts.windows.found += windows.length;
  const missing = windows.filter((window) => !there.has(window.sessionId));
  counts.windows.copied += missing.length;
  const isNew = (await to.get(key)) === undefined;
  counts.sessions.copied += Number(isNew);
  if (dryRun) return;
  for (const window of missing) if (window !== current) await to.putWindow(window);
  const opened = { windowReason: current?.reason, openedAt: current?.openedAt };
  await to.update(key, (now) => (now === undefined ? entry : undefined), opened);
}

/** System events have no ids, so those of a session that already has some are not added again. */
async function copyPending({ from, to, counts, dryRun }: Copy, key: string): Promise<void> {
  const known = new Set((await to.history.waiting(key)).map(({ messageId }) => messageId));
  const messages = await from.history.waiting(key);
  const missing = messages.filter(({ messageId }) => messageId === undefined || !known.has(messageId));
  counts.groupMessages.found += messages.length;
  counts.groupMessages.copied += missing.length;
  const events = await from.systemEvents.waitingSystemEvents(key);
  const newEvents = (await to.systemEvents.waitingSystemEvents(key)).length === 0 ? events : [];
  counts.systemEvents.found += events.length;
  counts.systemEvents.copied += newEvents.length;
  if (dryRun) return;
  for (const message of missing) await to.history.append(key, message);
  for (const text of newEvents) await to.systemEvents.enqueueSystemEvent(key, text);
}

async function copyHandoffs({ from, to, counts, dryRun }: Copy): Promise<void> {
  for (const { key, state } of await from.handoffs.list()) {
    counts.handoffs.found++;
    if ((await to.handoffs.get(key)) !== undefined) continue;
    counts.handoffs.copied++;
    if (!dryRun) await to.handoffs.update(key, (now) => now ?? state);
  }
}

async function copyQueues({ from, to, counts, files, dryRun }: Copy): Promise<void> {
  for (const { key, address, payload, receivedAt } of await from.inbox.pending()) {
    counts.waitingMessages.found++;
    for (const path of storedFilesIn(JSON.stringify(payload))) files.add(path);
    if (dryRun) continue;
    const { admitted } = await to.inbox.admit({ key, address, payload, receivedAt });
    if (admitted) counts.waitingMessages.copied++;
  }
  const waiting = await from.outbox.due(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  for (const { key, idempotencyKey, target, payload } of waiting) {
    counts.waitingReplies.found++;
    for (const path of storedFilesIn(JSON.stringify(payload))) files.add(path);
    if ((await to.outbox.find(idempotencyKey)) !== undefined) continue;
    counts.waitingReplies.copied++;
    if (!dryRun) await to.outbox.enqueue(key, [{ idempotencyKey, target, payload }]);
  }
}

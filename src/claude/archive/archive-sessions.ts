/**
 * The guard against Claude Code's clean-up: transcripts that it is about to delete are copied. Claude
 * Code's folder is only read. Invariants:
 * - Copies are complete and on disk before the manifest that names them; a run that dies leaves the old
 *   copy or the new one, and what it left behind is swept by the next.
 * - Copying needs no lock, so that two runs may overlap; taking over a copy does, and the newer one stays.
 * - A copy never loses what an earlier one had: files that have gone meanwhile stay archived, and a
 *   transcript that became shorter does not replace its longer copy.
 * - Where redacting is asked for, it holds for the whole session: also for files that have gone meanwhile.
 */
import { rename, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { errorMessage, fileError } from "../../base/errors.ts";
import {
  ensurePrivateFolder,
  readFolderIfPresent,
  syncFolder,
  temporaryNameOwner,
  writeFileDurable,
} from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { currentProcess, processState } from "../../base/processes.ts";
import { redactValue } from "../../base/redact.ts";
import { claudeLayout } from "../../config/layout.ts";
import type { IndexedSession, NativeIndex } from "../index/native-index.ts";
import { loadManifest, writeCatalogue } from "./catalogue.ts";
import { type PartCopy, copyPart, redactPart } from "./copy-part.ts";
import { type DueSession, type SourceFile, findDue } from "./due-sessions.ts";
import { type ArchiveManifest, type ArchivePart, manifestName, partName, partOwner } from "./manifest.ts";
import { readCleanupPeriodDays } from "./retention.ts";

export interface ArchiveOptions {
  claudeHome: string;
  home: string;
  /** Brought up to date by the caller: what it knows of a session is kept with the copy. */
  index: NativeIndex;
  /** Copy what would be deleted within so many days. `Infinity` copies everything. */
  daysBefore: number;
  redact: boolean;
  /** True: nothing is written; `copied` are those that would be. */
  dryRun?: boolean;
  /** Left out: what Claude Code's settings say, else its default. */
  cleanupPeriodDays?: number;
  clock?: Clock;
  /** Called after each session that was due. */
  onProgress?: (done: number, due: number) => void;
  signal?: AbortSignal;
}

export interface ArchiveReport {
  cleanupPeriodDays: number;
  /** Sessions that were looked at, and those that would be deleted soon. */
  sessions: number;
  due: number;
  /** Of those: copied now, or found unchanged since they were. */
  copied: string[];
  unchanged: number;
  /** Sessions that could not be copied, with the reason. */
  failed: { path: string; reason: string }[];
}

const DAY_MS = 86_400_000;

export async function archiveNativeSessions(options: ArchiveOptions): Promise<ArchiveReport> {
  const { archiveFolder } = claudeLayout(options.home);
  const days = options.cleanupPeriodDays ?? (await readCleanupPeriodDays(options.claudeHome));
  const threshold = (options.clock ?? systemClock).now() - (days - options.daysBefore) * DAY_MS;
  const { sessions, due } = await findDue(options.claudeHome, threshold);
  const report: ArchiveReport = {
    cleanupPeriodDays: days,
    sessions,
    due: due.length,
    copied: [],
    unchanged: 0,
    failed: [],
  };
  if (options.dryRun === true) return { ...report, ...preview(archiveFolder, due, options.redact) };
  if (due.length === 0) return report;
  await ensurePrivateFolder(archiveFolder);
  await withArchiveLock(archiveFolder, async () => await sweep(archiveFolder));
  for (const [done, session] of due.entries()) {
    options.signal?.throwIfAborted();
    try {
      if (await archiveSession(archiveFolder, session, options)) report.copied.push(session.sessionId);
      else report.unchanged += 1;
    } catch (error) {
      report.failed.push({ path: session.path, reason: errorMessage(error) });
    }
    options.onProgress?.(done + 1, due.length);
  }
  await withArchiveLock(archiveFolder, async () => await writeCatalogue(options.home));
  return report;
}

function preview(
  archiveFolder: string,
  due: readonly DueSession[],
  redact: boolean,
): Pick<ArchiveReport, "copied" | "unchanged"> {
  const isCopied = ({ sessionId, files }: DueSession): boolean =>
    loadManifest(archiveFolder, sessionId)?.stamp === stampOf(files, redact);
  const copied = due.filter((session) => !isCopied(session)).map(({ sessionId }) => sessionId);
  return { copied, unchanged: due.length - copied.length };
}

/** False when the copy is up to date already. */
async function archiveSession(archiveFolder: string, session: DueSession, options: ArchiveOptions): Promise<boolean> {
  const { sessionId, files } = session;
  const before = loadManifest(archiveFolder, sessionId);
  const stamp = stampOf(files, options.redact);
  if (before?.stamp === stamp) return false;
  assertNotShorter(before, files);
  const facts = options.index.get(sessionId);
  if (facts === undefined) throw new Error("the index does not know it yet; run the archive again");
  const parts: ArchivePart[] = [];
  const temporaries: string[] = [];
  try {
    const take = (name: string, file: string, { temporary, ...measured }: PartCopy): void => {
      temporaries.push(temporary);
      parts.push({ file, name, ...measured });
    };
    for (const [number, { path, name }] of files.entries()) {
      const file = partName(sessionId, stamp, number);
      const copy = await copyPart(path, join(archiveFolder, file), options.redact);
      if (copy !== undefined) take(name, file, copy);
    }
    for (const [number, part] of (options.redact ? goneParts(before, parts) : []).entries()) {
      const file = partName(sessionId, stamp, files.length + number);
      take(part.name, file, await redactPart(archiveFolder, part, join(archiveFolder, file)));
    }
    if (parts[0]?.name !== `${sessionId}.jsonl`) throw new Error("it was deleted while it was being copied");
    const manifest: ArchiveManifest = {
      version: 1,
      sessionId,
      folder: basename(session.folder),
      archivedAt: new Date((options.clock ?? systemClock).now()).toISOString(),
      stamp,
      redacted: options.redact,
      parts,
      facts: options.redact ? (redactValue(facts) as IndexedSession) : facts,
    };
    return await withArchiveLock(archiveFolder, async () => await takeOver(archiveFolder, manifest, temporaries));
  } finally {
    for (const temporary of temporaries) await unlink(temporary).catch(() => undefined);
  }
}

/** What an earlier run has copied and this one did not find any more. */
function goneParts(before: ArchiveManifest | undefined, parts: readonly ArchivePart[]): ArchivePart[] {
  const names = new Set(parts.map(({ name }) => name));
  return before?.parts.filter(({ name }) => !names.has(name)) ?? [];
}

function stampOf(files: readonly SourceFile[], redact: boolean): string {
  const state = JSON.stringify([redact, files.map(({ name, sizeBytes, modifiedAt }) => [name, sizeBytes, modifiedAt])]);
  return nodeCrypto().createHash("sha256").update(state).digest("hex").slice(0, 16);
}

function assertNotShorter(before: ArchiveManifest | undefined, files: readonly SourceFile[]): void {
  for (const part of before?.parts ?? []) {
    const file = files.find(({ name }) => name === part.name);
    if (file !== undefined && file.sizeBytes < part.sizeBytes) {
      throw new Error("it is shorter than its copy, which is kept; restore the copy elsewhere to compare them");
    }
  }
}

/** Under the lock. False when another run has been faster. */
async function takeOver(
  archiveFolder: string,
  manifest: ArchiveManifest,
  temporaries: readonly string[],
): Promise<boolean> {
  const before = loadManifest(archiveFolder, manifest.sessionId);
  const isNewer = (before?.parts[0]?.sizeBytes ?? 0) > (manifest.parts[0]?.sizeBytes ?? 0);
  if (before !== undefined && (before.stamp === manifest.stamp || isNewer)) return false;
  for (const [number, { file }] of manifest.parts.entries()) {
    try {
      await rename(temporaries[number] ?? "", join(archiveFolder, file));
    } catch (error) {
      throw fileError(error, "archive", file);
    }
  }
  await syncFolder(archiveFolder);
  const kept = goneParts(before, manifest.parts);
  const redacted = manifest.redacted || (kept.length > 0 && before?.redacted === true);
  const complete = { ...manifest, redacted, parts: [...manifest.parts, ...kept] };
  await writeFileDurable(join(archiveFolder, manifestName(manifest.sessionId)), `${JSON.stringify(complete)}\n`);
  const inUse = new Set(complete.parts.map(({ file }) => file));
  for (const { file } of before?.parts ?? []) {
    if (!inUse.has(file)) await unlink(join(archiveFolder, file)).catch(() => undefined);
  }
  return true;
}

async function withArchiveLock<T>(archiveFolder: string, task: () => Promise<T>): Promise<T> {
  return await withFileLock(join(archiveFolder, "archive.lock"), { timeoutMs: 60_000 }, task);
}

/** Removes what runs that died left behind. Under the lock nobody is between files and manifest. */
async function sweep(archiveFolder: string): Promise<void> {
  const inUse = new Map<string, Set<string>>();
  const filesOf = (sessionId: string): Set<string> => {
    const known =
      inUse.get(sessionId) ?? new Set(loadManifest(archiveFolder, sessionId)?.parts.map(({ file }) => file));
    inUse.set(sessionId, known);
    return known;
  };
  for (const { name } of await readFolderIfPresent(archiveFolder)) {
    const owner = partOwner(name);
    const pid = temporaryNameOwner(name);
    const isOrphan = owner !== undefined && !filesOf(owner.sessionId).has(name);
    if (isOrphan || (pid !== undefined && !isAlive(pid)))
      await unlink(join(archiveFolder, name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  return processState({ pid, startedAt: "unknown", host: currentProcess().host }) === "alive";
}

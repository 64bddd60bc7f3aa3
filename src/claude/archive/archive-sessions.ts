/**
 * Copies transcripts that Claude Code is about to delete, and restores copies. Claude Code's folder is only read. Invariants:
 * - Copies are complete and on disk before the manifest that names them. A run that dies leaves the old copy or the new
 *   one, and the next run removes its leftovers.
 * - Copying needs no lock, so two runs may overlap. Taking over a copy needs the lock, and the newer copy wins.
 * - A copy never loses content of an earlier one: deleted files stay archived, and a shorter transcript does not replace
 *   a longer copy.
 * - Redaction covers the whole session, also files whose originals are gone.
 * - A copy is restored into a folder that the person chooses, never into Claude Code's own: only the person can decide
 *   whether an old session should be there again.
 */
import type { Stats } from "node:fs";
import { lstat, rename, unlink, open, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { DAY_MS, type Clock, systemClock } from "../../base/clock.ts";
import { errorMessage, fileError, HoldfastError } from "../../base/errors.ts";
import {
  ensurePrivateFolder,
  readFolderIfPresent,
  sweepFolder,
  syncFolder,
  writeFileDurable,
  PRIVATE_FILE,
  fileExists,
  replaceFile,
  temporaryPath,
  isInside,
} from "../../base/files.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { redactValue } from "../../base/redact.ts";
import { claudeLayout } from "../../config/layout.ts";
import type { NativeIndex } from "../index/native-index.ts";
import {
  type NativeTranscript,
  listFolder,
  listSubagents,
  listTranscripts,
  openNativeFile,
  settingsFile,
  projectsFolder,
} from "../native/layout.ts";
import { createObjectSkimmer } from "../native/object-skimmer.ts";
import {
  type PartCopy,
  copyPart,
  redactPart,
  isUnpackingError,
  measured,
  newMeasure,
  unpackPart,
} from "./archive-part.ts";
import {
  type ArchiveManifest,
  type ArchivePart,
  loadManifest,
  manifestName,
  partName,
  partOwner,
  writeCatalogue,
} from "./catalogue.ts";
import { createRepoLocator } from "../discovery/repo-locator.ts";

export interface ArchiveOptions {
  claudeHome: string;
  home: string;
  /** Must be up to date. Its facts about a session are stored with the copy. */
  index: NativeIndex;
  /** Copy sessions that Claude Code will delete within this many days. `Infinity` copies everything. */
  daysBefore: number;
  redact: boolean;
  /** Write nothing; `copied` then lists what would be copied. Default: false. */
  dryRun?: boolean | undefined;
  /** Default: from Claude Code's settings. */
  cleanupPeriodDays?: number | undefined;
  clock?: Clock | undefined;
  /** Called after each session that is due. Optional. */
  onProgress?: ((done: number, due: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface ArchiveReport {
  cleanupPeriodDays: number;
  /** The number of all sessions, and of those due for deletion. */
  sessions: number;
  due: number;
  /** Sessions copied now, and the number whose copy was up to date. */
  copied: string[];
  unchanged: number;
  failed: { path: string; reason: string }[];
}

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

/** The default of Claude Code. */
const DEFAULT_DAYS = 30;
const MAX_SETTINGS_BYTES = 4 * 1024 * 1024;

/** After how many days Claude Code deletes transcripts. Its settings may hold secrets, so only this number is decoded. */
export async function readCleanupPeriodDays(claudeHome: string): Promise<number> {
  await using handle = await openNativeFile(settingsFile(claudeHome));
  if (handle === undefined || (await handle.stat()).size > MAX_SETTINGS_BYTES) return DEFAULT_DAYS;
  const bytes = await handle.readFile();
  const settings = createObjectSkimmer(["cleanupPeriodDays"]);
  const isObject = settings.skim(bytes, 0, bytes.length) !== -1;
  const days = isObject ? settings.parse(settings.slots.cleanupPeriodDays) : undefined;
  bytes.fill(0);
  return typeof days === "number" && Number.isFinite(days) && days >= 0 ? days : DEFAULT_DAYS;
}

interface DueSession extends NativeTranscript {
  files: SourceFile[];
}

interface SourceFile {
  path: string;
  /** The path in the project folder. */
  name: string;
  sizeBytes: number;
  modifiedAt: number;
}

/** A session is due when one of its files is: a subagent's file may be deleted before the transcript. */
async function findDue(claudeHome: string, threshold: number): Promise<{ sessions: number; due: DueSession[] }> {
  const due: DueSession[] = [];
  let sessions = 0;
  for await (const transcript of listTranscripts(claudeHome)) {
    sessions += 1;
    const files = await sourceFiles(transcript);
    if (files.some(({ modifiedAt }) => modifiedAt <= threshold)) due.push({ ...transcript, files });
  }
  return { sessions, due };
}

async function sourceFiles({ path, sessionId }: NativeTranscript): Promise<SourceFile[]> {
  const subagents = await listSubagents(path);
  const names = subagents.flatMap((subagent) => {
    const name = `${sessionId}/subagents/${basename(subagent.path, ".jsonl")}`;
    return [`${name}.jsonl`, `${name}.meta.json`];
  });
  // Long tool output, to which the transcript refers.
  const results = (await listFolder(join(dirname(path), sessionId, "tool-results"))).filter((entry) => entry.isFile());
  const resultNames = results.map((entry) => `${sessionId}/tool-results/${entry.name}`).sort();
  const files: SourceFile[] = [];
  for (const name of [`${sessionId}.jsonl`, ...names, ...resultNames]) {
    const file = join(dirname(path), name);
    const stats: Stats | undefined = await lstat(file).catch(() => undefined);
    if (stats?.isFile() === true) files.push({ path: file, name, sizeBytes: stats.size, modifiedAt: stats.mtimeMs });
  }
  return files;
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

/** False when the copy is up to date. */
async function archiveSession(archiveFolder: string, session: DueSession, options: ArchiveOptions): Promise<boolean> {
  const { sessionId, files } = session;
  const before = loadManifest(archiveFolder, sessionId);
  const stamp = stampOf(files, options.redact);
  if (before?.stamp === stamp) return false;
  assertNotShorter(before, files);
  const indexed = options.index.get(sessionId);
  if (indexed === undefined) throw new Error("it is not in the index yet; run the archive again");
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
    const facts = { ...indexed, shown: JSON.parse(indexed.shown) as JsonRecord };
    const manifest: ArchiveManifest = {
      version: 2,
      sessionId,
      folder: basename(session.folder),
      archivedAt: new Date((options.clock ?? systemClock).now()).toISOString(),
      stamp,
      redacted: options.redact,
      parts,
      facts: options.redact ? (redactValue(facts) as typeof facts) : facts,
    };
    return await withArchiveLock(archiveFolder, async () => await takeOver(archiveFolder, manifest, temporaries));
  } finally {
    for (const temporary of temporaries) await unlink(temporary).catch(() => undefined);
  }
}

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

/** The caller holds the lock. False when another run was faster. */
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

/** Removes leftovers of dead runs. The lock ensures that no run is between its files and its manifest. */
async function sweep(archiveFolder: string): Promise<void> {
  const inUse = new Map<string, Set<string>>();
  const filesOf = (sessionId: string): Set<string> => {
    const known =
      inUse.get(sessionId) ?? new Set(loadManifest(archiveFolder, sessionId)?.parts.map(({ file }) => file));
    inUse.set(sessionId, known);
    return known;
  };
  await sweepFolder(archiveFolder);
  for (const { name } of await readFolderIfPresent(archiveFolder)) {
    const owner = partOwner(name);
    const isOrphan = owner !== undefined && !filesOf(owner.sessionId).has(name);
    if (isOrphan) await unlink(join(archiveFolder, name)).catch(() => undefined);
  }
}

export interface RestoreOptions {
  home: string;
  claudeHome: string;
  /** The target folder. It is created when missing. */
  to: string;
}

/** Overwrites nothing. Returns the paths of the written files. */
export async function restoreNativeSession(sessionId: string, options: RestoreOptions) {
  const to = resolve(options.to);
  const locator = createRepoLocator();
  if (isInside(locator.canonical(options.claudeHome), locator.canonical(to))) {
    const message = `${to} belongs to Claude Code; Holdfast writes nothing there`;
    throw new HoldfastError("usage", "restore-into-claude", message, {
      hint: "Restore into a folder of your own, then copy its content to where Claude Code looks for it.",
    });
  }
  const { archiveFolder } = claudeLayout(options.home);
  const manifest = requireManifest(archiveFolder, sessionId);
  const files = manifest.parts.map(({ name }) => join(to, name));
  for (const path of files) {
    if (!(await fileExists(path))) continue;
    const hint = "Restore into an empty folder.";
    throw new HoldfastError("conflict", "file-exists", `${path} already exists`, { hint, data: { path } });
  }
  const written: string[] = [];
  try {
    for (const [number, part] of manifest.parts.entries()) {
      const file = files[number] ?? "";
      await ensurePrivateFolder(dirname(file));
      written.push(file);
      await unpack(archiveFolder, part, file);
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true });
    throw error;
  }
  // Where Claude Code looks for the session. Copy the content of `to` there to resume it.
  const nativeFolder = join(projectsFolder(options.claudeHome), basename(manifest.folder));
  return { sessionId, files, redacted: manifest.redacted, nativeFolder };
}

async function unpack(archiveFolder: string, part: ArchivePart, file: string): Promise<void> {
  const temporary = temporaryPath(file);
  const source = join(archiveFolder, part.file);
  try {
    await using output = await open(temporary, "wx", PRIVATE_FILE);
    const measure = newMeasure();
    await using input = await openNativeFile(source);
    if (input === undefined) throw damaged(source);
    await output.writeFile(measured(unpackPart(input), measure));
    if (measure.hash.digest("hex") !== part.sha256) throw damaged(source);
    await output.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw isUnpackingError(error) ? damaged(source, error) : fileError(error, "restore", file);
  }
  await replaceFile(temporary, file);
}

function requireManifest(archiveFolder: string, sessionId: string): ArchiveManifest {
  const manifest = loadManifest(archiveFolder, sessionId);
  if (manifest !== undefined) return manifest;
  throw new HoldfastError("not-found", "archive-not-found", `The archive has no usable copy of ${sessionId}`, {
    hint: `Run \`holdfast cc list --all\` to see archived sessions. Manifests are in ${join(archiveFolder, manifestName("<session id>"))}.`,
  });
}

function damaged(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError("corrupt", "archive-damaged", `The archived copy ${path} is damaged`, {
    hint: "Nothing was restored. Replace the file from a backup of the archive.",
    data: { path },
    cause,
  });
}

/**
 * Lists the files to index. Files behind symbolic links are skipped: they may belong to another agent.
 *
 * For each native transcript, either the original or its archived copy is read: the copy only if the original is
 * gone. Passages move from one to the other (`refresh.ts`), so nothing is found twice.
 */
import { lstatSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errorMessage } from "../base/errors.ts";
import { loadManifest, type ArchiveManifest, type ArchivePart, partOwner } from "../claude/archive/catalogue.ts";
import {
  listFolder,
  projectsFolder,
  type NativeTranscript,
  listProjectTranscripts,
  listSubagents,
  SUBAGENT_FILE,
} from "../claude/native/layout.ts";
import { sessionIdOfTranscript } from "../transcript/paths.ts";
import type { SourceRow } from "./source-rows.ts";
import type { NativeSources, SearchSources, SourceFile, SourceKind } from "./sources.ts";

export interface Listing {
  files: SourceFile[];
  /** Folders that were listed. A known file in one of them that is not in `files` is gone. */
  covered: { kind: SourceKind; folder: string }[];
  failed: { path: string; reason: string }[];
}

const MEMORY_FILES: ReadonlySet<string> = new Set(["AGENTS.md", "MEMORY.md"]);
const MEMORY_FOLDER = "memory";

/** `indexed`: files in the index. */
export async function listSources(sources: SearchSources, indexed: Iterable<IndexedFile>): Promise<Listing> {
  const listing: Listing = { files: [], covered: [], failed: [] };
  for (const agent of sources.agents ?? []) {
    const { workspace, sessionsFolder, archiveFolder } = agent;
    if (workspace !== undefined) await cover(listing, "memory", workspace, () => listMemory(agent.agentId, workspace));
    for (const folder of [sessionsFolder, archiveFolder]) {
      if (folder !== undefined) await cover(listing, "transcript", folder, () => listOwn(agent.agentId, folder));
    }
  }
  const { native } = sources;
  if (native !== undefined) {
    await listNative(listing, native);
    const { archive } = native;
    const originals = listing.files.filter(({ kind }) => kind === "native");
    if (archive !== undefined) {
      await cover(listing, "native", archive.folder, () => listArchive(native, originals, indexed));
    }
  }
  return listing;
}

/** A folder that cannot be listed is reported, and no file in it counts as gone. */
async function cover(
  listing: Listing,
  kind: SourceKind,
  folder: string,
  list: () => Promise<(SourceFile | undefined)[]> | SourceFile[],
): Promise<void> {
  try {
    for (const file of await list()) if (file !== undefined) listing.files.push(file);
    listing.covered.push({ kind, folder });
  } catch (error) {
    listing.failed.push({ path: folder, reason: errorMessage(error) });
  }
}

async function listMemory(agentId: string, workspace: string): Promise<(SourceFile | undefined)[]> {
  const entries = await listFolder(workspace);
  const names = entries.filter((entry) => entry.isFile() && MEMORY_FILES.has(entry.name)).map(({ name }) => name);
  if (entries.some((entry) => entry.isDirectory() && entry.name === MEMORY_FOLDER)) {
    for (const entry of await listFolder(join(workspace, MEMORY_FOLDER))) {
      if (entry.isFile() && entry.name.endsWith(".md")) names.push(`${MEMORY_FOLDER}/${entry.name}`);
    }
  }
  return names.map((name) => lookAt(join(workspace, name), { name, kind: "memory", owner: agentId }));
}

async function listOwn(agentId: string, folder: string): Promise<(SourceFile | undefined)[]> {
  return (await listFolder(folder)).map((entry) => {
    const sessionId = entry.isFile() ? sessionIdOfTranscript(entry.name) : undefined;
    if (sessionId === undefined) return undefined;
    return lookAt(join(folder, entry.name), { name: entry.name, kind: "transcript", owner: agentId, sessionId });
  });
}

async function listNative(listing: Listing, native: NativeSources): Promise<void> {
  const projects = projectsFolder(native.claudeHome);
  const failures = listing.failed.length;
  const names = native.folders ?? (await projectNames(listing, projects));
  for (const name of names) {
    const folder = join(projects, basename(name));
    await cover(listing, "native", folder, () => listProject(folder, native.owners));
  }
  // A removed project folder is only noticed when all folders were listed.
  if (native.folders === undefined && listing.failed.length === failures) {
    listing.covered.push({ kind: "native", folder: projects });
  }
}

async function projectNames(listing: Listing, projects: string): Promise<string[]> {
  try {
    const entries = await listFolder(projects);
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  } catch (error) {
    listing.failed.push({ path: projects, reason: errorMessage(error) });
    return [];
  }
}

/** A session comes before its subagents, because it determines their owner. */
async function listProject(
  folder: string,
  owners: ReadonlyMap<string, string> | undefined,
): Promise<(SourceFile | undefined)[]> {
  const transcripts = await listProjectTranscripts(folder);
  const entries = await listFolder(folder);
  const withFolder = new Set(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name));
  const files: (SourceFile | undefined)[] = [];
  for (const transcript of transcripts) {
    const file = nativeFile(transcript, owners);
    files.push(file);
    if (file === undefined || !withFolder.has(transcript.sessionId)) continue;
    for (const { agentId, path } of await listSubagents(transcript.path)) {
      const subagent = nativeFile({ ...transcript, path }, owners);
      files.push(subagent && { ...subagent, subagentId: agentId });
    }
  }
  return files;
}

function nativeFile(
  { sessionId, path }: Pick<NativeTranscript, "sessionId" | "path">,
  owners: ReadonlyMap<string, string> | undefined,
): SourceFile | undefined {
  return lookAt(path, { name: basename(path), kind: "native", sessionId, owner: owners?.get(sessionId) });
}

function lookAt(
  path: string,
  known: Pick<SourceFile, "name" | "kind" | "owner" | "sessionId">,
): SourceFile | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) return undefined;
  return { path, ...known, inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
}

/** True if `path` is `folder` or below it. */
export function isBelow(path: string, folder: string): boolean {
  if (path === folder || dirname(folder) === folder) return true;
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

type IndexedFile = Pick<SourceRow, "path" | "kind" | "session_id" | "subagent_id">;

/** `originals`: the native files that were found. */
function listArchive(
  native: NativeSources,
  originals: readonly SourceFile[],
  indexed: Iterable<IndexedFile>,
): SourceFile[] {
  const { archive, claudeHome } = native;
  if (archive === undefined || archive.sessions.length === 0) return [];
  const found = new Set(originals.map(transcriptOfFile));
  const elsewhere = indexedOriginals(indexed);
  const isThere = (transcript: string): boolean =>
    found.has(transcript) || elsewhere.get(transcript)?.some(isFile) === true;
  const files: SourceFile[] = [];
  for (const { sessionId, folder } of archive.sessions) {
    const project = join(projectsFolder(claudeHome), basename(folder));
    const hasSession = found.has(transcriptKey(sessionId)) || isFile(join(project, `${sessionId}.jsonl`));
    const manifest = loadManifest(archive.folder, sessionId);
    for (const part of manifest?.parts ?? []) {
      const file = manifest && copyOf(archive.folder, manifest, part, native.owners);
      // A subagent's file without its session is not listed, so it does not count as present.
      if (file === undefined || isThere(transcriptOfFile(file)) || (hasSession && isFile(join(project, part.name))))
        continue;
      files.push(file);
    }
  }
  return files;
}

function copyOf(
  folder: string,
  { sessionId, redacted }: ArchiveManifest,
  part: ArchivePart,
  owners: NativeSources["owners"],
): SourceFile | undefined {
  const isSubagent = part.name.startsWith(`${sessionId}/subagents/`);
  const subagentId = isSubagent ? SUBAGENT_FILE.exec(basename(part.name))?.[1] : undefined;
  if (part.name !== `${sessionId}.jsonl` && subagentId === undefined) return undefined;
  const { sizeBytes, storedBytes, modifiedAt } = part;
  const file = nativeFile({ sessionId, path: join(folder, part.file) }, owners);
  return file && { ...file, subagentId, copyOf: { sizeBytes, modifiedAt, storedBytes, isExact: !redacted } };
}

/** Paths outside the archive where a transcript was read. */
function indexedOriginals(indexed: Iterable<IndexedFile>): Map<string, string[]> {
  const originals = new Map<string, string[]>();
  for (const row of indexed) {
    if (row.kind !== "native" || isArchived(row.path)) continue;
    const key = transcriptOfRow(row);
    originals.set(key, [...(originals.get(key) ?? []), row.path]);
  }
  return originals;
}

/** Recognizes archived copies by their name. */
export function isArchived(path: string): boolean {
  return partOwner(basename(path)) !== undefined;
}

/** Identifies the transcript of a session or a subagent, whatever its path. */
export function transcriptOfFile({ sessionId, subagentId }: SourceFile): string {
  return transcriptKey(sessionId ?? "", subagentId);
}

export function transcriptOfRow(row: IndexedFile): string {
  return transcriptKey(row.session_id ?? "", row.subagent_id ?? undefined);
}

function transcriptKey(sessionId: string, subagentId = ""): string {
  return `${sessionId}/${subagentId}`;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

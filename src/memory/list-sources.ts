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
import { findSubagents, stampAt } from "../claude/index/find-changes.ts";
import type { FolderLook, TranscriptFile } from "../claude/index/index-rows.ts";
import type { FileStamp } from "../claude/index/scan-job.ts";
import { lookAtNative } from "./native-folders.ts";
import { listFolder, projectsFolder, type NativeTranscript, SUBAGENT_FILE } from "../claude/native/layout.ts";
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

/**
 * `indexed`: files in the index. Undefined: do not list the archive. The last
 * parameter: the project folders to list. Default: all.
 */
export async function listSources(
  { agents = [], native }: SearchSources,
  indexed: Iterable<IndexedFile> | undefined,
  { looks, failed } = native === undefined ? { looks: [], failed: [] } : lookAtNative(native, new Map()),
): Promise<Listing> {
  const listing: Listing = { files: [], covered: [], failed: [...failed] };
  for (const agent of agents) {
    const { workspace, sessionsFolder, archiveFolder } = agent;
    if (workspace !== undefined) await cover(listing, "memory", workspace, () => listMemory(agent.agentId, workspace));
    for (const folder of [sessionsFolder, archiveFolder]) {
      if (folder !== undefined) await cover(listing, "transcript", folder, () => listOwn(agent.agentId, folder));
    }
  }
  if (native === undefined) return listing;
  for (const look of looks) listProject(listing, look, native.owners);
  const { archive } = native;
  if (archive !== undefined && indexed !== undefined) {
    const originals = listing.files.filter(({ kind }) => kind === "native");
    await cover(listing, "native", archive.folder, () => listArchive(native, originals, indexed));
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

/** A session comes before its subagents, because it determines their owner. */
function listProject(listing: Listing, look: FolderLook, owners: NativeSources["owners"]): void {
  const withFolder = new Set(look.sessionFolders);
  const add = ({ path, sessionId, agentId }: TranscriptFile, stamp: FileStamp): void => {
    const owner = owners?.get(sessionId);
    const name = basename(path);
    listing.files.push({ path, name, kind: "native", owner, sessionId, subagentId: agentId, ...stamp });
  };
  let isListed = true;
  for (const [index, name] of look.names.entries()) {
    const sessionId = basename(name, ".jsonl");
    add({ folder: look.folder, name, path: join(look.root, name), sessionId }, stampAt(look.stamps, index));
    if (withFolder.has(sessionId)) isListed = findSubagents(look, sessionId, listing.failed, add) && isListed;
  }
  if (isListed) listing.covered.push({ kind: "native", folder: look.root });
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

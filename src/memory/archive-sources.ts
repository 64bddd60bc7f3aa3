/**
 * The archive's copies of native transcripts, as files to be indexed. One rule decides, for a session and
 * for each of its subagents: as long as the original is there, it alone is read; when it is gone, its copy
 * is. What is indexed of the one goes over to the other (reconcile.ts), so nothing is found twice.
 */
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { loadManifest } from "../claude/archive/catalogue.ts";
import { type ArchiveManifest, type ArchivePart, partOwner } from "../claude/archive/manifest.ts";
import { projectsFolder } from "../claude/native/layout.ts";
import { SUBAGENT_FILE } from "../claude/native/transcripts.ts";
import type { NativeSources, SourceFile } from "./sources.ts";

/** What the index knows of a file, as far as it matters here. */
export interface IndexedFile {
  path: string;
  kind: string;
  session_id: string | null;
  subagent_id: string | null;
}

/** `originals`: the native files that were found. */
export function listArchive(
  native: NativeSources,
  originals: readonly SourceFile[],
  indexed: Iterable<IndexedFile>,
): SourceFile[] {
  const { archive, claudeHome } = native;
  if (archive === undefined) return [];
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
      // A subagent's file that has lost its session is not listed, so it does not count as there.
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
  const path = join(folder, part.file);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) return undefined;
  const owner = owners?.get(sessionId);
  const { sizeBytes, storedBytes, modifiedAt } = part;
  return {
    path,
    name: part.file,
    kind: "native",
    sessionId,
    ...(subagentId === undefined ? {} : { subagentId }),
    ...(owner === undefined ? {} : { owner }),
    inode: stats.ino,
    size: stats.size,
    modifiedAt: stats.mtimeMs,
    copyOf: { sizeBytes, modifiedAt, storedBytes, isExact: !redacted },
  };
}

/** Where the index has read a transcript outside of the archive. */
function indexedOriginals(indexed: Iterable<IndexedFile>): Map<string, string[]> {
  const originals = new Map<string, string[]>();
  for (const row of indexed) {
    if (row.kind !== "native" || isArchived(row.path)) continue;
    const key = transcriptOfRow(row);
    originals.set(key, [...(originals.get(key) ?? []), row.path]);
  }
  return originals;
}

/** Whether a file is one of the archive's, by its name. */
export function isArchived(path: string): boolean {
  return partOwner(basename(path)) !== undefined;
}

/** One session's transcript, or one of its subagents', wherever it lies. */
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

/**
 * Which files there are to be indexed. A file counts by its name and by lying in its folder itself: what
 * is reached through a symbolic link may belong to another agent.
 */
import { lstatSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { errorMessage } from "../base/errors.ts";
import { listFolder, projectsFolder } from "../claude/native/layout.ts";
import { type NativeTranscript, listProjectTranscripts, listSubagents } from "../claude/native/transcripts.ts";
import { sessionIdOfTranscript } from "../transcript/paths.ts";
import { type IndexedFile, listArchive } from "./archive-sources.ts";
import type { NativeSources, SearchSources, SourceFile, SourceKind } from "./sources.ts";

export interface Listing {
  files: SourceFile[];
  /** What was looked at: a file below one of these that is not among `files` is gone. */
  covered: { kind: SourceKind; folder: string }[];
  failed: { path: string; reason: string }[];
}

const MEMORY_FILES: ReadonlySet<string> = new Set(["AGENTS.md", "MEMORY.md"]);
const MEMORY_FOLDER = "memory";

/** `indexed`: what the index has of earlier listings. */
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

/** A folder that cannot be listed is reported, and then nothing in it counts as gone. */
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
  // A project folder that is gone altogether is only noticed when all of them were listed.
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

/** A session comes before its subagents: it tells whose they are. */
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
  { sessionId, path }: NativeTranscript,
  owners: ReadonlyMap<string, string> | undefined,
): SourceFile | undefined {
  const owner = owners?.get(sessionId);
  return lookAt(path, {
    name: basename(path),
    kind: "native",
    sessionId,
    ...(owner === undefined ? {} : { owner }),
  });
}

function lookAt(
  path: string,
  known: Pick<SourceFile, "name" | "kind" | "owner" | "sessionId">,
): SourceFile | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) return undefined;
  return { path, ...known, inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
}

/** Whether `path` is `folder` or lies below it. */
export function isBelow(path: string, folder: string): boolean {
  if (path === folder || dirname(folder) === folder) return true;
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

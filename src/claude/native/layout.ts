/**
 * Where Claude Code keeps its files, and which transcripts there are. Holdfast only reads them, except for the hooks
 * that `hooks/claude-code/install.ts` adds to the settings on request. It opens only the files named here, because
 * others may hold credentials, and it follows no symbolic link to a file.
 */
import { type Dirent, type Stats, closeSync, constants, fstatSync, openSync } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileError, systemErrorCode } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { Environment } from "../../config/layout.ts";

/** `$CLAUDE_CONFIG_DIR`, else `~/.claude`. */
export function resolveClaudeHome(env: Environment = process.env): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured === undefined || configured === "" ? join(homedir(), ".claude") : resolve(configured);
}

export function projectsFolder(claudeHome: string): string {
  return join(claudeHome, "projects");
}

/** Holds one file per running process, and files that Holdfast must not open. */
export function runningFolder(claudeHome: string): string {
  return join(claudeHome, "sessions");
}

/** May hold secrets. Holdfast reads only the number of days after which transcripts are deleted. */
export function settingsFile(claudeHome: string): string {
  return join(claudeHome, "settings.json");
}

/** The folder of the sessions that were started in `path`. */
export async function findProjectFolder(claudeHome: string, path: string): Promise<string> {
  const real = await realpath(path).catch(() => resolve(path));
  return join(projectsFolder(claudeHome), projectFolderName(real));
}

const MAX_FOLDER_NAME = 200;

/** Different paths can have the same folder name, so a name is never turned back into a path. */
export function projectFolderName(realPath: string): string {
  const path = realPath.normalize("NFC");
  const name = path.replace(/[^A-Za-z0-9]/g, "-");
  return name.length <= MAX_FOLDER_NAME ? name : `${name.slice(0, MAX_FOLDER_NAME)}-${pathHash(path)}`;
}

/** The same hash as in Claude Code: over UTF-16 units, cut to 32 bits after each. */
function pathHash(path: string): string {
  let hash = 0;
  for (let index = 0; index < path.length; index += 1) hash = (Math.imul(hash, 31) + path.charCodeAt(index)) | 0;
  return Math.abs(hash).toString(36);
}

export interface NativeTranscript {
  sessionId: string;
  path: string;
  /** The project folder that contains it. */
  folder: string;
}

export interface SubagentTranscript {
  agentId: string;
  path: string;
  agentType?: string | undefined;
  description?: string | undefined;
  toolUseId?: string | undefined;
  spawnDepth?: number | undefined;
}

export const SESSION_FILE = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/i;
/** The folder for other files of a session, next to its transcript. */
export const SESSION_FOLDER = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const SUBAGENT_FILE = /^agent-(.+)\.jsonl$/;

/** Every session of every project, folder by folder. */
export async function* listTranscripts(claudeHome: string): AsyncGenerator<NativeTranscript> {
  const projects = projectsFolder(claudeHome);
  for (const entry of await listFolder(projects)) {
    if (entry.isDirectory() || entry.isSymbolicLink()) yield* await listProjectTranscripts(join(projects, entry.name));
  }
}

export async function listProjectTranscripts(folder: string): Promise<NativeTranscript[]> {
  const transcripts: NativeTranscript[] = [];
  for (const entry of await listFolder(folder)) {
    const sessionId = entry.isFile() ? SESSION_FILE.exec(entry.name)?.[1] : undefined;
    if (sessionId !== undefined) transcripts.push({ sessionId, path: join(folder, entry.name), folder });
  }
  return transcripts;
}

/** Sorted by id, each with the notes in Claude Code's `.meta.json` file. */
export async function listSubagents(transcript: string): Promise<SubagentTranscript[]> {
  const folder = join(dirname(transcript), basename(transcript, ".jsonl"), "subagents");
  const subagents: SubagentTranscript[] = [];
  for (const entry of await listFolder(folder)) {
    const agentId = entry.isFile() ? SUBAGENT_FILE.exec(entry.name)?.[1] : undefined;
    if (agentId === undefined) continue;
    const notes = await readNotes(join(folder, `agent-${agentId}.meta.json`));
    subagents.push({ agentId, path: join(folder, entry.name), ...notes });
  }
  return subagents.sort((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

const MAX_META_BYTES = 64 * 1024;

async function readNotes(path: string): Promise<Omit<SubagentTranscript, "agentId" | "path">> {
  const notes = await readSmallJson(path, MAX_META_BYTES);
  if (!isRecord(notes)) return {};
  const { agentType, description, toolUseId, spawnDepth } = notes;
  return {
    agentType: typeof agentType === "string" ? agentType : undefined,
    description: typeof description === "string" ? description : undefined,
    toolUseId: typeof toolUseId === "string" ? toolUseId : undefined,
    spawnDepth: typeof spawnDepth === "number" ? spawnDepth : undefined,
  };
}

/** Undefined when the file is missing, malformed or larger than `maxBytes`. */
export async function readSmallJson(path: string, maxBytes: number): Promise<unknown> {
  await using handle = await openNativeFile(path);
  if (handle === undefined || (await handle.stat()).size > maxBytes) return undefined;
  return parseJson(await handle.readFile("utf8"));
}

/** Empty when there is no such folder. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw fileError(error, "list", folder);
  }
}

/** Undefined when there is no regular file with this name. */
export async function openNativeFile(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, READ_ONLY);
  } catch (error) {
    if (isAbsent(error) || isNotFile(error)) return undefined;
    throw fileError(error, "read", path);
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

interface OpenFile extends Disposable {
  descriptor: number;
  stats: Stats;
}

/** The same for worker threads. */
export function openNativeFileSync(path: string): OpenFile | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_ONLY);
  } catch (error) {
    if (isAbsent(error) || isNotFile(error)) return undefined;
    throw fileError(error, "read", path);
  }
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return { descriptor, stats, [Symbol.dispose]: () => closeSync(descriptor) };
  closeSync(descriptor);
  return undefined;
}

/** Without O_NONBLOCK, opening a named pipe would wait for a writer. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function isNotFile(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === "ELOOP" || code === "ENXIO";
}

function isAbsent(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

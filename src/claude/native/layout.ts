/**
 * Where Claude Code keeps its files, which transcripts there are, and which sessions run. Holdfast only reads them, except for the hooks
 * that `hooks/claude-code/install.ts` adds to the settings on request. It opens only the files named here, because
 * others may hold credentials, and it follows no symbolic link to a file.
 */
import { type Dirent, type Stats, closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileError, systemErrorCode } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { Environment } from "../../config/layout.ts";
import { processStartTime, processState } from "../../base/processes.ts";

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
async function readSmallJson(path: string, maxBytes: number): Promise<unknown> {
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

export interface RunningSession {
  pid: number;
  sessionId: string;
  cwd?: string | undefined;
  /** When the process started this session, in ms. */
  startedAt?: number | undefined;
  version?: string | undefined;
  kind?: string | undefined;
  entrypoint?: string | undefined;
  name?: string | undefined;
  /** `busy`, `idle`, `waiting`, or a status of a newer version. */
  status?: string | undefined;
  waitingFor?: string | undefined;
}

const PROCESS_FILE = /^(\d+)\.json$/;
const MAX_PROCESS_FILE_BYTES = 256 * 1024;
/** Error of a start time that is computed from the uptime. */
const START_TOLERANCE_MS = 5000;

/**
 * Sorted by pid. Claude Code writes one file per process and does not remove it when it is killed, so a file counts only
 * while its pid belongs to the process that wrote it. Only files named by a pid are opened: the same folder also holds a
 * file with a token.
 */
export async function readRunningSessions(claudeHome: string): Promise<RunningSession[]> {
  const folder = runningFolder(claudeHome);
  const running: RunningSession[] = [];
  for (const entry of await listFolder(folder)) {
    const pid = Number(entry.isFile() ? PROCESS_FILE.exec(entry.name)?.[1] : undefined);
    if (!Number.isSafeInteger(pid)) continue;
    const record = await readSmallJson(join(folder, entry.name), MAX_PROCESS_FILE_BYTES);
    if (!isRecord(record) || record["pid"] !== pid || typeof record["sessionId"] !== "string") continue;
    if (!isSameProcess(pid, record["procStart"], record["startedAt"])) continue;
    running.push(toRunningSession(pid, record["sessionId"], record));
  }
  return running.sort((a, b) => a.pid - b.pid);
}

function isSameProcess(pid: number, procStart: unknown, startedAt: unknown): boolean {
  if (processState({ pid, startedAt: "unknown", host: hostname() }) !== "alive") return false;
  const ticks = process.platform === "linux" ? startTicks(pid) : undefined;
  if (ticks !== undefined && (typeof procStart === "string" || typeof procStart === "number")) {
    return String(procStart) === ticks;
  }
  // Without comparable start times: the process must be older than the file.
  const began = processStartTime(pid);
  return began === undefined || typeof startedAt !== "number" || began <= startedAt + START_TOLERANCE_MS;
}

/** Field 22 of the stat file. The second field is a name in parentheses, which may contain spaces and parentheses. */
function startTicks(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

const TEXT_FIELDS = ["cwd", "version", "kind", "entrypoint", "name", "status", "waitingFor"] as const;

function toRunningSession(pid: number, sessionId: string, record: Record<string, unknown>): RunningSession {
  const session: RunningSession = { pid, sessionId };
  for (const field of TEXT_FIELDS) {
    const value = record[field];
    if (typeof value === "string") session[field] = value;
  }
  if (typeof record["startedAt"] === "number") session.startedAt = record["startedAt"];
  return session;
}

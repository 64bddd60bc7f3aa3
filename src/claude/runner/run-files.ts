/**
 * The files in the runner's private folder: locks, sockets, the files of each run, and one record per
 * run. `cc kill` and `cc send` find the process of a session through these records.
 *
 * - No outside text becomes part of a file name: ids must be UUIDs, repo and label are hashed.
 * - The record of a dead process is ignored and removed by the next reader.
 */
import { mkdtemp, rmdir, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  readFileIfPresent,
  readFolderIfPresent,
  sweepFolder,
  writeFileDurable,
} from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { type ProcessIdentity, currentProcess, processState } from "../../base/processes.ts";
import type { Lane, LiveSession, McpServerCommand } from "./runner-contract.ts";

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isNativeSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

export function checkSessionId(sessionId: string): string {
  if (isNativeSessionId(sessionId)) return sessionId.toLowerCase();
  throw new HoldfastError("usage", "session-id-invalid", "This is not a Claude Code session id.", {
    hint: "Session ids are UUIDs; `holdfast cc list` shows them.",
    data: { sessionId: sessionId.slice(0, 100) },
  });
}

export function sessionLockFile(locksFolder: string, sessionId: string): string {
  return join(locksFolder, `session-${checkSessionId(sessionId)}.lock`);
}

export function laneLockFile(locksFolder: string, { worktree, label }: Lane): string {
  // No path contains NUL, so a label cannot collide with a path.
  const text = label === undefined ? worktree : `${worktree}\0${label}`;
  const hash = nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 32);
  return join(locksFolder, `repo-${hash}.lock`);
}

/** `run` is the run record. */
function runFile(folder: string, runId: string, kind: "run" | "mcp" | "prompt"): string {
  return join(folder, `${kind}-${checkSessionId(runId)}.${kind === "prompt" ? "txt" : "json"}`);
}

/** The server's name in Claude Code: its tools are `mcp__holdfast__<tool>`. */
const MCP_SERVER_NAME = "holdfast";

export function mcpToolNames(tools: readonly string[]): string[] {
  return tools.map((tool) => `mcp__${MCP_SERVER_NAME}__${tool}`);
}

/** Tells Claude Code how to start Holdfast's MCP server. Returns the path. */
export async function writeMcpConfig(
  folder: string,
  runId: string,
  { command, args, env }: McpServerCommand,
): Promise<string> {
  // Without `alwaysLoad` a slow server misses the first turn, and newer versions hide its tools.
  const entry = { type: "stdio", command, args, env, alwaysLoad: true };
  const text = JSON.stringify({ mcpServers: { [MCP_SERVER_NAME]: entry } });
  return await writeRunFile(folder, runId, "mcp", text);
}

export async function writeRunFile(
  folder: string,
  runId: string,
  kind: "mcp" | "prompt",
  text: string,
): Promise<string> {
  const path = runFile(folder, runId, kind);
  await ensurePrivateFolder(folder);
  try {
    await writeFile(path, text, { mode: PRIVATE_FILE, flag: "wx" });
  } catch (error) {
    throw fileError(error, "write", path);
  }
  return path;
}

export async function removeRunFiles(folder: string, runId: string): Promise<void> {
  for (const kind of ["mcp", "prompt"] as const) await removeFile(runFile(folder, runId, kind));
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/** Most systems limit a socket path to just over 100 bytes. */
const MAX_SOCKET_PATH_BYTES = 100;
const SOCKET_PREFIX = "host-";
const FALLBACK_SOCKET = "holdfast-host.sock";

/** The folder is private (0700), so other users cannot even see the name. */
export async function newSocketPath(folder: string): Promise<string> {
  await ensurePrivateFolder(folder);
  const path = join(folder, `${SOCKET_PREFIX}${nodeCrypto().randomBytes(6).toString("hex")}.sock`);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return path;
  return join(await mkdtemp(join(tmpdir(), "holdfast-")), FALLBACK_SOCKET);
}

/** Removes only paths that `newSocketPath` can return. */
export async function removeSocket(folder: string, path: string): Promise<void> {
  const isHere = dirname(path) === folder && basename(path).startsWith(SOCKET_PREFIX);
  const isFallback = basename(path) === FALLBACK_SOCKET && dirname(dirname(path)) === tmpdir();
  if (isHere || isFallback) await removeFile(path);
  if (isFallback) await rmdir(dirname(path)).catch(() => undefined);
}

export interface RunRecord extends Omit<LiveSession, "repoPath" | "hostPid" | "isLocal"> {
  schema: 1;
  worktree: string;
  /** The conversation that its MCP tools can see. */
  sessionKey?: string | undefined;
  host: ProcessIdentity;
  socket?: string | undefined;
}

export type RunRecordFile = Awaited<ReturnType<typeof createRunRecord>>;

type NewRun = Omit<RunRecord, "schema" | "startedAt" | "host"> & Partial<RunRecord>;

/** Updates the record of one run of this process. A removed record never comes back. */
export async function createRunRecord(locksFolder: string, run: NewRun) {
  let record: RunRecord = { schema: 1, startedAt: new Date().toISOString(), host: currentProcess(), ...run };
  let isRemoved = false;
  /** One write at a time, so an older state never replaces a newer one. */
  let writing = writeRun(locksFolder, record);
  await writing;
  return {
    current: (): RunRecord => record,
    update: async (change: Partial<RunRecord>): Promise<void> => {
      record = { ...record, ...change };
      // The record only informs other processes: a failed write must not stop the run.
      writing = writing.then(async () => {
        if (!isRemoved) await writeRun(locksFolder, record).catch(() => undefined);
      });
      await writing;
    },
    remove: async (): Promise<void> => {
      isRemoved = true;
      await writing;
      await removeFile(runFile(locksFolder, record.runId, "run"));
    },
  };
}

async function writeRun(locksFolder: string, record: RunRecord): Promise<void> {
  await ensurePrivateFolder(locksFolder);
  await writeFileDurable(runFile(locksFolder, record.runId, "run"), JSON.stringify(record));
}

/** The runs of living processes, oldest first. */
export async function readRuns(locksFolder: string): Promise<RunRecord[]> {
  // A process may have died while it wrote a record.
  await sweepFolder(locksFolder);
  const files = await readFolderIfPresent(locksFolder);
  const records = await Promise.all(files.map(async ({ name }) => await readRun(locksFolder, name)));
  const living: RunRecord[] = [];
  for (const record of records) {
    if (record === undefined) continue;
    if (processState(record.host) === "dead") await discard(locksFolder, record);
    else living.push(record);
  }
  return living.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}

const RUN_RECORD_NAME = /^run-[0-9a-f-]{36}\.json$/;

async function readRun(locksFolder: string, name: string): Promise<RunRecord | undefined> {
  if (!RUN_RECORD_NAME.test(name)) return undefined;
  const content = await readFileIfPresent(join(locksFolder, name));
  const value = content === undefined ? undefined : parseJson(content.toString("utf8"));
  return isRunRecord(value) && `run-${value.runId}.json` === name ? value : undefined;
}

function isRunRecord(value: unknown): value is RunRecord {
  if (!isRecord(value) || value["schema"] !== 1 || !isRecord(value["host"])) return false;
  const texts = ["runId", "agentId", "worktree", "task", "state", "startedAt"];
  return texts.every((name) => typeof value[name] === "string") && typeof value["host"]["pid"] === "number";
}

async function discard(locksFolder: string, { runId, socket }: RunRecord): Promise<void> {
  await removeRunFiles(locksFolder, runId);
  await removeFile(runFile(locksFolder, runId, "run"));
  if (socket !== undefined) await removeSocket(locksFolder, socket);
}

export function isInLane(record: RunRecord, lane: Lane): boolean {
  return record.worktree === lane.worktree && record.label === lane.label;
}

export function toLiveSession(record: RunRecord): LiveSession {
  const { schema: _schema, sessionKey: _key, socket: _socket, worktree, host, ...shown } = record;
  const self = currentProcess();
  const isLocal = host.pid === self.pid && host.startedAt === self.startedAt;
  return { ...shown, repoPath: worktree, hostPid: host.pid, isLocal };
}

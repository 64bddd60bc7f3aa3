/**
 * The runs of every Holdfast process of this home, one small file each, so that `cc kill` and `cc send`
 * in another process find the one that holds a session, and whoever waits learns for whom. A file
 * whose process has ended counts for nothing and is removed by the next reader.
 */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  ensurePrivateFolder,
  readFileIfPresent,
  readFolderIfPresent,
  temporaryNameOwner,
  writeFileDurable,
} from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { type ProcessIdentity, currentProcess, processState } from "../../base/processes.ts";
import { removeSocket } from "./control-socket.ts";
import { isRunRecordName, runRecordFile } from "./lease-files.ts";
import { removeRunFiles } from "./run-files.ts";
import type { Lane, LiveSession } from "./runner-contract.ts";

export interface RunRecord {
  schema: 1;
  runId: string;
  sessionId?: string;
  agentId: string;
  worktree: string;
  label?: string;
  /** The conversation that its MCP tools know. */
  sessionKey?: string;
  task: string;
  persistent: boolean;
  state: LiveSession["state"];
  startedAt: string;
  host: ProcessIdentity;
  /** Of `claude`. */
  pid?: number;
  /** Where the process that runs it listens. */
  socket?: string;
}

export async function writeRun(locksFolder: string, record: RunRecord): Promise<void> {
  await ensurePrivateFolder(locksFolder);
  await writeFileDurable(runRecordFile(locksFolder, record.runId), JSON.stringify(record));
}

export async function removeRun(locksFolder: string, runId: string): Promise<void> {
  await unlink(runRecordFile(locksFolder, runId)).catch(() => undefined);
}

/** Those whose process lives, oldest first. */
export async function readRuns(locksFolder: string): Promise<RunRecord[]> {
  const names = (await readFolderIfPresent(locksFolder)).map((entry) => entry.name);
  await removeHalfWritten(locksFolder, names);
  const records = await Promise.all(
    names.filter(isRunRecordName).map(async (name) => await readRun(locksFolder, name)),
  );
  const living: RunRecord[] = [];
  for (const record of records) {
    if (record === undefined) continue;
    if (processState(record.host) === "dead") await discard(locksFolder, record);
    else living.push(record);
  }
  return living.sort((a, b) => a.startedAt.localeCompare(b.startedAt));
}

/** Of processes that died while they wrote a record. */
async function removeHalfWritten(locksFolder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const pid = name.startsWith("run-") ? temporaryNameOwner(name) : undefined;
    if (pid === undefined || processState({ ...currentProcess(), pid, startedAt: "unknown" }) !== "dead") continue;
    await unlink(join(locksFolder, name)).catch(() => undefined);
  }
}

async function readRun(locksFolder: string, name: string): Promise<RunRecord | undefined> {
  const content = await readFileIfPresent(join(locksFolder, name));
  if (content === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    return isRunRecord(value) && `run-${value.runId}.json` === name ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRunRecord(value: unknown): value is RunRecord {
  if (!isRecord(value) || value["schema"] !== 1 || !isRecord(value["host"])) return false;
  const texts = ["runId", "agentId", "worktree", "task", "state", "startedAt"];
  return texts.every((name) => typeof value[name] === "string") && typeof value["host"]["pid"] === "number";
}

async function discard(locksFolder: string, record: RunRecord): Promise<void> {
  await removeRunFiles(locksFolder, record.runId);
  await removeRun(locksFolder, record.runId);
  if (record.socket !== undefined) await removeSocket(locksFolder, record.socket);
}

export function isInLane(record: RunRecord, lane: Lane): boolean {
  return record.worktree === lane.worktree && record.label === lane.label;
}

export function toLiveSession(record: RunRecord): LiveSession {
  return {
    runId: record.runId,
    ...(record.sessionId === undefined ? {} : { sessionId: record.sessionId }),
    agentId: record.agentId,
    repoPath: record.worktree,
    ...(record.label === undefined ? {} : { label: record.label }),
    task: record.task,
    persistent: record.persistent,
    state: record.state,
    startedAt: record.startedAt,
    hostPid: record.host.pid,
    ...(record.pid === undefined ? {} : { pid: record.pid }),
    isLocal: record.host.pid === currentProcess().pid && record.host.startedAt === currentProcess().startedAt,
  };
}

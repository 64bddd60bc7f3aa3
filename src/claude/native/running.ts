/**
 * Sessions of running Claude Code processes. Claude Code writes one file per process and does not remove it when it is
 * killed, so a file counts only while its pid belongs to the process that wrote it. Only files named by a pid are
 * opened: the same folder also holds a file with a token.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../base/json-record.ts";
import { processStartTime, processState } from "../../base/processes.ts";
import { listFolder, readSmallJson, runningFolder } from "./layout.ts";

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

/** Sorted by pid. Malformed files are skipped. */
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

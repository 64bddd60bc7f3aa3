/**
 * Which sessions a living process has. Claude Code writes one file per process and leaves it behind
 * when it is killed, so a file counts only while its pid belongs to the process that wrote it.
 *
 * Only names made of digits are opened: the same folder also holds a file with a token.
 */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRecord } from "../../base/json-record.ts";
import { processStartTime, processState } from "../../base/processes.ts";
import { listFolder, runningFolder } from "./layout.ts";
import { readSmallJson } from "./transcripts.ts";

export interface RunningSession {
  pid: number;
  sessionId: string;
  cwd?: string;
  /** When the process started with this session, in ms. */
  startedAt?: number;
  version?: string;
  kind?: string;
  entrypoint?: string;
  name?: string;
  /** `busy`, `idle`, `waiting`, or what a newer version says. */
  status?: string;
  waitingFor?: string;
}

const PROCESS_FILE = /^(\d+)\.json$/;
const MAX_PROCESS_FILE_BYTES = 256 * 1024;
/** How far a start time computed from the uptime may be off. */
const START_TOLERANCE_MS = 5000;

/** Sessions of living processes only, by pid. A file that is half written or malformed is passed over. */
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
  // Where the start cannot be compared directly: the process must be older than what it wrote.
  const began = processStartTime(pid);
  return began === undefined || typeof startedAt !== "number" || began <= startedAt + START_TOLERANCE_MS;
}

/** Field 22 of the stat file. The second field is a name in parentheses that may contain both. */
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

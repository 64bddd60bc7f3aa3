/** Programs and processes. Pids are reused, so a process is identified by pid, start time and host together. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { nodeChildProcess } from "./builtin.ts";
import { systemErrorCode } from "./errors.ts";

export interface ProcessIdentity {
  pid: number;
  /** An opaque token of the start time. Differs between two processes with the same pid. */
  startedAt: string;
  host: string;
}

/** The token of a process that has ended but is still listed. */
const ENDED = "ended";

let own: ProcessIdentity | undefined;

export function currentProcess(): ProcessIdentity {
  own ??= { pid: process.pid, startedAt: startToken(process.pid) ?? "unknown", host: hostname() };
  return own;
}

/** `unknown` for a process on another host. */
export function processState(identity: ProcessIdentity): "alive" | "dead" | "unknown" {
  if (identity.host !== hostname()) return "unknown";
  if (!isRunning(identity.pid)) return "dead";
  const token = startToken(identity.pid);
  if (token === undefined) return isRunning(identity.pid) ? "alive" : "dead";
  if (token === ENDED) return "dead";
  return identity.startedAt === "unknown" || token === identity.startedAt ? "alive" : "dead";
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === "EPERM";
  }
}

/** How many files this process may have open. Infinity if there is no limit, or none is known. */
export function openFileLimit(): number {
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  // It would look up the names of all connections.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  report.excludeNetwork = excludeNetwork;
  const limit = userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : Number.POSITIVE_INFINITY;
}

/** The start time of a process (ms, accurate to about a second). Undefined if unknown. */
export function processStartTime(pid: number): number | undefined {
  const token = startToken(pid);
  if (token === undefined || token === ENDED) return undefined;
  if (process.platform !== "linux") return Date.parse(token) || undefined;
  const ticksSinceBoot = Number(token.slice(token.indexOf(":") + 1));
  return Date.now() - uptime() * 1000 + (ticksSinceBoot * 1000) / LINUX_TICKS_PER_SECOND;
}

/** Start times and file times are accurate to about a second. */
const START_TIME_TOLERANCE_MS = 2000;

/** True if the process with this pid has started since, so that another process had the pid at that time. */
export function hasStartedSince(pid: number, at: number): boolean {
  const startedAt = processStartTime(pid);
  return startedAt !== undefined && startedAt > at + START_TIME_TOLERANCE_MS;
}

/** USER_HZ, which Linux fixes at 100 for user space. */
const LINUX_TICKS_PER_SECOND = 100;

function startToken(pid: number): string | undefined {
  return process.platform === "linux" ? linuxStartToken(pid) : portableStartToken(pid);
}

function linuxStartToken(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name is in parentheses and may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended; its parent has not collected it yet.
    if (fields[0] === "Z" || fields[0] === "X") return ENDED;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8);
    return `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function portableStartToken(pid: number): string | undefined {
  try {
    return (
      nodeChildProcess()
        .execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" })
        .trim() || undefined
    );
  } catch {
    return undefined;
  }
}

/**
 * `program` is a path, or a name on the PATH. Relative folders there do not count: the folder that a command looks at
 * could bring its own program.
 */
export function findProgram(program: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (program.includes("/")) return [resolve(program)].find(isProgram);
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

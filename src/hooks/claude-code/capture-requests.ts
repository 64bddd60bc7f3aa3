/**
 * Hands captures over to a separate process, because Claude Code waits for the hook. A request is one small file per
 * session. Requests that arrive before it is taken are merged, and only the first starts a process. The worker holds
 * the session's lock, so captures never overlap, and checks for new requests before it ends.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { nodeChildProcess } from "../../base/builtin.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, temporaryPath } from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { programFile } from "../../base/package.ts";
import type { Environment } from "../../config/layout.ts";
import type { NativeTarget } from "../../handoff/native-sessions.ts";
import { CAPTURE_REASONS, type CaptureReason } from "../../handoff/state.ts";

export interface CaptureRequest {
  captures: RequestedCapture[];
  /** When the capture is due, in ms. Default: now. */
  notBefore?: number | undefined;
  told?: ToldState | undefined;
}

/** The hand-off that a session received at its start. */
export interface ToldState {
  /** The session of that state, and its number of messages. */
  sessionKey: string;
  lastMessageIndex: number;
  sessionId: string;
}

interface RequestedCapture extends Omit<NativeTarget, "kind"> {
  reason: CaptureReason;
}

interface RequestOptions {
  folder: string;
  env: Environment;
  /** Minimum time since the session's last capture. Default: 0. */
  betweenMs?: number | undefined;
}

/** The hidden command that runs a request, see `cli/main.ts`. */
const HOOK_WORK = "__hook-work";
/** A process that has not taken its request by then has died. */
const LATE_MS = 15_000;
const LOW_PRIORITY = 10;

export function requestCapture(sessionId: string, request: CaptureRequest, options: RequestOptions): void {
  const { folder, betweenMs = 0 } = options;
  const path = requestFile(folder, sessionId);
  const waiting = parseRequest(textOf(path));
  const isUnderWay =
    waiting !== undefined && ageOf(path) < LATE_MS + Math.max(0, (waiting.notBefore ?? 0) - Date.now());
  const notBefore = Date.now() + betweenMs - ageOf(doneFile(folder, sessionId));
  const canWait = notBefore > Date.now();
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  // A random name would load `node:crypto`, which takes longer than everything else here.
  const temporary = temporaryPath(path, Date.now());
  const both = merged(isUnderWay ? waiting : undefined, { ...request, ...(canWait ? { notBefore } : {}) });
  writeFileSync(temporary, JSON.stringify(both), { mode: PRIVATE_FILE, flag: "wx" });
  renameSync(temporary, path);
  const isHurried = !canWait && (waiting?.notBefore ?? 0) > Date.now();
  if (!isUnderWay || isHurried) startWork(sessionId, options);
}

export function requestFile(folder: string, sessionId: string): string {
  return join(folder, `${sessionId}.json`);
}

/** Its modification time is the time of the last capture. */
export function doneFile(folder: string, sessionId: string): string {
  return join(folder, `${sessionId}.done`);
}

export function parseRequest(text: string | undefined): CaptureRequest | undefined {
  const value = parseJson(text ?? "");
  if (!isRecord(value) || !Array.isArray(value["captures"])) return undefined;
  const { told, notBefore } = value;
  return {
    captures: value["captures"].filter(isCapture),
    ...(typeof notBefore === "number" ? { notBefore } : {}),
    ...(isTold(told) ? { told } : {}),
  };
}

function isCapture(value: unknown): value is RequestedCapture {
  if (!isRecord(value)) return false;
  const { sessionId, transcriptPath, cwd, reason } = value;
  const isText = [sessionId, transcriptPath, cwd].every((text) => typeof text === "string");
  return isText && CAPTURE_REASONS.some((known) => known === reason);
}

function isTold(value: unknown): value is ToldState {
  if (!isRecord(value) || typeof value["lastMessageIndex"] !== "number") return false;
  return typeof value["sessionKey"] === "string" && typeof value["sessionId"] === "string";
}

/** The later reason wins, but `ended` stays. */
function merged(before: CaptureRequest | undefined, request: CaptureRequest): CaptureRequest {
  const captures = new Map((before?.captures ?? []).map((one) => [one.sessionId, one]));
  for (const one of request.captures) {
    if (captures.get(one.sessionId)?.reason !== "ended") captures.set(one.sessionId, one);
  }
  const told = request.told ?? before?.told;
  const isDue = request.notBefore === undefined || (before !== undefined && before.notBefore === undefined);
  return {
    captures: Array.from(captures.values()),
    ...(isDue ? {} : { notBefore: request.notBefore }),
    told,
  };
}

/** Detached, so that it outlives Claude Code. */
function startWork(sessionId: string, { folder, env }: RequestOptions): void {
  const child = nodeChildProcess().spawn(process.execPath, [programFile(), HOOK_WORK, sessionId], {
    cwd: folder,
    env,
    detached: true,
    stdio: "ignore",
  });
  child.on("error", () => undefined);
  if (child.pid !== undefined) giveWay(child.pid);
  child.unref();
}

/** Gives priority to the person's own work and to the next hook. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, LOW_PRIORITY);
  } catch {
    // Not allowed everywhere.
  }
}

function ageOf(path: string): number {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // If the clock was set back, the file counts as old.
  return changed === undefined || changed > Date.now() + 1000 ? Number.POSITIVE_INFINITY : Date.now() - changed;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Captures that a hook leaves to a process of its own, as Claude Code waits for the hook. A request is a small file for
 * each session: several that come before it is taken are one, and a process is started only for the first. Whoever
 * takes it holds the session's lock, so one captures at a time; it looks again before it ends.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { nodeChildProcess } from "../../base/builtin.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, temporaryPath } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { programFile } from "../../base/package.ts";
import type { Environment } from "../../config/layout.ts";
import type { NativeTarget } from "../../handoff/native-sessions.ts";
import { CAPTURE_REASONS, type CaptureReason } from "../../handoff/state.ts";

export interface CaptureRequest {
  captures: RequestedCapture[];
  /** The instant (ms) until which it can wait. Left out: it is due. */
  notBefore?: number;
  told?: ToldState;
}

/** What a session was told as it started. */
export interface ToldState {
  /** Whose state it was, and how many messages that state knew. */
  sessionKey: string;
  lastMessageIndex: number;
  /** The session that was told. */
  sessionId: string;
}

export interface RequestedCapture extends Omit<NativeTarget, "kind"> {
  reason: CaptureReason;
}

export interface RequestOptions {
  /** Private. */
  folder: string;
  env: Environment;
  /** So many ms after this session was captured last, at the earliest. Left out: at once. */
  betweenMs?: number;
}

/** The hidden command that carries a request out, see `cli/main.ts`. */
const HOOK_WORK = "__hook-work";
/** A process that was started for a request and has not taken it by then will not come any more. */
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
  // A random one needs a part of Node that takes longer to load than all of this.
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

/** Its time says when the session was captured last. */
export function doneFile(folder: string, sessionId: string): string {
  return join(folder, `${sessionId}.done`);
}

export function parseRequest(text: string | undefined): CaptureRequest | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
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

/** A later reason says more; an end is not taken back. */
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
    ...(told === undefined ? {} : { told }),
  };
}

/** On its own: it goes on when Claude Code has ended, in a folder that is there, and nobody hears of it. */
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

/** Whoever works at this machine goes first, also the next hook. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, LOW_PRIORITY);
  } catch {
    // Not everywhere allowed.
  }
}

function ageOf(path: string): number {
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // A clock that was set back must not keep anything from being done.
  return changed === undefined || changed > Date.now() + 1000 ? Number.POSITIVE_INFINITY : Date.now() - changed;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

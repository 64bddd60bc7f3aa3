/**
 * Sends to, interrupts and ends sessions that are already open, in this process, in another Holdfast
 * process, or in a `claude` that a person started.
 */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError, systemErrorCode } from "../../base/errors.ts";
import { type SessionSelection, decision } from "../selection/selection.ts";
import type { ActiveRun, RunnerContext } from "./active-run.ts";
import { type ControlQuestion, askHost } from "./control.ts";
import { findWriters, laneOf, sessionInUse, sessionOfChat, toHolder } from "./leases.ts";
import { createEventRelay } from "./run-events.ts";
import { type RunRecord, isNativeSessionId, readRuns } from "./run-files.ts";
import type { ClaudeCodeResult, ReadRunning, RunnerEvent, RunnerParts } from "./runner-contract.ts";

export interface FollowUpOptions {
  /** Cancels the wait for the previous turn, or interrupts this one. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** The conversation that the message comes from. The session of a chat accepts only its own chat. */
  sessionKey?: string | undefined;
  /** Why it is sent to this session. Default: a follow-up. */
  selection?: SessionSelection | undefined;
  /** Works only for a session of this process. Optional. */
  onEvent?: ((event: RunnerEvent) => void | Promise<void>) | undefined;
}

/** Rejects with `session-not-live` when no Holdfast process has the session; then nothing was sent. */
export async function sendFollowUp(
  context: RunnerContext,
  sessionId: string,
  text: string,
  options: FollowUpOptions,
): Promise<ClaudeCodeResult> {
  const run = findRun(context, sessionId);
  if (run !== undefined) return await sendToRun(context.parts, run, text, options);
  const { socket, runId } = await findElsewhere(context, sessionId);
  return await askHost(socket, { op: "send", runId, text, sessionKey: options.sessionKey }, { cancel: options.signal });
}

export function findRun({ runs }: RunnerContext, sessionId: string): ActiveRun | undefined {
  return [...runs.values()].find((run) => run.sessionId() === sessionId.toLowerCase());
}

async function findElsewhere({ parts }: RunnerContext, sessionId: string): Promise<{ socket: string; runId: string }> {
  const records = await readRuns(parts.locksFolder);
  const record = records.find((one) => one.sessionId === sessionId.toLowerCase());
  if (record?.socket === undefined) throw notLive(sessionId);
  return { socket: record.socket, runId: record.runId };
}

async function sendToRun(
  parts: RunnerParts,
  run: ActiveRun,
  text: string,
  { onEvent, signal, timeoutMs, sessionKey, selection: given }: FollowUpOptions,
): Promise<ClaudeCodeResult> {
  if (run.sessionKey !== undefined && run.sessionKey !== sessionKey) {
    throw sessionOfChat(run.sessionId(), run.sessionKey);
  }
  if (!run.live().persistent) {
    throw new HoldfastError("conflict", "session-not-persistent", "This run takes no follow-ups.", {
      hint: "Wait for it and resume the session, or start it with --persistent.",
      data: { sessionId: run.sessionId() },
    });
  }
  const relay = createEventRelay(onEvent, parts.log);
  // A slash command must be at the very start; the marker then goes before the next message.
  const message = (): string =>
    !text.startsWith("/") && run.takeUnmarked() ? parts.markTask(run.agentId, text) : text;
  const selection = given ?? decision("continue", run.sessionId(), "A follow-up.");
  const request = { task: text, message, selection, relay, warnings: [], signal, timeoutMs };
  const { turn, result } = await run.runTask(request);
  const ended = { ...result, isLive: turn.canContinue };
  relay.emit({ type: "ended", result: ended });
  return ended;
}

/** Longer than all steps of ending a process together. */
const END_TIMEOUT_MS = 30_000;

/** False: nothing was running. */
export async function interruptRun(context: RunnerContext, sessionId: string): Promise<boolean> {
  const run = findRun(context, sessionId);
  if (run !== undefined) return (await run.process.interrupt()) !== "idle";
  const { socket, runId } = await findElsewhere(context, sessionId);
  return (await askHost(socket, { op: "interrupt", runId }, { timeoutMs: END_TIMEOUT_MS })).was === "busy";
}

export async function answerQuestion(
  context: RunnerContext,
  question: ControlQuestion,
  signal: AbortSignal,
): Promise<unknown> {
  const run = context.runs.get(question.runId);
  if (run === undefined) throw notLive(question.runId);
  if (question.op === "send") {
    const { text, sessionKey } = question;
    return await sendToRun(context.parts, run, text, { signal, sessionKey });
  }
  if (question.op === "interrupt") return { was: (await run.process.interrupt()) === "idle" ? "idle" : "busy" };
  await run.end();
  return { stopped: true };
}

export interface KillOptions {
  /** Also ends a `claude` that a person started. Default: false. */
  force?: boolean | undefined;
  /** How long each signal may take. Default: 5 s. */
  graceMs?: number | undefined;
}

export interface KilledSession {
  sessionId?: string | undefined;
  pid: number;
  /** `signal`: a process that a person started. */
  by: "holdfast" | "signal";
}

/** `target` is a session id, or a folder: then all runs of its worktree. */
export async function killSessions(
  context: RunnerContext,
  target: string,
  options: KillOptions,
): Promise<KilledSession[]> {
  const records = await findTargets(context.parts.locksFolder, target);
  const killed = await Promise.all(records.map(async (record) => await killRecorded(context, record, options)));
  if (killed.length > 0 || !isNativeSessionId(target)) return killed.flat();
  return await killPersonsClaude(context.parts.readRunning, target.toLowerCase(), options);
}

async function findTargets(locksFolder: string, target: string): Promise<RunRecord[]> {
  const records = await readRuns(locksFolder);
  if (isNativeSessionId(target)) return records.filter(({ sessionId }) => sessionId === target.toLowerCase());
  const { worktree } = await laneOf(target, undefined);
  return records.filter((record) => record.worktree === worktree);
}

async function killRecorded(context: RunnerContext, record: RunRecord, options: KillOptions): Promise<KilledSession[]> {
  const { sessionId, pid = record.host.pid } = record;
  try {
    await killRun(context, record);
  } catch (error) {
    // Its Holdfast process does not answer. With `force`, end Claude Code itself.
    if (options.force !== true || sessionId === undefined) throw error;
    return await killPersonsClaude(context.parts.readRunning, sessionId, options);
  }
  return [{ sessionId, pid, by: "holdfast" }];
}

async function killRun(context: RunnerContext, { runId, socket, host }: RunRecord): Promise<void> {
  const run = context.runs.get(runId);
  if (run !== undefined) await run.end();
  // Without a socket, a person works in the session through `cc attach`.
  else if (socket === undefined) throw sessionInUse({ kind: "holdfast", pid: host.pid });
  else await askHost(socket, { op: "kill", runId }, { timeoutMs: END_TIMEOUT_MS });
}

/**
 * Signals only processes in Claude Code's own list whose start time matches: a pid that was reused by another process
 * is never signalled.
 */
async function killPersonsClaude(
  read: ReadRunning,
  sessionId: string,
  { force = false, graceMs = 5000 }: KillOptions,
): Promise<KilledSession[]> {
  const writers = await findWriters(read, sessionId);
  const [first] = writers;
  if (first !== undefined && !force) throw sessionInUse(toHolder(first));
  for (const { pid } of writers) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      if (!(await isStillThere(read, sessionId, pid))) break;
      sendSignal(pid, signal);
      const deadline = performance.now() + graceMs;
      while (performance.now() < deadline && (await isStillThere(read, sessionId, pid))) {
        await systemClock.sleep(POLL_MS);
      }
    }
  }
  const left = new Set((await findWriters(read, sessionId)).map(({ pid }) => pid));
  return writers.filter(({ pid }) => !left.has(pid)).map(({ pid }) => ({ sessionId, pid, by: "signal" }));
}

async function isStillThere(read: ReadRunning, sessionId: string, pid: number): Promise<boolean> {
  return (await findWriters(read, sessionId)).some((writer) => writer.pid === pid);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemErrorCode(error) !== "ESRCH") throw error;
  }
}

const POLL_MS = 100;

function notLive(id: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-live", "No Holdfast process runs this session.", {
    hint: 'Resume it with `holdfast cc run --resume <id> "<task>"`; `holdfast cc list --running` shows what runs.',
    data: { id },
  });
}

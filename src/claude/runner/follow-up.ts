/**
 * Messages to sessions that are open already, in this process or in another one of this home: follow-ups,
 * interrupts, and what other processes ask of ours.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { ActiveRun } from "./active-run.ts";
import { decision } from "./choose-session.ts";
import { askHost } from "./control-client.ts";
import type { ControlQuestion } from "./control-protocol.ts";
import { createEventRelay } from "./event-relay.ts";
import { type RunRecord, readRuns } from "./live-runs.ts";
import { type RunnerContext, runTask } from "./run-once.ts";
import type { ClaudeCodeResult, RunnerEvent } from "./runner-contract.ts";
import { sessionInUse } from "./session-lease.ts";

export interface FollowUpOptions {
  /** Cancels the wait for the turn before, or interrupts the own one. */
  signal?: AbortSignal;
  timeoutMs?: number;
  /** Only of a session that this process holds. */
  onEvent?: (event: RunnerEvent) => void | Promise<void>;
}

/** Rejects with `session-not-live` when nothing was sent, because no process of ours has the session. */
export async function sendFollowUp(
  context: RunnerContext,
  sessionId: string,
  text: string,
  options: FollowUpOptions,
): Promise<ClaudeCodeResult> {
  const run = findRun(context, sessionId);
  if (run !== undefined) return await followUp(context, run, text, options);
  const { socket, runId } = await findElsewhere(context, sessionId);
  return await askHost(socket, { op: "send", runId, text }, { cancel: options.signal });
}

/** False: nothing was running. */
export async function interruptRun(context: RunnerContext, sessionId: string): Promise<boolean> {
  const run = findRun(context, sessionId);
  if (run !== undefined) return (await run.process.interrupt()) !== "idle";
  const { socket, runId } = await findElsewhere(context, sessionId);
  return (await askHost(socket, { op: "interrupt", runId }, { timeoutMs: END_TIMEOUT_MS })).was === "busy";
}

/** Ends a run, whichever process holds it. */
export async function killRun(context: RunnerContext, { runId, socket, host }: RunRecord): Promise<void> {
  const run = context.runs.get(runId);
  if (run !== undefined) await run.end();
  // A person has opened it through Holdfast, and sits before it.
  else if (socket === undefined) throw sessionInUse({ kind: "holdfast", pid: host.pid });
  else await askHost(socket, { op: "kill", runId }, { timeoutMs: END_TIMEOUT_MS });
}

/** Every step of ending a process has its own limit; together they take less than this. */
const END_TIMEOUT_MS = 30_000;

export function findRun({ runs }: RunnerContext, sessionId: string): ActiveRun | undefined {
  return [...runs.values()].find((run) => run.sessionId() === sessionId.toLowerCase());
}

/** What another process asks of a run of ours. */
export async function answerQuestion(
  context: RunnerContext,
  question: ControlQuestion,
  signal: AbortSignal,
): Promise<unknown> {
  const run = context.runs.get(question.runId);
  if (run === undefined) throw notLive(question.runId);
  if (question.op === "send") return await followUp(context, run, question.text, { signal });
  if (question.op === "interrupt") return { was: (await run.process.interrupt()) === "idle" ? "idle" : "busy" };
  await run.end();
  return { stopped: true };
}

async function followUp(
  context: RunnerContext,
  run: ActiveRun,
  text: string,
  { onEvent, signal, timeoutMs }: FollowUpOptions,
): Promise<ClaudeCodeResult> {
  const { parts } = context;
  if (!run.live().persistent) throw notPersistent(run.sessionId());
  const relay = createEventRelay(onEvent, (error) => parts.log.warn("A watcher of a run failed", { error }));
  // A command stands at the very beginning, or it is none; the mark then goes before what follows it.
  const message = (): string =>
    !text.startsWith("/") && run.takeUnmarked() ? parts.markTask(run.agentId, text) : text;
  const selection = decision("continue", run.sessionId(), "A follow-up.");
  const request = { task: text, message, selection, relay, warnings: [], signal, timeoutMs };
  const { turn, result } = await runTask(context, run, request);
  const ended = { ...result, isLive: turn.canContinue };
  relay.emit({ type: "ended", result: ended });
  return ended;
}

async function findElsewhere({ parts }: RunnerContext, sessionId: string): Promise<{ socket: string; runId: string }> {
  const records = await readRuns(parts.locksFolder);
  const record = records.find((one) => one.sessionId === sessionId.toLowerCase());
  if (record?.socket === undefined) throw notLive(sessionId);
  return { socket: record.socket, runId: record.runId };
}

function notLive(id: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-live", "No Holdfast process runs this session.", {
    hint: 'Resume it with `holdfast cc run --resume <id> "<task>"`; `holdfast cc list --running` shows what runs.',
    data: { id },
  });
}

function notPersistent(sessionId: string): HoldfastError {
  return new HoldfastError("conflict", "session-not-persistent", "This run takes no follow-ups.", {
    hint: "Wait for it and resume the session, or start it with --persistent.",
    data: { sessionId },
  });
}

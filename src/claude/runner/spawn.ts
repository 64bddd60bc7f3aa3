/**
 * One task for Claude Code, from the decision to the result: reserve, start, send, note. A resume whose
 * session is gone becomes a fresh session that is told what the old one knew, and everybody is told
 * that this happened. A process that dies in the middle of its work is never started again by itself:
 * what it did may have had effects.
 */
import { HoldfastError } from "../../base/errors.ts";
import { checkLabel } from "../registry/registry.ts";
import type { ActiveRun } from "./active-run.ts";
import { type EventRelay, createEventRelay } from "./event-relay.ts";
import { withHandOff } from "./hand-off.ts";
import type { ClaudeTurn } from "./process/claude-process.ts";
import { type Reservation, reserve } from "./reservation.ts";
import { type RunnerContext, runTask, startRun } from "./run-once.ts";
import type { ClaudeCodeResult, SpawnOptions } from "./runner-contract.ts";
import { cancelled, throwIfCancelled } from "./wait-line.ts";

type SpawnRequest = SpawnOptions & { signal: AbortSignal };

interface Spawn {
  context: RunnerContext;
  options: SpawnRequest;
  reservation: Reservation;
  relay: EventRelay;
  warnings: string[];
}

export async function spawnClaudeCode(
  context: RunnerContext,
  options: SpawnRequest,
  onArrived?: () => void,
): Promise<ClaudeCodeResult> {
  const { parts } = context;
  const relay = createEventRelay(options.onEvent, (error) => parts.log.warn("A watcher of a run failed", { error }));
  const reservation = await reserve({ options, parts, relay, signal: options.signal, onArrived });
  const spawn: Spawn = { context, options, reservation, relay, warnings: [] };
  relay.emit({ type: "selected", selection: reservation.selection });
  const isFresh = reservation.start.kind === "new";
  const message = isFresh ? parts.markTask(options.agentId, options.task) : options.task;
  const attempt = await runReserved(spawn, message);
  return attempt === "stale" ? await runInstead(spawn) : attempt;
}

/** `stale`: the session to resume is gone and nothing was done; the leases are still held then. */
async function runReserved(spawn: Spawn, message: string): Promise<ClaudeCodeResult | "stale"> {
  const { context, options, reservation, relay, warnings } = spawn;
  let run: ActiveRun;
  try {
    throwIfCancelled(options.signal);
    run = await startRun(context, options, reservation);
  } catch (error) {
    await reservation.release();
    throw error;
  }
  const how = reservation.start.kind === "new" ? "fresh" : reservation.start.kind;
  relay.emit({ type: "started", sessionId: run.sessionId(), pid: run.process.pid, how });
  const request = { task: options.task, message: () => message, selection: reservation.selection, relay, warnings };
  const { signal, timeoutMs } = options;
  const done = await runTask(context, run, { ...request, signal, timeoutMs }).catch(async (error: unknown) => {
    await run.finish();
    throw error;
  });
  return done.turn.outcome === "stale-resume" && how !== "fresh"
    ? await endStale(run)
    : await conclude(spawn, run, done);
}

async function endStale(run: ActiveRun): Promise<"stale"> {
  const { leasesKept } = await run.finish({ keepLeases: true });
  if (leasesKept) return "stale";
  // Somebody has ended the run in this very moment: nothing may start in its place.
  await run.reservation.release();
  throw cancelled();
}

/** A persistent session stays, everything else is given back. */
async function conclude(
  { context, options, relay }: Spawn,
  run: ActiveRun,
  { turn, result }: { turn: ClaudeTurn; result: ClaudeCodeResult },
): Promise<ClaudeCodeResult> {
  const isLive = options.persistent === true && turn.canContinue;
  const ended = { ...result, isLive };
  relay.emit({ type: "ended", result: ended });
  if (isLive) run.keep(context.parts.configOf(options.agentId).idleTimeoutMinutes * 60_000);
  else await run.finish();
  if (!isLive) await tellEnd(context, options, run.sessionId());
  return ended;
}

/** What people say to an agent is its own conversation: what that leaves is for them alone, not for the folder. */
async function tellEnd({ parts }: RunnerContext, options: SpawnOptions, sessionId: string): Promise<void> {
  if (options.sessionKey !== undefined) return;
  const { agentId, repoPath: cwd } = options;
  await parts.onEnded?.({ agentId, sessionId, cwd }).catch((error: unknown) => {
    parts.log.warn("What a session leaves for the next was not captured", { error, sessionId });
  });
}

/** The session is gone, nothing was done, and the leases are still ours. */
async function runInstead(spawn: Spawn): Promise<ClaudeCodeResult> {
  let fresh: Spawn;
  let message: string;
  try {
    const history = joined([await historyOf(spawn), await recalled(spawn)]);
    fresh = await toFresh(spawn, history !== undefined);
    message = handOffMessage(spawn, history);
  } catch (error) {
    await spawn.reservation.release();
    throw error;
  }
  const result = await runReserved(fresh, message);
  if (result === "stale") throw neverStarts();
  return result;
}

async function historyOf({ context, options, reservation }: Spawn): Promise<string | undefined> {
  if (options.handOff !== undefined) return options.handOff;
  const { parts } = context;
  const { sessionId } = reservation.start;
  return await parts.peekHistory(sessionId, reservation.lane.worktree).catch((error: unknown) => {
    parts.log.warn("What the lost session knew cannot be read", { error, sessionId });
    return undefined;
  });
}

async function recalled({ context, options, reservation }: Spawn): Promise<string | undefined> {
  return await options.recall?.().catch((error: unknown) => {
    const { sessionId } = reservation.start;
    context.parts.log.warn("What the lost conversation left cannot be told", { error, sessionId });
    return undefined;
  });
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 ? undefined : known.join("\n\n");
}

/** The same leases, another session. */
async function toFresh(spawn: Spawn, hasHistory: boolean): Promise<Spawn> {
  const { context, reservation, relay, warnings } = spawn;
  const { sessionId } = reservation.start;
  const text =
    `Session ${sessionId} could not be resumed: Claude Code no longer has it. The task runs in a fresh session, ` +
    (hasHistory ? "with what is left of the old conversation as context." : "and nothing is left of the old one.");
  warnings.push(text);
  context.parts.log.warn(text, { sessionId });
  relay.emit({ type: "fallback", sessionId, text });
  const writes = context.parts.ids.uuid();
  await reservation.add(writes);
  await reservation.drop(reservation.writes);
  const selection = { ...reservation.selection, action: "fresh" as const, reason: text };
  delete selection.sessionId;
  return { ...spawn, reservation: { ...reservation, selection, writes, start: { kind: "new", sessionId: writes } } };
}

function handOffMessage({ context, options, reservation }: Spawn, history: string | undefined): string {
  const { agentId, task } = options;
  const why = `The session ${reservation.start.sessionId} could not be resumed.`;
  return context.parts.markTask(agentId, history === undefined ? task : withHandOff(task, why, history));
}

/** Before anything is done. The agent's id is refused when it could break the mark, a label when no registry takes it. */
export function checkOptions({ parts }: RunnerContext, options: SpawnOptions): void {
  const { task, resume, fork, fresh, agentId, label } = options;
  parts.markTask(agentId, task);
  if (label !== undefined) checkLabel(label);
  if (task.trim() === "") {
    throw new HoldfastError("usage", "task-empty", "There is no task.", { hint: "Say what Claude Code shall do." });
  }
  if ([resume, fork, fresh === true ? "" : undefined].filter((one) => one !== undefined).length > 1) {
    throw new HoldfastError("usage", "session-choice-unclear", "Resume, fork and fresh exclude each other.", {
      hint: "Give one of them, or none and let Holdfast decide.",
    });
  }
}

function neverStarts(): HoldfastError {
  return new HoldfastError(
    "unavailable",
    "session-not-started",
    "Claude Code started neither the old session nor a new one.",
    {
      hint: "Try `claude` by hand in this folder: it says what is wrong.",
    },
  );
}

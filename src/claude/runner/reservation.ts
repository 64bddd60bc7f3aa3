/**
 * Everything a run must have before its process may start: the lane, a decision about the session, and
 * the session itself. Who waits for any of them decides again afterwards, because the world has changed:
 * the session that just ended may now be the best one to resume.
 */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { SessionSelection } from "../selection/selection.ts";
import { chooseSession, decision } from "./choose-session.ts";
import type { EventRelay } from "./event-relay.ts";
import type { HeldLock } from "./held-lock.ts";
import { checkSessionId } from "./lease-files.ts";
import { isInLane } from "./live-runs.ts";
import type { SessionStart } from "./process/claude-process.ts";
import { type Queue, describeHolder, lockedBy, queueFor, remaining } from "./queue.ts";
import type { Lane, SpawnOptions } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { findWriters, toHolder, waitForWriters } from "./second-writers.ts";
import { laneOf, leaseLane, leaseSession, sessionInUse } from "./session-lease.ts";
import { cancelled, waitedTooLong } from "./wait-line.ts";

export interface Reservation {
  lane: Lane;
  selection: SessionSelection;
  start: SessionStart & { sessionId: string };
  /** The id under which the run writes, as far as it is known before the process says so. */
  writes: string;
  /** Takes one more session, whose id nobody else can know yet. */
  add(sessionId: string): Promise<void>;
  /** Gives one session back. */
  drop(sessionId: string): Promise<void>;
  release(): Promise<void>;
}

export interface ReservationRequest {
  options: SpawnOptions;
  parts: RunnerParts;
  relay: EventRelay;
  signal: AbortSignal;
  /** Called when the run has its place in the line for the lane. */
  onArrived?: (() => void) | undefined;
}

interface Attempt extends Queue {
  options: SpawnOptions;
  parts: RunnerParts;
  lane: Lane;
  policy: "queue" | "fork" | "refuse";
}

type Plan = Pick<Reservation, "selection" | "start" | "writes"> & { lock: HeldLock };

const QUEUE_TIMEOUT_MS = 30 * 60_000;

export async function reserve(request: ReservationRequest): Promise<Reservation> {
  const { options, parts, relay, signal, onArrived } = request;
  const attempt: Attempt = {
    options,
    parts,
    relay,
    signal,
    locksFolder: parts.locksFolder,
    lane: await laneOf(options.repoPath, options.label?.trim()),
    policy: options.onRunning ?? (options.fork === undefined ? "queue" : "fork"),
    deadline: performance.now() + (options.queueTimeoutMs ?? QUEUE_TIMEOUT_MS),
  };
  const laneLock = await takeLane(attempt, onArrived);
  onArrived?.();
  try {
    const plan = laneLock === undefined ? await planBeside(attempt) : await planInLane(attempt);
    return toReservation(attempt, laneLock, plan);
  } catch (error) {
    await laneLock?.release();
    throw error;
  }
}

/** Undefined: somebody has the lane, and the run goes beside it on a copy. */
async function takeLane(attempt: Attempt, onArrived?: () => void): Promise<HeldLock | undefined> {
  const { locksFolder, lane, signal, policy } = attempt;
  if (policy === "queue") {
    return await queueFor(
      attempt,
      "Another run has this repo.",
      (run) => isInLane(run, lane),
      async ({ onBusy, ...limits }) => {
        const onWait: typeof onBusy = (holder) => {
          onArrived?.();
          onBusy?.(holder);
        };
        return await leaseLane(locksFolder, lane, { ...limits, onBusy: onWait });
      },
    );
  }
  try {
    return await leaseLane(locksFolder, lane, { signal, timeoutMs: 0 });
  } catch (error) {
    const pid = lockedBy(error);
    if (pid === undefined) throw error;
    if (policy === "fork") return undefined;
    throw sessionInUse(await describeHolder(locksFolder, (run) => isInLane(run, lane), pid));
  }
}

/** A copy of the session that was named, or of the one that has the lane. */
async function planBeside(attempt: Attempt): Promise<Plan> {
  const { options, locksFolder, lane } = attempt;
  if (options.fresh === true) return await planFresh(attempt, decision("fresh", undefined, "The repo is in use."));
  const holder = await describeHolder(locksFolder, (run) => isInLane(run, lane), 0);
  const sessionId = options.fork ?? options.resume ?? holder.sessionId;
  if (sessionId !== undefined) return await planFork(attempt, decision("fork", sessionId, "The repo is in use."));
  return await planFresh(attempt, decision("fresh", undefined, "The repo is in use by a run without a session yet."));
}

async function planInLane(attempt: Attempt): Promise<Plan> {
  for (;;) {
    const plan = await planOnce(attempt, await chooseSession(attempt.parts, attempt.options, attempt.lane));
    if (plan !== undefined) return plan;
  }
}

/** Undefined: it had to wait, so decide again. */
async function planOnce(attempt: Attempt, selection: SessionSelection): Promise<Plan | undefined> {
  const { action } = selection;
  if (action === "queue") return await planBehind(attempt, selection);
  if (action === "fresh" || selection.sessionId === undefined) return await planFresh(attempt, selection);
  return action === "fork" ? await planFork(attempt, selection) : await planResume(attempt, selection);
}

async function planFresh(attempt: Attempt, selection: SessionSelection): Promise<Plan> {
  const writes = attempt.parts.ids.uuid();
  const lock = await leaseNew(attempt.locksFolder, writes);
  return { selection, start: { kind: "new", sessionId: writes }, writes, lock };
}

/** The copied session is only read. */
async function planFork(attempt: Attempt, selection: SessionSelection): Promise<Plan> {
  const sessionId = checkSessionId(selection.sessionId ?? "");
  const writes = attempt.parts.ids.uuid();
  const lock = await leaseNew(attempt.locksFolder, writes);
  const start = { kind: "fork", sessionId, newSessionId: writes } as const;
  return { selection: { ...selection, action: "fork" }, start, writes, lock };
}

async function planResume(attempt: Attempt, selection: SessionSelection): Promise<Plan | undefined> {
  const sessionId = checkSessionId(selection.sessionId ?? "");
  const lock = await takeSession(attempt, sessionId);
  if (lock === undefined) return await planFork(attempt, { ...selection, reason: `${selection.reason} It is in use.` });
  if (lock.waited && attempt.options.resume === undefined) {
    await lock.release();
    return undefined;
  }
  return { selection, start: { kind: "resume", sessionId }, writes: sessionId, lock };
}

/** Undefined: somebody has it, and a copy is wanted then. */
async function takeSession(attempt: Attempt, sessionId: string): Promise<HeldLock | undefined> {
  const { parts, locksFolder, signal, policy } = attempt;
  if (policy === "queue") {
    return await queueFor(
      attempt,
      "The session is in use.",
      (run) => run.sessionId === sessionId,
      async (limits) => await leaseSession(locksFolder, sessionId, parts.readRunning, limits),
    );
  }
  try {
    return await leaseSession(locksFolder, sessionId, parts.readRunning, { signal, timeoutMs: 0 });
  } catch (error) {
    const pid = lockedBy(error);
    if (pid === undefined) throw error;
    if (policy === "fork") return undefined;
    const [writer] = await findWriters(parts.readRunning, sessionId);
    throw sessionInUse(writer === undefined ? { kind: "holdfast", pid, sessionId } : toHolder(writer));
  }
}

/** Somebody runs Claude Code in this worktree, without a lease of ours. */
async function planBehind(attempt: Attempt, selection: SessionSelection): Promise<Plan | undefined> {
  const { parts, policy } = attempt;
  const { sessionId } = selection;
  if (sessionId === undefined) throw nothingToWaitFor(selection);
  if (policy === "fork") return await planFork(attempt, selection);
  const [writer] = await findWriters(parts.readRunning, sessionId);
  if (policy === "refuse" && writer !== undefined) throw sessionInUse(toHolder(writer));
  const waited = await queueFor(
    attempt,
    "Somebody works in this repo with Claude Code.",
    (run) => run.sessionId === sessionId,
    async (limits) => await waitForWriters(parts.readRunning, sessionId, limits),
  );
  // The decision rests on older news than ours: give it a moment, and an end.
  if (!waited) await pause(attempt);
  return undefined;
}

const PAUSE_MS = 250;

async function pause(attempt: Attempt): Promise<void> {
  if (remaining(attempt) === 0) throw waitedTooLong();
  await systemClock.sleep(PAUSE_MS, attempt.signal).catch(() => {
    throw cancelled();
  });
}

function toReservation({ lane, locksFolder }: Attempt, laneLock: HeldLock | undefined, plan: Plan): Reservation {
  const sessions = new Map<string, HeldLock>([[plan.writes, plan.lock]]);
  return {
    lane,
    selection: plan.selection,
    start: { ...plan.start, sessionId: plan.start.sessionId ?? plan.writes },
    writes: plan.writes,
    add: async (sessionId) => {
      if (!sessions.has(sessionId)) sessions.set(sessionId, await leaseNew(locksFolder, sessionId));
    },
    drop: async (sessionId) => {
      const lock = sessions.get(sessionId);
      sessions.delete(sessionId);
      await lock?.release();
    },
    release: async () => {
      for (const lock of sessions.values()) await lock.release();
      sessions.clear();
      await laneLock?.release();
    },
  };
}

/** Of an id that was just made up: nobody else can have it. */
async function leaseNew(locksFolder: string, sessionId: string): Promise<HeldLock> {
  return await leaseSession(locksFolder, sessionId, async () => [], { timeoutMs: 0 });
}

function nothingToWaitFor(selection: SessionSelection): HoldfastError {
  return new HoldfastError("locked", "repo-in-use", `The repo is in use: ${selection.reason}`, {
    hint: "Look at `holdfast cc list --running`, then wait, or run beside it with --label or in a worktree.",
  });
}

/**
 * What a run needs before its process may start: the lane, a decision about the session, and the session
 * itself. After every wait the decision is made again, because the project may have changed: the session
 * that just ended may now be the best one to resume.
 */
import { HoldfastError } from "../../base/errors.ts";
import { type SessionSelection, decision } from "../selection/selection.ts";
import {
  type HeldLock,
  type LeaseWait,
  findWriters,
  laneOf,
  leaseLane,
  leaseSession,
  sessionInUse,
  sleepOrCancel,
  toHolder,
  waitForWriters,
  waitedTooLong,
} from "./leases.ts";
import type { SessionStart } from "./process/claude-process.ts";
import type { EventRelay } from "./run-events.ts";
import { checkSessionId, isInLane, readRuns } from "./run-files.ts";
import type { Holder, Lane, RunnerParts, SelectionRequest, SpawnOptions } from "./runner-contract.ts";

export type Reservation = ReturnType<typeof toReservation>;

export interface ReservationRequest {
  options: SpawnOptions;
  parts: RunnerParts;
  relay: EventRelay;
  signal: AbortSignal;
  /** What was decided already. Default: decide when the lane is free. */
  selection?: SessionSelection | undefined;
  /** Called when the run has its place in the queue for the lane. Optional. */
  onArrived?: (() => void) | undefined;
}

interface Attempt extends ReservationRequest {
  lane: Lane;
  policy: "queue" | "fork" | "refuse";
  /** On the scale of `performance.now()`. */
  deadline: number;
}

interface Plan {
  selection: SessionSelection;
  start: SessionStart;
  /** The session that the run writes. The process may change it later. */
  writes: string;
  lock: HeldLock;
  /** The chat whose session is copied. Default: none. */
  conversation?: string | undefined;
}

const QUEUE_TIMEOUT_MS = 30 * 60_000;

export async function reserve(request: ReservationRequest): Promise<Reservation> {
  const { options, onArrived } = request;
  const attempt: Attempt = {
    ...request,
    lane: await laneOf(options.repoPath, options.label?.trim()),
    policy: options.onRunning ?? (options.fork === undefined ? "queue" : "fork"),
    deadline: performance.now() + (options.queueTimeoutMs ?? QUEUE_TIMEOUT_MS),
  };
  const laneLock = await takeLane(attempt);
  onArrived?.();
  try {
    const plan = laneLock === undefined ? await planWithoutLane(attempt) : await planInLane(attempt);
    return toReservation(attempt, laneLock, plan);
  } catch (error) {
    await laneLock?.release();
    throw error;
  }
}

async function takeLane(attempt: Attempt): Promise<HeldLock | undefined> {
  const { lane, onArrived, parts } = attempt;
  return await acquire(attempt, undefined, async (wait) => {
    const onBusy = (holder: Holder): void => {
      onArrived?.();
      wait.onBusy?.(holder);
    };
    return await leaseLane(parts.locksFolder, lane, { ...wait, onBusy });
  });
}

/** Locks a session, or without an id the lane. Undefined: it is in use, and the policy is to work on a copy. */
async function acquire(
  attempt: Attempt,
  sessionId: string | undefined,
  lease: (wait: LeaseWait) => Promise<HeldLock>,
): Promise<HeldLock | undefined> {
  const { policy, signal } = attempt;
  const reason = sessionId === undefined ? "Another run is using this repo." : "The session is in use.";
  if (policy === "queue") return await queueFor(attempt, sessionId, reason, lease);
  try {
    return await lease({ signal, timeoutMs: 0 });
  } catch (error) {
    const pid = lockedBy(error);
    if (pid === undefined) throw error;
    if (policy === "fork") return undefined;
    throw sessionInUse(await findHolder(attempt, sessionId, pid));
  }
}

/** A copy of the named session, or of the one that has the lane. */
async function planWithoutLane(attempt: Attempt): Promise<Plan> {
  const { options } = attempt;
  if (options.fresh === true) return await planFresh(attempt, decision("fresh", undefined, "The repo is in use."));
  const holder = await findHolder(attempt, undefined, 0);
  const named = options.fork ?? options.resume;
  const sessionId = named ?? (await unlessChat(attempt, holder.sessionId));
  if (sessionId !== undefined) return await planFork(attempt, decision("fork", sessionId, "The repo is in use."));
  return await planFresh(attempt, decision("fresh", undefined, "The repo is in use, and there is no session to copy."));
}

/** A copy would show the conversation of the chat to the task. */
async function unlessChat({ parts }: Attempt, sessionId: string | undefined): Promise<string | undefined> {
  const isChat = sessionId !== undefined && (await parts.conversationOf?.(sessionId)) !== undefined;
  return isChat ? undefined : sessionId;
}

/** A plan is undefined when the run had to wait: then it decides again. */
async function planInLane(attempt: Attempt): Promise<Plan> {
  for (;;) {
    const selection = attempt.selection ?? (await chooseSession(attempt.parts, attempt.options, attempt.lane));
    const { action, sessionId } = selection;
    if (action === "fresh" || (action !== "queue" && sessionId === undefined))
      return await planFresh(attempt, selection);
    if (action === "fork") return await planFork(attempt, selection);
    const plan = await (action === "queue" ? planBesidePerson(attempt, selection) : planResume(attempt, selection));
    if (plan !== undefined) return plan;
  }
}

async function planFresh({ parts }: Attempt, selection: SessionSelection): Promise<Plan> {
  const writes = parts.ids.uuid();
  const lock = await leaseNew(parts, writes);
  return { selection, start: { kind: "new", sessionId: writes }, writes, lock };
}

/** Only reads the original. The copy of a chat's session belongs to that chat. */
async function planFork({ parts }: Attempt, selection: SessionSelection): Promise<Plan> {
  const sessionId = checkSessionId(selection.sessionId ?? "");
  const conversation = await parts.conversationOf?.(sessionId);
  const writes = parts.ids.uuid();
  const lock = await leaseNew(parts, writes);
  const start: SessionStart = { kind: "fork", sessionId, newSessionId: writes };
  return { selection: { ...selection, action: "fork" }, start, writes, lock, conversation };
}

async function planResume(attempt: Attempt, selection: SessionSelection): Promise<Plan | undefined> {
  const sessionId = checkSessionId(selection.sessionId ?? "");
  const { locksFolder, readRunning } = attempt.parts;
  const lock = await acquire(attempt, sessionId, async (wait) => {
    return await leaseSession(locksFolder, sessionId, readRunning, wait);
  });
  if (lock === undefined) return await planFork(attempt, { ...selection, reason: `${selection.reason} It is in use.` });
  if (lock.waited && attempt.options.resume === undefined) {
    await lock.release();
    return undefined;
  }
  return { selection, start: { kind: "resume", sessionId }, writes: sessionId, lock };
}

/** A `claude` without a lease works in this worktree. */
async function planBesidePerson(attempt: Attempt, selection: SessionSelection): Promise<Plan | undefined> {
  const { policy } = attempt;
  const { readRunning } = attempt.parts;
  const { sessionId } = selection;
  if (sessionId === undefined) {
    throw new HoldfastError("locked", "repo-in-use", `The repo is in use: ${selection.reason}`, {
      hint: "See `holdfast cc list --running`, then wait, or run alongside it with --label or in a worktree.",
    });
  }
  if (policy === "fork") {
    if ((await unlessChat(attempt, sessionId)) !== undefined) return await planFork(attempt, selection);
    return await planFresh(attempt, decision("fresh", undefined, "The repo is in use by the session of a chat."));
  }
  const [writer] = await findWriters(readRunning, sessionId);
  if (policy === "refuse" && writer !== undefined) throw sessionInUse(toHolder(writer));
  const reason = "Another Claude Code works in this repo.";
  const waited = await queueFor(attempt, sessionId, reason, async (limits) => {
    return await waitForWriters(readRunning, sessionId, limits);
  });
  // The session ended after the selection was made: pause, then decide again.
  if (!waited) {
    if (remainingMs(attempt) === 0) throw waitedTooLong();
    await sleepOrCancel(PAUSE_MS, attempt.signal);
  }
  return undefined;
}

const PAUSE_MS = 250;
const REPEAT_MS = 30_000;

/** Reports the holder when the wait begins, and again every 30 s. */
async function queueFor<T>(
  attempt: Attempt,
  sessionId: string | undefined,
  reason: string,
  wait: (limits: LeaseWait) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const report = async (known: Holder): Promise<void> => {
    const holder = known.kind === "person" ? known : await findHolder(attempt, sessionId, known.pid);
    attempt.relay.emit({ type: "queued", holder, waitedMs: Math.round(performance.now() - startedAt), reason });
  };
  const onBusy = (holder: Holder): void => {
    clearInterval(timer);
    timer = setInterval(() => void report(holder), REPEAT_MS).unref();
    void report(holder);
  };
  try {
    return await wait({ signal: attempt.signal, timeoutMs: remainingMs(attempt), onBusy });
  } finally {
    clearInterval(timer);
  }
}

function remainingMs({ deadline }: Attempt): number {
  return Math.max(0, deadline - performance.now());
}

/** The holder of a session, or without an id of the lane, as far as it is known. */
async function findHolder({ parts, lane }: Attempt, sessionId: string | undefined, pid: number): Promise<Holder> {
  const runs = await readRuns(parts.locksFolder).catch(() => []);
  const run = runs.find((one) => (sessionId === undefined ? isInLane(one, lane) : one.sessionId === sessionId));
  if (run === undefined) {
    const [writer] = sessionId === undefined ? [] : await findWriters(parts.readRunning, sessionId);
    return writer === undefined ? { kind: "holdfast", pid, sessionId } : toHolder(writer);
  }
  return {
    kind: "holdfast",
    pid: run.host.pid,
    sessionId: run.sessionId,
    agentId: run.agentId,
    task: run.task,
    since: run.startedAt,
    heldMs: Math.max(0, Date.now() - Date.parse(run.startedAt)),
    status: run.state,
  };
}

/** The pid of the holder; undefined when the error is not about a lock. */
function lockedBy(error: unknown): number | undefined {
  if (!(error instanceof HoldfastError) || error.kind !== "locked") return undefined;
  const { pid } = error.data;
  return typeof pid === "number" ? pid : 0;
}

function toReservation({ options, lane, parts }: Attempt, laneLock: HeldLock | undefined, plan: Plan) {
  const sessions = new Map<string, HeldLock>([[plan.writes, plan.lock]]);
  return {
    lane,
    selection: plan.selection,
    start: { ...plan.start, sessionId: plan.start.sessionId ?? plan.writes },
    writes: plan.writes,
    /** The session key of the chat that the run belongs to, or whose session it copies. */
    conversation: options.sessionKey ?? plan.conversation,
    /** Locks one more session, whose id is new. */
    add: async (sessionId: string): Promise<void> => {
      if (!sessions.has(sessionId)) sessions.set(sessionId, await leaseNew(parts, sessionId));
    },
    drop: async (sessionId: string): Promise<void> => {
      const lock = sessions.get(sessionId);
      sessions.delete(sessionId);
      await lock?.release();
    },
    release: async (): Promise<void> => {
      for (const lock of sessions.values()) await lock.release();
      sessions.clear();
      await laneLock?.release();
    },
  };
}

/** For an id that was just created: no other process can know it. */
async function leaseNew({ locksFolder }: RunnerParts, sessionId: string): Promise<HeldLock> {
  return await leaseSession(locksFolder, sessionId, async () => [], { timeoutMs: 0 });
}

/**
 * An idle persistent session holds the lane, so a task for the same lane would wait until it ends. If the selection
 * chooses that session, the task is sent there instead. Undefined: the task needs its own process.
 */
export async function selectWaiting(parts: RunnerParts, options: SpawnOptions): Promise<SessionSelection | undefined> {
  if (needsOwnProcess(options)) return undefined;
  const lane = await laneOf(options.repoPath, options.label?.trim());
  const state = await readLane(parts, lane, options);
  const [first] = state.waiting;
  if (first === undefined) return undefined;
  // A label names exactly one session.
  if (lane.label !== undefined) return decision("continue", first, "It is open.", lane.label);
  const selection = await selectInLane(parts, options, lane, state);
  const isOpen = selection.sessionId !== undefined && state.waiting.includes(selection.sessionId);
  return selection.action === "continue" && isOpen ? selection : undefined;
}

/** A running process cannot change its model, permissions and limits. */
function needsOwnProcess(options: SpawnOptions): boolean {
  const { resume, fork, fresh, model, permissionMode, allowedTools, maxBudgetUsd, maxTurns } = options;
  const { systemPrompt, effort, onMessage } = options;
  const settings = [model, permissionMode, allowedTools, maxBudgetUsd, maxTurns, systemPrompt, effort, onMessage];
  return fresh === true || [resume, fork, ...settings].some((value) => value !== undefined);
}

async function chooseSession(parts: RunnerParts, options: SpawnOptions, lane: Lane): Promise<SessionSelection> {
  const { fresh, resume } = options;
  if (fresh === true || resume !== undefined) {
    const requested =
      resume === undefined
        ? decision("fresh", undefined, "A fresh session was requested.")
        : decision("resume", resume, "This session was requested.");
    return { ...requested, suggested: await suggestSession(parts, options, lane) };
  }
  if (options.fork !== undefined) return decision("fork", options.fork, "A copy of this session was requested.");
  const { excluded } = await readLane(parts, lane, options);
  return await selectInLane(parts, options, lane, { excluded, waiting: [] });
}

/** The own choice of the selection, to learn from the difference. Not for chats and labels, which have one session. */
async function suggestSession(
  parts: RunnerParts,
  options: SpawnOptions,
  lane: Lane,
): Promise<SessionSelection | undefined> {
  if (options.sessionKey !== undefined || lane.label !== undefined) return undefined;
  try {
    const { excluded } = await readLane(parts, lane, options);
    const suggested = await selectInLane(parts, options, lane, { excluded, waiting: [], model: [] });
    return suggested.action === "queue" || suggested.action === "fork" ? undefined : suggested;
  } catch (error) {
    parts.log.warn("The selection could not be compared with the named session", { error });
    return undefined;
  }
}

async function selectInLane(
  parts: RunnerParts,
  { task, agentId, sessionKey, candidates }: SpawnOptions,
  { worktree, label }: Lane,
  state: Pick<SelectionRequest, "excluded" | "waiting" | "model">,
): Promise<SessionSelection> {
  return await parts.selectSession({ task, repoPath: worktree, agentId, label, sessionKey, candidates, ...state });
}

/** What runs on this machine, as seen from one lane. Idle persistent sessions of the caller wait there for a task. */
export async function readLane(
  { locksFolder, readRunning }: Pick<RunnerParts, "locksFolder" | "readRunning">,
  lane: Lane,
  { agentId, sessionKey }: Pick<SpawnOptions, "agentId" | "sessionKey">,
) {
  const excluded = new Set<string>();
  const waiting: string[] = [];
  for (const run of await readRuns(locksFolder)) {
    if (run.sessionId === undefined) continue;
    // A process and its MCP tools serve one agent and one conversation only.
    const isForCaller = run.agentId === agentId && run.sessionKey === sessionKey;
    if (!isInLane(run, lane)) excluded.add(run.sessionId);
    else if (run.persistent && run.state === "idle" && isForCaller) waiting.push(run.sessionId);
  }
  for (const running of await readRunning()) {
    if (running.cwd === undefined) continue;
    const other = await laneOf(running.cwd, undefined).catch(() => undefined);
    if (other?.worktree !== lane.worktree) excluded.add(running.sessionId);
  }
  return { excluded: [...excluded], waiting };
}

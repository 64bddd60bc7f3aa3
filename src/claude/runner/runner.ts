/**
 * The runner: tasks for Claude Code, one writer per session, one run per lane, and a hand on every
 * process that was started. One runner per Holdfast process; several processes share the same locks.
 */
import { HoldfastError } from "../../base/errors.ts";
import { createKeyedMutex } from "../../base/mutex.ts";
import type { ActiveRun } from "./active-run.ts";
import { createControlHost } from "./control-host.ts";
import { type FollowUpOptions, answerQuestion, findRun, interruptRun, killRun, sendFollowUp } from "./follow-up.ts";
import { type KillOptions, type KilledSession, endPersonsClaude } from "./kill.ts";
import { isSessionId } from "./lease-files.ts";
import { type RunRecord, readRuns, toLiveSession } from "./live-runs.ts";
import type { RunnerContext } from "./run-once.ts";
import type { ClaudeCodeResult, LiveSession, SpawnOptions } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { selectWaiting } from "./select-waiting.ts";
import { laneOf } from "./session-lease.ts";
import { checkOptions, spawnClaudeCode } from "./spawn.ts";
import { type WithSessionOptions, withSession } from "./with-session.ts";

export type { FollowUpOptions } from "./follow-up.ts";

export interface ClaudeRunner {
  /** Rejects before anything was sent; afterwards every end is an outcome of the result. */
  spawnClaudeCode(options: SpawnOptions): Promise<ClaudeCodeResult>;
  /** To a persistent session of this process or of another one. */
  sendFollowUpAndWait(sessionId: string, text: string, options?: FollowUpOptions): Promise<ClaudeCodeResult>;
  /** Lets a turn that runs be interrupted, then ends the process. False: no run of this process has the session. */
  stopPersistentSession(sessionId: string): Promise<boolean>;
  /** Ends what runs for a session id or a repo, whichever process holds it. */
  killClaudeCode(target: string, options?: KillOptions): Promise<KilledSession[]>;
  /** Ends the turn that runs, keeps the process. False: nothing was running. */
  interruptClaudeCode(sessionId: string): Promise<boolean>;
  /** Runs `action` as the only writer of a session: for a person who opens it through Holdfast. */
  withSession<T>(options: WithSessionOptions, action: () => Promise<T>): Promise<T>;
  /** The runs of this process, by run id. */
  readonly activeSpawns: ReadonlyMap<string, ActiveRun>;
  /** The runs of every Holdfast process of this home. */
  getAllLiveSessions(): Promise<LiveSession[]>;
  /** For the end of the process: nobody waits any more, every `claude` is ended. */
  stopAllClaudeCode(): Promise<void>;
}

export function createClaudeRunner(parts: RunnerParts): ClaudeRunner {
  const runs = new Map<string, ActiveRun>();
  const spawning = new Set<Promise<unknown>>();
  let closing = new AbortController();
  const context: RunnerContext = {
    parts,
    runs,
    arrivals: createKeyedMutex(),
    control: createControlHost(parts.locksFolder, async (question, signal) => {
      return await answerQuestion(context, question, signal);
    }),
  };
  return {
    activeSpawns: runs,
    async spawnClaudeCode(options) {
      const signals = [closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
      const spawned = spawnOrContinue(context, { ...options, signal: AbortSignal.any(signals) });
      spawning.add(spawned);
      try {
        return await spawned;
      } finally {
        spawning.delete(spawned);
      }
    },
    sendFollowUpAndWait: async (sessionId, text, options = {}) => await sendFollowUp(context, sessionId, text, options),
    async stopPersistentSession(sessionId) {
      const run = findRun(context, sessionId);
      if (run !== undefined) await run.end();
      return run !== undefined;
    },
    interruptClaudeCode: async (sessionId) => await interruptRun(context, sessionId),
    async killClaudeCode(target, options = {}) {
      const records = await findTargets(parts.locksFolder, target);
      const killed = await Promise.all(records.map(async (record) => await killRecorded(context, record, options)));
      if (killed.length > 0 || !isSessionId(target)) return killed.flat();
      return await endPersonsClaude(parts.readRunning, target.toLowerCase(), options);
    },
    withSession: async (options, action) => await withSession(parts, options, action),
    getAllLiveSessions: async () => (await readRuns(parts.locksFolder)).map(toLiveSession),
    async stopAllClaudeCode() {
      closing.abort();
      closing = new AbortController();
      await endAll(runs);
      // Those that were about to start have seen the signal by now, or end what they have started.
      await Promise.allSettled(spawning);
      await endAll(runs);
    },
  };
}

async function endAll(runs: ReadonlyMap<string, ActiveRun>): Promise<void> {
  await Promise.all([...runs.values()].map(async (run) => await run.end()));
}

/** To a session of this lane that is open and fits, else to a process of its own. */
async function spawnOrContinue(
  context: RunnerContext,
  options: SpawnOptions & { signal: AbortSignal },
): Promise<ClaudeCodeResult> {
  checkOptions(context, options);
  // Whoever comes later gets its place in the line later, however long it takes to find the place.
  const placed = await context.arrivals.run(JSON.stringify([options.repoPath, options.label]), async () => {
    const selection = await selectWaiting(context.parts, options);
    if (selection?.sessionId !== undefined) return { selection, sessionId: selection.sessionId };
    const arrived = Promise.withResolvers<void>();
    const result = spawnClaudeCode(context, options, arrived.resolve);
    await Promise.race([arrived.promise, result.catch(() => undefined)]);
    return { result };
  });
  if (placed.result !== undefined) return await placed.result;
  try {
    const result = await sendFollowUp(context, placed.sessionId, options.task, options);
    return { ...result, selection: placed.selection };
  } catch (error) {
    // It has ended meanwhile, and nothing was sent.
    if (!(error instanceof HoldfastError) || error.code !== "session-not-live") throw error;
    return await spawnClaudeCode(context, options);
  }
}

/** By session id, or every run of the worktree with this path. */
async function findTargets(locksFolder: string, target: string): Promise<RunRecord[]> {
  const records = await readRuns(locksFolder);
  if (isSessionId(target)) return records.filter(({ sessionId }) => sessionId === target.toLowerCase());
  const { worktree } = await laneOf(target, undefined);
  return records.filter((record) => record.worktree === worktree);
}

async function killRecorded(context: RunnerContext, record: RunRecord, options: KillOptions): Promise<KilledSession[]> {
  const { sessionId, pid = record.host.pid } = toLiveSession(record);
  try {
    await killRun(context, record);
  } catch (error) {
    // Its process is there and does not answer: then Claude Code itself is ended, if that is wanted.
    if (options.force !== true || sessionId === undefined) throw error;
    return await endPersonsClaude(context.parts.readRunning, sessionId, options);
  }
  return [{ ...(sessionId === undefined ? {} : { sessionId }), pid, by: "holdfast" }];
}

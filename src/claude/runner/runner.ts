/**
 * The runner: tasks for Claude Code, one writer per session, one run per lane. One runner per Holdfast
 * process; all processes of a home share the same locks.
 *
 * A task goes through spawn.ts (the steps, the process and its cost) → reservation.ts (which session, locks) →
 * active-run.ts (one running process) → process/ (stream-json).
 */
import type { ActiveRun, RunnerContext } from "./active-run.ts";
import { createControlHost } from "./control.ts";
import {
  type FollowUpOptions,
  type KillOptions,
  answerQuestion,
  findRun,
  interruptRun,
  killSessions,
  sendFollowUp,
} from "./open-sessions.ts";
import { reserve } from "./reservation.ts";
import { createEventRelay } from "./run-events.ts";
import { createRunRecord, readRuns, toLiveSession } from "./run-files.ts";
import type { ClaudeCodeResult, RunnerParts, SpawnOptions } from "./runner-contract.ts";
import { runInBestSession } from "./spawn.ts";
import { createKeyedMutex } from "../../base/async.ts";

export type ClaudeRunner = ReturnType<typeof createClaudeRunner>;

interface WithSessionOptions extends Pick<
  SpawnOptions,
  "repoPath" | "agentId" | "queueTimeoutMs" | "signal" | "onEvent"
> {
  sessionId: string;
  /** Default: `queue`. */
  onRunning?: "queue" | "refuse" | undefined;
}

export function createClaudeRunner(parts: RunnerParts) {
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
    activeSpawns: runs as ReadonlyMap<string, ActiveRun>,
    /** Rejects only before anything was sent; afterwards every end is an outcome of the result. */
    async spawnClaudeCode(options: SpawnOptions): Promise<ClaudeCodeResult> {
      const signals = [closing.signal, options.signal].filter((signal) => signal !== undefined);
      const spawned = runInBestSession(context, { ...options, signal: AbortSignal.any(signals) });
      spawning.add(spawned);
      try {
        return await spawned;
      } finally {
        spawning.delete(spawned);
      }
    },
    /** Sends to a persistent session of any Holdfast process. */
    sendFollowUpAndWait: async (sessionId: string, text: string, options: FollowUpOptions = {}) =>
      await sendFollowUp(context, sessionId, text, options),
    /** Interrupts a running turn, then ends the process. False: this process does not run the session. */
    async stopPersistentSession(sessionId: string): Promise<boolean> {
      const run = findRun(context, sessionId);
      if (run !== undefined) await run.end();
      return run !== undefined;
    },
    /** Ends the running turn and keeps the process. False: no turn was running. */
    interruptClaudeCode: async (sessionId: string) => await interruptRun(context, sessionId),
    /** Ends all runs of a session id or a repo, in any Holdfast process. */
    killClaudeCode: async (target: string, options: KillOptions = {}) => await killSessions(context, target, options),
    /** Runs `action` as the only writer of a session, for a person who opens it with `cc attach`. */
    withSession: async <T>(options: WithSessionOptions, action: () => Promise<T>) =>
      await withSession(parts, options, action),
    getAllLiveSessions: async () => (await readRuns(parts.locksFolder)).map(toLiveSession),
    /** Cancels all waits and ends every `claude` of this process. */
    async stopAllClaudeCode(): Promise<void> {
      closing.abort();
      closing = new AbortController();
      await endAll(runs);
      // Runs that were about to start either saw the signal or are in `runs` afterwards.
      await Promise.allSettled(spawning);
      await endAll(runs);
    },
  };
}

async function endAll(runs: ReadonlyMap<string, ActiveRun>): Promise<void> {
  await Promise.all([...runs.values()].map(async (run) => await run.end()));
}

async function withSession<T>(
  parts: RunnerParts,
  { sessionId, onEvent, signal = new AbortController().signal, ...options }: WithSessionOptions,
  action: () => Promise<T>,
): Promise<T> {
  const relay = createEventRelay(onEvent, parts.log);
  const request = { ...options, task: "Opened by a person", resume: sessionId };
  const reservation = await reserve({ options: request, parts, relay, signal });
  try {
    const record = await createRunRecord(parts.locksFolder, {
      runId: parts.ids.uuid(),
      sessionId: reservation.writes,
      agentId: options.agentId,
      worktree: reservation.lane.worktree,
      task: request.task,
      persistent: false,
      state: "busy",
    });
    try {
      return await action();
    } finally {
      await record.remove();
    }
  } finally {
    await reservation.release();
  }
}

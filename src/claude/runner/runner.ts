/**
 * The runner: tasks for Claude Code, one writer per session, one run per lane. One runner per Holdfast
 * process; all processes of a home share the same locks.
 *
 * A task goes through spawn.ts (the steps, the process and its cost) → choose-session.ts (which session) →
 * reservation.ts (locks) → active-run.ts (one running process) → process/ (stream-json).
 */
import { currentProcess } from "../../base/processes.ts";
import type { ActiveRun, RunnerContext } from "./active-run.ts";
import { createControlHost } from "./control.ts";
import {
  type FollowUpOptions,
  type KillOptions,
  type KilledSession,
  answerQuestion,
  findRun,
  interruptRun,
  killSessions,
  sendFollowUp,
} from "./open-sessions.ts";
import { reserve } from "./reservation.ts";
import { createEventRelay } from "./run-events.ts";
import { createRunRecord, readRuns, toLiveSession } from "./run-files.ts";
import type { ClaudeCodeResult, LiveSession, RunnerParts, SpawnOptions } from "./runner-contract.ts";
import { runInBestSession } from "./spawn.ts";
import { createKeyedMutex } from "../../base/async.ts";

export interface ClaudeRunner {
  /** Rejects only before anything was sent; afterwards every end is an outcome of the result. */
  spawnClaudeCode(options: SpawnOptions): Promise<ClaudeCodeResult>;
  /** Sends to a persistent session of any Holdfast process. */
  sendFollowUpAndWait(sessionId: string, text: string, options?: FollowUpOptions): Promise<ClaudeCodeResult>;
  /** Interrupts a running turn, then ends the process. False: this process does not run the session. */
  stopPersistentSession(sessionId: string): Promise<boolean>;
  /** Ends all runs of a session id or a repo, in any Holdfast process. */
  killClaudeCode(target: string, options?: KillOptions): Promise<KilledSession[]>;
  /** Ends the running turn and keeps the process. False: no turn was running. */
  interruptClaudeCode(sessionId: string): Promise<boolean>;
  /** Runs `action` as the only writer of a session, for a person who opens it with `cc attach`. */
  withSession<T>(options: WithSessionOptions, action: () => Promise<T>): Promise<T>;
  /** The runs of this process, by run id. */
  readonly activeSpawns: ReadonlyMap<string, ActiveRun>;
  /** The runs of all Holdfast processes of this home. */
  getAllLiveSessions(): Promise<LiveSession[]>;
  /** Cancels all waits and ends every `claude` of this process. */
  stopAllClaudeCode(): Promise<void>;
}

interface WithSessionOptions {
  sessionId: string;
  repoPath: string;
  agentId: string;
  /** Default: `queue`. */
  onRunning?: "queue" | "refuse" | undefined;
  queueTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
  onEvent?: SpawnOptions["onEvent"];
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
      const signals = [closing.signal, options.signal].filter((signal) => signal !== undefined);
      const spawned = runInBestSession(context, { ...options, signal: AbortSignal.any(signals) });
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
    killClaudeCode: async (target, options = {}) => await killSessions(context, target, options),
    withSession: async (options, action) => await withSession(parts, options, action),
    getAllLiveSessions: async () => (await readRuns(parts.locksFolder)).map(toLiveSession),
    async stopAllClaudeCode() {
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
      schema: 1,
      runId: parts.ids.uuid(),
      sessionId: reservation.writes,
      agentId: options.agentId,
      worktree: reservation.lane.worktree,
      task: request.task,
      persistent: false,
      state: "busy",
      startedAt: new Date().toISOString(),
      host: currentProcess(),
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

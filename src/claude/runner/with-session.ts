/**
 * The same leases for something that is no task: a person who opens a session through Holdfast
 * (`cc attach`). Others see who has it and wait, as for any run.
 */
import { currentProcess } from "../../base/processes.ts";
import { createEventRelay } from "./event-relay.ts";
import { reserve } from "./reservation.ts";
import { createRunRecord } from "./run-record-file.ts";
import type { RunnerEvent } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";

export interface WithSessionOptions {
  sessionId: string;
  repoPath: string;
  agentId: string;
  /** Default `queue`. */
  onRunning?: "queue" | "refuse";
  queueTimeoutMs?: number;
  signal?: AbortSignal;
  onEvent?: (event: RunnerEvent) => void | Promise<void>;
}

/** Nobody else writes the session while `action` runs. */
export async function withSession<T>(
  parts: RunnerParts,
  { sessionId, onEvent, signal = new AbortController().signal, ...options }: WithSessionOptions,
  action: () => Promise<T>,
): Promise<T> {
  const relay = createEventRelay(onEvent, (error) => parts.log.warn("A watcher of a run failed", { error }));
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

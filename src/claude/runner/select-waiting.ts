/**
 * A persistent session that waits for a message has the lane, so a task for the same lane would wait
 * for it to end. It can go to that session instead, when the selection finds that it belongs there.
 */
import type { SessionSelection } from "../selection/selection.ts";
import { decision, selectInLane } from "./choose-session.ts";
import { type RunRecord, isInLane, readRuns } from "./live-runs.ts";
import type { SpawnOptions } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { laneOf } from "./session-lease.ts";

/** Undefined: there is none, or the task is for another session. */
export async function selectWaiting(parts: RunnerParts, options: SpawnOptions): Promise<SessionSelection | undefined> {
  if (isParticular(options)) return undefined;
  const lane = await laneOf(options.repoPath, options.label?.trim());
  const waiting = (await readRuns(parts.locksFolder))
    .filter((run) => run.persistent && run.state === "idle" && isInLane(run, lane) && isForTheSame(run, options))
    .flatMap(({ sessionId }) => (sessionId === undefined ? [] : [sessionId]));
  const [first] = waiting;
  if (first === undefined) return undefined;
  // A label names one session, and this is it.
  if (lane.label !== undefined) return { ...decision("continue", first, "It is open."), label: lane.label };
  const selection = await selectInLane(parts, options, lane, waiting);
  const isOpen = selection.sessionId !== undefined && waiting.includes(selection.sessionId);
  return selection.action === "continue" && isOpen ? selection : undefined;
}

/** Its tools speak for one agent and know one conversation, which is none of the business of another. */
function isForTheSame(run: RunRecord, { agentId, sessionKey }: SpawnOptions): boolean {
  return run.agentId === agentId && run.sessionKey === sessionKey;
}

/** A process that runs already has its model, its permissions and its limits. */
function isParticular(options: SpawnOptions): boolean {
  const { resume, fork, fresh, model, permissionMode, allowedTools, maxBudgetUsd, maxTurns } = options;
  const { systemPrompt, effort, onMessage } = options;
  const told = [systemPrompt, effort, onMessage];
  const wishes = [resume, fork, model, permissionMode, allowedTools, maxBudgetUsd, maxTurns, ...told];
  return fresh === true || wishes.some((wish) => wish !== undefined);
}

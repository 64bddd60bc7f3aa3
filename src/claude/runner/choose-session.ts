/** Which session a run goes to: the one that was named, or the one that the selection finds. */
import type { SessionSelection } from "../selection/selection.ts";
import { isInLane, readRuns } from "./live-runs.ts";
import type { Lane, SpawnOptions } from "./runner-contract.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { laneOf } from "./session-lease.ts";

export async function chooseSession(parts: RunnerParts, options: SpawnOptions, lane: Lane): Promise<SessionSelection> {
  if (options.fresh === true) return decision("fresh", undefined, "A fresh session was asked for.");
  if (options.resume !== undefined) return decision("resume", options.resume, "This session was asked for.");
  if (options.fork !== undefined) return decision("fork", options.fork, "A copy of this session was asked for.");
  return await selectInLane(parts, options, lane, []);
}

/** `waiting` are sessions of this lane that a process of ours has open. */
export async function selectInLane(
  parts: RunnerParts,
  { task, agentId }: SpawnOptions,
  lane: Lane,
  waiting: readonly string[],
): Promise<SessionSelection> {
  return await parts.selectSession({
    task,
    repoPath: lane.worktree,
    agentId,
    ...(lane.label === undefined ? {} : { label: lane.label }),
    besides: await runningBesides(parts, lane),
    waiting,
  });
}

/** Sessions of other labels and worktrees. */
async function runningBesides(parts: RunnerParts, lane: Lane): Promise<string[]> {
  const besides = new Set<string>();
  for (const run of await readRuns(parts.locksFolder)) {
    if (run.sessionId !== undefined && !isInLane(run, lane)) besides.add(run.sessionId);
  }
  for (const running of await parts.readRunning()) {
    if (running.cwd === undefined) continue;
    const other = await laneOf(running.cwd, undefined).catch(() => undefined);
    if (other?.worktree !== lane.worktree) besides.add(running.sessionId);
  }
  return [...besides];
}

export function decision(
  action: SessionSelection["action"],
  sessionId: string | undefined,
  reason: string,
): SessionSelection {
  return { action, ...(sessionId === undefined ? {} : { sessionId }), reason, scores: [], relevanceBy: "none" };
}

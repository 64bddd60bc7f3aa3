/** Which session a task goes to: the one the caller named, an idle one of the lane, or the selection's choice. */
import type { SessionSelection } from "../selection/selection.ts";
import { laneOf } from "./leases.ts";
import { isInLane, readRuns } from "./run-files.ts";
import type { Lane, RunnerParts, SpawnOptions } from "./runner-contract.ts";

/**
 * An idle persistent session holds the lane, so a task for the same lane would wait until it ends. If the
 * selection says that the task belongs to that session, it is sent there instead. Undefined: it is not.
 */
export async function selectWaiting(parts: RunnerParts, options: SpawnOptions): Promise<SessionSelection | undefined> {
  if (needsOwnProcess(options)) return undefined;
  const lane = await laneOf(options.repoPath, options.label?.trim());
  const state = await readLane(parts, lane, options);
  const [first] = state.waiting;
  if (first === undefined) return undefined;
  // A label names exactly one session.
  if (lane.label !== undefined) return { ...decision("continue", first, "It is open."), label: lane.label };
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

export async function chooseSession(parts: RunnerParts, options: SpawnOptions, lane: Lane): Promise<SessionSelection> {
  if (options.fresh === true) return decision("fresh", undefined, "A fresh session was asked for.");
  if (options.resume !== undefined) return decision("resume", options.resume, "This session was asked for.");
  if (options.fork !== undefined) return decision("fork", options.fork, "A copy of this session was asked for.");
  const { excluded } = await readLane(parts, lane, options);
  return await selectInLane(parts, options, lane, { excluded, waiting: [] });
}

async function selectInLane(
  parts: RunnerParts,
  { task, agentId, sessionKey, candidates }: SpawnOptions,
  { worktree, label }: Lane,
  state: LaneState,
): Promise<SessionSelection> {
  return await parts.selectSession({ task, repoPath: worktree, agentId, label, sessionKey, candidates, ...state });
}

/** What runs on this machine, as seen from one lane. */
interface LaneState {
  /** Sessions that run in other lanes. */
  excluded: string[];
  /** Idle persistent sessions of this lane with the same agent and conversation. */
  waiting: string[];
}

export async function readLane(
  { locksFolder, readRunning }: Pick<RunnerParts, "locksFolder" | "readRunning">,
  lane: Lane,
  { agentId, sessionKey }: Pick<SpawnOptions, "agentId" | "sessionKey">,
): Promise<LaneState> {
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

export function decision(
  action: SessionSelection["action"],
  sessionId: string | undefined,
  reason: string,
): SessionSelection {
  return { action, sessionId, reason, scores: [], relevanceBy: "none" };
}

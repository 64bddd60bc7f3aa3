/**
 * `holdfast/claude`: the Claude Code side of this machine, that is `$HOLDFAST_HOME`, `$CLAUDE_CONFIG_DIR` and the
 * command line's configuration. What the functions open stays open until `closeDefaultClaude`.
 */
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { ProjectStatus } from "../claude/project-status.ts";
import * as registry from "../claude/registry/registry.ts";
import * as stats from "../claude/registry/run-stats.ts";
import type { ActiveRun } from "../claude/runner/active-run.ts";
import type { ClaudeRunner } from "../claude/runner/runner.ts";
import type { SessionSelection, SelectOptions } from "../claude/selection/selection.ts";
import { resolveHome, resolveOpenClawHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import { lazyMap } from "../base/async.ts";
import { type ClaudeSide, type DiscoverChoice, type SelectChoice, openClaudeSide } from "../compose/claude.ts";
import type { RegisteredSession } from "../claude/registry/registry-file.ts";
import type { SessionSelectionConfig } from "../config/claude-code.ts";

export type { DiscoveredSession } from "../claude/discovered-session.ts";
export { markTask, readMarker } from "../claude/attribution.ts";
export { parseJsonlHeader, repoPathToSlug } from "../claude/native/scan-file.ts";
export { peekSessionHistory } from "../claude/history-peek.ts";
export { type ProjectStatus, renderProjectStatus } from "../claude/project-status.ts";
export { parseOutboundMessage } from "../claude/protocol/messages.ts";
export type { ClaudeCodeResult, LiveSession, RunnerEvent, SpawnOptions } from "../claude/runner/runner-contract.ts";
export { evaluateCases, keywordFallback } from "../claude/selection/evaluate.ts";
export { scoreOffline } from "../claude/selection/offline/score-offline.ts";
export { assessTaskRelevance } from "../claude/selection/relevance.ts";
export { scoreSession } from "../claude/selection/score.ts";
export type { SessionScore, SessionSelection, TaskRelevance } from "../claude/selection/selection.ts";

export interface DiscoverSessionsOptions extends DiscoverChoice {
  /** The calling agent, whose sessions are `this-agent`. Default: the configured default agent. */
  agentId?: string | undefined;
}

/** Lists all Claude Code sessions of a repo, or of all repos if it is undefined. */
export async function discoverSessions(
  repoPath: string | undefined,
  options: DiscoverSessionsOptions = {},
): Promise<DiscoveredSession[]> {
  const { agentId, ...choice } = options;
  return (await (await openDefault(agentId)).discover(repoPath, choice)).sessions;
}

export async function gatherProjectStatus(repoPath: string, agentId?: string): Promise<ProjectStatus> {
  return await (await openDefault(agentId)).status(repoPath);
}

/**
 * Decides whether to resume a session of the agent or to start a fresh one. Uses the branch and sessions of the
 * given status; gathers a status if there is none. An object in place of the label gives more options.
 */
export async function selectSession(
  task: string,
  repoPath: string,
  agentId: string,
  projectStatus?: ProjectStatus,
  labelOrOptions: string | SelectOptions = {},
  maxBudgetUsd?: number,
  selectionConfig?: Partial<SessionSelectionConfig>,
): Promise<SessionSelection> {
  const side = await openDefault(agentId);
  const options = typeof labelOrOptions === "string" ? { label: labelOrOptions } : labelOrOptions;
  const choice: SelectChoice = { ...options, status: projectStatus };
  if (maxBudgetUsd !== undefined) choice.maxBudgetUsd = maxBudgetUsd;
  if (selectionConfig !== undefined) choice.config = { ...side.config.sessionSelection, ...selectionConfig };
  return (await side.select(task, repoPath, choice)).selection;
}

export async function listAllSessions(): Promise<RegisteredSession[]> {
  const found = await registry.listAllSessions({ home: resolveHome(), openClawHome: resolveOpenClawHome() });
  return found.sessions;
}

/** Finds the agent's session for a repo and label in its registry or OpenClaw's. */
export async function resolveSession(agentId: string, repoPath: string, label?: string): Promise<string | undefined> {
  const places = { home: resolveHome(), openClawHome: resolveOpenClawHome(), agentId };
  return await registry.resolveSession(places, repoPath, label);
}

export async function saveSession(agentId: string, session: registry.SaveSessionOptions): Promise<void> {
  await registry.saveSession({ home: resolveHome(), agentId }, session);
}

export async function updateSessionStats(agentId: string, run: stats.RunStats): Promise<void> {
  await stats.updateSessionStats({ home: resolveHome(), agentId }, run);
}

export const spawnClaudeCode: ClaudeRunner["spawnClaudeCode"] = async (...given) =>
  await (await openRunner()).spawnClaudeCode(...given);

export const sendFollowUpAndWait: ClaudeRunner["sendFollowUpAndWait"] = async (...given) =>
  await (await openRunner()).sendFollowUpAndWait(...given);

export const stopPersistentSession: ClaudeRunner["stopPersistentSession"] = async (...given) =>
  await (await openRunner()).stopPersistentSession(...given);

export const killClaudeCode: ClaudeRunner["killClaudeCode"] = async (...given) =>
  await (await openRunner()).killClaudeCode(...given);

/** Runs of all Holdfast processes of this home. */
export const getAllLiveSessions: ClaudeRunner["getAllLiveSessions"] = async () =>
  await (await openRunner()).getAllLiveSessions();

/** Runs of this process by run id. */
export async function activeSpawns(): Promise<ReadonlyMap<string, ActiveRun>> {
  return (await openRunner()).activeSpawns;
}

export async function closeDefaultClaude(): Promise<void> {
  const sides = opened.made();
  opened.clear();
  for (const side of await sides) {
    await (await side.runner()).stopAllClaudeCode();
    side.close();
  }
}

const opened = lazyMap<string, ClaudeSide>();

async function openDefault(agentId?: string): Promise<ClaudeSide> {
  const home = resolveHome();
  const name = JSON.stringify([home, agentId]);
  return await opened.get(name, async () => {
    const { config } = await loadConfig({ env: process.env, cwd: process.cwd(), home });
    return openClaudeSide({ home, config, agentId });
  });
}

/** One runner serves all agents: each run names its own. */
async function openRunner(): Promise<ClaudeRunner> {
  return await (await openDefault()).runner();
}

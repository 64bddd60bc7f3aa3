/**
 * The Claude Code side as the package exports it. Inside Holdfast these functions get every part they
 * work with; a caller outside means this machine: `$HOLDFAST_HOME`, `$CLAUDE_CONFIG_DIR`, the
 * configuration that the command line would use. What was opened for it stays open until
 * `closeDefaultClaude`.
 */
import { type ClaudeSide, type DiscoverChoice, openClaudeSide } from "./compose-claude.ts";
import type { DiscoveredSession } from "./claude/discovered-session.ts";
import type { ProjectStatus } from "./claude/project-status.ts";
import * as registry from "./claude/registry/registry.ts";
import type { RegisteredSession } from "./claude/registry/registry-entry.ts";
import * as stats from "./claude/registry/run-stats.ts";
import type { ActiveRun } from "./claude/runner/active-run.ts";
import type { KillOptions, KilledSession } from "./claude/runner/kill.ts";
import type { FollowUpOptions } from "./claude/runner/follow-up.ts";
import type { ClaudeRunner } from "./claude/runner/runner.ts";
import type { ClaudeCodeResult, LiveSession, SpawnOptions } from "./claude/runner/runner-contract.ts";
import type { SelectOptions } from "./claude/selection/select-options.ts";
import { selectSession as decide } from "./claude/selection/select-session.ts";
import type { SessionSelection } from "./claude/selection/selection.ts";
import { resolveHome, resolveOpenClawHome } from "./config/layout.ts";
import { loadConfig } from "./config/load.ts";

export interface DiscoverSessionsOptions extends DiscoverChoice {
  /** Who asks: its sessions are `this-agent`. Left out: the configured default agent. */
  agentId?: string;
}

/** Every Claude Code session of a repo, whoever started it. `undefined`: of all repos. */
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

/** Resume a session of the agent or start afresh. Without a status, the project is looked at first. */
export async function selectSession(
  task: string,
  repoPath: string,
  agentId: string,
  projectStatus?: ProjectStatus,
  options: SelectOptions = {},
): Promise<SessionSelection> {
  if (projectStatus !== undefined && options.sessions !== undefined) {
    return await decide(task, repoPath, agentId, projectStatus, options);
  }
  return (await (await openDefault(agentId)).select(task, repoPath, options)).selection;
}

/** The sessions in the registries of all agents, Holdfast's and OpenClaw's. */
export async function listAllSessions(): Promise<RegisteredSession[]> {
  const found = await registry.listAllSessions({ home: resolveHome(), openClawHome: resolveOpenClawHome() });
  return found.sessions;
}

/** The agent's session for this repo and label, if its registry has one. */
export async function resolveSession(agentId: string, repoPath: string, label?: string): Promise<string | undefined> {
  return await registry.resolveSession({ home: resolveHome(), agentId }, repoPath, label);
}

export async function saveSession(agentId: string, session: registry.SaveSessionOptions): Promise<void> {
  await registry.saveSession({ home: resolveHome(), agentId }, session);
}

export async function updateSessionStats(agentId: string, run: stats.RunStats): Promise<void> {
  await stats.updateSessionStats({ home: resolveHome(), agentId }, run);
}

export async function spawnClaudeCode(options: SpawnOptions): Promise<ClaudeCodeResult> {
  return await (await openRunner()).spawnClaudeCode(options);
}

export async function sendFollowUpAndWait(
  sessionId: string,
  text: string,
  options: FollowUpOptions = {},
): Promise<ClaudeCodeResult> {
  return await (await openRunner()).sendFollowUpAndWait(sessionId, text, options);
}

export async function stopPersistentSession(sessionId: string): Promise<boolean> {
  return await (await openRunner()).stopPersistentSession(sessionId);
}

export async function killClaudeCode(target: string, options: KillOptions = {}): Promise<KilledSession[]> {
  return await (await openRunner()).killClaudeCode(target, options);
}

/** The runs of every Holdfast process of this home. */
export async function getAllLiveSessions(): Promise<LiveSession[]> {
  return await (await openRunner()).getAllLiveSessions();
}

/** The runs of this process, by run id. */
export async function activeSpawns(): Promise<ReadonlyMap<string, ActiveRun>> {
  return (await openRunner()).activeSpawns;
}

/** Ends what this process has started and closes what it has opened. */
export async function closeDefaultClaude(): Promise<void> {
  const sides = await Promise.all(opened.values());
  opened.clear();
  for (const side of sides) {
    await (await side.runner()).stopAllClaudeCode();
    side.close();
  }
}

const opened = new Map<string, Promise<ClaudeSide>>();

async function openDefault(agentId?: string): Promise<ClaudeSide> {
  const home = resolveHome();
  const name = JSON.stringify([home, agentId]);
  const known = opened.get(name);
  if (known !== undefined) return await known;
  const side = loadConfig({ env: process.env, cwd: process.cwd(), home }).then(({ config }) =>
    openClaudeSide({ home, config, agentId }),
  );
  opened.set(name, side);
  side.catch(() => opened.delete(name));
  return await side;
}

/** One runner for all agents: it is told whose run it is. */
async function openRunner(): Promise<ClaudeRunner> {
  return await (await openDefault()).runner();
}

/**
 * A runner with real parts for the real `claude`: locks, registry, Claude Code's own list of processes.
 * The selection is small on purpose: whoever runs here is waited for, else the registry's session of the
 * repo and label is resumed.
 */
import { join, sep } from "node:path";
import { randomIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log.ts";
import { markTask } from "../../src/claude/attribution.ts";
import { readRunningSessions } from "../../src/claude/native/running.ts";
import { listAllSessions, resolveSession, saveSession } from "../../src/claude/registry/registry.ts";
import { readSessionCosts, updateSessionStats } from "../../src/claude/registry/run-stats.ts";
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";
import type { SessionSelection } from "../../src/claude/selection/selection.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { claudeLayout } from "../../src/config/layout.ts";
import type { McpServerCommand, RunnerParts } from "../../src/claude/runner/runner-contract.ts";

/** Can be handed to another process as JSON. */
export interface TestRunnerSetup {
  command: string;
  configDir: string;
  home: string;
  env: Record<string, string>;
  /** What is left of a session that Claude Code has lost. */
  history?: string;
  idleTimeoutMinutes?: number;
  progressSeconds?: number;
  mcpServer?: McpServerCommand;
}

export function testRunnerParts(setup: TestRunnerSetup): RunnerParts {
  const home = join(setup.home, ".holdfast");
  const { mcpServer } = setup;
  const readRunning = async () => await readRunningSessions(setup.configDir);
  return {
    locksFolder: claudeLayout(home).locksFolder,
    configOf: () => ({
      ...DEFAULT_CONFIG.claudeCode,
      command: setup.command,
      permissionMode: "bypassPermissions",
      idleTimeoutMinutes: setup.idleTimeoutMinutes ?? 30,
      progressSeconds: setup.progressSeconds ?? 30,
    }),
    env: setup.env,
    log: silentLogger,
    ids: randomIds,
    startProcess: startClaudeProcess,
    readRunning,
    markTask,
    peekHistory: async () => setup.history,
    ...(mcpServer === undefined ? {} : { mcpServer: () => mcpServer }),
    registry: {
      saveSession: async (agentId, session) => await saveSession({ home, agentId }, session),
      updateSessionStats: async (agentId, stats) => await updateSessionStats({ home, agentId }, stats),
      readSessionCosts: async (agentId, sessionId) => await readSessionCosts({ home, agentId }, sessionId),
    },
    selectSession: async ({ repoPath, agentId, label, excluded, waiting }) => {
      const none = { scores: [], relevanceBy: "none" as const };
      const known = await resolveSession({ home, agentId }, repoPath, label);
      if (known !== undefined && waiting.includes(known)) {
        return { ...none, action: "continue", sessionId: known, reason: "It is open." };
      }
      const here = (await readRunning()).find(
        (one) => !excluded.includes(one.sessionId) && `${one.cwd ?? ""}${sep}`.startsWith(`${repoPath}${sep}`),
      );
      const decision: SessionSelection =
        here !== undefined && label === undefined
          ? { ...none, action: "queue", sessionId: here.sessionId, reason: `Process ${here.pid} runs here.` }
          : known === undefined
            ? { ...none, action: "fresh", reason: "There is none." }
            : { ...none, action: "resume", sessionId: known, reason: "The registry has it." };
      return decision;
    },
  };
}

/** The registry's figures of a session. */
export async function registeredCost(setup: TestRunnerSetup, sessionId: string): Promise<number | undefined> {
  const { sessions } = await listAllSessions({ home: join(setup.home, ".holdfast") });
  return sessions.find((one) => one.sessionId === sessionId)?.totalCostUsd;
}

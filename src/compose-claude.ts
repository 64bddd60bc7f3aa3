/**
 * Builds the Claude Code side for commands, the MCP bridge and the library: where its files are, which
 * configuration an agent has, and the parts that work on them. Parts are loaded when they are used.
 */

import { dirname } from "node:path";
import { type Clock, systemClock } from "./base/clock.ts";

import { ensurePrivateFolder } from "./base/files.ts";
import { type Ids, randomIds } from "./base/ids.ts";
import { type Logger, createLogger } from "./base/log.ts";
import { programFile } from "./base/package.ts";
import type { DiscoveredSession } from "./claude/discovered-session.ts";
import type { DiscoverOptions, Discovery, DiscoveryTexts } from "./claude/discovery/discover.ts";
import type { NativeIndex } from "./claude/index/native-index.ts";
import { resolveClaudeHome } from "./claude/native/layout.ts";
import type { ProjectStatus } from "./claude/project-status.ts";
import type { ClaudeRunner } from "./claude/runner/runner.ts";
import type { SelectOptions } from "./claude/selection/select-options.ts";
import type { SessionSelection } from "./claude/selection/selection.ts";
import type { ClaudeCodeConfig, HoldfastConfig } from "./config/config.ts";
import { type Environment, claudeLayout, resolveOpenClawHome } from "./config/layout.ts";
import { mergeClaudeConfig } from "./config/merge.ts";
import { normalizeAgentId } from "./keys/names.ts";
import type { GithubReader } from "./project/github-status.ts";

export interface OpenClaudeOptions {
  home: string;
  config: HoldfastConfig;
  /** Who asks. Left out: the configured default agent. */
  agentId?: string | undefined;
  env?: Environment;
  clock?: Clock;
  ids?: Ids;
  logger?: Logger;
}

/** Everything about native sessions, as one agent sees it. Close it when done. */
export interface ClaudeSide {
  agentId: string;
  home: string;
  claudeHome: string;
  /** With what the agent does differently. */
  config: ClaudeCodeConfig;
  index(): Promise<NativeIndex>;
  /** `repoPath` undefined: every repo. */
  discover(repoPath: string | undefined, options?: DiscoverChoice): Promise<Discovery>;
  /** The same without a limit, the rows as JSON: for whoever passes thousands of them on. */
  discoverTexts(repoPath: string | undefined, options?: Omit<DiscoverChoice, "limit">): Promise<DiscoveryTexts>;
  /** By id or the start of it. */
  find(idOrPrefix: string, options?: DiscoverChoice): Promise<DiscoveredSession>;
  status(repoPath: string, options?: { github?: false }): Promise<ProjectStatus>;
  select(task: string, repoPath: string, options?: SelectOptions): Promise<ClaudeDecision>;
  runner(): Promise<ClaudeRunner>;
  close(): void;
}

export type DiscoverChoice = Omit<DiscoverOptions, "index" | "claudeHome" | "home" | "openClawHome" | "agentId">;

export interface ClaudeDecision {
  selection: SessionSelection;
  /** What was chosen from. */
  sessions: DiscoveredSession[];
  repoPath: string;
}

const CAPTURE_MS = 3000;

export function openClaudeSide(options: OpenClaudeOptions): ClaudeSide {
  const { home, config, env = process.env, clock = systemClock, ids = randomIds } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const agentId = normalizeAgentId(options.agentId ?? config.defaultAgent);
  const claude = mergeClaudeConfig(config, agentId);
  const claudeHome = resolveClaudeHome(env);
  const openClawHome = resolveOpenClawHome(env);
  const layout = claudeLayout(home);
  let index: Promise<NativeIndex> | undefined;
  let runner: Promise<ClaudeRunner> | undefined;
  let github: GithubReader | undefined;

  const openIndex = async (): Promise<NativeIndex> => {
    const { createNativeIndex } = await import("./claude/index/create-native-index.ts");
    await ensurePrivateFolder(dirname(layout.index));
    return createNativeIndex({ path: layout.index, claudeHome, logger });
  };
  const discoverOptions = async (choice: DiscoverChoice = {}): Promise<DiscoverOptions> => ({
    maxBudgetUsd: claude.maxBudgetUsd,
    ...choice,
    index: await side.index(),
    claudeHome,
    home,
    openClawHome,
    agentId,
  });
  const findByLabel = async (repoPath: string, label: string): Promise<string | undefined> => {
    const [{ resolveSession }, { laneOf }] = await Promise.all([
      import("./claude/registry/registry.ts"),
      import("./claude/runner/session-lease.ts"),
    ]);
    // A label belongs to the worktree in which its session works.
    const { worktree } = await laneOf(repoPath, label);
    return await resolveSession({ home, agentId }, worktree, label);
  };

  const side: ClaudeSide = {
    agentId,
    home,
    claudeHome,
    config: claude,
    index: async () => await (index ??= openIndex()),
    async discover(repoPath, choice) {
      const { discover } = await import("./claude/discovery/discover.ts");
      return await discover(repoPath, await discoverOptions(choice));
    },
    async discoverTexts(repoPath, choice) {
      const { discoverTexts } = await import("./claude/discovery/discover.ts");
      return await discoverTexts(repoPath, await discoverOptions(choice));
    },
    async find(idOrPrefix, choice) {
      const { findDiscovered } = await import("./claude/discovery/find-session.ts");
      return await findDiscovered(idOrPrefix, await discoverOptions(choice));
    },
    async status(repoPath, choice = {}) {
      const [{ gatherProjectStatus }, { createGithubReader }] = await Promise.all([
        import("./claude/project-status.ts"),
        import("./project/github-status.ts"),
      ]);
      // One reader for all calls: it keeps GitHub's answers for a minute.
      github ??= createGithubReader({ env, clock });
      return await gatherProjectStatus(repoPath, {
        agentId,
        env,
        clock,
        github: choice.github ?? github,
        discover: async (path) => (await side.discover(path)).sessions,
      });
    },
    async select(task, repoPath, choice = {}) {
      const [{ selectSession }, { relevanceModel }, { sessions, repoPath: root = repoPath }, status] =
        await Promise.all([
          import("./claude/selection/select-session.ts"),
          import("./claude/selection/relevance.ts"),
          side.discover(repoPath),
          // What GitHub says plays no part in the decision.
          side.status(repoPath, { github: false }),
        ]);
      const { sessionSelection, maxBudgetUsd } = claude;
      const selection = await selectSession(task, repoPath, agentId, status, {
        sessions,
        config: sessionSelection,
        maxBudgetUsd,
        model: relevanceModel(sessionSelection, { providers: config.providers, models: config.models, env, logger }),
        findByLabel: async (label) => await findByLabel(repoPath, label),
        now: clock.now(),
        logger,
        ids,
        ...choice,
      });
      return { selection, sessions, repoPath: root };
    },
    runner: async () => await (runner ??= openRunner()),
    close() {
      void index?.then((opened) => opened.close());
    },
  };
  return side;

  async function openRunner(): Promise<ClaudeRunner> {
    const [
      { createClaudeRunner },
      { startClaudeProcess },
      registry,
      stats,
      { markTask },
      { peekSessionHistory },
      { readRunningSessions },
      { TOOL_NAMES },
    ] = await Promise.all([
      import("./claude/runner/runner.ts"),
      import("./claude/runner/process/start-claude-process.ts"),
      import("./claude/registry/registry.ts"),
      import("./claude/registry/run-stats.ts"),
      import("./claude/attribution.ts"),
      import("./claude/history-peek.ts"),
      import("./claude/native/running.ts"),
      import("./mcp/tool-names.ts"),
    ]);
    return createClaudeRunner({
      locksFolder: layout.locksFolder,
      configOf: (id) => mergeClaudeConfig(config, id),
      env,
      log: logger,
      ids,
      startProcess: startClaudeProcess,
      readRunning: async () => await readRunningSessions(claudeHome),
      selectSession: async ({ task, repoPath, agentId: asking, label, besides, waiting }) => {
        const asked = asking === agentId ? side : openClaudeSide({ ...options, agentId: asking });
        try {
          return (await asked.select(task, repoPath, { label, besides, waiting })).selection;
        } finally {
          if (asked !== side) asked.close();
        }
      },
      markTask,
      peekHistory: async (sessionId) => {
        const session = await side.find(sessionId).catch(() => undefined);
        return session?.transcriptPath === undefined ? undefined : await peekSessionHistory(session.transcriptPath);
      },
      registry: {
        saveSession: async (id, session) => await registry.saveSession({ home, agentId: id, clock }, session),
        updateSessionStats: async (id, run) => await stats.updateSessionStats({ home, agentId: id, clock }, run),
        readSessionCosts: async (id, sessionId) => await stats.readSessionCosts({ home, agentId: id }, sessionId),
      },
      mcpServer: ({ agentId: id, repoPath, sessionKey }) => ({
        command: process.execPath,
        args: [programFile(), "mcp", "--agent", id, "--repo", repoPath, ...valueOf("--session", sessionKey)],
        env: { HOLDFAST_HOME: home },
        tools: TOOL_NAMES,
      }),
      onEnded: async ({ sessionId, cwd }) => {
        const [{ captureNative }, { within }] = await Promise.all([
          import("./compose-handoff.ts"),
          import("./base/within.ts"),
        ]);
        // Whoever waits for the result does not wait for long; what is missed is captured after the fact.
        await within(CAPTURE_MS, captureNative({ home, config, env, logger, sessionId, cwd }));
      },
    });
  }
}

/** In one argument: a value that starts with a dash is none of its own. */
function valueOf(option: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${option}=${value}`];
}

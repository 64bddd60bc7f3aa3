/**
 * Builds the Claude Code side for commands, the MCP bridge and the library: the index of native sessions,
 * discovery, selection and the runner, as one agent sees them. Parts are loaded when they are used.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { type Ids, randomIds } from "../base/ids.ts";
import { type Logger, createLogger } from "../base/log.ts";
import { programFile } from "../base/package.ts";
import type { ClaudeDecision, ClaudeSide, DiscoverChoice, SelectChoice } from "../claude/claude-side.ts";
import { type DiscoveredSession, countedCost } from "../claude/discovered-session.ts";
import type { DiscoverOptions } from "../claude/discovery/discover.ts";
import type { NativeIndex } from "../claude/index/native-index.ts";
import { resolveClaudeHome, type RunningSession } from "../claude/native/layout.ts";
import type { ProjectStatus } from "../claude/project-status.ts";
import type { RegistryProblem } from "../claude/registry/registry.ts";
import type { SessionCosts } from "../claude/registry/run-stats.ts";
import type { ClaudeRunner } from "../claude/runner/runner.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type Environment, claudeLayout, resolveOpenClawHome } from "../config/layout.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { GithubReader } from "../project/github-status.ts";
import { lazy } from "../base/async.ts";
import { mergeClaudeConfig } from "../config/load.ts";
import { openSharedRegistry } from "./shared-registry.ts";

export type { ClaudeSide, DiscoverChoice, SelectChoice } from "../claude/claude-side.ts";

export interface OpenClaudeOptions {
  home: string;
  config: HoldfastConfig;
  /** Default: the configured default agent. */
  agentId?: string | undefined;
  env?: Environment | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

const CAPTURE_MS = 3000;
const MAX_HANDOFFS = 1000;
const BUSY_MS = 200;

export function openClaudeSide(options: OpenClaudeOptions): ClaudeSide {
  const { home, config, env = process.env, clock = systemClock, ids = randomIds } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const agentId = normalizeAgentId(options.agentId ?? config.defaultAgent);
  const claude = mergeClaudeConfig(config, agentId);
  const claudeHome = resolveClaudeHome(env);
  const openClawHome = resolveOpenClawHome(env);
  const layout = claudeLayout(home);
  let github: GithubReader | undefined;

  const index = lazy(async (): Promise<NativeIndex> => {
    const { createNativeIndex } = await import("../claude/index/create-native-index.ts");
    try {
      await ensurePrivateFolder(dirname(layout.index));
      return createNativeIndex({ path: layout.index, claudeHome, logger });
    } catch (error) {
      const { IN_MEMORY, isForbidden } = await import("../base/derived-database.ts");
      if (!isForbidden(error)) throw error;
      return createNativeIndex({ path: IN_MEMORY, claudeHome, logger });
    }
  });
  const runner = lazy(openRunner);
  const shared = openSharedRegistry({ home, config, clock, logger });
  const discoverOptions = async (choice: DiscoverChoice = {}): Promise<DiscoverOptions> => {
    await shared?.restore();
    return {
      maxBudgetUsd: claude.maxBudgetUsd,
      ...choice,
      index: await side.index(),
      claudeHome,
      home,
      openClawHome,
      agentId,
    };
  };
  const readRunning = async (): Promise<RunningSession[]> => {
    const { readRunningSessions } = await import("../claude/native/layout.ts");
    return await readRunningSessions(claudeHome);
  };
  /** The registries know most chats; older ones are only in the session stores. */
  const markChats = async (sessions: readonly DiscoveredSession[]): Promise<void> => {
    const { addConversations } = await import("../claude/discovery/session-row.ts");
    await addConversations(sessions, async () => {
      const { readConversations } = await import("./agent.ts");
      return await readConversations({ home, config, openClawHome });
    });
  };

  const side: ClaudeSide = {
    agentId,
    home,
    claudeHome,
    config: claude,
    index: () => index.get(),
    async discover(repoPath, choice) {
      const { discover } = await import("../claude/discovery/discover.ts");
      const found = await discover(repoPath, await discoverOptions(choice));
      await markChats(found.sessions);
      return found;
    },
    async discoverTexts(repoPath, choice) {
      const { discoverTexts } = await import("../claude/discovery/discover.ts");
      return await discoverTexts(repoPath, await discoverOptions(choice));
    },
    async find(idOrPrefix, choice) {
      const { findDiscovered } = await import("../claude/discovery/discover.ts");
      const session = await findDiscovered(idOrPrefix, await discoverOptions(choice));
      await markChats([session]);
      return session;
    },
    async status(repoPath, choice = {}) {
      const [{ gatherProjectStatus }, { createGithubReader }] = await Promise.all([
        import("../claude/project-status.ts"),
        import("../project/github-status.ts"),
      ]);
      // One reader for all calls, because it caches GitHub's answers for a minute.
      github ??= createGithubReader({ env, clock });
      return await gatherProjectStatus(repoPath, {
        agentId,
        env,
        clock,
        github: choice.github ?? github,
        discover: async (path) => {
          const sessions = await (choice.sessions?.() ?? side.discover(path).then((found) => found.sessions));
          return sessions.filter(choice.mayShow ?? (() => true));
        },
      });
    },
    select,
    async decisions(about = {}) {
      const { readRegistries } = await import("../claude/registry/registry.ts");
      await shared?.restore();
      const { registries } = await readRegistries({ home });
      return registries
        .filter(({ agentId: id }) => about.agentId === undefined || id === normalizeAgentId(about.agentId))
        .flatMap(({ decisions }) => decisions)
        .filter(({ sessionId }) => about.sessionId === undefined || sessionId === about.sessionId)
        .toSorted((a, b) => (a.at < b.at ? -1 : 1));
    },
    async liveRun(sessionId) {
      const { readRuns, toLiveSession } = await import("../claude/runner/run-files.ts");
      const run = (await readRuns(layout.locksFolder)).find((one) => one.sessionId === sessionId.toLowerCase());
      return run === undefined ? undefined : toLiveSession(run);
    },
    runner: () => runner.get(),
    close() {
      void index.made().then((opened) => opened?.close());
    },
  };
  return side;

  async function select(task: string, repoPath: string, choice: SelectChoice = {}): Promise<ClaudeDecision> {
    const [{ selectSession, findLabelled }, { relevanceModels }, { readLane }, { laneOf }] = await Promise.all([
      import("../claude/selection/select-session.ts"),
      import("../claude/selection/relevance.ts"),
      import("../claude/runner/reservation.ts"),
      import("../claude/runner/leases.ts"),
    ]);
    const { status: given, ...options } = choice;
    // A label belongs to the worktree of its session.
    const label = choice.label?.trim();
    const lane = await laneOf(repoPath, label).catch(() => ({ worktree: repoPath, label }));
    const finding = given === undefined && options.sessions === undefined ? side.discover(repoPath) : undefined;
    const known = finding && (async () => (await finding).sessions);
    const [found, status, running, openHandoffs] = await Promise.all([
      finding,
      // GitHub plays no part in the decision.
      given ?? side.status(repoPath, { github: false, sessions: known }),
      readLane({ locksFolder: layout.locksFolder, readRunning }, lane, { agentId, sessionKey: options.sessionKey }),
      readOpenHandoffs(),
    ]);
    const sessions = found?.sessions ?? sessionsOf(status, options.sessions);
    if (found === undefined) await markChats(sessions);
    const { git } = status;
    const active = given === undefined ? status.sessions.active : sessions.filter(({ isRunning }) => isRunning);
    const project = { git, sessions: { active, recent: [], ownRecent: [] } };
    const { maxBudgetUsd } = claude;
    const { providers, models } = config;
    const sessionSelection = options.config ?? claude.sessionSelection;
    const selection = await selectSession(task, repoPath, agentId, project, {
      config: sessionSelection,
      maxBudgetUsd,
      model: relevanceModels(sessionSelection, { providers, models, env, logger, command: claude.command }),
      findByLabel: async (name) => {
        const registered = await findByLabel(lane.worktree, name, sessions);
        // The given sessions may have labels that are in no registry.
        return registered ?? (found === undefined ? findLabelled(sessions, name, agentId)?.sessionId : undefined);
      },
      now: clock.now(),
      logger,
      ids,
      waiting: running.waiting,
      ...options,
      sessions,
      excluded: [...running.excluded, ...(options.excluded ?? [])],
      evidence: options.evidence !== false && { hasOpenHandOff: (id) => openHandoffs.has(id), ...options.evidence },
    });
    const reason = selection.reason + unreadNote(found?.problems ?? []);
    return { selection: { ...selection, reason }, sessions, repoPath: found?.repoPath ?? repoPath };
  }

  /** The session with this label that was used last and that Claude Code can still open. */
  async function findByLabel(
    worktree: string,
    label: string,
    sessions: readonly DiscoveredSession[],
  ): Promise<string | undefined> {
    const [{ findRegistered }, { isResumable }] = await Promise.all([
      import("../claude/registry/registry.ts"),
      import("../claude/selection/select-session.ts"),
    ]);
    const ids = (await findRegistered({ home, openClawHome, agentId }, worktree, label)).map((one) => one.sessionId);
    const lost = new Set(sessions.filter((session) => !isResumable(session)).map(({ sessionId }) => sessionId));
    return ids.find((id) => !lost.has(id)) ?? ids[0];
  }

  /** Ids of Claude Code sessions with an open hand-off. The default agent keeps these. */
  async function readOpenHandoffs(): Promise<ReadonlySet<string>> {
    if (!config.handoff.enabled) return new Set();
    const [{ readHandoffs }, { nativeSessionKey }, { isOpenHandoff, readState }] = await Promise.all([
      import("./agent.ts"),
      import("../handoff/handoff.ts"),
      import("../handoff/kept-state.ts"),
    ]);
    const keeper = normalizeAgentId(config.defaultAgent);
    const prefix = nativeSessionKey(keeper, "");
    const query = { home, config, agentId: keeper, prefix, limit: MAX_HANDOFFS, busyMs: BUSY_MS };
    const kept = await readHandoffs(query).catch((error: unknown) => {
      logger.warn("hand-offs could not be read", { error });
      return [];
    });
    const states = kept.flatMap(({ state }) => readState(state) ?? []);
    return new Set(states.filter((one) => isOpenHandoff(one, clock.now())).map((one) => one.previousSessionId));
  }

  /** The larger of the registries' sum and the cost by list prices, because a budget counts all known costs. */
  async function readSessionCosts(id: string, sessionId: string): Promise<SessionCosts | undefined> {
    const { readSessionCosts: read } = await import("../claude/registry/run-stats.ts");
    const [own, session] = await Promise.all([
      read({ home, agentId: id }, sessionId),
      side.find(sessionId).catch(() => undefined),
    ]);
    const totalUsd = Math.max(own?.totalUsd ?? 0, session === undefined ? 0 : (countedCost(session) ?? 0));
    const reportedUsd = own?.reportedUsd ?? session?.totalCostUsd;
    return own === undefined && session === undefined ? undefined : { totalUsd, reportedUsd };
  }

  async function costElsewhere(id: string, sessionId: string): Promise<number> {
    const { mergeRegistered, readRegistries, registryPath } = await import("../claude/registry/registry.ts");
    const own = registryPath({ home, agentId: id });
    const { registries } = await readRegistries({ home, openClawHome });
    const others = mergeRegistered(registries.filter(({ path }) => path !== own));
    return others.get(sessionId)?.totalCostUsd ?? 0;
  }

  async function openRunner(): Promise<ClaudeRunner> {
    const [{ createClaudeRunner }, { startClaudeProcess }, registry, stats, { markTask }, { TOOL_NAMES }] =
      await Promise.all([
        import("../claude/runner/runner.ts"),
        import("../claude/runner/process/start-claude-process.ts"),
        import("../claude/registry/registry.ts"),
        import("../claude/registry/run-stats.ts"),
        import("../claude/attribution.ts"),
        import("../mcp/bridge-parts.ts"),
      ]);
    return createClaudeRunner({
      locksFolder: layout.locksFolder,
      configOf: (id) => mergeClaudeConfig(config, id),
      env,
      log: logger,
      ids,
      startProcess: startClaudeProcess,
      readRunning,
      selectSession: async ({ task, repoPath, agentId: asking, ...request }) => {
        const asked = asking === agentId ? side : openClaudeSide({ ...options, agentId: asking });
        try {
          return (await asked.select(task, repoPath, request)).selection;
        } finally {
          if (asked !== side) asked.close();
        }
      },
      markTask,
      peekHistory: async (sessionId) => {
        const { peekSessionHistory } = await import("../claude/history-peek.ts");
        const session = await side.find(sessionId).catch(() => undefined);
        return session?.transcriptPath === undefined ? undefined : await peekSessionHistory(session.transcriptPath);
      },
      conversationOf: async (sessionId) => (await side.find(sessionId).catch(unlessUnknown))?.conversation,
      registry: {
        saveSession: async (id, session) => {
          await shared?.restore();
          await registry.saveSession({ home, agentId: id, clock }, session);
          await shared?.save(id);
        },
        updateSessionStats: async (id, run) => {
          const elsewhereUsd = await costElsewhere(id, run.forkedFrom ?? run.sessionId);
          await stats.updateSessionStats({ home, agentId: id, clock }, { ...run, elsewhereUsd });
          await shared?.save(id);
        },
        readSessionCosts,
      },
      mcpServer: ({ agentId: id, repoPath, sessionKey }) => ({
        command: process.execPath,
        args: [programFile(), "mcp", "--agent", id, "--repo", repoPath].concat(
          // One argument, so that a key that starts with a dash is not read as an option.
          sessionKey === undefined ? [] : `--session=${sessionKey}`,
        ),
        env: { HOLDFAST_HOME: home },
        tools: TOOL_NAMES,
      }),
      onEnded: async ({ sessionId, cwd }) => {
        const [{ captureNative }, { within }] = await Promise.all([import("./handoff.ts"), import("../base/async.ts")]);
        // The caller waits for the result. A hand-off that is missed is captured later.
        await within(CAPTURE_MS, captureNative({ home, config, env, logger, sessionId, cwd }));
      },
    });
  }
}

/** A registry says which sessions are labelled or another agent's, so a decision without it may be wrong. */
function unreadNote(problems: readonly RegistryProblem[]): string {
  if (problems.length === 0) return "";
  const files = problems.map(({ path }) => path).join(", ");
  return ` Decided without ${files}, which cannot be read: labelled sessions and those of other agents may be among the candidates.`;
}

/** The sessions that a caller gives, in a list or in a status. They may have only the fields of the RFC. */
function sessionsOf({ sessions }: ProjectStatus, listed?: readonly DiscoveredSession[]): DiscoveredSession[] {
  const { active, recent, ownRecent } = sessions;
  const running = active.map((session) => ({ ...session, isRunning: true }));
  const known = [...(listed ?? [...ownRecent, ...recent]), ...running].map((session) => ({
    ...EMPTY_FIELDS,
    ...session,
  }));
  return [...new Map(known.map((session) => [session.sessionId, session])).values()];
}

const EMPTY_FIELDS: Partial<DiscoveredSession> = {
  branches: [],
  cwds: [],
  prompts: [],
  models: [],
  filesTouched: [],
  contextTokens: 0,
  damagedLines: 0,
};

function unlessUnknown(error: unknown): undefined {
  if (error instanceof HoldfastError && error.kind === "not-found") return undefined;
  throw error;
}

/**
 * Builds the agents of a process: their stores, what waits for their next turns, their workspaces, tools
 * and engines. An agent is opened by the first message for it, an engine's packages by its first turn.
 */
import type { Clock } from "./base/clock.ts";
import { HoldfastError } from "./base/errors.ts";
import { ensurePrivateFolder } from "./base/files.ts";
import type { Logger } from "./base/log.ts";
import { createKeyedMutex } from "./base/mutex.ts";
import { closestMatch } from "./base/suggest.ts";
import type { ClaudeRunner } from "./claude/runner/runner.ts";
import type { ClaudeSide } from "./compose-claude.ts";
import { type Recall, openContinuity } from "./compose-handoff.ts";
import { listAgentIds, openAgent } from "./compose.ts";
import type { EngineName, HoldfastConfig } from "./config/config.ts";
import { type Environment, agentLayout, cacheFolder, searchIndexFile } from "./config/layout.ts";
import type { Engine } from "./engine/engine.ts";
import type { ToolTable } from "./engine/tools/agent-tool.ts";
import type { SearchMemory } from "./engine/tools/memory-search.ts";
import { normalizeAgentId } from "./keys/names.ts";
import type { SearchIndex } from "./memory/search-index.ts";
import type { AgentHandle } from "./session/agent-handle.ts";
import type { AgentPool } from "./turn/pools.ts";
import type { AgentParts } from "./turn/turn.ts";

export interface OpenAgentsOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  clock: Clock;
  logger: Logger;
  /** `thread` keeps disk waits off the event loop of a long-running process. */
  execution: "inline" | "thread";
  claude(agentId: string): ClaudeSide;
}

/** What an agent answers with: as configured, else its model, else the echo engine. */
export function engineNameOf(config: HoldfastConfig, agentId: string): EngineName {
  const agent = config.agents[agentId];
  return agent?.engine ?? (agent?.model === undefined ? "echo" : "model");
}

export function createAgentPool(options: OpenAgentsOptions): AgentPool {
  const { home, config } = options;
  const opening = new Map<string, Promise<OpenedAgent>>();
  const opened: AgentParts[] = [];
  let index: Promise<SearchIndex> | undefined;
  const openIndex = async (): Promise<SearchIndex> => await (index ??= openSearchIndex(options));

  const list = async (): Promise<string[]> => {
    const known = [config.defaultAgent, ...Object.keys(config.agents), ...(await listAgentIds(home))];
    return [...new Set(known)].toSorted();
  };
  const open = async (agentId: string): Promise<OpenedAgent> => {
    await requireAgent({ list }, agentId);
    const agent = await openParts(agentId, options, openIndex);
    opened.push(agent.parts);
    return agent;
  };

  return {
    list,
    opened: () => opened,
    open: async (name) => {
      const agentId = normalizeAgentId(name);
      const known = opening.get(agentId);
      if (known !== undefined) return (await known).parts;
      const agent = open(agentId);
      opening.set(agentId, agent);
      // What failed is tried again by whoever asks next.
      agent.catch(() => opening.delete(agentId));
      return (await agent).parts;
    },
    close: async () => {
      const agents = await Promise.allSettled(opening.values());
      await Promise.allSettled(
        agents.map(async (agent) => agent.status === "fulfilled" && (await agent.value.close())),
      );
      (await index?.catch(() => undefined))?.close();
    },
  };
}

/** Rejects, with advice, when there is no such agent. */
export async function requireAgent({ list }: Pick<AgentPool, "list">, agentId: string): Promise<void> {
  const known = await list();
  if (!known.includes(agentId)) throw unknownAgent(agentId, known);
}

interface OpenedAgent {
  parts: AgentParts;
  close(): Promise<void>;
}

async function openParts(
  agentId: string,
  options: OpenAgentsOptions,
  openIndex: () => Promise<SearchIndex>,
): Promise<OpenedAgent> {
  const { home, config, clock, logger, execution } = options;
  const [{ openPendingDatabase }, { createGroupHistory }, { createSystemEvents }, workspaces, ensure, parked] =
    await Promise.all([
      import("./turn/body/pending-database.ts"),
      import("./turn/body/group-history.ts"),
      import("./turn/body/system-events.ts"),
      import("./engine/workspace/workspace-description.ts"),
      import("./engine/workspace/ensure-workspace.ts"),
      import("./transcript/parked-transcripts.ts"),
    ]);
  // An agent that cannot be opened is tried again and again: each attempt gives back what it has opened.
  await using opened = new AsyncDisposableStack();
  const agent = await openAgent({ home, config, agentId, clock, logger, execution });
  opened.defer(async () => await agent.store.close());
  await ensure.ensureWorkspace(agent.workspace);
  const database = await openPendingDatabase({ path: agentLayout(home, agentId).pending, clock, logger });
  opened.defer(() => database.close());
  const transcripts = parked.createParkedTranscripts();
  opened.defer(async () => await transcripts.close());
  const continuity = await openContinuity({ home, config, env: options.env, agent });
  opened.defer(async () => await continuity.close());
  const engine = await openEngine(agent, options, openIndex, continuity.recall);
  opened.defer(async () => await engine.close());
  const now = clock.now.bind(clock);
  const description = workspaces.createWorkspaceDescription({ workspace: agent.workspace, logger, clock });
  const parts: AgentParts = {
    agent,
    config,
    engine,
    history: createGroupHistory({ database, now, limit: config.groups.historyLimit }),
    systemEvents: createSystemEvents({ database, now }),
    transcripts,
    describeWorkspace: async () => await description.describe(),
    ...continuity.parts,
  };
  const kept = opened.move();
  return { parts, close: async () => await kept.disposeAsync() };
}

async function openEngine(
  agent: AgentHandle,
  options: OpenAgentsOptions,
  openIndex: () => Promise<SearchIndex>,
  recall: Recall,
): Promise<Engine> {
  const { config, env, clock, logger } = options;
  const claude = options.claude(agent.agentId);
  const name = engineNameOf(config, agent.agentId);
  if (name === "claude-code") {
    const { createClaudeCodeEngine } = await import("./engine/claude-code/claude-code.ts");
    const runner = async (): Promise<ClaudeRunner> => await claude.runner();
    return createClaudeCodeEngine({ runner, configOf: () => claude.config, logger, clock, recall });
  }
  const tools = await openTools(agent, claude, openIndex);
  if (name === "model") {
    const { createModelEngine } = await import("./engine/model/model-engine.ts");
    const { providers, models } = config;
    return createModelEngine({ providers, models, env, logger, clock, tools });
  }
  const { createEchoEngine } = await import("./engine/echo/echo.ts");
  return createEchoEngine({ clock, logger, toolsOf: () => tools });
}

async function openTools(
  agent: AgentHandle,
  claude: ClaudeSide,
  openIndex: () => Promise<SearchIndex>,
): Promise<ToolTable> {
  const { createWorkspaceTools } = await import("./engine/tools/workspace-tools.ts");
  return createWorkspaceTools({
    workspace: agent.workspace,
    searchMemory: createMemorySearcher(agent, openIndex),
    listSessions: async ({ limit }) => {
      const { toListRow } = await import("./mcp/tools/session-row.ts");
      const found = await claude.discover(agent.workspace, { limit });
      return { ...found, sessions: found.sessions.slice(0, limit).map(toListRow) };
    },
  });
}

/** How long bringing the index up to date may hold up a search; what is left is done by the next. */
const REFRESH_MS = 1000;

function createMemorySearcher(agent: AgentHandle, openIndex: () => Promise<SearchIndex>): SearchMemory {
  const turns = createKeyedMutex();
  return async ({ text, maxResults, minScore }) => {
    const [{ searchMemory }, index] = await Promise.all([import("./memory/search-memory.ts"), openIndex()]);
    const { agentId, workspace } = agent;
    return await turns.run("refresh", async () => {
      await index.refresh({ sources: { agents: [{ agentId, workspace }] }, budgetMs: REFRESH_MS });
      return searchMemory(index, { text, agentId, maxResults, minScore });
    });
  };
}

async function openSearchIndex({ home, clock, logger }: OpenAgentsOptions): Promise<SearchIndex> {
  const { createSearchIndex } = await import("./memory/search-index.ts");
  await ensurePrivateFolder(cacheFolder(home));
  return await createSearchIndex({ path: searchIndexFile(home), clock, logger });
}

function unknownAgent(agentId: string, known: readonly string[]): HoldfastError {
  const suggestion = closestMatch(agentId, known);
  return new HoldfastError("not-found", "agent-not-found", `There is no agent "${agentId}"`, {
    hint: `${suggestion === undefined ? "" : `Did you mean "${suggestion}"? `}Add one with \`holdfast agents add ${agentId}\`.`,
    data: { agentId, known: [...known] },
  });
}

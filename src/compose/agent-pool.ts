/**
 * Builds the agents of a process with their stores, workspaces, tools and engines. The first message for an
 * agent opens it; the first turn loads the packages of its engine.
 */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { Logger } from "../base/log.ts";
import type { ClaudeRunner } from "../claude/runner/runner.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import { type Recall, openContinuity } from "./handoff.ts";
import { listAgentIds, openAgent } from "./agent.ts";
import { ENGINE_NAMES, isOwnEngine } from "../config/choices.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type Environment, cacheFolder, searchIndexFile } from "../config/layout.ts";
import type { Engine, OpenEngine } from "../engine/engine.ts";
import type { ToolTable } from "../engine/tools/agent-tool.ts";
import { isGroupMessage } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { ParkedTranscripts } from "../transcript/parked-transcripts.ts";
import type { AgentPool, AgentParts, AgentTasks, Pipeline } from "../turn/pipeline.ts";
import { TASK_KEYS, type TaskDesk } from "../tasks/task.ts";
import type { MessengerOptions } from "../tasks/task-messenger.ts";
import type { DeliveryTarget, OutboxDraft } from "../store/queues.ts";
import { lazy, lazyMap, createKeyedMutex } from "../base/async.ts";
import { closestMatch } from "../base/text.ts";
import type { SearchMemory } from "../engine/tools/workspace-tools.ts";
import type { SessionToolsOptions, SpawnTask } from "../engine/tools/session-tools.ts";

export interface OpenAgentsOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  clock: Clock;
  logger: Logger;
  /** `thread` keeps disk waits off the event loop of a long-running process. */
  execution: "inline" | "thread";
  claude(agentId: string): ClaudeSide;
  /** The channels of an agent with their states. */
  describeChannels(agentId: string): string[];
  /** For messages between sessions of an agent. */
  admit: Pipeline["admit"];
  /** Engines by name, beside Holdfast's own. `agents.<id>.engine` chooses one. */
  engines?: Readonly<Record<string, OpenEngine>> | undefined;
  /** How tasks reach their conversations. Undefined: this process cannot run tasks. */
  messages?: TaskMessages | undefined;
}

interface TaskMessages extends Pick<MessengerOptions, "findChannel"> {
  draft: DraftText;
  /** A task of the conversation has changed, or has written this text. */
  onChange(agentId: string, conversation: string, text?: string): void;
}

/** Splits a text for its channel. */
type DraftText = (request: {
  text: string;
  turnId: string;
  target: DeliveryTarget;
  workspace: string;
}) => Promise<OutboxDraft[]>;

interface PoolContext extends OpenAgentsOptions {
  openIndex: () => Promise<SearchIndex>;
  /** Shared by all agents, because the limit on open files is one of the process. */
  parkedTranscripts: () => Promise<ParkedTranscripts>;
}

/** The configured engine; else `model` if the agent has a model, else `echo`. */
export function engineNameOf(config: HoldfastConfig, agentId: string): string {
  const agent = config.agents[agentId];
  return agent?.engine ?? (agent?.model === undefined ? "echo" : "model");
}

export function createAgentPool(options: OpenAgentsOptions): AgentPool {
  const { home, config, engines = {} } = options;
  const taken = Object.keys(engines).find(isOwnEngine);
  if (taken !== undefined) throw engineNameTaken(taken);
  const opened: AgentParts[] = [];
  const index = lazy(async () => await openSearchIndex(options));
  const parked = lazy(async () => (await import("../transcript/parked-transcripts.ts")).createParkedTranscripts());
  const context: PoolContext = {
    ...options,
    openIndex: async () => await index.get(),
    parkedTranscripts: async () => await parked.get(),
  };

  const list = async (): Promise<string[]> => {
    const known = [config.defaultAgent, ...Object.keys(config.agents), ...(await listAgentIds(home))];
    return [...new Set(known)].toSorted();
  };
  const agents = lazyMap<string, OpenedAgent>();
  const open = async (agentId: string): Promise<OpenedAgent> => {
    await requireAgent({ list }, agentId);
    const agent = await openParts(agentId, context);
    opened.push(agent.parts);
    return agent;
  };

  return {
    list,
    opened: () => opened,
    open: async (name) => {
      const agentId = normalizeAgentId(name);
      return (await agents.get(agentId, async () => await open(agentId))).parts;
    },
    close: async () => {
      const made = await agents.made();
      await Promise.allSettled(made.map(async (agent) => await agent.close()));
      await (await parked.made())?.close();
      (await index.made())?.close();
    },
  };
}

export async function requireAgent({ list }: Pick<AgentPool, "list">, agentId: string): Promise<void> {
  const known = await list();
  if (!known.includes(agentId)) throw unknownAgent(agentId, known);
}

interface OpenedAgent {
  parts: AgentParts;
  close(): Promise<void>;
}

async function openParts(agentId: string, context: PoolContext): Promise<OpenedAgent> {
  const { home, config, env, clock, logger, execution } = context;
  const workspaces = await import("../engine/workspace/workspace-description.ts");
  const transcripts = await context.parkedTranscripts();
  // An agent that cannot be opened is tried again; each attempt must close its parts.
  await using opened = new AsyncDisposableStack();
  const agent = await openAgent({ home, config, agentId, clock, logger, execution });
  opened.defer(async () => await agent.store.close());
  await workspaces.ensureWorkspace(agent.workspace);
  const continuity = await openContinuity({ home, config, env, agent });
  opened.defer(async () => await continuity.close());
  const tasks = createTasks(agent, context);
  const engine = await openEngine(agent, context, { recall: continuity.recall, tasks });
  opened.defer(async () => await engine.close());
  const description = workspaces.createWorkspaceDescription({ workspace: agent.workspace, logger, clock });
  const parts: AgentParts = {
    agent,
    config,
    engine,
    transcripts,
    describeWorkspace: async () => await description.describe(),
    describeChannels: () => context.describeChannels(agentId),
    ...continuity.parts,
    sessionTools: async () => {
      const { createSessionTools } = await import("../engine/tools/session-tools.ts");
      return createSessionTools(await openSessionTools(agent, context.claude(agentId), context, tasks));
    },
    tasks,
  };
  const kept = opened.move();
  return { parts, close: async () => await kept.disposeAsync() };
}

/** Loaded with the first task or command about one. */
function createTasks(agent: AgentHandle, context: PoolContext): AgentTasks {
  const { clock, logger, messages } = context;
  const desk = lazy(async (): Promise<TaskDesk> => {
    const { createTaskDesk } = await import("../tasks/task-desk.ts");
    return createTaskDesk({
      agent,
      claude: context.claude(agent.agentId),
      canRun: messages !== undefined,
      onChange: (conversation, text) => messages?.onChange(agent.agentId, conversation, text),
      findChannel: (target) => messages?.findChannel(target),
      draft: async (request) => (await messages?.draft({ ...request, workspace: agent.workspace })) ?? [],
      clock,
      logger,
    });
  });
  const hasAny = async (): Promise<boolean> => (await agent.store.list({ text: TASK_KEYS, limit: 1 })).total > 0;
  return {
    open: async () => await desk.get(),
    spawn: createTaskSpawner(agent, async () => await desk.get()),
    hasAny,
    recover: async () => {
      if (await hasAny()) await (await desk.get()).recover();
    },
    stop: async () => await (await desk.made())?.close(),
    readAsCommand: async (sessionKey, ctx) => {
      const said = (ctx.RawBody ?? ctx.Body ?? "").trim();
      const word = said.toLowerCase();
      const verdict = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
      const { ReplyToId: replied } = ctx;
      if ((verdict === undefined && replied === undefined) || said.startsWith("/") || !(await hasAny()))
        return undefined;
      const tasks = await desk.get();
      const task = replied === undefined ? undefined : await findReplied(tasks, sessionKey, ctx, replied);
      const asked = task?.state.question?.code;
      // Without a reply to the question, a word is an answer only where it cannot be meant for somebody else.
      const isMeant = replied === undefined && !isGroupMessage(ctx);
      const [code, another] = asked !== undefined ? [asked] : isMeant ? await tasks.openQuestions(sessionKey) : [];
      // With several questions, the command answers that it needs a code.
      if (verdict !== undefined && code !== undefined)
        return another === undefined ? `/cc ${verdict} ${code}` : `/cc ${verdict}`;
      return task === undefined ? undefined : `/cc send #${task.id} ${said}`;
    },
  };
}

async function findReplied(tasks: TaskDesk, sessionKey: string, ctx: MessageContext, replied: string) {
  const { replyTarget } = await import("../turn/reply/draft-replies.ts");
  const chat = replyTarget(ctx, undefined);
  return chat && (await tasks.findByMessage(sessionKey, replied, chat));
}

/** For tools. A model may ask again for a task that it has started, when its turn is repeated after a crash. */
function createTaskSpawner(agent: AgentHandle, openDesk: () => Promise<TaskDesk>): AgentTasks["spawn"] {
  return async (request) => {
    const [{ replyTarget }, desk, entry] = await Promise.all([
      import("../turn/reply/draft-replies.ts"),
      openDesk(),
      agent.store.get(request.conversation),
    ]);
    const open = (await desk.list(request.conversation)).filter(({ state }) => state.state !== "ended");
    const same = open.find(({ state }) => state.text === request.text && state.label === request.label);
    if (same !== undefined) return { id: same.id, decision: "This task is already at work.", status: "" };
    const { task, decision, status } = await desk.start({ ...request, target: replyTarget({}, entry) });
    return { id: task.id, decision, status };
  };
}

/** Answers to a permission question, for channels without buttons. */
const WORDS: Readonly<Record<string, string>> = {
  "1": "allow",
  allow: "allow",
  "2": "always",
  always: "always",
  "3": "deny",
  deny: "deny",
};

async function openEngine(
  agent: AgentHandle,
  context: PoolContext,
  { recall, tasks }: { recall: Recall; tasks: AgentTasks },
): Promise<Engine> {
  const { config, env, clock, logger } = context;
  const claude = context.claude(agent.agentId);
  const name = engineNameOf(config, agent.agentId);
  if (!isOwnEngine(name)) return await openRegistered(name, agent, context);
  if (name === "claude-code") {
    const { createClaudeCodeEngine } = await import("../engine/claude-code/claude-code.ts");
    const runner = async (): Promise<ClaudeRunner> => await claude.runner();
    return createClaudeCodeEngine({ runner, configOf: () => claude.config, logger, clock, recall });
  }
  const tools = await openTools(agent, claude, context, tasks);
  if (name === "model") {
    const { createModelEngine } = await import("../engine/model/model-engine.ts");
    const { providers, models } = config;
    return createModelEngine({ providers, models, env, logger, clock, tools });
  }
  const { createEchoEngine } = await import("../engine/echo/echo.ts");
  return createEchoEngine({ clock, logger, tools });
}

async function openRegistered(name: string, agent: AgentHandle, context: PoolContext): Promise<Engine> {
  const { config, clock, logger, engines = {} } = context;
  const open = Object.hasOwn(engines, name) ? engines[name] : undefined;
  if (open === undefined) throw unknownEngine(name, agent.agentId, Object.keys(engines));
  const { agentId, workspace } = agent;
  return await open({ agentId, workspace, config, logger, clock });
}

async function openTools(
  agent: AgentHandle,
  claude: ClaudeSide,
  context: PoolContext,
  tasks: AgentTasks,
): Promise<ToolTable> {
  const { openIndex } = context;
  const { createWorkspaceTools } = await import("../engine/tools/workspace-tools.ts");
  return createWorkspaceTools({
    workspace: agent.workspace,
    searchMemory: createMemorySearcher(agent, openIndex),
    sessions: await openSessionTools(agent, claude, context, tasks),
    listSessions: async ({ limit }) => {
      const [{ toListRow }, { discoverShown }] = await Promise.all([
        import("../mcp/model-text.ts"),
        import("../mcp/privacy.ts"),
      ]);
      const found = await discoverShown({}, async (choice) => await claude.discover(agent.workspace, choice), limit);
      return { ...found, sessions: found.sessions.slice(0, limit).map(toListRow) };
    },
  });
}

async function openSessionTools(
  agent: AgentHandle,
  claude: ClaudeSide,
  { config, admit, messages }: PoolContext,
  tasks: AgentTasks,
): Promise<SessionToolsOptions> {
  const { createSessionDesk } = await import("../turn/session-desk.ts");
  const canSpawn = messages !== undefined;
  const spawnTask: SpawnTask = async (order) => {
    const { requireCommander } = await import("../tasks/limits.ts");
    await requireCommander(agent, order.conversation);
    return await tasks.spawn(order);
  };
  return {
    desk: createSessionDesk({ agent, config, admit, canSpawn, describeProject: describeProject(agent, claude) }),
    spawnTask: canSpawn ? spawnTask : undefined,
  };
}

/** The state of a repo that the conversation may name, for its model. */
export function describeProject(agent: AgentHandle, claude: ClaudeSide) {
  return async (conversation: string, name: string | undefined): Promise<string> => {
    const [{ allowedRepo }, { renderProjectStatus }, { visibleTo }] = await Promise.all([
      import("../tasks/limits.ts"),
      import("../claude/project-status.ts"),
      import("../claude/discovered-session.ts"),
    ]);
    const repo = await allowedRepo(name, { agent, repos: claude.config.repos });
    return renderProjectStatus(await claude.status(repo, { mayShow: visibleTo(conversation) }));
  };
}

/** How long a search may wait for the update of the index. The next search continues the update. */
const REFRESH_MS = 1000;

function createMemorySearcher(agent: AgentHandle, openIndex: () => Promise<SearchIndex>): SearchMemory {
  const turns = createKeyedMutex();
  return async ({ sessionKey, ...query }) => {
    const [{ searchRecall }, index, all] = await Promise.all([
      import("../memory/search-results.ts"),
      openIndex(),
      agent.store.windows(sessionKey),
    ]);
    const { agentId, workspace } = agent;
    const { sessions: sessionsFolder, archive: archiveFolder } = await agent.store.transcripts.bringHere();
    // The agent has the current window before it.
    const windows = all.filter(({ closedAt }) => closedAt !== undefined).map(({ sessionId }) => sessionId);
    return await turns.run("refresh", async () => {
      const sources = { agents: [{ agentId, workspace, sessionsFolder, archiveFolder }] };
      await index.refresh({ sources, budgetMs: REFRESH_MS });
      return await searchRecall(index, { ...query, agentId, windows });
    });
  };
}

async function openSearchIndex({ home, clock, logger }: OpenAgentsOptions): Promise<SearchIndex> {
  const { createSearchIndex } = await import("../memory/search-index.ts");
  await ensurePrivateFolder(cacheFolder(home));
  return await createSearchIndex({ path: searchIndexFile(home), clock, logger });
}

/** No other engine answers in its place: the program that has this one may only be stopped. */
function unknownEngine(engine: string, agentId: string, registered: readonly string[]): HoldfastError {
  const known = [...ENGINE_NAMES, ...registered];
  const suggestion = closestMatch(engine, known);
  const hint = suggestion === undefined ? `This process has: ${known.join(", ")}.` : `Did you mean "${suggestion}"?`;
  return new HoldfastError("not-found", "engine-not-found", `Agent "${agentId}" has the unknown engine "${engine}"`, {
    hint: `${hint} Other engines are registered with openHoldfastGateway({ engines }).`,
    data: { agentId, engine, known },
  });
}

function engineNameTaken(engine: string): HoldfastError {
  return new HoldfastError("usage", "engine-name-taken", `Holdfast has an engine "${engine}" of its own`, {
    hint: "Register yours under another name.",
    data: { engine },
  });
}

function unknownAgent(agentId: string, known: readonly string[]): HoldfastError {
  const suggestion = closestMatch(agentId, known);
  return new HoldfastError("not-found", "agent-not-found", `There is no agent "${agentId}"`, {
    hint: `${suggestion === undefined ? "" : `Did you mean "${suggestion}"? `}Add one with \`holdfast agents add ${agentId}\`.`,
    data: { agentId, known: [...known] },
  });
}

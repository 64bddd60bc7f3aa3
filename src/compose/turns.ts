/**
 * Builds everything that answers messages: agents, channels, and the pipeline between them. `openGateway`
 * adds the server and keeps it open; `--local` opens the turns for one message.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import { type Logger, createLogger } from "../base/log.ts";
import { packageVersion, webFolder } from "../base/package.ts";
import type { Channel, ChannelCapabilities, ChannelStatus } from "../channels/channel.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import type { Gateway, GatewayOptions } from "../gateway/start-gateway.ts";
import { normalizeAgentId } from "../keys/names.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";
import type { AgentParts } from "../turn/pipeline.ts";
import type { DraftRequest } from "../turn/reply/draft-replies.ts";
import { type OpenAgentsOptions, createAgentPool, requireAgent } from "./agent-pool.ts";
import { type OpenChannelsOptions, createChannelPool } from "./channels.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import { openClaudeSide } from "./claude.ts";
import { createLiveSearch } from "./live-search.ts";
import { createOutageWatch } from "./outages.ts";
import { foldersWithin, sweepFolder } from "../base/files.ts";
import type { DeliveryTarget, OutboxDraft } from "../store/queues.ts";

export interface OpenTurnsOptions
  extends Pick<OpenChannelsOptions, "makeWhatsAppSocket" | "extraChannels">, Pick<OpenAgentsOptions, "engines"> {
  home: string;
  config: HoldfastConfig;
  env?: Environment | undefined;
  clock?: Clock | undefined;
  logger?: Logger | undefined;
  /** False: opens no configured channel. */
  channels: boolean;
  /** `thread`, for a server: under load, a worker thread waits for the disk. Default: `inline`. */
  execution?: "inline" | "thread" | undefined;
}

export interface Turns extends RpcParts {
  /** Connects the channels, and continues with messages that an earlier process left. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function openTurns(options: OpenTurnsOptions): Promise<Turns> {
  const { home, config, env = process.env, clock = systemClock, execution = "inline" } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const [
    { createPipeline },
    { runTurn },
    { draftReplies },
    { createChatCommands },
    { compactNow },
    contracts,
    { startHeartbeats },
    { startSubagentReports },
  ] = await Promise.all([
    import("../turn/create-pipeline.ts"),
    import("../turn/run/run-turn.ts"),
    import("../turn/reply/draft-replies.ts"),
    import("../turn/commands/chat-commands.ts"),
    import("../turn/run/compact.ts"),
    import("../turn/pipeline.ts"),
    import("../turn/heartbeat.ts"),
    import("../turn/subagents.ts"),
  ]);
  const sides = new Map<string, ClaudeSide>();
  const claude = (agentId: string): ClaudeSide => {
    let side = sides.get(agentId);
    if (side === undefined) sides.set(agentId, (side = openClaudeSide({ home, config, agentId, env, clock, logger })));
    return side;
  };
  const events = contracts.createTurnEvents((error) => logger.error("a listener failed", { error }));
  const common = { home, env, clock, logger };
  const messages = {
    findChannel: ({ channel, accountId }: DeliveryTarget) => channels.find(channel, accountId)?.channel,
    draft: async ({ text, ...request }: { text: string; turnId: string; target: DeliveryTarget; workspace: string }) =>
      await draft({ ...request, payloads: [{ text }] }),
    onChange: (agentId: string, sessionKey: string, text?: string) =>
      events.emit({ type: "task.changed", agentId, sessionKey, text }),
  };
  const agents = createAgentPool({
    ...common,
    config,
    execution,
    claude,
    describeChannels: (agentId) =>
      channels
        .accounts()
        .filter((account) => account.agentId === agentId && account.channel.name !== "web")
        .map(({ channel, status }) => `${channel.name} ${status.state}`),
    admit: async (message) => await pipeline.admit(message),
    engines: options.engines,
    messages: options.channels ? messages : undefined,
  });
  const channels = createChannelPool({
    ...common,
    config: options.channels ? config : { ...config, channels: { telegram: {}, discord: {}, whatsapp: {} } },
    extraChannels: options.extraChannels,
    requireAgent: async (agentId) => await requireAgent(agents, normalizeAgentId(agentId)),
    openAgent: async (agentId) => (await agents.open(agentId)).agent,
    makeWhatsAppSocket: options.makeWhatsAppSocket,
    onStatus: (channel, accountId, status) => {
      events.emit({ type: "channel.status", channel, accountId, status });
      noteOutage(channel, accountId, status);
    },
  });
  const noteOutage = createOutageWatch(clock, (name, accountId, text) => {
    const agentId = channels.find(name, accountId)?.agentId ?? config.defaultAgent;
    const tell = async (): Promise<void> => {
      const { agent } = await agents.open(agentId);
      await agent.store.systemEvents.enqueueSystemEvent(buildAgentMainSessionKey(agent), text);
    };
    tell().catch((error: unknown) => logger.warn("could not tell an agent about its channel", { agentId, error }));
  });
  const commands = createChatCommands({ compact: compactNow });
  const pipeline = createPipeline({ config, agents, channels, events, clock, logger, runTurn, commands });
  const draft = async (request: Omit<DraftRequest, "capabilities">): Promise<OutboxDraft[]> => {
    const { channel, accountId } = request.target;
    const capabilities = channels.find(channel, accountId)?.channel.capabilities ?? UNKNOWN_CHANNEL;
    return await draftReplies({ ...request, capabilities });
  };
  const closing = new AbortController();
  const started: { stop(): void }[] = [];
  let tasksTimer: NodeJS.Timeout | undefined;
  const search = createLiveSearch({ ...common, config });

  return {
    home,
    config,
    version: packageVersion(),
    startedAt: clock.now(),
    clock,
    logger,
    agents,
    channels,
    pipeline,
    claude,
    search,
    draft,
    resetSession: async (agentId, sessionKey, { expectedSessionId }) => {
      const { resetAfterFlush } = await import("../turn/run/change-session.ts");
      const parts = await agents.open(agentId);
      return await resetAfterFlush({
        parts,
        sessionKey,
        expectedSessionId,
        signal: closing.signal,
        emit: (event) => events.emit(event),
        draft: async (request) => {
          const { workspace, store } = parts.agent;
          return await draft({ ...request, workspace, media: store.media });
        },
      });
    },
    start: async () => {
      await pipeline.start();
      if (options.channels) {
        const common = { agents, pipeline, clock, logger };
        started.push(startHeartbeats({ ...common, config }), startSubagentReports(common));
      }
      await continueTasks(agents.opened(), logger);
      // Another gateway of this home may die later.
      const again = async (): Promise<void> => await continueTasks(agents.opened(), logger);
      if (options.channels) tasksTimer = setInterval(() => void again(), TASKS_MS).unref();
      void afterStart(agents.opened(), logger);
      if (execution === "thread") search.start();
      await channels.start(async (message) => await pipeline.admit(message));
    },
    close: async () => {
      // Channels stay open until the last replies are sent. Messages that arrive meanwhile stay in the inbox.
      for (const part of started) part.stop();
      clearInterval(tasksTimer);
      await Promise.all(agents.opened().map(async ({ tasks }) => await tasks?.stop()));
      await pipeline.drain();
      await channels.stop();
      closing.abort();
      await captureLast(agents.opened(), logger);
      await search.close();
      await agents.close();
      for (const side of sides.values()) side.close();
    },
  };
}

/** A message for a channel that is not running here waits for the process that runs it. It is not split. */
const UNKNOWN_CHANNEL: ChannelCapabilities = { media: true, replies: true };

const TASKS_MS = 60_000;

/** Before the channels connect: questions of dead tasks must not be sent. */
async function continueTasks(agents: readonly AgentParts[], logger: Logger): Promise<void> {
  for (const { agent, tasks } of agents) {
    const { agentId } = agent;
    await tasks?.recover().catch((error: unknown) => logger.warn("could not continue tasks", { agentId, error }));
  }
}

/** Captures hand-offs that an earlier process missed, and calls the start-up hooks, in the background. */
async function afterStart(agents: readonly AgentParts[], logger: Logger): Promise<void> {
  await Promise.all(
    agents.map(async ({ agent, handoff, hooks }) => {
      const { agentId, mainKey } = agent;
      const sessionKey = buildAgentMainSessionKey({ agentId, mainKey });
      const started = hooks?.fire("gateway:startup", { sessionKey, context: {} });
      await handoff?.recover().catch((error: unknown) => {
        logger.warn("could not capture hand-offs; the next turn of each session tries again", { agentId, error });
      });
      for (const text of (await started)?.messages ?? []) logger.info("message from a hook", { agentId, text });
    }),
  );
}

/** Time limit at the end of the process. Hand-offs that are missed are captured from the transcripts later. */
const LAST_CAPTURES_MS = 3000;

async function captureLast(agents: readonly AgentParts[], logger: Logger): Promise<void> {
  await Promise.all(
    agents.map(async ({ agent, handoff }) => {
      await handoff?.captureOpen("signal", LAST_CAPTURES_MS).catch((error: unknown) => {
        logger.warn("could not capture hand-offs", { agentId: agent.agentId, error });
      });
    }),
  );
}

export interface OpenGatewayOptions
  extends
    Omit<OpenTurnsOptions, "execution">,
    Pick<GatewayOptions, "port" | "orFreePort" | "onlyOne" | "onHomeGone" | "args"> {
  onChannelStatus?: ((channel: string, accountId: string, status: ChannelStatus) => void) | undefined;
}

export interface OpenedGateway extends Pick<Gateway, "url" | "port" | "takenPort" | "token"> {
  /** Opens the page and signs in. */
  tokenLink: string;
  close(): Promise<void>;
}

/**
 * Opens the turns and the server. It listens before the channels are connected, and closes in the opposite
 * order: running turns end, their replies are sent, then channels and clients are disconnected.
 */
export async function openGateway(options: OpenGatewayOptions): Promise<OpenedGateway> {
  const { port, orFreePort, onlyOne = false, onHomeGone, args, onChannelStatus, ...common } = options;
  const logger = options.logger ?? createLogger({ level: options.config.log.level });
  const [{ startGateway }, { createWebChannel }] = await Promise.all([
    import("../gateway/start-gateway.ts"),
    import("../channels/web/channel.ts"),
  ]);
  const extraChannels: Channel[] = [createWebChannel(), ...(options.extraChannels ?? [])];
  const turns = await openTurns({ ...common, logger, extraChannels, execution: "thread" });
  turns.pipeline.events.subscribe((event) => {
    if (event.type === "channel.status") onChannelStatus?.(event.channel, event.accountId, event.status);
  });
  let gateway: Gateway;
  try {
    gateway = await startGateway({ parts: turns, onlyOne, port, orFreePort, onHomeGone, args, webRoot: webFolder() });
  } catch (error) {
    // A failure to close must not hide why the gateway cannot start.
    await turns.close().catch((failure: unknown) => logger.warn("not everything was closed", { error: failure }));
    throw error;
  }
  const started = turns.start().catch((error: unknown) => logger.error("the gateway could not start", { error }));
  void sweepHome(options.home, logger);
  const { url, token, takenPort } = gateway;
  return {
    url,
    port: gateway.port,
    takenPort,
    token,
    tokenLink: `${url}/#token=${token}`,
    close: async () => {
      // A channel may still be connecting. Stopping the channels ends that too.
      const ended = turns.close();
      await gateway.close({ until: ended });
      await ended;
      await started;
    },
  };
}

async function sweepHome(home: string, logger: Logger): Promise<void> {
  try {
    for (const folder of await foldersWithin(home)) {
      const removed = await sweepFolder(folder);
      if (removed.length > 0) logger.info("removed temporary files of killed processes", { removed });
    }
  } catch (error) {
    logger.warn("could not look for temporary files of killed processes", { error });
  }
}

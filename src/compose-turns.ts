/**
 * Builds what answers messages: agents, channels, and the pipeline between them. The gateway keeps it
 * open for as long as it runs; `--local` opens it for one turn.
 */
import { type Clock, systemClock } from "./base/clock.ts";
import { type Logger, createLogger } from "./base/log.ts";
import { packageVersion } from "./base/package.ts";
import type { Channel, ChannelCapabilities } from "./channels/channel.ts";
import { createAgentPool, requireAgent } from "./compose-agents.ts";
import { type OpenChannelsOptions, createChannelPool } from "./compose-channels.ts";
import { type ClaudeSide, openClaudeSide } from "./compose-claude.ts";
import type { HoldfastConfig } from "./config/config.ts";
import type { Environment } from "./config/layout.ts";
import { normalizeAgentId } from "./keys/names.ts";
import { buildAgentMainSessionKey } from "./keys/session-key.ts";
import type { RpcParts } from "./rpc/rpc-parts.ts";
import type { DeliveryTarget } from "./store/store.ts";
import type { AgentParts } from "./turn/turn.ts";

export interface OpenTurnsOptions extends Pick<OpenChannelsOptions, "makeWhatsAppSocket"> {
  home: string;
  config: HoldfastConfig;
  env?: Environment;
  clock?: Clock;
  logger?: Logger;
  /** False: no channel is opened, for a turn whose answer goes to the caller. */
  channels: boolean;
  /** Channels that are always there, such as the gateway's own page. */
  besides?: readonly Channel[];
  /** `thread` keeps disk waits off the event loop of a long-running process. Left out: `inline`. */
  execution?: "inline" | "thread";
}

export interface Turns extends RpcParts {
  /** Connects the channels and goes on with what an earlier process left. */
  start(): Promise<void>;
  /** Lets running turns end, then closes everything. */
  close(): Promise<void>;
}

export async function openTurns(options: OpenTurnsOptions): Promise<Turns> {
  const { home, config, env = process.env, clock = systemClock } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const [{ createPipeline }, { runTurn }, drafts, { createChatCommands }, { compactNow }, { createTurnEvents }] =
    await Promise.all([
      import("./turn/create-pipeline.ts"),
      import("./turn/run-turn.ts"),
      import("./turn/reply/draft-replies.ts"),
      import("./turn/commands/chat-commands.ts"),
      import("./turn/compact-session.ts"),
      import("./turn/turn-events.ts"),
    ]);
  const sides = new Map<string, ClaudeSide>();
  const claude = (agentId: string): ClaudeSide => {
    let side = sides.get(agentId);
    if (side === undefined) sides.set(agentId, (side = openClaudeSide({ home, config, agentId, env, clock, logger })));
    return side;
  };
  const events = createTurnEvents((error) => logger.error("a listener failed", { error }));
  const execution = options.execution ?? "inline";
  const agents = createAgentPool({ home, config, env, clock, logger, execution, claude });
  const channels = createChannelPool({
    home,
    config: options.channels ? config : { ...config, channels: { telegram: {}, discord: {}, whatsapp: {} } },
    env,
    clock,
    logger,
    besides: options.besides ?? [],
    requireAgent: async (agentId) => await requireAgent(agents, normalizeAgentId(agentId)),
    ...(options.makeWhatsAppSocket === undefined ? {} : { makeWhatsAppSocket: options.makeWhatsAppSocket }),
    onStatus: (channel, accountId, status) => {
      events.emit({ type: "channel.status", channel, accountId, status });
    },
  });
  const pipeline = createPipeline({
    config,
    agents,
    channels,
    events,
    clock,
    logger,
    runTurn,
    draftReplies: drafts.draftReplies,
    commands: createChatCommands({ compact: compactNow }),
  });
  const capabilitiesOf = ({ channel, accountId }: DeliveryTarget): ChannelCapabilities =>
    channels.find(channel, accountId)?.channel.capabilities ?? UNKNOWN_CHANNEL;
  const closing = new AbortController();

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
    draftMessage: async ({ payload, target, idempotencyKey, workspace }) => {
      const capabilities = capabilitiesOf(target);
      return await drafts.draftReplies({
        payloads: [payload],
        turnId: idempotencyKey,
        target,
        capabilities,
        workspace,
      });
    },
    resetSession: async (agentId, sessionKey, { expectedSessionId }) => {
      const { resetAfterFlush } = await import("./turn/reset-session.ts");
      const parts = await agents.open(agentId);
      return await resetAfterFlush({
        parts,
        sessionKey,
        ...(expectedSessionId === undefined ? {} : { expectedSessionId }),
        signal: closing.signal,
        emit: (event) => events.emit(event),
        draft: async (payloads, target, turnId) => {
          const { workspace } = parts.agent;
          const capabilities = capabilitiesOf(target);
          return await drafts.draftReplies({ payloads, turnId, target, capabilities, workspace });
        },
      });
    },
    start: async () => {
      await pipeline.start();
      void afterStart(agents.opened(), logger);
      await channels.start(({ channel, agentId }) => ({
        admit: async (message) => void (await pipeline.admit({ ...message, agentId })),
        report: ({ state, text }) => logger.info("channel", { channel: channel.name, state, text }),
      }));
    },
    close: async () => {
      // The channels are open until the answers of the last turns are sent; what comes meanwhile is kept.
      await pipeline.drain();
      await channels.stop();
      closing.abort();
      await captureLast(agents.opened(), logger);
      await agents.close();
      for (const side of sides.values()) side.close();
    },
  };
}

/** What an earlier process left uncaptured, and those who wait for a start. Nobody waits for it. */
async function afterStart(agents: readonly AgentParts[], logger: Logger): Promise<void> {
  await Promise.all(
    agents.map(async ({ agent, handoff, hooks }) => {
      const { agentId, mainKey } = agent;
      const sessionKey = buildAgentMainSessionKey({ agentId, mainKey });
      const started = hooks?.fire("gateway:startup", { sessionKey, context: {} });
      await handoff?.recover().catch((error: unknown) => {
        logger.warn("what sessions left could not be captured; the next turn of each tries again", { agentId, error });
      });
      for (const text of (await started)?.messages ?? []) logger.info("a hook says", { agentId, text });
    }),
  );
}

/** How long the end of the process may take for it. What is missed is captured from the transcripts later. */
const LAST_CAPTURES_MS = 3000;

async function captureLast(agents: readonly AgentParts[], logger: Logger): Promise<void> {
  await Promise.all(
    agents.map(async ({ agent, handoff }) => {
      await handoff?.captureOpen("signal", LAST_CAPTURES_MS).catch((error: unknown) => {
        logger.warn("what sessions left could not be captured", { agentId: agent.agentId, error });
      });
    }),
  );
}

/** A message for a channel that does not run here waits; whoever runs it knows its limits and splits no more. */
const UNKNOWN_CHANNEL: ChannelCapabilities = { media: true, replies: true, threads: true, deduplicates: false };

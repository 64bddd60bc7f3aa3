/**
 * A gateway on a real store in a scratch home. Agents, channels and the pipeline are small stand-ins
 * of their contracts: a message is admitted durably, answered with `echo: <text>`, and both are in the
 * transcript. `hold()` keeps turns from ending until it is released.
 */
import { systemClock } from "../../src/base/clock.ts";
import { createLogger } from "../../src/base/log.ts";
import type { Channel, OutboundMessage } from "../../src/channels/channel.ts";
import type { TelegramChannel } from "../../src/channels/telegram/channel.ts";
import { createWebChannel } from "../../src/channels/web/channel.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { type ClaudeSide, openClaudeSide } from "../../src/compose/claude.ts";
import { openHandoff } from "../../src/compose/handoff.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { type GatewayOptions, type Gateway, startGateway } from "../../src/gateway/start-gateway.ts";
import type { RpcParts } from "../../src/rpc/rpc-parts.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import { resetSession } from "../../src/session/window.ts";
import type { ChannelAccount, AgentParts } from "../../src/turn/pipeline.ts";
import {
  type StandInPipeline,
  agentParts,
  createAgentPool,
  createStandInPipeline,
  standInChannels,
} from "./stand-ins.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { createLiveSearch } from "../../src/compose/live-search.ts";

export interface GatewayHome extends AsyncDisposable {
  home: string;
  parts: RpcParts;
  gateway: Gateway;
  agent: AgentHandle;
  pipeline: StandInPipeline;
  /** Logged lines. */
  logged: string[];
  /** Webhook requests received. */
  webhooks: { secretToken: string | undefined; body: string }[];
  /** Keys that were reset, in order. */
  resets: string[];
  start(options?: Partial<GatewayOptions>): Promise<Gateway>;
  post(method: string, params?: unknown, headers?: Record<string, string>): Promise<Response>;
}

export interface GatewayHomeOptions extends Omit<Partial<GatewayOptions>, "parts"> {
  config?: Partial<HoldfastConfig>;
  agents?: readonly string[];
  /** Default: a stand-in that only checks the webhook secret. */
  telegram?: TelegramChannel;
  /** False: the test starts the gateway. */
  started?: boolean;
}

export async function createGatewayHome(options: GatewayHomeOptions = {}): Promise<GatewayHome> {
  const {
    config: changes,
    agents: agentIds = ["main"],
    started = true,
    telegram: _telegram,
    ...gatewayOptions
  } = options;
  const folder = await temporaryFolder();
  const home = folder.path;
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, ...changes };
  const logged: string[] = [];
  const logger = createLogger({ level: "debug", write: (line) => void logged.push(line) });
  const agents = createAgentPool(async (agentId) => await openParts(agentId, home, config), agentIds);
  const webhooks: GatewayHome["webhooks"] = [];
  const { telegram = telegramStandIn(webhooks) } = options;
  const resets: string[] = [];
  const pipeline = createStandInPipeline({
    agents,
    config,
    onListenerError: (error) => logger.error("listener", { error }),
  });
  const gateways: Gateway[] = [];
  let side: ClaudeSide | undefined;
  const search = createLiveSearch({ home, config, clock: systemClock, logger });

  const parts: RpcParts = {
    home,
    config,
    version: "1.2.3",
    startedAt: Date.now(),
    clock: systemClock,
    logger,
    agents,
    channels: standInChannels([createWebChannel(), telegram].map(connectedAccount)),
    pipeline,
    resetSession: async (agentId, key, expected) => {
      resets.push(key);
      return await resetSession((await agents.open(agentId)).agent, key, expected);
    },
    draft: async ({ payloads: [payload], target, turnId }) => [{ idempotencyKey: turnId, target, payload }],
    search,
    claude: () => (side ??= openClaudeSide({ home, config, logger })),
  };
  const start = async (more: Partial<GatewayOptions> = {}): Promise<Gateway> => {
    const gateway = await startGateway({ parts, port: 0, ...gatewayOptions, ...more });
    gateways.push(gateway);
    return gateway;
  };
  if (started) await start();
  const current = (): Gateway => {
    const [first] = gateways;
    if (first === undefined) throw new Error("the gateway was not started");
    return first;
  };

  return {
    home,
    parts,
    get gateway() {
      return current();
    },
    agent: (await agents.open("main")).agent,
    pipeline,
    logged,
    webhooks,
    resets,
    start,
    post: async (method, params = {}, headers = {}) => {
      const { url, token } = current();
      return await fetch(`${url}/rpc/${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}`, ...headers },
        body: typeof params === "string" ? params : JSON.stringify(params),
      });
    },
    [Symbol.asyncDispose]: async () => {
      pipeline.release();
      await Promise.all(gateways.map(async (gateway) => await gateway.close()));
      await pipeline.drain();
      await agents.close();
      side?.close();
      await search.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function openParts(agentId: string, home: string, config: HoldfastConfig): Promise<AgentParts> {
  const agent = await openAgent({ home, config, agentId });
  const handoff = await openHandoff({ home, config, env: process.env, agent });
  const parts = agentParts({ agent, config });
  if (handoff === undefined) return parts;
  return { ...parts, handoff, forgetDeleted: async (windows) => handoff.forgetDeleted(windows) };
}

function connectedAccount(channel: Channel): ChannelAccount {
  return {
    channel,
    agentId: "main",
    replyTo: "off",
    blockStreaming: true,
    status: { state: "connected", text: "a stand-in" },
  };
}

export const WEBHOOK_SECRET = "webhook-secret-of-the-test";

function telegramStandIn(webhooks: GatewayHome["webhooks"]): TelegramChannel {
  return {
    name: "telegram",
    accountId: "default",
    capabilities: { textLimit: 4096, media: true, replies: true },
    start: async () => undefined,
    stop: async () => undefined,
    send: async ({ idempotencyKey }: OutboundMessage) => ({ messageId: idempotencyKey }),
    knowsSecret: (given) => given === WEBHOOK_SECRET,
    handleWebhook: async (request) => {
      webhooks.push(request);
      return { status: 200 };
    },
  };
}

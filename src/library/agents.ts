/**
 * Opens agents, turns, the gateway and hand-offs for other programs. The configuration is the command line's unless one
 * is given; channel libraries, model providers and the server are loaded when they are opened.
 *
 * OpenClaw's lifecycle functions may be called without an agent. They then use the agent that the session key or
 * `agentId` names, under `$HOLDFAST_HOME`, or the `sessions.json` at `storePath`.
 */
import * as updates from "../session/entry-updates.ts";
import * as init from "../session/init.ts";
import { resolve } from "node:path";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../config/config.ts";
import { resolveHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import { resolveAgentIdFromSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { applyResetModelOverride as applyModelOverride } from "../session/model-choice.ts";
import { appendAssistantMessageToSessionTranscript as appendAssistantMessage } from "../session/transcript-changes.ts";
import { forkSessionFromParent as forkFromParent } from "../session/window.ts";
import { lazyMap } from "../base/async.ts";
import { type OpenAgentOptions, openAgent } from "../compose/agent.ts";
import type { Channel } from "../channels/channel.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { RpcClient } from "../rpc/client.ts";
import type { OpenGatewayOptions, OpenedGateway, OpenTurnsOptions, Turns } from "../compose/turns.ts";
import { openHandoff } from "../compose/handoff.ts";

export interface AgentChoice {
  /** From `openHoldfastAgent`. Default: chosen by the other members. */
  agent?: AgentHandle | undefined;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
  /** An OpenClaw `sessions.json`, used in place. */
  storePath?: string | undefined;
}

export type OpenHoldfastAgentOptions = Partial<Omit<OpenAgentOptions, "config">> & {
  config?: HoldfastConfig | undefined;
};

/** Opens an agent's store with the command line's configuration. Close its `store` when done. */
export async function openHoldfastAgent(options: OpenHoldfastAgentOptions = {}): Promise<AgentHandle> {
  const home = options.home ?? resolveHome();
  const config = options.config ?? (await loadConfig({ env: process.env, cwd: process.cwd(), home })).config;
  return await openAgent({ ...options, home, config });
}

export const recordSessionMetaFromInbound = withDefaultAgent(updates.recordSessionMetaFromInbound);
export const updateLastRoute = withDefaultAgent(updates.updateLastRoute);
export const forkSessionFromParent = withDefaultAgent(forkFromParent);
export const applyResetModelOverride = withDefaultAgent(applyModelOverride);
export const persistSessionUsageUpdate = withDefaultAgent(updates.persistSessionUsageUpdate);
export const incrementCompactionCount = withDefaultAgent(updates.incrementCompactionCount);
export const appendAssistantMessageToSessionTranscript = withDefaultAgent(appendAssistantMessage);

export type InitSessionStateParams = Omit<init.InitSessionParams, "agent" | "cfg"> &
  AgentChoice & {
    cfg?: { session?: Partial<HoldfastConfig["session"]> | undefined } | undefined;
  };

export async function initSessionState(params: InitSessionStateParams): Promise<init.SessionInitResult> {
  const sessionKey = params.sessionKey ?? params.ctx.SessionKey;
  const agent = await chooseAgent({ ...params, sessionKey });
  const cfg = { session: { ...DEFAULT_CONFIG.session, ...params.cfg?.session } };
  return await init.initSessionState({ ...params, agent, cfg });
}

/** Closes the stores that calls without an agent have opened. */
export async function closeDefaultAgents(): Promise<void> {
  const agents = opened.made();
  opened.clear();
  await Promise.all((await agents).map(async ({ store }) => await store.close()));
}

const opened = lazyMap<string, AgentHandle>();

async function chooseAgent(choice: AgentChoice): Promise<AgentHandle> {
  if (choice.agent !== undefined) return choice.agent;
  const agentId = choice.agentId ?? resolveAgentIdFromSessionKey(choice.sessionKey);
  const storePath = choice.storePath === undefined ? undefined : resolve(choice.storePath);
  const home = resolveHome();
  const name = JSON.stringify([home, agentId, storePath]);
  return await opened.get(name, async () => await openHoldfastAgent({ home, agentId, storePath }));
}

function withDefaultAgent<Params extends { agent: AgentHandle }, Result>(
  verb: (params: Params) => Promise<Result>,
): (params: Omit<Params, "agent"> & AgentChoice) => Promise<Result> {
  return async (params) => await verb({ ...params, agent: await chooseAgent(params) } as Params);
}

export interface OpenHoldfastTurnsOptions extends Partial<Omit<OpenTurnsOptions, "channels" | "extraChannels">> {
  /** True: the configured channels. A list: these channels of your own, and no others. Default: false. */
  channels?: boolean | readonly Channel[] | undefined;
}

/** Agents, channels and the pipeline between them. `start` it, `admit` messages, `close` it when done. */
export async function openHoldfastTurns(options: OpenHoldfastTurnsOptions = {}): Promise<Turns> {
  const { home, config } = await withDefaults(options);
  const { openTurns } = await import("../compose/turns.ts");
  const { channels = false } = options;
  const chosen = typeof channels === "boolean" ? { channels } : { channels: false, extraChannels: channels };
  return await openTurns({ ...options, ...chosen, home, config });
}

export interface OpenHoldfastGatewayOptions extends Partial<Omit<OpenGatewayOptions, "channels" | "extraChannels">> {
  /** False: no configured channels. A list: these channels of your own, beside the configured ones. Default: true. */
  channels?: boolean | readonly Channel[] | undefined;
}

/** The same with the gateway's HTTP server, as `holdfast gateway` runs it. */
export async function openHoldfastGateway(options: OpenHoldfastGatewayOptions = {}): Promise<OpenedGateway> {
  const { portIsDefault, ...setup } = await withDefaults(options);
  const { openGateway } = await import("../compose/turns.ts");
  const orFreePort = portIsDefault && options.port === undefined;
  const { channels = true } = options;
  const chosen = typeof channels === "boolean" ? { channels } : { channels: true, extraChannels: channels };
  return await openGateway({ ...options, ...chosen, orFreePort, ...setup });
}

/** Connects to the running gateway of a home with the token from its file. `name` is shown in its status. */
export async function connectToGateway(
  options: { home?: string | undefined; name?: string | undefined } = {},
): Promise<RpcClient> {
  const { connectToGateway: connect } = await import("../gateway/gateway-files.ts");
  return await connect({ home: options.home ?? resolveHome(), name: options.name ?? "library" });
}

export interface OpenHoldfastHandoffOptions {
  /** From `openHoldfastAgent`. */
  agent: AgentHandle;
  home?: string | undefined;
  config?: HoldfastConfig | undefined;
}

/**
 * Hand-offs are kept in the agent's store, so the gateway and the command line see them too. Undefined if the
 * configuration turns them off. Close it before the agent's store.
 */
export async function openHoldfastHandoff(options: OpenHoldfastHandoffOptions): Promise<Handoff | undefined> {
  const { home, config } = await withDefaults(options);
  return await openHandoff({ home, config, env: process.env, agent: options.agent });
}

async function withDefaults(options: {
  home?: string | undefined;
  config?: HoldfastConfig | undefined;
}): Promise<{ home: string; config: HoldfastConfig; portIsDefault: boolean }> {
  const home = options.home ?? resolveHome();
  if (options.config !== undefined) return { home, config: options.config, portIsDefault: false };
  const { config, origins } = await loadConfig({ env: process.env, cwd: process.cwd(), home });
  return { home, config, portIsDefault: !origins.has("gateway.port") };
}

/**
 * Opens turns, the gateway and hand-offs for a program that uses Holdfast as a library. The configuration is the
 * command line's unless one is given. Channel libraries, model providers and the server are loaded when they are
 * opened.
 */
import type { Channel } from "../channels/channel.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { resolveHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { RpcClient } from "../rpc/client.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { OpenGatewayOptions, OpenedGateway, OpenTurnsOptions, Turns } from "../compose/turns.ts";
import { openHandoff } from "../compose/handoff.ts";

export interface OpenHoldfastTurnsOptions extends Partial<Omit<OpenTurnsOptions, "channels" | "extraChannels">> {
  /** Whether to open the configured channels as well. Default: false. */
  channels?: boolean | undefined;
  /** Channels of your own. */
  extraChannels?: readonly Channel[] | undefined;
}

/** Agents, channels and the pipeline between them. `start` it, `admit` messages, `close` it when done. */
export async function openHoldfastTurns(options: OpenHoldfastTurnsOptions = {}): Promise<Turns> {
  const { home, config } = await withDefaults(options);
  const { openTurns } = await import("../compose/turns.ts");
  return await openTurns({ ...options, channels: options.channels ?? false, home, config });
}

export type OpenHoldfastGatewayOptions = Partial<OpenGatewayOptions>;

/** The same with the gateway's HTTP server, as `holdfast gateway` runs it. */
export async function openHoldfastGateway(options: OpenHoldfastGatewayOptions = {}): Promise<OpenedGateway> {
  const { portIsDefault, ...setup } = await withDefaults(options);
  const { openGateway } = await import("../compose/turns.ts");
  const orFreePort = portIsDefault && options.port === undefined;
  return await openGateway({ ...options, channels: options.channels ?? true, orFreePort, ...setup });
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

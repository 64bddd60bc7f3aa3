/**
 * The way of a message as the package exports it: configured as the command line would be, for a program
 * that has agents answer without a gateway, or that is one. Channel libraries, model providers and the
 * server are loaded by whoever needs them, not by importing this.
 */
import type { Channel } from "./channels/channel.ts";
import type { OpenGatewayOptions, OpenedGateway } from "./compose-gateway.ts";
import type { OpenTurnsOptions, Turns } from "./compose-turns.ts";
import type { HoldfastConfig } from "./config/config.ts";
import { resolveHome } from "./config/layout.ts";
import { loadConfig } from "./config/load.ts";
import type { RpcClient } from "./rpc/client.ts";

export interface OpenHoldfastTurnsOptions extends Partial<Omit<OpenTurnsOptions, "channels" | "besides">> {
  /** True: the configured channels are opened as well. Left out: only those handed in. */
  channels?: boolean;
  /** Channels of your own. */
  besides?: readonly Channel[];
}

/** Agents, channels and the pipeline between them. `start` it, `admit` messages, `close` it when done. */
export async function openHoldfastTurns(options: OpenHoldfastTurnsOptions = {}): Promise<Turns> {
  const setup = await completed(options);
  const { openTurns } = await import("./compose-turns.ts");
  return await openTurns({ channels: false, ...options, ...setup });
}

export type OpenHoldfastGatewayOptions = Partial<OpenGatewayOptions>;

/** The same behind the gateway's server, as `holdfast gateway` runs it. */
export async function openHoldfastGateway(options: OpenHoldfastGatewayOptions = {}): Promise<OpenedGateway> {
  const setup = await completed(options);
  const { openGateway } = await import("./compose-gateway.ts");
  return await openGateway({ channels: true, ...options, ...setup });
}

/** The gateway of a home that runs already, with the token from its file. `name` tells it who connects. */
export async function connectToGateway(options: { home?: string; name?: string } = {}): Promise<RpcClient> {
  const { connectToGateway: connect } = await import("./gateway/connect-to-gateway.ts");
  return await connect({ home: options.home ?? resolveHome(), name: options.name ?? "library" });
}

async function completed(options: {
  home?: string;
  config?: HoldfastConfig;
}): Promise<{ home: string; config: HoldfastConfig }> {
  const home = options.home ?? resolveHome();
  const config = options.config ?? (await loadConfig({ env: process.env, cwd: process.cwd(), home })).config;
  return { home, config };
}

/**
 * The hand-off as the package exports it: configured as the command line would be. What it captures is kept in
 * the agent's store, so that the gateway, the command line and this program see the same.
 */
import { openHandoff } from "./compose-handoff.ts";
import type { HoldfastConfig } from "./config/config.ts";
import { resolveHome } from "./config/layout.ts";
import { loadConfig } from "./config/load.ts";
import type { Handoff } from "./handoff/handoff.ts";
import type { AgentHandle } from "./session/agent-handle.ts";

export interface OpenHoldfastHandoffOptions {
  /** From `openHoldfastAgent`. */
  agent: AgentHandle;
  home?: string;
  config?: HoldfastConfig;
}

/** Close it before the agent's store. Undefined where the configuration turns it off. */
export async function openHoldfastHandoff(options: OpenHoldfastHandoffOptions): Promise<Handoff | undefined> {
  const home = options.home ?? resolveHome();
  const config = options.config ?? (await loadConfig({ env: process.env, cwd: process.cwd(), home })).config;
  return await openHandoff({ home, config, env: process.env, agent: options.agent });
}

/**
 * A gateway runs with the configuration that it was started with. What was added since is shown as waiting,
 * and whoever changes the configuration is told that the gateway does not know of it yet.
 */
import { configuredAccounts } from "../config/channel-accounts.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { findGateway } from "../gateway/runtime-file.ts";
import type { ChannelRow } from "./channel-view.ts";
import { talk } from "./output.ts";

/** The accounts that are configured; `text` says why they do not run. */
export function idleAccounts(config: HoldfastConfig, text: string): ChannelRow[] {
  return configuredAccounts(config).map(({ name, accountId, settings }) => ({
    channel: name,
    accountId,
    agentId: settings.agent ?? config.defaultAgent,
    status: { state: "stopped", text },
  }));
}

/** What the gateway has, then what is configured and it has not. */
export function withIdleAccounts(running: readonly ChannelRow[], config: HoldfastConfig): ChannelRow[] {
  const idle = idleAccounts(config, "configured, but not in the gateway that runs: start it again");
  const isRunning = ({ channel, accountId }: ChannelRow): boolean =>
    running.some((row) => row.channel === channel && row.accountId === accountId);
  return [...running, ...idle.filter((row) => !isRunning(row))];
}

export async function tellIfGatewayRuns(home: string): Promise<void> {
  const gateway = await findGateway(home);
  if (gateway === undefined) return;
  talk(
    `The gateway at ${gateway.url} runs with the configuration that it was started with. ` +
      "`holdfast gateway stop`, then start it again, to take this up.",
  );
}

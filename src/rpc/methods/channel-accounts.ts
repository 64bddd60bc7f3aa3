/**
 * Channel accounts as a request means them: those that run here, and those that are configured. With `--local`
 * none runs, and the same words must name the same session there as through the gateway.
 */
import { configuredAccounts } from "../../config/channel-accounts.ts";
import type { RpcParts } from "../rpc-parts.ts";

export interface NamedAccount {
  channel: string;
  accountId: string;
  /** The agent that answers there. */
  agentId: string;
}

export function channelAccounts({ channels, config }: Pick<RpcParts, "channels" | "config">): NamedAccount[] {
  const running = channels
    .accounts()
    .map(({ channel, agentId }) => ({ channel: channel.name, accountId: channel.accountId, agentId }));
  const isRunning = ({ channel, accountId }: NamedAccount): boolean =>
    running.some((known) => known.channel === channel && known.accountId === accountId);
  const configured = configuredAccounts(config).map(({ name, accountId, settings }) => ({
    channel: name,
    accountId,
    agentId: settings.agent ?? config.defaultAgent,
  }));
  return [...running, ...configured.filter((account) => !isRunning(account))];
}

/** Left out account: the only one of the channel, else `default`. */
export function findAccount(
  parts: Pick<RpcParts, "channels" | "config">,
  { channel, accountId }: { channel: string; accountId?: string | undefined },
): NamedAccount | undefined {
  const matching = channelAccounts(parts).filter((account) => account.channel === channel);
  if (accountId !== undefined) return matching.find((account) => account.accountId === accountId);
  return matching.length === 1 ? matching[0] : matching.find((account) => account.accountId === "default");
}

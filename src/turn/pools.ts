/**
 * The agents and channels of this process, opened when they are first needed. The pipeline, the RPC
 * methods and the commands see them through these two contracts.
 */
import type { Channel, ChannelHost, ChannelStatus } from "../channels/channel.ts";
import type { AgentParts } from "./turn.ts";

export interface AgentPool {
  /** Those that are configured and those that have a folder, in alphabetical order. */
  list(): Promise<string[]>;
  /** Those that are open in this process. */
  opened(): AgentParts[];
  /** Opened once and shared. Refused with kind `not-found` for an agent that is neither configured nor there. */
  open(agentId: string): Promise<AgentParts>;
  close(): Promise<void>;
}

export interface ChannelPool {
  /** Starts all accounts side by side; one that fails is reported and does not hold up the others. */
  start(host: (account: ChannelAccount) => ChannelHost): Promise<void>;
  accounts(): readonly ChannelAccount[];
  /** Accounts that could not even be built, with what is wrong with them. */
  failures(): readonly { channel: string; accountId: string; status: ChannelStatus }[];
  /** Left out account: the only one of the channel, else `default`. */
  find(channel: string, accountId?: string): ChannelAccount | undefined;
  stop(): Promise<void>;
}

export interface ChannelAccount {
  channel: Channel;
  agentId: string;
  replyTo: "off" | "first" | "all";
  /** The newest one that the channel reported. */
  readonly status: ChannelStatus;
}

/** Where people reach the agents. */

/** Accounts by a name of one's own; `default` where there is one. */
export interface ChannelsConfig {
  telegram: Record<string, TelegramAccountConfig>;
  discord: Record<string, DiscordAccountConfig>;
  whatsapp: Record<string, ChannelAccountConfig>;
}

export interface ChannelAccountConfig {
  /** Left out: true. */
  enabled?: boolean;
  /** The agent that answers. Left out: the default agent. */
  agent?: string;
  /** Ids, usernames, ids of groups, or `*`. Left out: nobody. */
  allowFrom?: string[];
  /** Strangers get a code that the owner can approve. Left out: true. */
  pairing?: boolean;
  /** Whether answers quote the message they answer. Left out: `off`. */
  replyTo?: "off" | "first" | "all";
}

export interface TokenConfig {
  /** The environment variable that holds the token. Left out: the platform's usual one. */
  tokenEnv?: string;
  /** A file that holds the token and nothing else. It goes before the variable. */
  tokenFile?: string;
}

export interface TelegramAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Where Telegram reaches the gateway from outside. Left out: the gateway asks Telegram. */
  webhookUrl?: string;
  /** Another Bot API server. */
  apiRoot?: string;
}

export interface DiscordAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Another REST address. */
  apiRoot?: string;
}

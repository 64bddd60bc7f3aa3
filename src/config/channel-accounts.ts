/** The accounts that the configuration names, whether or not anybody runs them. */
import type { ChannelAccountConfig, HoldfastConfig } from "./config.ts";

/** A name of a platform, for messages to people. */
export type ChannelName = keyof HoldfastConfig["channels"];

export interface ConfiguredAccount {
  name: ChannelName;
  accountId: string;
  settings: ChannelAccountConfig;
}

/** Those that are not turned off, platform by platform. */
export function configuredAccounts({ channels }: Pick<HoldfastConfig, "channels">): ConfiguredAccount[] {
  return (["telegram", "discord", "whatsapp"] as const).flatMap((name) =>
    Object.entries<ChannelAccountConfig>(channels[name])
      .filter(([, settings]) => settings.enabled !== false)
      .map(([accountId, settings]) => ({ name, accountId, settings })),
  );
}

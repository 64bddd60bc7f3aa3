/** Channel accounts that are there from the start and need not be connected. */

import type { ChannelAccount, ChannelPool } from "../../src/turn/pipeline.ts";
export function standInChannels(accounts: readonly ChannelAccount[]): ChannelPool {
  return {
    start: async () => undefined,
    accounts: () => accounts,
    failures: () => [],
    find: (name, accountId = "default") =>
      accounts.find(({ channel }) => channel.name === name && channel.accountId === accountId),
    stop: async () => undefined,
  };
}

/** Messages that a platform brings by itself. The channel decides who may; the gateway only passes on. */
import type { Channel } from "../channels/channel.ts";
import type { TelegramChannel } from "../channels/telegram/telegram-channel.ts";
import type { ChannelPool } from "../turn/pools.ts";

export function findTelegramAccount(channels: ChannelPool, accountId: string): TelegramChannel | undefined {
  return channels
    .accounts()
    .map(({ channel }) => channel)
    .filter(isTelegram)
    .find((channel) => channel.accountId === accountId);
}

function isTelegram(channel: Channel): channel is TelegramChannel {
  return channel.name === "telegram" && "handleWebhook" in channel;
}

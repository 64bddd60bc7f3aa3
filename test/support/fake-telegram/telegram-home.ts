/**
 * A Telegram channel on a fake server, with a host that records. Pauses are a hundredth as long as given,
 * so that retries happen within a test.
 */
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import type { Clock } from "../../../src/base/clock.ts";
import type { Logger } from "../../../src/base/log.ts";
import { type TelegramChannel, createTelegramChannel } from "../../../src/channels/telegram/channel.ts";
import type { TelegramOptions } from "../../../src/channels/telegram/connection.ts";
import { type RememberingHost, createRememberingHost } from "../channel-host.ts";
import { type FakeTelegram, startFakeTelegram } from "./fake-telegram.ts";

export interface TelegramHome extends AsyncDisposable {
  telegram: FakeTelegram;
  host: RememberingHost;
  log: string[];
  /** A channel on the same server; stopped with the home. */
  open(options?: Partial<TelegramOptions>): TelegramChannel;
}

export async function createTelegramHome(): Promise<TelegramHome> {
  const telegram = await startFakeTelegram();
  const host = createRememberingHost();
  const channels: TelegramChannel[] = [];
  const log: string[] = [];
  const logger = createCandidLogger(log);
  return {
    telegram,
    host,
    log,
    open: (options = {}) => {
      const channel = createTelegramChannel({
        accountId: "default",
        token: telegram.token,
        mode: "polling",
        allowFrom: ["*"],
        apiRoot: telegram.url,
        mediaFolder: "/dev/null/media",
        clock: hastyClock,
        logger,
        ...options,
      });
      channels.push(channel);
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(channels.map(async (channel) => await channel.stop()));
      await telegram[Symbol.asyncDispose]();
    },
  };
}

/** Does not redact, so that a test sees what reaches the logger. */
function createCandidLogger(log: string[]): Logger {
  const write = (message: string, fields: Record<string, unknown> = {}): void => {
    const details = Object.values(fields).map((value) => (value instanceof Error ? inspect(value) : value));
    log.push(JSON.stringify([message, details]));
  };
  return { debug: write, info: write, warn: write, error: write };
}

/** Sleeps a hundredth of the given time. */
export const hastyClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms / 100, undefined, signal === undefined ? {} : { signal });
  },
};

/**
 * One stretch between `start` and `stop`: finding out who the bot is, telling Telegram how messages
 * should come, and receiving them.
 */
import type { User } from "grammy/types";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { ChannelHost } from "../channel.ts";
import { pauseAfter } from "../keep-trying.ts";
import { createReceivedFiles } from "../received-files.ts";
import { isTokenRefused, refusalOf, telegramError, tokenRefused } from "./api-errors.ts";
import { type TelegramApi, requestSignal } from "./api.ts";
import { ALLOWED_UPDATES, type InboundHandler, createInboundHandler } from "./inbound.ts";
import type { TelegramOptions } from "./options.ts";
import { pauseUnlessStopped, poll } from "./poller.ts";

export interface Connection {
  /** Undefined until Telegram has been reached, and after the end. */
  readonly inbound: InboundHandler | undefined;
  /** To be called after the signal; resolves when everything under way has ended. */
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 20_000;

/** Fails for what no retry can mend; what may pass is tried again in the background, until the signal. */
export async function openConnection(
  host: ChannelHost,
  telegram: TelegramApi,
  options: TelegramOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const { accountId, logger } = options;
  let inbound: InboundHandler | undefined;

  const serve = async (bot: User): Promise<void> => {
    inbound = createInboundHandler({
      ...options,
      bot,
      host,
      telegram,
      signal,
      access: options,
      files:
        options.mediaFolder === undefined
          ? undefined
          : createReceivedFiles({ folder: options.mediaFolder, maxBytes: options.maxMediaBytes }),
    });
    const connectedText = `Telegram account ${accountId} is connected as @${bot.username ?? bot.id}`;
    host.report({ state: "connected", text: connectedText });
    if (options.mode === "webhook") return;
    const report = host.report.bind(host);
    await poll({ ...options, telegram, inbound, report, signal, connectedText });
  };

  host.report({ state: "starting", text: `Telegram account ${accountId} is starting` });
  const bot = await introduce(telegram, options, signal).catch((error: unknown) => {
    const known = startError(error, options);
    if (known.kind !== "unavailable") throw known;
    if (!signal.aborted) host.report({ state: "retrying", text: known.message });
    return undefined;
  });
  const identified = bot === undefined ? introduceLater(host, telegram, options, signal) : Promise.resolve(bot);
  const running = identified
    .then(async (known) => (known === undefined ? undefined : await serve(known)))
    .catch((error: unknown) => {
      logger.error("the Telegram channel has stopped", { error: startError(error, options) });
      host.report({ state: "failed", text: `Telegram account ${accountId} has stopped: ${errorMessage(error)}` });
    });

  return {
    get inbound() {
      return inbound;
    },
    close: async () => {
      await running;
      inbound = undefined;
      host.report({ state: "stopped", text: `Telegram account ${accountId} is stopped` });
    },
  };
}

/** Who the bot is, and how its messages come. What has piled up at Telegram stays there. */
async function introduce(
  { api }: TelegramApi,
  { mode, webhook }: TelegramOptions,
  stopped: AbortSignal,
): Promise<User> {
  const signal = requestSignal(CONNECT_TIMEOUT_MS, stopped);
  const bot = await api.getMe(signal);
  if (mode === "polling" || webhook === undefined) await api.deleteWebhook({ drop_pending_updates: false }, signal);
  else {
    const { url, secretToken } = webhook;
    await api.setWebhook(url, { secret_token: secretToken, allowed_updates: ALLOWED_UPDATES }, signal);
  }
  return bot;
}

/** Undefined when the channel was stopped first, or the token turned out to be wrong. */
async function introduceLater(
  host: ChannelHost,
  telegram: TelegramApi,
  options: TelegramOptions,
  signal: AbortSignal,
): Promise<User | undefined> {
  let lastError: unknown;
  for (let attempt = 0; ; attempt++) {
    await pauseUnlessStopped(options.clock, pauseAfter(lastError, attempt), signal);
    if (signal.aborted) return undefined;
    try {
      return await introduce(telegram, options, signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      const known = startError(error, options);
      if (known.kind !== "unavailable") throw known;
      host.report({ state: "retrying", text: known.message });
      lastError = known;
    }
  }
}

function startError(error: unknown, { accountId, webhook }: TelegramOptions): HoldfastError {
  if (isTokenRefused(error)) return tokenRefused(accountId);
  const known = telegramError(error, "connect to Telegram");
  if (refusalOf(error)?.status !== 400) return known;
  return new HoldfastError("usage", "telegram-webhook-refused", known.message, {
    hint: "Telegram needs an https address on port 443, 80, 88 or 8443 that it can reach, and a secret of A-Z, a-z, 0-9, _ and -.",
    data: { accountId, url: webhook?.url },
  });
}

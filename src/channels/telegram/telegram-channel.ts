/**
 * Telegram as a channel. `start` asks Telegram once who the bot is: a refused token fails there; a
 * network that is down does not, it is reported and tried again until it is up or the channel stops.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { Channel } from "../channel.ts";
import { telegramError, tokenRefused } from "./api-errors.ts";
import { type TelegramApi, openTelegramApi } from "./api.ts";
import { type Connection, openConnection } from "./connection.ts";
import type { TelegramOptions } from "./options.ts";
import { sendToTelegram } from "./outbound.ts";
import { parseTarget } from "./target.ts";
import { type WebhookAnswer, type WebhookRequest, answerWebhook, isSameSecret } from "./webhook.ts";

export interface TelegramChannel extends Channel {
  /** Whether this is the secret that Telegram was given; for the gateway, before it reads a body. */
  knowsSecret(given: string | undefined): boolean;
  handleWebhook(request: WebhookRequest): Promise<WebhookAnswer>;
}

export function createTelegramChannel(options: TelegramOptions): TelegramChannel {
  const { accountId, logger } = options;
  const underWay = new Set<Promise<unknown>>();
  let opened: Promise<TelegramApi> | undefined;
  let connecting: Promise<Connection> | undefined;
  let connection: Connection | undefined;
  let stopping = new AbortController();

  const open = async (): Promise<TelegramApi> => await (opened ??= openTelegramApi(options.token, options.apiRoot));

  return {
    name: "telegram",
    accountId,
    capabilities: { textLimit: 4096, media: true, replies: true, threads: true, deduplicates: false },
    start: async (host) => {
      if (connecting !== undefined) throw alreadyStarted(accountId);
      checkOptions(options);
      stopping = new AbortController();
      const { signal } = stopping;
      connecting = open().then(async (telegram) => await openConnection(host, telegram, options, signal));
      try {
        connection = await connecting;
      } catch (error) {
        connecting = undefined;
        throw error;
      }
    },
    stop: async () => {
      stopping.abort();
      const closing = await connecting?.catch(() => undefined);
      connection = undefined;
      connecting = undefined;
      await Promise.allSettled([closing?.close(), ...underWay]);
    },
    send: async (message) => await sendToTelegram(message, await open()),
    checkTarget: (target) => void parseTarget(target),
    showTyping: async (target) => {
      const { chatId, threadId } = parseTarget(target);
      const { api } = await open();
      const topic = threadId === undefined ? {} : { message_thread_id: threadId };
      // Decoration: an answer must not fail because of it.
      await api.sendChatAction(chatId, "typing", topic).catch((error: unknown) => {
        logger.debug("typing could not be shown", { error: telegramError(error, "show typing on Telegram") });
      });
    },
    knowsSecret: (given) => {
      const expected = options.mode === "webhook" ? options.webhook?.secretToken : undefined;
      return expected !== undefined && isSameSecret(given, expected);
    },
    handleWebhook: async (request) => {
      const secretToken = options.webhook?.secretToken;
      if (options.mode !== "webhook" || secretToken === undefined) return { status: 503 };
      const answer = answerWebhook(request, { secretToken, inbound: connection?.inbound, logger });
      underWay.add(answer);
      return await answer.finally(() => underWay.delete(answer));
    },
  };
}

/** What can be told without asking Telegram. */
function checkOptions({ accountId, token, mode, webhook }: TelegramOptions): void {
  if (!/^\d+:[\w-]+$/.test(token)) throw tokenRefused(accountId);
  if (mode === "polling" || webhook !== undefined) return;
  throw new HoldfastError("usage", "telegram-webhook-missing", `Telegram account ${accountId} has no webhook address`, {
    hint: "Give the https address and a secret for the webhook, or set the mode to polling.",
    data: { accountId },
  });
}

function alreadyStarted(accountId: string): HoldfastError {
  return new HoldfastError("conflict", "channel-started", `Telegram account ${accountId} is started already`, {
    hint: "Stop it first.",
    data: { accountId },
  });
}

/**
 * Telegram as a channel. `start` contacts Telegram once: a refused token fails there. If the network is
 * down, `start` reports it and retries in the background until the channel stops.
 */
import type { Update, User } from "grammy/types";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { type Channel, type ChannelRun, singleRun } from "../channel.ts";
import {
  type TelegramOptions,
  type TelegramRun,
  introduceBot,
  keepIntroducingBot,
  openTelegramApi,
  startError,
  telegramError,
  tokenRefused,
} from "./connection.ts";
import { type InboundHandler, createInboundHandler } from "./inbound.ts";
import { editOnTelegram, parseTarget, removeFromTelegram, sendToTelegram } from "./outbound.ts";
import { poll } from "./polling.ts";
import { lazy } from "../../base/async.ts";

export interface TelegramChannel extends Channel {
  knowsSecret(given: string | undefined): boolean;
  /** `secretToken`: the header X-Telegram-Bot-Api-Secret-Token. `body` is raw; the gateway limits its size. */
  handleWebhook(request: { secretToken: string | undefined; body: string }): Promise<WebhookAnswer>;
}

export function createTelegramChannel(options: TelegramOptions): TelegramChannel {
  const { accountId, logger } = options;
  const webhookSecret = options.mode === "webhook" ? options.webhook?.secretToken : undefined;
  const pendingWebhooks = new Set<Promise<unknown>>();
  /** Undefined until Telegram has been reached, and after the stop. */
  let inbound: InboundHandler | undefined;
  const lazyTelegram = lazy(async () => await openTelegramApi(options.token, options.apiRoot));

  const open = async ({ host, signal, closing }: ChannelRun): Promise<void> => {
    checkOptions(options);
    const run = { ...options, telegram: await lazyTelegram.get(), host, signal };
    host.report({ state: "starting", text: `Telegram account ${accountId} is starting` });
    const receiving = receive(run, await introduceBot(run), (handler) => (inbound = handler));
    closing.defer(async () => {
      await Promise.allSettled([receiving, ...pendingWebhooks]);
      inbound = undefined;
    });
  };

  return {
    name: "telegram",
    accountId,
    isExclusive: options.mode === "polling",
    capabilities: { textLimit: 4096, media: true, replies: true, buttons: true },
    ...singleRun("Telegram", accountId, open),
    send: async (message) => await sendToTelegram(await lazyTelegram.get(), message),
    edit: async (target, messageId, message) => {
      await editOnTelegram(await lazyTelegram.get(), { target, messageId, ...message });
    },
    remove: async (target, messageId) => {
      await removeFromTelegram(await lazyTelegram.get(), { target, messageId });
    },
    checkTarget: (target) => void parseTarget(target),
    showTyping: async (target) => {
      const { chatId, threadId } = parseTarget(target);
      const { api } = await lazyTelegram.get();
      const topic = threadId === undefined ? {} : { message_thread_id: threadId };
      await api.sendChatAction(chatId, "typing", topic).catch((error: unknown) => {
        logger.debug("cannot show typing", { error: telegramError(error, "show typing on Telegram") });
      });
    },
    knowsSecret: (given) => webhookSecret !== undefined && isSameSecret(given, webhookSecret),
    handleWebhook: async (request) => {
      if (webhookSecret === undefined) return { status: 503 };
      if (!isSameSecret(request.secretToken, webhookSecret)) return { status: 401 };
      const answer = answerWebhook(request.body, inbound, logger);
      pendingWebhooks.add(answer);
      return await answer.finally(() => pendingWebhooks.delete(answer));
    },
  };
}

function checkOptions({ accountId, token, mode, webhook }: TelegramOptions): void {
  if (!/^\d+:[\w-]+$/.test(token)) throw tokenRefused(accountId);
  if (mode === "polling" || webhook !== undefined) return;
  throw new HoldfastError("usage", "telegram-webhook-missing", `Telegram account ${accountId} has no webhook address`, {
    hint: "Configure the https address and a secret for the webhook, or set the mode to polling.",
    data: { accountId },
  });
}

/** Retries the connection in the background, if needed, and receives until the stop. */
async function receive(run: TelegramRun, first: User | HoldfastError, onReady: (inbound: InboundHandler) => void) {
  const { accountId, host, logger } = run;
  try {
    const bot = await keepIntroducingBot(run, first);
    if (bot === undefined) return;
    const inbound = createInboundHandler({ ...run, bot });
    onReady(inbound);
    const connectedText = `Telegram account ${accountId} is connected as @${bot.username ?? bot.id}`;
    host.report({ state: "connected", text: connectedText });
    if (run.mode === "polling") await poll({ ...run, inbound, connectedText });
  } catch (error) {
    logger.error("Telegram channel stopped", { error: startError(error, run) });
    host.report({ state: "failed", text: `Telegram account ${accountId} has stopped: ${errorMessage(error)}` });
  }
}

export interface WebhookAnswer {
  status: 200 | 400 | 401 | 503;
}

/** Answers 200 only for an update that was handled; after any other status Telegram sends it again. */
async function answerWebhook(
  body: string,
  inbound: InboundHandler | undefined,
  logger: Logger,
): Promise<WebhookAnswer> {
  const update = parseJson(body);
  if (!isRecord(update) || typeof update["update_id"] !== "number") return { status: 400 };
  if (inbound === undefined) return { status: 503 };
  try {
    await inbound.handle(update as unknown as Update);
    return { status: 200 };
  } catch (error) {
    logger.warn("cannot store a Telegram message; Telegram will send it again", {
      error: telegramError(error, "store a message from Telegram"),
    });
    return { status: 503 };
  }
}

/** Compares hashes of equal length, so that timing reveals neither length nor content. */
function isSameSecret(given: string | undefined, expected: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(expected));
}

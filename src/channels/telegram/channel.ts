/**
 * Telegram as a channel. `start` contacts Telegram once: a refused token fails there. If the network is
 * down, `start` reports it and retries in the background until the channel stops.
 */
import type { Update, User } from "grammy/types";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { type Channel, alreadyStarted } from "../channel.ts";
import { createReceivedFiles } from "../received-files.ts";
import {
  type TelegramOptions,
  type TelegramRun,
  introduceBot,
  keepIntroducingBot,
  openTelegramApi,
  startError,
} from "./connection.ts";
import { telegramError, tokenRefused } from "./errors.ts";
import { type InboundHandler, createInboundHandler } from "./inbound.ts";
import { parseTarget, sendToTelegram } from "./outbound.ts";
import { poll } from "./polling.ts";
import { lazy } from "../../base/async.ts";

export interface TelegramChannel extends Channel {
  /** Checks the webhook secret; the gateway calls it before it reads a body. */
  knowsSecret(given: string | undefined): boolean;
  /** `secretToken`: the header X-Telegram-Bot-Api-Secret-Token. `body` is raw; the gateway limits its size. */
  handleWebhook(request: { secretToken: string | undefined; body: string }): Promise<WebhookAnswer>;
}

export function createTelegramChannel(options: TelegramOptions): TelegramChannel {
  const { accountId, logger } = options;
  const webhookSecret = options.mode === "webhook" ? options.webhook?.secretToken : undefined;
  const pendingWebhooks = new Set<Promise<unknown>>();
  let connecting: Promise<Connection> | undefined;
  let connection: Connection | undefined;
  let stopping = new AbortController();

  const lazyTelegram = lazy(async () => await openTelegramApi(options.token, options.apiRoot));

  return {
    name: "telegram",
    accountId,
    capabilities: { textLimit: 4096, media: true, replies: true, threads: true, deduplicates: false },
    start: async (host) => {
      if (connecting !== undefined) throw alreadyStarted("Telegram", accountId);
      checkOptions(options);
      stopping = new AbortController();
      const { signal } = stopping;
      connecting = lazyTelegram.get().then(async (telegram) => await connect({ ...options, telegram, host, signal }));
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
      await Promise.allSettled([closing?.close(), ...pendingWebhooks]);
    },
    send: async (message) => await sendToTelegram(message, await lazyTelegram.get()),
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
      const answer = answerWebhook(request.body, connection?.inbound, logger);
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

type Connection = Awaited<ReturnType<typeof connect>>;

/** Throws for a misconfiguration; other failures are retried in the background until the signal. */
async function connect(run: TelegramRun) {
  const { accountId, host, logger, signal } = run;
  let inbound: InboundHandler | undefined;

  const receive = async (bot: User): Promise<void> => {
    const { mediaFolder: folder, maxMediaBytes: maxBytes } = run;
    const files = folder === undefined ? undefined : createReceivedFiles({ folder, maxBytes });
    inbound = createInboundHandler({ ...run, bot, files });
    const connectedText = `Telegram account ${accountId} is connected as @${bot.username ?? bot.id}`;
    host.report({ state: "connected", text: connectedText });
    if (run.mode === "polling") await poll({ ...run, inbound, connectedText });
  };

  host.report({ state: "starting", text: `Telegram account ${accountId} is starting` });
  const bot = await introduceBot(run).catch((error: unknown) => {
    const known = startError(error, run);
    if (known.kind !== "unavailable") throw known;
    if (!signal.aborted) host.report({ state: "retrying", text: known.message });
    return undefined;
  });
  const identified = bot === undefined ? keepIntroducingBot(run) : Promise.resolve(bot);
  const receiving = identified
    .then(async (known) => (known === undefined ? undefined : await receive(known)))
    .catch((error: unknown) => {
      logger.error("Telegram channel stopped", { error: startError(error, run) });
      host.report({ state: "failed", text: `Telegram account ${accountId} has stopped: ${errorMessage(error)}` });
    });

  return {
    /** Undefined until Telegram has been reached, and after `close`. */
    get inbound(): InboundHandler | undefined {
      return inbound;
    },
    /** Call it after the signal; resolves when all updates in progress have ended. */
    close: async (): Promise<void> => {
      await receiving;
      inbound = undefined;
      host.report({ state: "stopped", text: `Telegram account ${accountId} is stopped` });
    },
  };
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

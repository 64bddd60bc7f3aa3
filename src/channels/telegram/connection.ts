/**
 * The Bot API client and the first contact with Telegram: the bot's identity and how updates are delivered.
 * The library's web build uses Node's own fetch and loads ten times faster than the other build.
 */
import type { User } from "grammy/types";
import type { Api } from "grammy/web";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { AccountOptions, ChannelHost } from "../channel.ts";
import { pauseAfter } from "../intake.ts";
import { isTokenRefused, refusalOf, telegramError, tokenRefused } from "./errors.ts";

export interface TelegramOptions extends Omit<AccountOptions, "mediaFolder"> {
  /** From @BotFather. */
  token: string;
  /** Polling works without a public address; a webhook needs one. */
  mode: "polling" | "webhook";
  /** Required for mode `webhook`. */
  webhook?:
    | {
        /** The https address under which the gateway calls `handleWebhook`. */
        url: string;
        /** 1–256 characters of A–Z, a–z, 0–9, _ and -; Telegram sends it with every request. */
        secretToken: string;
      }
    | undefined;
  /** Another Bot API server. Default: Telegram's own. */
  apiRoot?: string | undefined;
  /** Folder for files that people send. Default: files are not fetched. */
  mediaFolder?: string | undefined;
}

/** One run of the channel, from `start` to `stop`. */
export interface TelegramRun extends TelegramOptions {
  telegram: TelegramApi;
  host: ChannelHost;
  signal: AbortSignal;
}

export type TelegramApi = Awaited<ReturnType<typeof openTelegramApi>>;

/** Uploading the largest file takes a while on a slow line; polling has its own limit. */
const REQUEST_TIMEOUT_SECONDS = 180;

export async function openTelegramApi(token: string, apiRoot = "https://api.telegram.org") {
  const { Api, InputFile } = await import("grammy/web");
  const root = apiRoot.replace(/\/+$/, "");
  return {
    api: new Api(token, { apiRoot: root, timeoutSeconds: REQUEST_TIMEOUT_SECONDS }),
    InputFile,
    /** Download address of a file. Contains the token: never log it. */
    fileUrl: (filePath: string) => `${root}/file/bot${token}/${filePath.split("/").map(encodeURIComponent).join("/")}`,
  };
}

/** Aborts after a time, or with `signal`. The library's AbortSignal type differs from the one it runs on. */
export function requestSignal(timeoutMs: number, signal?: AbortSignal): RequestSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return (signal === undefined ? timeout : AbortSignal.any([signal, timeout])) as unknown as RequestSignal;
}

type RequestSignal = NonNullable<Parameters<Api["getMe"]>[0]>;

/** Edited messages are not requested: the original has been admitted, and an edit is not a new request. */
export const ALLOWED_UPDATES = ["message"] as const;

const CONNECT_TIMEOUT_MS = 20_000;

/** Returns the bot and selects polling or webhook. Updates that are waiting at Telegram stay there. */
export async function introduceBot({ telegram: { api }, mode, webhook, signal: stopped }: TelegramRun): Promise<User> {
  const signal = requestSignal(CONNECT_TIMEOUT_MS, stopped);
  const bot = await api.getMe(signal);
  if (mode === "polling" || webhook === undefined) await api.deleteWebhook({ drop_pending_updates: false }, signal);
  else {
    const { url, secretToken } = webhook;
    await api.setWebhook(url, { secret_token: secretToken, allowed_updates: ALLOWED_UPDATES }, signal);
  }
  return bot;
}

/** Retries until Telegram can be reached. Undefined if the channel stops first. */
export async function keepIntroducingBot(run: TelegramRun): Promise<User | undefined> {
  const { host, clock, signal } = run;
  let lastError: unknown;
  for (let attempt = 0; ; attempt++) {
    await pauseUnlessStopped(clock, pauseAfter(lastError, attempt), signal);
    if (signal.aborted) return undefined;
    try {
      return await introduceBot(run);
    } catch (error) {
      if (signal.aborted) return undefined;
      const known = startError(error, run);
      if (known.kind !== "unavailable") throw known;
      host.report({ state: "retrying", text: known.message });
      lastError = known;
    }
  }
}

export function startError(error: unknown, { accountId, webhook }: TelegramOptions): HoldfastError {
  if (isTokenRefused(error)) return tokenRefused(accountId);
  const known = telegramError(error, "connect to Telegram");
  if (refusalOf(error)?.status !== 400) return known;
  return new HoldfastError("usage", "telegram-webhook-refused", known.message, {
    hint: "Telegram needs a public https address on port 443, 80, 88 or 8443, and a secret of A-Z, a-z, 0-9, _ and -.",
    data: { accountId, url: webhook?.url },
  });
}

/** A pause that ends early, without an error, when the channel stops. */
export async function pauseUnlessStopped(clock: Clock, pauseMs: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(pauseMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

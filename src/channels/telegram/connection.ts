/**
 * The Bot API client and the first contact with Telegram: the bot's identity and how updates are delivered.
 * The library's web build uses Node's own fetch and loads ten times faster than the other build.
 */
import type { User } from "grammy/types";
import type { Api } from "grammy/web";
import { HoldfastError, systemErrorCode } from "../../base/errors.ts";
import { type AccountOptions, type ChannelHost, pauseAfter } from "../channel.ts";
import { isRecord } from "../../base/json-record.ts";
import { printableLine } from "../../base/text.ts";

export interface TelegramOptions extends AccountOptions {
  token: string;
  /** Polling works without a public address; a webhook needs one. */
  mode: "polling" | "webhook";
  webhook?:
    | {
        url: string;
        /** 1–256 characters of A–Z, a–z, 0–9, _ and -; Telegram sends it with every request. */
        secretToken: string;
      }
    | undefined;
  /** Another Bot API server. Default: Telegram's own. */
  apiRoot?: string | undefined;
}

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
export const ALLOWED_UPDATES = ["message", "callback_query"] as const;

const CONNECT_TIMEOUT_MS = 20_000;

/**
 * Returns the bot and selects polling or webhook. Updates that are waiting at Telegram stay there. Throws for a
 * misconfiguration; returns the error if Telegram cannot be reached now.
 */
export async function introduceBot(run: TelegramRun): Promise<User | HoldfastError> {
  const { telegram, mode, webhook, host, signal: stopped } = run;
  const signal = requestSignal(CONNECT_TIMEOUT_MS, stopped);
  try {
    const bot = await telegram.api.getMe(signal);
    if (mode === "polling" || webhook === undefined) {
      await telegram.api.deleteWebhook({ drop_pending_updates: false }, signal);
    } else {
      const options = { secret_token: webhook.secretToken, allowed_updates: ALLOWED_UPDATES };
      await telegram.api.setWebhook(webhook.url, options, signal);
    }
    return bot;
  } catch (error) {
    const known = startError(error, run);
    if (known.kind !== "unavailable") throw known;
    if (!stopped.aborted) host.report({ state: "retrying", text: known.message });
    return known;
  }
}

/** Retries until Telegram can be reached. Undefined if the channel stops first. */
export async function keepIntroducingBot(run: TelegramRun, first: User | HoldfastError): Promise<User | undefined> {
  let result = first;
  for (let attempt = 0; result instanceof HoldfastError; attempt++) {
    await run.clock.sleep(pauseAfter(result, attempt), run.signal).catch(() => undefined);
    if (run.signal.aborted) return undefined;
    result = await introduceBot(run);
  }
  return result;
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

interface TelegramRefusal {
  status: number;
  description: string;
  retryAfterMs: number | undefined;
  migratedTo: number | undefined;
}

/** Undefined when Telegram did not answer. Checks the shape, so that the library need not be loaded. */
export function refusalOf(error: unknown): TelegramRefusal | undefined {
  if (!isRecord(error) || typeof error["error_code"] !== "number") return undefined;
  const parameters = isRecord(error["parameters"]) ? error["parameters"] : {};
  const { retry_after: seconds, migrate_to_chat_id: migratedTo } = parameters;
  return {
    status: error["error_code"],
    description: typeof error["description"] === "string" ? error["description"] : "",
    retryAfterMs: typeof seconds === "number" ? seconds * 1000 : undefined,
    migratedTo: typeof migratedTo === "number" ? migratedTo : undefined,
  };
}

/** `action` completes "Cannot …": `send to Telegram`. */
export function telegramError(error: unknown, action: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const refusal = refusalOf(error);
  return refusal === undefined ? unreachable(error, action) : refused(refusal, action);
}

/** No retry can help. Telegram answers 404 to a token of the wrong form. */
export function isTokenRefused(error: unknown): boolean {
  const status = refusalOf(error)?.status;
  return status === 401 || status === 404;
}

export function tokenRefused(accountId: string): HoldfastError {
  const message = `Telegram does not accept the bot token of account ${accountId}`;
  return new HoldfastError("usage", "telegram-token-refused", message, {
    hint: "Get one from @BotFather in Telegram (/newbot for a new bot, /token for an existing one), put it into the channel's configuration and start again.",
    data: { accountId },
  });
}

function refused(refusal: TelegramRefusal, action: string): HoldfastError {
  const { status, retryAfterMs } = refusal;
  const description = printableLine(refusal.description.replace(/^[A-Z][\w ]*: /, ""), 200);
  const message = `Cannot ${action}: ${description === "" ? `status ${status}` : description}`;
  const data = { status, maybeDelivered: false };
  if (status === 429) {
    return new HoldfastError("unavailable", "telegram-rate-limited", message, {
      hint: "Telegram limits the rate; try again after the pause it asked for.",
      data: { ...data, retryAfterMs: retryAfterMs ?? 1000 },
    });
  }
  if (status >= 500) {
    return new HoldfastError("unavailable", "telegram-server-failed", message, {
      hint: "Telegram has a problem; try again later.",
      data: { ...data, maybeDelivered: true },
    });
  }
  const advice = ADVICE.find((entry) => entry.status === status && entry.pattern.test(refusal.description));
  const { kind, code, hint } = advice ?? REFUSED;
  return new HoldfastError(kind, code, message, { hint, data });
}

const REFUSED = {
  kind: "usage",
  code: "telegram-refused",
  hint: "Telegram does not accept this message; change it as the error says.",
} as const;

const ADVICE = [
  {
    status: 401,
    pattern: /^/,
    kind: "usage",
    code: "telegram-token-refused",
    hint: "The bot token is no longer valid: get a new one from @BotFather (/token) and put it into the configuration.",
  },
  {
    status: 403,
    pattern: /^/,
    kind: "forbidden",
    code: "telegram-forbidden",
    hint: "The person has blocked the bot or never started it, or the group has removed it; they must add it again.",
  },
  {
    status: 400,
    pattern: /chat not found/i,
    kind: "not-found",
    code: "telegram-chat-not-found",
    hint: "Check the chat id. A person must write to the bot first; a group must have it as a member.",
  },
  {
    status: 400,
    pattern: /thread not found|TOPIC_/i,
    kind: "not-found",
    code: "telegram-topic-not-found",
    hint: "The topic was closed or deleted; open it again or send to the group.",
  },
  {
    status: 400,
    pattern: /too long/i,
    kind: "usage",
    code: "telegram-text-too-long",
    hint: "A message can have 4096 characters, a caption 1024; split the text.",
  },
  {
    status: 413,
    pattern: /^/,
    kind: "usage",
    code: "telegram-file-too-large",
    hint: "Telegram accepts files up to 50 MB and pictures up to 10 MB; send a link instead.",
  },
] as const;

/** The connection was never made, so nothing was delivered. */
const NEVER_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

function unreachable(error: unknown, action: string): HoldfastError {
  const code = networkCode(error);
  const message = `Cannot ${action}: no answer from Telegram${code === undefined ? "" : ` (${code})`}`;
  return new HoldfastError("unavailable", "telegram-unreachable", message, {
    hint: "Check the network and whether this machine can reach api.telegram.org. Holdfast retries automatically.",
    data: { maybeDelivered: !NEVER_CONNECTED.has(code ?? ""), system: code },
  });
}

/** The nested system error code; only a plain code is safe to repeat. */
function networkCode(error: unknown, depth = 0): string | undefined {
  if (depth > 5 || !(error instanceof Error)) return undefined;
  const code = systemErrorCode(error);
  if (code !== undefined && /^[A-Z][A-Z0-9_]{2,40}$/.test(code)) return code;
  return networkCode("error" in error ? error.error : error.cause, depth + 1);
}

/**
 * Updates that Telegram brings by itself. The HTTP server is the gateway's; this says what to answer.
 * 200 is Telegram's leave to forget the update, so it is given only when the update was handled; on
 * anything else Telegram brings it again.
 */
import type { Update } from "grammy/types";
import { nodeCrypto } from "../../base/builtin.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { telegramError } from "./api-errors.ts";
import type { InboundHandler } from "./inbound.ts";

export interface WebhookRequest {
  /** The header X-Telegram-Bot-Api-Secret-Token. */
  secretToken: string | undefined;
  /** As it came; the gateway limits its size. */
  body: string;
}

export interface WebhookAnswer {
  status: 200 | 400 | 401 | 503;
}

export interface WebhookOptions {
  secretToken: string;
  /** Undefined while the channel is not started or already stopped. */
  inbound: InboundHandler | undefined;
  logger: Logger;
}

export async function answerWebhook(request: WebhookRequest, options: WebhookOptions): Promise<WebhookAnswer> {
  const { secretToken, inbound, logger } = options;
  if (!isSameSecret(request.secretToken, secretToken)) return { status: 401 };
  const update = parseUpdate(request.body);
  if (update === undefined) return { status: 400 };
  if (inbound === undefined) return { status: 503 };
  try {
    await inbound.handle(update);
    return { status: 200 };
  } catch (error) {
    logger.warn("a Telegram message could not be kept; Telegram will bring it again", {
      error: telegramError(error, "keep a message from Telegram"),
    });
    return { status: 503 };
  }
}

/** Hashes have one length, so that neither the length nor the content can be found out by timing. */
export function isSameSecret(given: string | undefined, expected: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(expected));
}

function parseUpdate(body: string): Update | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) && typeof value["update_id"] === "number" ? (value as unknown as Update) : undefined;
  } catch {
    return undefined;
  }
}

/** What Telegram refuses to send, in its own words; only rules that clients have to know. */
import { isRecord } from "../../../src/base/json-record.ts";
import type { BotCall, BotFailure } from "./bot-calls.ts";

export function refusalOf(call: BotCall, knownMessageIds: ReadonlySet<number>): BotFailure | undefined {
  const { method, params } = call;
  if (params["chat_id"] === undefined || params["chat_id"] === "") return badRequest("chat_id is empty");
  // The General topic has no id when sending, though its messages are shown under 1.
  if (method !== "sendChatAction" && params["message_thread_id"] === 1) return badRequest("message thread not found");
  return replyRefusal(params, knownMessageIds) ?? textRefusal(method, params);
}

function replyRefusal(params: BotCall["params"], knownMessageIds: ReadonlySet<number>): BotFailure | undefined {
  const reply = params["reply_parameters"];
  if (!isRecord(reply) || knownMessageIds.has(Number(reply["message_id"]))) return undefined;
  return reply["allow_sending_without_reply"] === true ? undefined : badRequest("message to be replied not found");
}

function textRefusal(method: string, params: BotCall["params"]): BotFailure | undefined {
  const field = method === "sendMessage" ? "text" : "caption";
  const text = typeof params[field] === "string" ? params[field] : "";
  if (method === "sendMessage" && text.trim() === "") return badRequest("message text is empty");
  if (method === "sendMessage" && text.length > 4096) return badRequest("message is too long");
  if (field === "caption" && text.length > 1024) return badRequest("message caption is too long");
  const entities = params[field === "text" ? "entities" : "caption_entities"];
  const isOutside = (entity: unknown): boolean =>
    isRecord(entity) && Number(entity["offset"]) + Number(entity["length"]) > text.length;
  if (Array.isArray(entities) && entities.some(isOutside)) return badRequest("can't parse entities: out of range");
  return undefined;
}

export function badRequest(description: string): BotFailure {
  return { error_code: 400, description: `Bad Request: ${description}` };
}

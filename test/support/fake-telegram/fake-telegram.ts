/**
 * A Bot API server on loopback that speaks Telegram's protocol, for the real client library:
 *
 *   await using telegram = await startFakeTelegram();
 *   telegram.say("hello");                                 // an update for the next poll
 *   telegram.fail("sendMessage", rateLimited(2));          // the next call fails
 *   await telegram.waitFor((call) => call.method === "sendMessage");
 *
 * Updates stay until they are confirmed by an offset, as with Telegram; a client that died gets them
 * again. Calls are recorded with parameters and files.
 */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Message, Update, User } from "grammy/types";
import { isRecord } from "../../../src/base/json-record.ts";
import { listenOnLoopback, sendJson } from "../fake-server.ts";
import { watchList } from "../time.ts";
import { type BotCall, type BotFailure, readCall } from "./bot-calls.ts";
import { ADA, BOT, type MessageParts, message } from "./updates.ts";

export interface FakeTelegram extends AsyncDisposable {
  readonly url: string;
  /** The accepted token. */
  readonly token: string;
  readonly updates: UpdateQueue;
  /** All calls, in order. */
  readonly calls: readonly BotCall[];
  /** Calls that sent a message to a chat. */
  readonly sent: readonly BotCall[];
  readonly webhook: { url: string; secretToken?: string } | undefined;
  /** Adds a message from a person. Default: in a private chat. */
  say(text: string, parts?: MessageParts): Update;
  deliver(message: Message): Update;
  /** Presses a button of a sent message. Default: Ada, in the chat of the message. */
  press(sent: BotCall, command: string, by?: User): Update;
  /** Makes the next calls of the method fail, one per failure. */
  fail(method: string, ...failures: PlannedFailure[]): void;
  /** Holds matching calls of the method until the returned function is called. */
  hold(method: string, fits?: (params: Record<string, unknown>) => boolean): () => void;
  /** Makes bytes available to getFile under this path. */
  addFile(fileId: string, bytes: Buffer, path?: string): void;
  /** The bot's messages in a chat as people see them now: edited, and without deleted ones. */
  shown(chatId: number): string[];
  /** The first matching call, past or future, perhaps not answered yet. */
  waitFor(fits: (call: BotCall) => boolean, timeoutMs?: number): Promise<BotCall>;
}

/** `late`: the person sees the message at once, the bot gets the answer later. */
type PlannedFailure = BotFailure | "hang-up" | "hang-up-after" | "late";

const LATE_MS = 700;

export const UNAUTHORIZED: BotFailure = { error_code: 401, description: "Unauthorized" };
export const BLOCKED: BotFailure = { error_code: 403, description: "Forbidden: bot was blocked by the user" };
export const SERVER_ERROR: BotFailure = { error_code: 502, description: "Bad Gateway" };

export function rateLimited(seconds: number): BotFailure {
  const description = `Too Many Requests: retry after ${seconds}`;
  return { error_code: 429, description, parameters: { retry_after: seconds } };
}

const NOT_MODIFIED = "message is not modified: specified new message content is exactly the same";
const SENDING = /^send(?!ChatAction)/;

export async function startFakeTelegram(): Promise<FakeTelegram> {
  const token = "123456789:AAF-fake-token-of-thirty-five-chars";
  const updates = createUpdateQueue();
  const calls: BotCall[] = [];
  const failures = new Map<string, PlannedFailure[]>();
  const holds = new Set<{ method: string; fits: (params: Record<string, unknown>) => boolean; ended: Promise<void> }>();
  const files = new Map<string, { path: string; bytes: Buffer }>();
  const messageIds = new Set<number>();
  /** Messages of the bot as people see them. */
  const shown = new Map<number, { chatId: unknown; text: string }>();
  const watched = watchList(calls, "call");
  let webhook: FakeTelegram["webhook"];
  let lastMessageId = 90_000;
  let lastPress = 0;

  const answer = async (call: BotCall, gone: AbortSignal): Promise<{ result: unknown } | { failure: BotFailure }> => {
    const { method, params } = call;
    if (method === "getMe") return { result: BOT };
    if (method === "getUpdates") {
      if (webhook !== undefined) return { failure: WEBHOOK_ACTIVE };
      const polled = await updates.poll(params, gone);
      return "failure" in polled ? polled : { result: polled.updates };
    }
    if (method === "setWebhook" || method === "deleteWebhook") {
      webhook = method === "setWebhook" ? readWebhook(params) : undefined;
      return { result: true };
    }
    if (method === "getFile") {
      const file = files.get(String(params["file_id"]));
      if (file === undefined) return { failure: badRequest("invalid file_id") };
      return { result: { file_id: params["file_id"], file_path: file.path, file_size: file.bytes.length } };
    }
    if (method === "answerCallbackQuery") return { result: true };
    if (method === "editMessageText") {
      const message = shown.get(Number(params["message_id"]));
      if (message === undefined) return { failure: badRequest("message to edit not found") };
      const isMarkup = params["reply_markup"] !== undefined;
      if (message.text === params["text"] && !isMarkup) return { failure: badRequest(NOT_MODIFIED) };
      message.text = String(params["text"]);
      return { result: true };
    }
    if (method === "deleteMessage") {
      const isKnown = shown.delete(Number(params["message_id"]));
      return isKnown ? { result: true } : { failure: badRequest("message to delete not found") };
    }
    if (!method.startsWith("send")) return { failure: { error_code: 404, description: "Not Found: method not found" } };
    const refusal = refusalOf(call, messageIds);
    if (refusal !== undefined) return { failure: refusal };
    if (method === "sendChatAction") return { result: true };
    lastMessageId += 1;
    messageIds.add(lastMessageId);
    shown.set(lastMessageId, { chatId: params["chat_id"], text: textOf(params) });
    const isGroup = Number(params["chat_id"]) < 0;
    const chat = { id: params["chat_id"], type: isGroup ? "supergroup" : "private" };
    return { result: { message_id: lastMessageId, date: 1_794_744_000, chat, from: BOT, text: params["text"] } };
  };

  const handleCall = async (method: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await readCall(method, incoming);
    calls.push(call);
    watched.changed();
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    for (const held of holds) if (held.method === method && held.fits(call.params)) await held.ended;
    const planned = failures.get(method)?.shift();
    if (planned === "hang-up") response.destroy();
    const answered =
      typeof planned === "object"
        ? { failure: planned }
        : planned === "hang-up"
          ? undefined
          : await answer(call, gone.signal);
    if (answered !== undefined && "result" in answered) call.result = answered.result;
    watched.changed();
    if (planned === "hang-up-after") response.destroy();
    if (planned === "late") await delay(LATE_MS);
    if (answered === undefined || response.destroyed) return;
    if ("failure" in answered) sendJson(response, answered.failure.error_code, { ok: false, ...answered.failure });
    else sendJson(response, 200, { ok: true, result: answered.result });
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = decodeURIComponent((incoming.url ?? "").replace(/\?.*$/, ""));
    if (path.startsWith(`/bot${token}/`)) {
      await handleCall(path.slice(`/bot${token}/`.length), incoming, response);
    } else if (path.startsWith(`/file/bot${token}/`)) {
      const wanted = path.slice(`/file/bot${token}/`.length);
      const planned = failures.get("file")?.shift();
      const file = [...files.values()].find((candidate) => candidate.path === wanted);
      if (planned !== undefined) response.destroy();
      else if (file === undefined) sendJson(response, 404, { ok: false, error_code: 404, description: "Not Found" });
      else response.end(file.bytes);
    } else sendJson(response, 401, { ok: false, ...UNAUTHORIZED });
  };

  const server = createServer((incoming, response) => {
    // Some tests disconnect midway.
    handle(incoming, response).catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server);

  const deliver = (delivered: Message): Update => {
    messageIds.add(delivered.message_id);
    return updates.addMessage(delivered);
  };

  return {
    shown: (chatId) => [...shown.values()].filter((one) => one.chatId === chatId).map(({ text }) => text),
    url: listening.url,
    token,
    updates,
    calls,
    get sent() {
      return calls.filter(({ method, result }) => SENDING.test(method) && result !== undefined);
    },
    get webhook() {
      return webhook;
    },
    say: (text, parts = {}) => deliver(message({ text, ...parts })),
    deliver,
    press: (sent, command, by = ADA) => {
      const message = sent.result as Message;
      return updates.add({
        callback_query: { id: `q${(lastPress += 1)}`, from: by, chat_instance: "1", data: command, message },
      });
    },
    fail: (method, ...planned) => {
      failures.set(method, [...(failures.get(method) ?? []), ...planned]);
    },
    hold: (method, fits = () => true) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const held = { method, fits, ended: promise };
      holds.add(held);
      return () => {
        holds.delete(held);
        resolve();
      };
    },
    addFile: (fileId, bytes, path = `files/${fileId}`) => {
      files.set(fileId, { path, bytes });
    },
    waitFor: async (fits, timeoutMs = 10_000) => await watched.waitFor(fits, timeoutMs),
    [Symbol.asyncDispose]: async () => {
      updates.release();
      await listening[Symbol.asyncDispose]();
    },
  };
}

const WEBHOOK_ACTIVE: BotFailure = {
  error_code: 409,
  description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first",
};

function readWebhook(params: Record<string, unknown>): NonNullable<FakeTelegram["webhook"]> {
  const secret = params["secret_token"];
  return { url: String(params["url"]), ...(typeof secret === "string" ? { secretToken: secret } : {}) };
}

function refusalOf(call: BotCall, knownMessageIds: ReadonlySet<number>): BotFailure | undefined {
  const { method, params } = call;
  if (params["chat_id"] === undefined || params["chat_id"] === "") return badRequest("chat_id is empty");
  // The General topic has no id when sending, although its messages have thread id 1.
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

function badRequest(description: string): BotFailure {
  return { error_code: 400, description: `Bad Request: ${description}` };
}

export type PollAnswer = { updates: Update[] } | { failure: BotFailure };

export interface UpdateQueue {
  add(update: Partial<Update>): Update;
  addMessage(message: Message): Update;
  /** Sends these with the next answer, regardless of the offset, to test duplicates and disorder. */
  repeat(updates: readonly Update[]): void;
  /** Not yet confirmed by an offset. */
  readonly pending: readonly Update[];
  /** The highest requested offset. */
  readonly offset: number;
  /** `gone` aborts when the client disconnects. */
  poll(params: Record<string, unknown>, gone: AbortSignal): Promise<PollAnswer>;
  /** Ends a running poll with an empty answer. */
  release(): void;
}

const OTHER_POLLER: BotFailure = {
  error_code: 409,
  description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
};

function createUpdateQueue(): UpdateQueue {
  let pending: Update[] = [];
  let repeated: Update[] = [];
  let lastId = 500;
  let offset = 0;
  let waiting: ((answer: PollAnswer | "look") => void) | undefined;

  const add = (update: Partial<Update>): Update => {
    lastId += 1;
    const added: Update = { update_id: lastId, ...update };
    pending.push(added);
    waiting?.("look");
    return added;
  };

  const take = (limit: number): Update[] => {
    const first = repeated;
    repeated = [];
    const rest = pending.filter((update) => update.update_id >= offset && !first.includes(update));
    return [...first, ...rest].slice(0, limit);
  };

  return {
    add,
    addMessage: (message) => add({ message: message as NonNullable<Update["message"]> }),
    repeat: (updates) => {
      repeated.push(...updates);
      waiting?.("look");
    },
    get pending() {
      return pending;
    },
    get offset() {
      return offset;
    },
    poll: async (params, gone) => {
      waiting?.({ failure: OTHER_POLLER });
      offset = Math.max(offset, Number(params["offset"] ?? 0));
      pending = pending.filter((update) => update.update_id >= offset);
      const limit = Number(params["limit"] ?? 100);
      const ready = take(limit);
      const seconds = Number(params["timeout"] ?? 0);
      if (ready.length > 0 || seconds === 0) return { updates: ready };
      return await new Promise<PollAnswer>((resolve) => {
        const finish = (answer: PollAnswer | "look"): void => {
          clearTimeout(timer);
          if (waiting === finish) waiting = undefined;
          resolve(answer === "look" ? { updates: take(limit) } : answer);
        };
        const timer = setTimeout(() => finish("look"), seconds * 1000);
        waiting = finish;
        gone.addEventListener("abort", () => finish({ updates: [] }), { once: true });
      });
    },
    release: () => waiting?.({ updates: [] }),
  };
}

function textOf({ text, caption }: Record<string, unknown>): string {
  const shown = text ?? caption;
  return typeof shown === "string" ? shown : "";
}

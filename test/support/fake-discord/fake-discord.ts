/**
 * Discord on loopback: the parts of the REST API and the gateway that a chat bot needs.
 *
 *   await using discord = await startFakeDiscord();
 *   const { general } = discord;
 *   discord.say(general.id, "hello", { author: ada });
 *
 * Pass `discord.url` to discord.js as the REST `api`; it asks there for the gateway's address.
 */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { isRecord } from "../../../src/base/json-record.ts";
import { listenOnLoopback, parseBody, readBytes } from "../fake-server.ts";
import { type FakeGateway, createFakeGateway } from "./gateway.ts";
import {
  type FakeChannel,
  type FakeGuild,
  type FakeMessage,
  type FakeUser,
  fakeMessage,
  fakeUser,
  guildCreate,
  privateChannel,
  textChannel,
  threadChannel,
} from "./objects.ts";

export interface FakeDiscord extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly bot: FakeUser;
  readonly gateway: FakeGateway;
  readonly guild: FakeGuild;
  /** A text channel of the server. */
  readonly general: FakeChannel;
  readonly requests: readonly RecordedRequest[];
  /** Everything in a channel, oldest first. */
  messages(channelId: string): FakeMessage[];
  addChannel(name: string): FakeChannel;
  addThread(parent: FakeChannel, name: string): FakeChannel;
  openPrivateChat(person: FakeUser): FakeChannel;
  /** Adds a message and dispatches it through the gateway. */
  say(channelId: string, content: string, extra: Partial<FakeMessage> & { author: FakeUser }): FakeMessage;
  /** Presses a button of the bot's message: its `custom_id`. */
  press(message: FakeMessage, customId: string, by: FakeUser): void;
  /** Stores a file on Discord's servers and returns its attachment object. */
  upload(filename: string, content: Buffer, extra?: Record<string, unknown>): Record<string, unknown>;
  /** Replaces the answer to the next matching request. */
  refuse(fits: RegExp, answer: { status: number; body?: unknown; headers?: Record<string, string> }): void;
  /** Rejects every bot that identifies, with this code. */
  refuseIdentify(code: number | undefined): void;
  nextId(): string;
}

export interface RecordedRequest {
  /** Such as `POST /channels/1/messages`. */
  route: string;
  body: Record<string, unknown>;
  files: { name: string; text: string }[];
}

const INTERACTION = /^POST \/interactions\/\d+\/\w+\/callback$/;

interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
}

export async function startFakeDiscord(): Promise<FakeDiscord> {
  // Real ids have 17 digits and more; discord.js sorts its requests by that.
  let lastId = 1_400_000_000_000_000_000n;
  const nextId = (): string => String((lastId += 1000n));
  const token = "fake-token";
  const bot = fakeUser(nextId(), "holdfast", { bot: true, discriminator: "4242" });
  const guildId = nextId();
  const general = textChannel(nextId(), guildId, "general");
  const guild: FakeGuild = { id: guildId, name: "Harbour", channels: [general], threads: [], botRoleId: nextId() };
  const privateChats = new Map<string, FakeChannel>();
  const messages: FakeMessage[] = [];
  const uploads = new Map<string, Buffer>();
  const requests: RecordedRequest[] = [];
  const refusals: { fits: RegExp; answer: Answer }[] = [];
  let identifyRefusal: number | undefined;

  const channelOf = (id: string): FakeChannel | undefined =>
    [...guild.channels, ...guild.threads, ...privateChats.values()].find((channel) => channel.id === id);

  const add = (
    channel: FakeChannel,
    author: FakeUser,
    content: string,
    extra: Record<string, unknown>,
  ): FakeMessage => {
    const message = fakeMessage({ id: nextId(), channel_id: channel.id, author, content, ...extra });
    messages.push(message);
    channel.last_message_id = message.id;
    const { guild_id: inGuild } = channel;
    gateway.dispatch("MESSAGE_CREATE", {
      ...message,
      channel_type: channel.type,
      ...(inGuild === undefined
        ? {}
        : { guild_id: inGuild, member: { roles: [], ...(isRecord(extra["member"]) ? extra["member"] : undefined) } }),
    });
    return message;
  };

  const openPrivateChat = (person: FakeUser): FakeChannel => {
    const known = privateChats.get(person.id) ?? privateChannel(nextId(), person);
    privateChats.set(person.id, known);
    return known;
  };

  const createMessage = (channel: FakeChannel, { body, files }: RecordedRequest): Answer => {
    const { nonce } = body;
    const twin = messages.find((message) => message.author.id === bot.id && message.nonce === nonce);
    if (twin !== undefined && body["enforce_nonce"] === true) return { status: 200, body: twin };
    const reference = body["message_reference"] as { message_id: string; fail_if_not_exists?: boolean } | undefined;
    const original = messages.find(({ id }) => id === reference?.message_id);
    if (reference !== undefined && original === undefined && reference.fail_if_not_exists !== false) {
      const errors = {
        message_reference: { _errors: [{ code: "REPLIES_UNKNOWN_MESSAGE", message: "Unknown message" }] },
      };
      return { status: 400, body: { code: 50_035, message: "Invalid Form Body", errors } };
    }
    const attachments = files.map(({ name, text }) => ({ id: nextId(), filename: name, size: text.length }));
    const { components = [] } = body;
    const extra = {
      nonce,
      attachments,
      components,
      ...(original === undefined ? {} : { type: 19, message_reference: reference }),
    };
    return { status: 200, body: add(channel, bot, typeof body["content"] === "string" ? body["content"] : "", extra) };
  };

  const listMessages = (channel: FakeChannel, query: URLSearchParams): Answer => {
    const after = BigInt(query.get("after") ?? "0");
    const found = messages.filter(({ id, channel_id: at }) => at === channel.id && BigInt(id) > after);
    // The oldest messages after the given one, newest first.
    const page = found.slice(0, Number(query.get("limit") ?? "50")).reverse();
    return { status: 200, body: page.map((message) => ({ ...message, member: undefined })) };
  };

  const answer = (request: RecordedRequest, query: URLSearchParams): Answer => {
    const index = refusals.findIndex(({ fits }) => fits.test(request.route));
    if (index !== -1) return refusals.splice(index, 1)[0]?.answer ?? { status: 500 };
    if (request.route === "GET /gateway/bot") {
      const limit = { total: 1000, remaining: 999, reset_after: 1000, max_concurrency: 1 };
      return { status: 200, body: { url: gatewayUrl(), shards: 1, session_start_limit: limit } };
    }
    if (INTERACTION.test(request.route)) return { status: 204 };
    if (request.route === "POST /users/@me/channels") {
      const id = String(request.body["recipient_id"]);
      return { status: 200, body: openPrivateChat(fakeUser(id, `user${id}`)) };
    }
    const [, method = "", id = "", rest = ""] = /^(\w+) \/channels\/(\d+)(.*)$/.exec(request.route) ?? [];
    const channel = channelOf(id);
    if (channel === undefined) return { status: 404, body: { code: 10_003, message: "Unknown Channel" } };
    if (`${method} ${rest}` === "GET ") return { status: 200, body: channel };
    if (`${method} ${rest}` === "POST /typing") return { status: 204 };
    if (`${method} ${rest}` === "POST /messages") return createMessage(channel, request);
    if (`${method} ${rest}` === "GET /messages") return listMessages(channel, query);
    const edited = method === "PATCH" ? messages.find((message) => rest === `/messages/${message.id}`) : undefined;
    if (edited !== undefined) return { status: 200, body: Object.assign(edited, request.body) };
    const deleted = method === "DELETE" ? messages.findIndex((message) => rest === `/messages/${message.id}`) : -1;
    if (deleted !== -1) {
      messages.splice(deleted, 1);
      return { status: 204 };
    }
    return { status: 404, body: { code: 0, message: "404: Not Found" } };
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const target = new URL(incoming.url ?? "/", "http://localhost");
    const upload = uploads.get(target.pathname);
    if (upload !== undefined) {
      response.end(upload);
      return;
    }
    const request = await recordRequest(incoming, target);
    requests.push(request);
    // The token of an interaction is in its address.
    const isKnown = incoming.headers.authorization === `Bot ${token}` || INTERACTION.test(request.route);
    const {
      status,
      body,
      headers = {},
    } = isKnown
      ? answer(request, target.searchParams)
      : { status: 401, body: { code: 0, message: "401: Unauthorized" }, headers: {} };
    response.writeHead(status, { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  const listening = await listenOnLoopback(server);
  const { port } = listening;
  const gatewayUrl = (): string => `ws://127.0.0.1:${port}/gateway`;
  const gateway = createFakeGateway({
    server,
    url: gatewayUrl,
    token,
    heartbeatMs: 45_000,
    refusal: () => identifyRefusal,
    ready: () => ({ user: bot, guildIds: [guild.id], guilds: [guildCreate(guild, bot)] }),
  });

  return {
    url: `${listening.url}/api`,
    token,
    bot,
    gateway,
    guild,
    general,
    requests,
    nextId,
    messages: (channelId) => messages.filter(({ channel_id: id }) => id === channelId),
    addChannel: (name) => {
      const channel = textChannel(nextId(), guild.id, name);
      guild.channels.push(channel);
      gateway.dispatch("CHANNEL_CREATE", channel);
      return channel;
    },
    addThread: (parent, name) => {
      const thread = threadChannel(nextId(), parent, name);
      guild.threads.push(thread);
      gateway.dispatch("THREAD_CREATE", { ...thread, newly_created: true });
      return thread;
    },
    openPrivateChat,
    say: (channelId, content, { author, ...extra }) => {
      const channel = channelOf(channelId);
      if (channel === undefined) throw new Error(`no channel ${channelId}`);
      return add(channel, author, content, extra);
    },
    press: (message, customId, by) => {
      const channel = channelOf(message.channel_id);
      const { guild_id: inGuild } = channel ?? {};
      gateway.dispatch("INTERACTION_CREATE", {
        id: nextId(),
        application_id: bot.id,
        type: 3,
        token: "interaction",
        version: 1,
        channel_id: message.channel_id,
        channel,
        message,
        data: { custom_id: customId, component_type: 2 },
        entitlements: [],
        authorizing_integration_owners: {},
        ...(inGuild === undefined
          ? { user: by }
          : { guild_id: inGuild, member: { user: by, roles: [], joined_at: message["timestamp"], permissions: "0" } }),
      });
    },
    upload: (filename, content, extra = {}) => {
      const id = nextId();
      const path = `/attachments/${id}/${encodeURIComponent(filename)}`;
      uploads.set(path, content);
      return { id, filename, size: content.length, url: `${listening.url}${path}`, proxy_url: "", ...extra };
    },
    refuse: (fits, refusal) => void refusals.push({ fits, answer: refusal }),
    refuseIdentify: (code) => {
      identifyRefusal = code;
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.close();
      await listening[Symbol.asyncDispose]();
    },
  };
}

async function recordRequest(incoming: IncomingMessage, target: URL): Promise<RecordedRequest> {
  const raw = await readBytes(incoming);
  const type = incoming.headers["content-type"] ?? "";
  const route = `${incoming.method ?? ""} ${target.pathname.replace(/^\/api\/v\d+/, "")}`;
  if (!type.startsWith("multipart/form-data")) return { route, body: parseBody(raw), files: [] };
  const form = await new Response(raw, { headers: { "content-type": type } }).formData();
  const files: { name: string; text: string }[] = [];
  for (const value of form.values()) {
    if (typeof value !== "string") files.push({ name: value.name, text: await value.text() });
  }
  const json = form.get("payload_json");
  return { route, body: parseBody(typeof json === "string" ? json : ""), files };
}

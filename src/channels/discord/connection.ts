/**
 * The bot's connection to Discord. discord.js maintains it (heartbeat, resume, reconnect). Requests are
 * never retried and never wait for a rate limit: the caller decides. Messages are read from raw gateway
 * data, so that nothing has to be cached to read a reply.
 */
import type { Channel as ClientChannel, Client } from "discord.js";
import { raceAbort } from "../../base/async.ts";
import { HoldfastError, type ErrorKind, errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DiscordMessage, DiscordPress, Place } from "./context.ts";
import { stoppedWhileConnecting } from "../channel.ts";
import { type VisibleChannel, isNewer } from "./cursors.ts";
import { isRecord } from "../../base/json-record.ts";

export type DiscordConnection = ReturnType<typeof connectionOf>;

export interface ConnectOptions {
  token: string;
  api?: string | undefined;
  logger: Logger;
  signal: AbortSignal;
  on: ConnectionEvents;
}

export interface ConnectionEvents {
  /** A new session begins; missed messages are unknown until `sessionReady`. */
  sessionBegins: () => void;
  sessionReady(connection: DiscordConnection): void;
  message(message: DiscordMessage): void;
  press(press: DiscordPress): void;
  interrupted: () => void;
  resumed(replayed: number): void;
  lost(error: HoldfastError): void;
}

export async function connectDiscord(options: ConnectOptions): Promise<DiscordConnection> {
  const { signal } = options;
  const { client, silence } = await createClient(options.api);
  const connection = connectionOf(client, silence);
  const { ready, closeCode } = await listen(client, connection, options);
  try {
    const connected = client.login(options.token).then(async () => await ready);
    await raceAbort(connected, signal);
    return connection;
  } catch (error) {
    silence();
    await client.destroy().catch(() => undefined);
    if (signal.aborted) throw stoppedWhileConnecting("Discord");
    throw misconfiguration(error, closeCode()) ?? discordError(error, "accept the bot");
  }
}

/** `ready` resolves when the first session is complete. `closeCode` says why the gateway closed the connection. */
async function listen(client: Client, connection: DiscordConnection, options: ConnectOptions) {
  const { signal, on, logger } = options;
  const { Events, GatewayDispatchEvents } = await import("discord.js");
  const ready = Promise.withResolvers<void>();
  let isUp = false;
  let closeCode: number | undefined;
  const listeners = {
    ready: () => {
      isUp = true;
      on.sessionReady(connection);
      ready.resolve();
    },
    closed: (code: number) => {
      closeCode = code;
      const error = misconfiguration(undefined, code);
      if (isUp && error !== undefined) on.lost(error);
    },
  };
  // A destroyed client may still emit events.
  const unlessStopped = (listener: () => void): void => {
    if (!signal.aborted) listener();
  };
  client.on(Events.Error, (error) => logger.warn("Discord client error", { error }));
  client.on(Events.ShardError, (error) => logger.debug("Discord gateway error", { error }));
  client.on(Events.ShardReconnecting, () => unlessStopped(on.interrupted));
  client.on(Events.ShardResume, (_, replayed) => unlessStopped(() => on.resumed(replayed)));
  client.on(Events.ShardDisconnect, ({ code }) => unlessStopped(() => listeners.closed(code)));
  client.on(Events.ShardReady, () => unlessStopped(listeners.ready));
  client.ws.on(GatewayDispatchEvents.Ready, () => unlessStopped(on.sessionBegins));
  client.ws.on(GatewayDispatchEvents.MessageCreate, (message: DiscordMessage) =>
    unlessStopped(() => on.message(message)),
  );
  client.ws.on(GatewayDispatchEvents.InteractionCreate, (press: DiscordPress) => unlessStopped(() => on.press(press)));
  return { ready: ready.promise, closeCode: () => closeCode };
}

/** `silence` prevents new connections. */
async function createClient(api: string | undefined): Promise<{ client: Client; silence: () => void }> {
  const { Client, GatewayIntentBits, Options, Partials, SimpleShardingStrategy } = await import("discord.js");
  let silence: (() => void) | undefined;
  const client = new Client({
    ws: {
      buildStrategy: (manager) => {
        // A client destroyed while it waits to reconnect would still connect. It first asks which session to resume, so
        // this request never gets an answer.
        silence = () => {
          manager.options.retrieveSessionInfo = async () => await new Promise(() => undefined);
        };
        return new SimpleShardingStrategy(manager);
      },
    },
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.DirectMessages,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Channel],
    makeCache: Options.cacheWithLimits({ ...Options.DefaultMakeCacheSettings, MessageManager: 0, ReactionManager: 0 }),
    // A server with an outage must not delay the others.
    waitGuildTimeout: 5000,
    rest: { ...(api === undefined ? {} : { api }), retries: 0, timeout: 30_000, rejectOnRateLimit: () => true },
  });
  return { client, silence: () => silence?.() };
}

function connectionOf(client: Client, silence: () => void) {
  const find = async (channelId: string): Promise<ClientChannel> => {
    try {
      const found = client.channels.cache.get(channelId) ?? (await client.channels.fetch(channelId));
      if (found !== null) return found;
    } catch (error) {
      throw discordError(error, `show channel ${channelId}`);
    }
    throw new HoldfastError("not-found", "discord-not-found", `Discord has no channel ${channelId}.`, {
      hint: "It may have been removed.",
    });
  };
  return {
    get bot() {
      return { id: client.user?.id ?? "", username: client.user?.username ?? "" };
    },
    rest: client.rest,
    place: async (channelId: string) => placeOf(await find(channelId), client),
    visibleChannels: () => [...client.channels.cache.values()].flatMap((channel) => visible(channel, client)),
    /** Oldest first. */
    messagesAfter: async (channelId: string, after: string, limit: number): Promise<DiscordMessage[]> => {
      const channel = await find(channelId);
      const guild = channel.isDMBased() ? {} : { guild_id: channel.guildId };
      const query = new URLSearchParams({ after, limit: String(limit) });
      try {
        const page = (await client.rest.get(`/channels/${channelId}/messages`, { query })) as DiscordMessage[];
        return page
          .map((message) => ({ ...message, ...guild }))
          .sort((one, other) => (isNewer(one.id, other.id) ? 1 : -1));
      } catch (error) {
        throw discordError(error, `show the messages of channel ${channelId}`);
      }
    },
    /** Ends the waiting sign on a pressed button. Discord expects it within 3 s. */
    acknowledge: async ({ id, token }: DiscordPress): Promise<void> => {
      try {
        await client.rest.post(`/interactions/${id}/${token}/callback`, { body: { type: KEEP_MESSAGE }, auth: false });
      } catch (error) {
        throw discordError(error, "take the answer to a button");
      }
    },
    close: async (): Promise<void> => {
      silence();
      await client.destroy();
    },
  };
}

/** The answer to a press that changes nothing yet. */
const KEEP_MESSAGE = 6;

function placeOf(channel: ClientChannel, client: Client): Place {
  if (channel.isDMBased()) return { kind: "direct" };
  const { guild } = channel;
  const parent = channel.isThread() ? channel.parent : undefined;
  return {
    kind: "guild",
    guildId: guild.id,
    guildName: guild.name,
    channelName: parent?.name ?? channel.name,
    botRoleId: client.user === null ? undefined : guild.roles.botRoleFor(client.user)?.id,
    ...(channel.isThread()
      ? { thread: { id: channel.id, name: channel.name, parentId: channel.parentId ?? undefined } }
      : {}),
  };
}

/** View Channel and Read Message History. */
const READING = (1n << 10n) | (1n << 16n);

function visible(channel: ClientChannel, client: Client): VisibleChannel[] {
  if (channel.isDMBased() || !channel.isTextBased() || client.user === null) return [];
  if (channel.permissionsFor(client.user)?.has(READING) === false) return [];
  return [{ id: channel.id, lastMessageId: channel.lastMessageId ?? undefined }];
}

/** The kind of the error says whether a retry can help. `action` completes "Discord did not …". */
export function discordError(error: unknown, action: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const cause = error;
  const text = `Discord did not ${action}: ${errorMessage(error)}`;
  const retryAfterMs = retryAfterOf(error);
  if (retryAfterMs !== undefined) {
    return new HoldfastError("unavailable", "discord-rate-limit", `Discord limits the rate and did not ${action}.`, {
      hint: `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
      data: { retryAfterMs },
      cause,
    });
  }
  const { status, code } = refusalOf(error);
  const data = { status, discordCode: code };
  const known = REFUSALS.find((refusal) => refusal.fits(status, code));
  if (known !== undefined) return new HoldfastError(known.kind, known.code, text, { hint: known.hint, data, cause });
  if (error instanceof Error && error.name === "AbortError") {
    return new HoldfastError("timeout", "discord-timeout", `Discord did not answer in time when asked to ${action}.`, {
      hint: "It may have succeeded anyway. Check the network, then try again.",
      cause,
    });
  }
  return new HoldfastError("unavailable", "discord-unreachable", text, {
    hint: "Discord or the network may be down (https://discordstatus.com); try again.",
    data,
    cause,
  });
}

const REFUSALS: readonly {
  fits(status: number | undefined, code: number | undefined): boolean;
  kind: ErrorKind;
  code: string;
  hint: string;
}[] = [
  {
    fits: (_, code) => code === 50_007,
    kind: "forbidden",
    code: "discord-dm-closed",
    hint: "This person does not accept direct messages from the bot. Ask them to allow messages from server members.",
  },
  {
    fits: (status) => status === 401,
    kind: "forbidden",
    code: "discord-token-invalid",
    hint: "The bot's token is no longer valid: copy a new one from the Discord developer portal (Bot, Reset Token).",
  },
  {
    fits: (status) => status === 403,
    kind: "forbidden",
    code: "discord-forbidden",
    hint: "Give the bot the permissions View Channel, Send Messages and Attach Files there.",
  },
  {
    fits: (status) => status === 404,
    kind: "not-found",
    code: "discord-not-found",
    hint: "The channel, thread or person no longer exists, or the bot was removed from the server.",
  },
  {
    fits: (status, code) => status === 413 || code === 40_005,
    kind: "usage",
    code: "media-too-large",
    hint: "The file is too large for Discord: send a smaller one or a link.",
  },
  {
    fits: (status) => status !== undefined && status >= 400 && status < 500,
    kind: "usage",
    code: "discord-refused",
    hint: "Discord does not accept this message.",
  },
];

/** True if Discord only rejected the reference to another message; nothing was sent then. */
export function isReferenceRefused(error: unknown): boolean {
  const { code } = refusalOf(error);
  // 160002: without permission to read the history the bot cannot reply.
  if (code === 160_002) return true;
  const raw = isRecord(error) ? error["rawError"] : undefined;
  const errors = isRecord(raw) ? raw["errors"] : undefined;
  return code === 50_035 && isRecord(errors) && "message_reference" in errors;
}

/** In ms. */
function retryAfterOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("retryAfter" in error) || typeof error.retryAfter !== "number") return undefined;
  return Math.max(0, Math.ceil(error.retryAfter));
}

function refusalOf(error: unknown): { status?: number | undefined; code?: number | undefined } {
  if (!(error instanceof Error)) return {};
  const status = "status" in error && typeof error.status === "number" ? error.status : undefined;
  const code = "code" in error && typeof error.code === "number" ? error.code : undefined;
  return { status, code };
}

/** The reason why Discord will always refuse this bot; undefined for a failure that may pass. */
function misconfiguration(error: unknown, closeCode: number | undefined): HoldfastError | undefined {
  const isTokenRefused = error instanceof Error && "code" in error && error.code === "TokenInvalid";
  if (isTokenRefused || closeCode === 4004) {
    return new HoldfastError("forbidden", "discord-token-invalid", "Discord does not accept the bot's token.", {
      hint: "Copy the token again from https://discord.com/developers/applications (your application, Bot, Reset Token).",
      cause: error,
    });
  }
  if (closeCode === 4014 || closeCode === 4013) {
    const message = "Discord does not let the bot read messages: the Message Content intent is off.";
    return new HoldfastError("forbidden", "discord-intent-missing", message, {
      hint: "Switch on Message Content Intent at https://discord.com/developers/applications (your application, Bot, Privileged Gateway Intents).",
      cause: error,
    });
  }
  if (closeCode !== 4010 && closeCode !== 4011 && closeCode !== 4012) return undefined;
  const message = `Discord's gateway refuses the bot (close code ${closeCode}).`;
  return new HoldfastError("unsupported", "discord-gateway-refused", message, {
    hint: "The bot is in too many servers for one connection, or discord.js is too old: update Holdfast.",
    cause: error,
  });
}

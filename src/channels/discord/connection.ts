/**
 * The bot's connection to Discord. discord.js maintains it (heartbeat, resume, reconnect). Requests are
 * never retried and never wait for a rate limit: the caller decides. Messages are read from raw gateway
 * data, so that nothing has to be cached to read a reply.
 */
import type { Channel as ClientChannel, Client, REST } from "discord.js";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { discordError, misconfiguration } from "./errors.ts";
import type { DiscordMessage, Place } from "./context.ts";
import { stoppedWhileConnecting } from "../channel.ts";
import { type VisibleChannel, isNewer } from "./cursors.ts";

export interface DiscordConnection {
  readonly bot: { id: string; username: string };
  readonly rest: REST;
  place(channelId: string): Promise<Place>;
  /** Server channels and threads that the bot can read. */
  visibleChannels(): VisibleChannel[];
  /** Oldest first. */
  messagesAfter(channelId: string, after: string, limit: number): Promise<DiscordMessage[]>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  token: string;
  /** Discord's REST API. Default: the real one. */
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
  interrupted: () => void;
  resumed(replayed: number): void;
  /** The connection is closed for good. */
  lost(error: HoldfastError): void;
}

export async function connectDiscord(options: ConnectOptions): Promise<DiscordConnection> {
  const { signal } = options;
  const { client, silence } = await createClient(options.api);
  const connection = connectionOf(client, silence);
  const { ready, closeCode } = await listen(client, connection, options);
  try {
    await Promise.race([client.login(options.token).then(async () => await ready), aborted(signal)]);
    return connection;
  } catch (error) {
    silence();
    await client.destroy().catch(() => undefined);
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

async function aborted(signal: AbortSignal): Promise<never> {
  return await new Promise((_, reject) => {
    const stop = (): void => reject(stoppedWhileConnecting("Discord"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function connectionOf(client: Client, silence: () => void): DiscordConnection {
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
    place: async (channelId) => placeOf(await find(channelId), client),
    visibleChannels: () => [...client.channels.cache.values()].flatMap((channel) => visible(channel, client)),
    messagesAfter: async (channelId, after, limit) => {
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
    close: async () => {
      silence();
      await client.destroy();
    },
  };
}

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

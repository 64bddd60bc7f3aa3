/**
 * Discord through discord.js, loaded when the channel starts. Discord delivers each message once, without
 * acknowledgement, so every new session fetches missed messages, from the last admitted one on (inbound.ts,
 * cursors.ts). Two gaps remain: the first message of a private chat that began while the bot was offline
 * (bots cannot list private chats), and more than 500 missed messages per channel.
 */
import { HoldfastError } from "../../base/errors.ts";
import {
  type AccountOptions,
  type Channel,
  type ChannelHost,
  type MessageSender,
  alreadyStarted,
  notConnected,
} from "../channel.ts";
import { pauseAfter } from "../intake.ts";
import { createReceivedFiles } from "../received-files.ts";
import { type ConnectionEvents, type DiscordConnection, connectDiscord } from "./connection.ts";
import { openCursors } from "./cursors.ts";
import { type Inbound, createInbound } from "./inbound.ts";
import { DISCORD_TEXT_LIMIT, createDiscordSender, parseTarget } from "./outbound.ts";

export interface DiscordChannelOptions extends AccountOptions {
  token: string;
  /** Where the channel stores the last message it has read in each Discord channel. */
  cursorFile: string;
  /** Discord's REST API, which names the gateway. Default: the real one. */
  api?: { rest: string } | undefined;
  /** Hosts from which files to send may be fetched. Default: public ones. */
  allowsAddress?: ((address: string) => boolean) | undefined;
}

interface Running {
  stopping: AbortController;
  host: ChannelHost;
  connection?: DiscordConnection | undefined;
  inbound?: Inbound | undefined;
  flush?: (() => Promise<void>) | undefined;
  /** Resolves when `start` has ended, also after a failure. */
  started: Promise<void>;
}

export function createDiscordChannel(options: DiscordChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let running: Running | undefined;
  const rest = (): DiscordConnection["rest"] => {
    if (running?.connection === undefined) throw notConnected("Discord");
    return running.connection.rest;
  };
  const sender = createDiscordSender({ rest, allowsAddress });

  return {
    name: "discord",
    accountId,
    capabilities: {
      textLimit: DISCORD_TEXT_LIMIT,
      media: true,
      replies: true,
      threads: true,
      // Only for some minutes; a later repetition may be delivered twice.
      deduplicates: true,
    },
    start: async (host) => {
      if (running !== undefined) throw alreadyStarted("Discord", accountId);
      const stopping = new AbortController();
      const state: Running = { stopping, host, started: Promise.resolve() };
      running = state;
      const starting = open(options, state, sender);
      state.started = starting.catch(() => undefined);
      try {
        await starting;
      } catch (error) {
        if (!stopping.signal.aborted) host.report({ state: "failed", text: failureText(error) });
        if (running === state) running = undefined;
        stopping.abort();
        throw error;
      }
    },
    stop: async () => {
      const state = running;
      if (state === undefined) return;
      running = undefined;
      state.stopping.abort();
      await state.started;
      await state.connection?.close();
      await state.inbound?.idle();
      await state.flush?.();
      state.host.report({ state: "stopped", text: "Discord: stopped." });
    },
    send: sender.send,
    checkTarget: (target) => void parseTarget(target),
    showTyping: sender.showTyping,
  };
}

async function open(options: DiscordChannelOptions, state: Running, { send }: MessageSender): Promise<void> {
  const { host, stopping } = state;
  const { mediaFolder: folder, maxMediaBytes: maxBytes, cursorFile, logger } = options;
  if (options.token.trim() === "") throw tokenMissing();
  host.report({ state: "starting", text: "Discord: connecting." });
  const cursors = await openCursors(cursorFile, logger);
  const files = createReceivedFiles({ folder, maxBytes });
  const inbound = createInbound({ ...options, host, cursors, files, send, signal: stopping.signal });
  state.inbound = inbound;
  state.flush = cursors.flush;
  state.connection = await keepConnecting(options, state, inbound);
}

/** Retries failures that may pass; throws a misconfiguration. */
async function keepConnecting(
  options: DiscordChannelOptions,
  state: Running,
  inbound: Inbound,
): Promise<DiscordConnection> {
  const { token, api, clock, logger } = options;
  const { signal } = state.stopping;
  const on = connectionEvents(options, state, inbound);
  for (let attempt = 0; ; attempt++) {
    try {
      return await connectDiscord({ token: token.trim(), api: api?.rest, logger, signal, on });
    } catch (error) {
      if (!mayPass(error)) throw error;
      const pause = pauseAfter(error, attempt);
      logger.warn("cannot reach Discord", { error, retryInMs: pause });
      state.host.report({
        state: "retrying",
        text: `${error.message} Trying again in ${Math.ceil(pause / 1000)} s.`,
      });
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}

function connectionEvents({ logger }: DiscordChannelOptions, state: Running, inbound: Inbound): ConnectionEvents {
  const { host } = state;
  let isInterrupted = false;
  return {
    sessionBegins: inbound.hold,
    sessionReady: (connection) => {
      isInterrupted = false;
      state.connection = connection;
      inbound.open(connection);
      host.report({ state: "connected", text: `Discord: connected as ${connection.bot.username}.` });
    },
    message: inbound.take,
    interrupted: () => {
      // discord.js retries twice a second; report it once.
      if (!isInterrupted) host.report({ state: "retrying", text: "Discord: connection lost, reconnecting." });
      isInterrupted = true;
    },
    resumed: (replayed) => {
      isInterrupted = false;
      host.report({ state: "connected", text: `Discord: connected again, ${replayed} missed events received.` });
    },
    lost: (error) => {
      logger.error("Discord refuses the connection", { error });
      host.report({ state: "failed", text: failureText(error) });
    },
  };
}

function mayPass(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.kind === "unavailable" || error.kind === "timeout");
}

function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError)) return `Discord: ${String(error)}`;
  return `Discord: ${error.message} ${error.hint ?? ""}`.trim();
}

function tokenMissing(): HoldfastError {
  return new HoldfastError("usage", "discord-token-missing", "The Discord bot has no token.", {
    hint: "Create a bot at https://discord.com/developers/applications and put its token into the configuration.",
  });
}

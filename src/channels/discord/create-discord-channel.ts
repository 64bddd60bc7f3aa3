/**
 * Discord through discord.js, which is loaded when the channel starts. Discord tells each message once
 * and takes no acknowledgement: what was said while the bot was away is asked for at every new session,
 * from the last message that was admitted (inlet.ts, cursors.ts). Two things stay out of reach: the first
 * message of a private chat that began while the bot was away (Discord lists no private chats to bots),
 * and what lies beyond 500 messages a channel.
 */
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { AccessOptions } from "../access.ts";
import type { Channel, ChannelHost } from "../channel.ts";
import { alreadyStarted, notConnected } from "../channel-errors.ts";
import { pauseAfter } from "../keep-trying.ts";
import { createReceivedFiles } from "../received-files.ts";
import { type DiscordConnection, connectDiscord } from "./connect.ts";
import { openCursors } from "./cursors.ts";
import { type Inlet, createInlet } from "./inlet.ts";
import { DISCORD_TEXT_LIMIT, type DiscordSender, createDiscordSender } from "./send-message.ts";
import { parseDiscordTarget } from "./target.ts";

export interface DiscordChannelOptions extends AccessOptions {
  accountId: string;
  token: string;
  /** Where the channel keeps up to where it has read. */
  cursorFile: string;
  /** Where the files of messages go. */
  mediaFolder: string;
  /** Left out: 20 MB. */
  maxMediaBytes?: number | undefined;
  /** Where Discord is; left out: the real one. It names its gateway itself. */
  api?: { rest: string } | undefined;
  /** Which hosts files may be fetched from to be sent; left out: those of the public network. */
  allowsAddress?: ((address: string) => boolean) | undefined;
  clock: Clock;
  logger: Logger;
}

interface Running {
  stopping: AbortController;
  host: ChannelHost;
  connection?: DiscordConnection;
  inlet?: Inlet;
  flush?: () => Promise<void>;
  /** Ends when `start` has, whichever way. */
  started: Promise<void>;
}

export function createDiscordChannel(options: DiscordChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let running: Running | undefined;
  const sender = createDiscordSender({ rest: () => restOf(running), allowsAddress });

  return {
    name: "discord",
    accountId,
    capabilities: {
      textLimit: DISCORD_TEXT_LIMIT,
      media: true,
      replies: true,
      threads: true,
      // For some minutes; a delivery that is repeated later than that may come twice.
      deduplicates: true,
    },
    start: async (host) => {
      if (running !== undefined) throw alreadyStarted("Discord");
      const stopping = new AbortController();
      const state: Running = { stopping, host, started: Promise.resolve() };
      running = state;
      const starting = run(options, state, sender.send);
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
      await state.inlet?.idle();
      await state.flush?.();
      state.host.report({ state: "stopped", text: "Discord: stopped." });
    },
    send: sender.send,
    checkTarget: (target) => void parseDiscordTarget(target),
    showTyping: sender.showTyping,
  };
}

type Send = DiscordSender["send"];

async function run(options: DiscordChannelOptions, state: Running, send: Send): Promise<void> {
  const { host, stopping } = state;
  const { signal } = stopping;
  const { accountId, allowFrom, pairing, clock, logger, mediaFolder, maxMediaBytes } = options;
  if (options.token.trim() === "") throw tokenMissing();
  host.report({ state: "starting", text: "Discord: connecting." });
  const cursors = await openCursors(options.cursorFile, logger);
  const inlet = createInlet({
    accountId,
    access: { allowFrom, pairing },
    host,
    cursors,
    files: createReceivedFiles({ folder: mediaFolder, maxBytes: maxMediaBytes }),
    tell: async (target, text, idempotencyKey) => await send({ target, text, idempotencyKey }),
    clock,
    logger,
    signal,
  });
  state.inlet = inlet;
  state.flush = cursors.flush;
  state.connection = await connectPatiently(options, state, inlet);
}

/** Tries again what may pass; what will not is the owner's to mend. */
async function connectPatiently(
  options: DiscordChannelOptions,
  state: Running,
  inlet: Inlet,
): Promise<DiscordConnection> {
  const { host, stopping } = state;
  const { token, api, clock, logger } = options;
  const { signal } = stopping;
  let isInterrupted = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await connectDiscord({
        token: token.trim(),
        api: api?.rest,
        logger,
        signal,
        on: {
          sessionBegins: inlet.hold,
          sessionReady: (connection) => {
            isInterrupted = false;
            state.connection = connection;
            inlet.open(connection);
            host.report({ state: "connected", text: `Discord: connected as ${connection.bot.username}.` });
          },
          message: inlet.take,
          interrupted: () => {
            // discord.js tries twice a second; that is news once.
            if (!isInterrupted) host.report({ state: "retrying", text: "Discord: connection lost, reconnecting." });
            isInterrupted = true;
          },
          resumed: (replayed) => {
            isInterrupted = false;
            const text = `Discord: connected again, ${replayed} events caught up.`;
            host.report({ state: "connected", text });
          },
          lost: (error) => {
            logger.error("Discord has closed the connection for good.", { error });
            host.report({ state: "failed", text: failureText(error) });
          },
        },
      });
    } catch (error) {
      if (!isPassing(error)) throw error;
      const pause = pauseAfter(error, attempt);
      const text = `${error.message} Trying again in ${Math.ceil(pause / 1000)} s.`;
      logger.warn("Discord cannot be reached.", { error, retryInMs: pause });
      host.report({ state: "retrying", text });
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}

function isPassing(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.kind === "unavailable" || error.kind === "timeout");
}

function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError)) return `Discord: ${String(error)}`;
  return `Discord: ${error.message} ${error.hint ?? ""}`.trim();
}

function restOf(running: Running | undefined): DiscordConnection["rest"] {
  if (running?.connection !== undefined) return running.connection.rest;
  throw notConnected("Discord");
}

function tokenMissing(): HoldfastError {
  return new HoldfastError("usage", "discord-token-missing", "There is no token for the Discord bot.", {
    hint: "Create a bot at https://discord.com/developers/applications and give its token to the channel.",
  });
}

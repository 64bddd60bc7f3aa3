/**
 * WhatsApp through Baileys, as a linked device of a phone. Baileys is an optional package, loaded when the
 * channel starts. Invariants:
 * - The keys of the device are on disk before they are used up (auth-state.ts); a device that was logged
 *   out is forgotten, so that the next start shows a code again.
 * - A lost connection is made again with growing pauses; one that another program has taken over is not,
 *   or the two would throw each other out for ever.
 * - WhatsApp keeps messages for a device that is away and delivers them when it comes back; those are
 *   taken in like live ones. The history that a newly linked device is sent is not.
 */
import type { UserFacingSocketConfig } from "baileys";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { AccessOptions } from "../access.ts";
import type { Channel, ChannelHost } from "../channel.ts";
import { alreadyStarted, notConnected, stoppedWhileConnecting } from "../channel-errors.ts";
import { createReceivedFiles } from "../received-files.ts";
import { type AuthState, openAuthState } from "./auth-state.ts";
import { keepConnected } from "./connection.ts";
import { createGroupNames } from "./group-names.ts";
import { type DownloadMedia, type WhatsAppInlet, createWhatsAppInlet } from "./inlet.ts";
import { parseWhatsAppTarget } from "./jid.ts";
import { type RecentMessages, createRecentMessages } from "./recent-messages.ts";
import { WHATSAPP_TEXT_LIMIT, type WhatsAppSender, createWhatsAppSender } from "./send-message.ts";
import {
  type Baileys,
  type MakeSocket,
  type WhatsAppSocket,
  baileysLogger,
  createSocket,
  loadBaileys,
} from "./socket.ts";

export interface WhatsAppChannelOptions extends AccessOptions {
  accountId: string;
  /** The keys of the linked device; made when it is missing. */
  authFolder: string;
  /** Where the files of messages go. */
  mediaFolder: string;
  /** Left out: 20 MB. */
  maxMediaBytes?: number | undefined;
  /** Left out: Baileys' own. */
  makeSocket?: MakeSocket | undefined;
  /** Left out: Baileys fetches and decrypts it. */
  downloadMedia?: DownloadMedia | undefined;
  /** Which hosts files may be fetched from to be sent; left out: those of the public network. */
  allowsAddress?: ((address: string) => boolean) | undefined;
  /** How long WhatsApp may take to answer; left out: a minute. */
  connectTimeoutMs?: number | undefined;
  clock: Clock;
  logger: Logger;
}

interface Running {
  stopping: AbortController;
  host: ChannelHost;
  /** While the connection is open. */
  socket?: WhatsAppSocket | undefined;
  inlet?: WhatsAppInlet;
  /** Ends with the connection, for good. */
  connected?: Promise<void>;
}

export function createWhatsAppChannel(options: WhatsAppChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let running: Running | undefined;
  const recent = createRecentMessages();
  const sender = createWhatsAppSender({ socket: () => socketOf(running), recent, allowsAddress });

  return {
    name: "whatsapp",
    accountId,
    capabilities: {
      textLimit: WHATSAPP_TEXT_LIMIT,
      media: true,
      replies: true,
      threads: false,
      deduplicates: false,
    },
    start: async (host) => {
      if (running !== undefined) throw alreadyStarted("WhatsApp");
      const state: Running = { stopping: new AbortController(), host };
      running = state;
      try {
        await open(options, state, recent, sender.send);
      } catch (error) {
        // Once there is a connection, it tells of its end itself.
        if (state.connected === undefined) host.report({ state: "failed", text: failureText(error) });
        if (running === state) running = undefined;
        state.stopping.abort();
        throw error;
      }
    },
    stop: async () => {
      const state = running;
      if (state === undefined) return;
      running = undefined;
      state.stopping.abort();
      await state.connected?.catch(() => undefined);
      await state.inlet?.idle();
      state.host.report({ state: "stopped", text: "WhatsApp: stopped." });
    },
    send: sender.send,
    checkTarget: ({ to }) => void parseWhatsAppTarget(to),
    showTyping: sender.showTyping,
  };
}

/** Resolves when messages can arrive; the connection is then kept up until the stop. */
async function open(
  options: WhatsAppChannelOptions,
  state: Running,
  recent: RecentMessages,
  send: WhatsAppSender["send"],
): Promise<void> {
  const { clock, logger, accountId, allowFrom, pairing, mediaFolder, maxMediaBytes } = options;
  const { host, stopping } = state;
  host.report({ state: "starting", text: "WhatsApp: connecting." });
  const baileys = await loadBaileys();
  const auth = await openAuthState(options.authFolder, baileys);
  const groupNames = createGroupNames(clock);
  const inlet = createWhatsAppInlet({
    accountId,
    access: { allowFrom, pairing },
    host,
    files: createReceivedFiles({ folder: mediaFolder, maxBytes: maxMediaBytes }),
    baileys,
    downloadMedia: options.downloadMedia ?? downloadWith(baileys, logger),
    groupNames,
    recent,
    tell: async (target, text, idempotencyKey) => await send({ target, text, idempotencyKey }),
    clock,
    logger,
    signal: stopping.signal,
  });
  state.inlet = inlet;
  const make = options.makeSocket ?? ((config: UserFacingSocketConfig) => createSocket(baileys, config));
  const config = socketConfig(auth, recent, logger);
  await new Promise<void>((resolve, reject) => {
    state.connected = keepConnected({
      make: () => make(config),
      auth,
      host,
      clock,
      logger,
      signal: stopping.signal,
      connectTimeoutMs: options.connectTimeoutMs ?? 60_000,
      on: {
        open: (socket) => {
          state.socket = socket;
          resolve();
        },
        closed: () => {
          state.socket = undefined;
        },
        message: inlet.take,
        renamed: groupNames.renamed,
      },
    });
    state.connected.then(() => reject(stoppedWhileConnecting("WhatsApp")), reject);
  });
}

function socketConfig(auth: AuthState, recent: RecentMessages, logger: Logger): UserFacingSocketConfig {
  return {
    auth: auth.state,
    logger: baileysLogger(logger),
    // The name in the phone's list of linked devices.
    browser: ["Holdfast", "Desktop", "1.0"],
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    // The phone would stop ringing if the agent counted as somebody who is there.
    markOnlineOnConnect: false,
    emitOwnEvents: false,
    shouldIgnoreJid: (jid) => /@(?:broadcast|newsletter)$/.test(jid),
    getMessage: async (key) => recent.get(key.id ?? "")?.message ?? undefined,
  };
}

function downloadWith({ downloadMediaMessage }: Baileys, logger: Logger): DownloadMedia {
  return async (message, socket) =>
    await downloadMediaMessage(
      message,
      "stream",
      {},
      { reuploadRequest: async (expired) => await socket.updateMediaMessage(expired), logger: baileysLogger(logger) },
    );
}

function socketOf(running: Running | undefined): WhatsAppSocket {
  if (running?.socket !== undefined) return running.socket;
  throw notConnected("WhatsApp");
}

function failureText(error: unknown): string {
  const hint = error instanceof HoldfastError ? (error.hint ?? "") : "";
  return `WhatsApp: ${errorMessage(error)} ${hint}`.trim();
}

/**
 * WhatsApp through Baileys, as a linked device of a phone. Baileys is an optional package, loaded when the
 * channel starts. Invariants:
 * - The device's keys are on disk before they are used (auth-state.ts). A logged-out device is forgotten,
 *   so that the next start shows a code to scan.
 * - A lost connection is retried with growing pauses, unless another program has taken it over: the two
 *   would disconnect each other for ever.
 * - Messages that WhatsApp kept while the device was offline are taken in like live ones; the history sent
 *   to a newly linked device is not.
 */
import type { UserFacingSocketConfig } from "baileys";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import {
  type AccountOptions,
  type Channel,
  type ChannelHost,
  type MessageSender,
  alreadyStarted,
  notConnected,
  stoppedWhileConnecting,
} from "../channel.ts";
import { createReceivedFiles } from "../received-files.ts";
import { type AuthState, openAuthState } from "./auth-state.ts";
import {
  type Baileys,
  type MakeSocket,
  type WhatsAppSocket,
  baileysLogger,
  keepConnected,
  loadBaileys,
} from "./connection.ts";
import {
  type DownloadMedia,
  type Inbound,
  type RecentMessages,
  createGroupNames,
  createInbound,
  createRecentMessages,
} from "./inbound.ts";
import { WHATSAPP_TEXT_LIMIT, createWhatsAppSender, parseTarget } from "./outbound.ts";

export interface WhatsAppChannelOptions extends AccountOptions {
  /** The keys of the linked device. Created if missing. */
  authFolder: string;
  /** Default: Baileys' own. */
  makeSocket?: MakeSocket | undefined;
  /** Default: Baileys fetches and decrypts the file. */
  downloadMedia?: DownloadMedia | undefined;
  /** Hosts from which files to send may be fetched. Default: public ones. */
  allowsAddress?: ((address: string) => boolean) | undefined;
  /** Default: 60 s. */
  connectTimeoutMs?: number | undefined;
}

interface Running {
  stopping: AbortController;
  host: ChannelHost;
  /** Set while the connection is open. */
  socket?: WhatsAppSocket | undefined;
  inbound?: Inbound | undefined;
  /** Settles when the connection has ended for good. */
  connected?: Promise<void> | undefined;
}

export function createWhatsAppChannel(options: WhatsAppChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let running: Running | undefined;
  const recent = createRecentMessages();
  const socket = (): WhatsAppSocket => {
    if (running?.socket === undefined) throw notConnected("WhatsApp");
    return running.socket;
  };
  const sender = createWhatsAppSender({ socket, recent, allowsAddress });

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
      if (running !== undefined) throw alreadyStarted("WhatsApp", accountId);
      const state: Running = { stopping: new AbortController(), host };
      running = state;
      try {
        await open(options, state, recent, sender);
      } catch (error) {
        // An open connection reports its end itself.
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
      await state.inbound?.idle();
      state.host.report({ state: "stopped", text: "WhatsApp: stopped." });
    },
    send: sender.send,
    checkTarget: (target) => void parseTarget(target),
    showTyping: sender.showTyping,
  };
}

/** Resolves when messages can arrive; the connection is kept open until the stop. */
async function open(
  options: WhatsAppChannelOptions,
  state: Running,
  recent: RecentMessages,
  { send }: MessageSender,
): Promise<void> {
  const { clock, logger, mediaFolder: folder, maxMediaBytes: maxBytes, connectTimeoutMs = 60_000 } = options;
  const { host } = state;
  const { signal } = state.stopping;
  host.report({ state: "starting", text: "WhatsApp: connecting." });
  const baileys = await loadBaileys();
  const auth = await openAuthState(options.authFolder, baileys);
  const groupNames = createGroupNames(clock);
  const downloadMedia = options.downloadMedia ?? downloadWith(baileys, logger);
  const files = createReceivedFiles({ folder, maxBytes });
  const inbound = createInbound({ ...options, host, files, baileys, downloadMedia, groupNames, recent, send, signal });
  state.inbound = inbound;
  const make = options.makeSocket ?? baileys.makeWASocket;
  const config = socketConfig(auth, recent, logger);
  await new Promise<void>((resolve, reject) => {
    const on = {
      open: (socket: WhatsAppSocket) => {
        state.socket = socket;
        resolve();
      },
      closed: () => {
        state.socket = undefined;
      },
      message: inbound.take,
      renamed: groupNames.renamed,
    };
    state.connected = keepConnected({
      make: () => make(config),
      auth,
      host,
      clock,
      logger,
      signal,
      connectTimeoutMs,
      on,
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
    // The phone would not ring if the agent counted as online.
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

function failureText(error: unknown): string {
  const hint = error instanceof HoldfastError ? (error.hint ?? "") : "";
  return `WhatsApp: ${errorMessage(error)} ${hint}`.trim();
}

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
import type { Logger } from "../../base/log.ts";
import {
  type AccountOptions,
  type Channel,
  type ChannelRun,
  notConnected,
  singleRun,
  stoppedWhileConnecting,
} from "../channel.ts";
import { createReceivedFiles } from "../files.ts";
import type { Documents } from "../../store/documents.ts";
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
  type RecentMessages,
  createGroupNames,
  createInbound,
  createRecentMessages,
} from "./inbound.ts";
import { WHATSAPP_TEXT_LIMIT, createWhatsAppSender, parseTarget } from "./outbound.ts";

export interface WhatsAppChannelOptions extends AccountOptions {
  /** The keys of the linked device. Created if missing. */
  keys: Documents;
  makeSocket?: MakeSocket | undefined;
  /** Default: Baileys fetches and decrypts the file. */
  downloadMedia?: DownloadMedia | undefined;
  /** Hosts from which files to send may be fetched. Default: public ones. */
  allowsAddress?: ((address: string) => boolean) | undefined;
  /** Default: 60 s. */
  connectTimeoutMs?: number | undefined;
}

export function createWhatsAppChannel(options: WhatsAppChannelOptions): Channel {
  const { accountId, allowsAddress } = options;
  let connected: WhatsAppSocket | undefined;
  const recent = createRecentMessages();
  const socket = (): WhatsAppSocket => {
    if (connected === undefined) throw notConnected("WhatsApp");
    return connected;
  };
  const sender = createWhatsAppSender({ socket, recent, allowsAddress });
  const open = async ({ host, signal, closing }: ChannelRun): Promise<void> => {
    const { clock, logger, connectTimeoutMs = 60_000 } = options;
    host.report({ state: "starting", text: "WhatsApp: connecting." });
    const baileys = await loadBaileys();
    const auth = await openAuthState(options.keys, baileys);
    const groupNames = createGroupNames(clock);
    const downloadMedia = options.downloadMedia ?? downloadWith(baileys, logger);
    const files = createReceivedFiles(options);
    const parts = { host, files, baileys, downloadMedia, groupNames, recent, signal };
    const inbound = createInbound({ ...options, ...parts, send: sender.send });
    closing.defer(inbound.idle);
    const make = options.makeSocket ?? baileys.makeWASocket;
    const config = socketConfig(auth, recent, logger);
    const opened = Promise.withResolvers<void>();
    const on = {
      open: (ready: WhatsAppSocket) => {
        connected = ready;
        opened.resolve();
      },
      closed: () => {
        connected = undefined;
      },
      message: inbound.take,
      renamed: groupNames.renamed,
    };
    const common = { auth, host, clock, logger, signal, connectTimeoutMs, on };
    const ended = keepConnected({ ...common, make: () => make(config) });
    closing.defer(async () => await ended.catch(() => undefined));
    ended.then(() => opened.reject(stoppedWhileConnecting("WhatsApp")), opened.reject);
    await opened.promise;
  };

  return {
    name: "whatsapp",
    accountId,
    isExclusive: true,
    capabilities: { textLimit: WHATSAPP_TEXT_LIMIT, media: true, replies: true },
    ...singleRun("WhatsApp", accountId, open),
    send: sender.send,
    checkTarget: (target) => void parseTarget(target),
    showTyping: sender.showTyping,
  };
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

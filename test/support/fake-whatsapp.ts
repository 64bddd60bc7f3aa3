/**
 * A fake WhatsApp: sockets that behave like Baileys', built from its own parts (its event buffer,
 * its message generation and its protobuf types). The test plays the phone.
 *
 *   const whatsapp = await createFakeWhatsApp();
 *   createWhatsAppChannel({ makeSocket: whatsapp.makeSocket, … });
 *   whatsapp.open();
 *   whatsapp.receive(whatsapp.message({ from: ada, text: "hello" }));
 */
import type {
  AnyMessageContent,
  MessageUpsertType,
  MiscMessageGenerationOptions,
  UserFacingSocketConfig,
  WAMessage,
  WAMessageContent,
} from "baileys";
import { expect } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import type { Channel } from "../../src/channels/channel.ts";
import { type WhatsAppChannelOptions, createWhatsAppChannel } from "../../src/channels/whatsapp/channel.ts";
import type { WhatsAppSocket } from "../../src/channels/whatsapp/connection.ts";
import { soon, type RememberingHost, createRememberingHost } from "./channel-host.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";
import { createTestClock } from "./time.ts";
import { createDocumentFiles } from "../../src/store/document-files.ts";

export interface FakeWhatsApp {
  makeSocket(config: UserFacingSocketConfig): WhatsAppSocket;
  /** Number of sockets made. */
  readonly made: number;
  /** The configuration of the newest socket. */
  readonly config: UserFacingSocketConfig;
  readonly sent: { jid: string; message: WAMessage; content: AnyMessageContent }[];
  readonly presence: { type: string; jid: string | undefined }[];
  /** Connects the newest socket and logs it in as the agent. */
  open(): void;
  showCode(qr: string): void;
  /** Scans the code: the device gets keys and must reconnect. */
  pair(): void;
  close(status: number): void;
  receive(message: WAMessage, type?: MessageUpsertType): void;
  /** Buffers events, as Baileys does while it processes missed messages. */
  startBuffering(): void;
  sendHistory(messages: WAMessage[]): void;
  rename(group: string, subject: string): void;
  message(about: FakeMessage): WAMessage;
  /** Thrown by the next sends. */
  readonly failures: Error[];
  readonly subjects: Map<string, string>;
  readonly phones: Map<string, string>;
  /** Numbers that are not on WhatsApp. */
  readonly absent: Set<string>;
  readonly metadataRequests: string[];
}

export interface FakeMessage {
  from: string;
  alt?: string;
  group?: string;
  id?: string;
  text?: string;
  content?: WAMessageContent;
  name?: string;
  fromMe?: boolean;
}

const AGENT = { id: "15550000:7@s.whatsapp.net", lid: "900:7@lid", name: "Agent" };

/** An error as Baileys throws it. */
export function boom(statusCode: number, message = "Connection Failure"): Error {
  return Object.assign(new Error(message), { isBoom: true, output: { statusCode, payload: {}, headers: {} } });
}

/** Encrypts files like the real upload, and discards them. */
const upload = async (): Promise<{ mediaUrl: string; directPath: string }> =>
  await Promise.resolve({ mediaUrl: "https://mmg.whatsapp.net/x", directPath: "/x" });

export async function createFakeWhatsApp(): Promise<FakeWhatsApp> {
  const { generateWAMessage, makeEventBuffer, proto } = await import("baileys");
  type EventBuffer = ReturnType<typeof makeEventBuffer>;
  const sockets: {
    ev: EventBuffer;
    config: UserFacingSocketConfig;
    user: typeof AGENT | undefined;
    isOpen: boolean;
    isEnded: boolean;
  }[] = [];
  const newest = (): (typeof sockets)[number] => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error("no socket was made");
    return socket;
  };
  let nextId = 0;
  const shut = (socket: (typeof sockets)[number], error: Error | undefined): void => {
    if (socket.isEnded) return;
    socket.isEnded = true;
    socket.isOpen = false;
    socket.ev.emit("connection.update", { connection: "close", lastDisconnect: { error, date: new Date() } });
    socket.ev.removeAllListeners("connection.update");
    socket.ev.destroy();
  };

  const fake: FakeWhatsApp = {
    makeSocket: (config) => {
      const { logger } = config;
      if (logger === undefined) throw new Error("a logger is needed");
      const state = {
        ev: makeEventBuffer(logger),
        config,
        user: undefined as typeof AGENT | undefined,
        isOpen: false,
        isEnded: false,
      };
      sockets.push(state);
      const checkOpen = (): void => {
        const failure = fake.failures.shift();
        if (failure !== undefined) throw failure;
        if (!state.isOpen) throw boom(428, "Connection Closed");
      };
      return {
        ev: state.ev,
        get user() {
          return state.user;
        },
        sendMessage: async (jid: string, content: AnyMessageContent, options: MiscMessageGenerationOptions = {}) => {
          checkOpen();
          const message = await generateWAMessage(jid, content, { ...options, logger, upload, userJid: AGENT.id });
          fake.sent.push({ jid, message, content });
          return message;
        },
        sendPresenceUpdate: async (type, jid) => {
          checkOpen();
          fake.presence.push({ type, jid });
        },
        groupMetadata: async (jid) => {
          fake.metadataRequests.push(jid);
          const subject = fake.subjects.get(jid);
          if (subject === undefined) throw boom(403, "forbidden");
          return { subject };
        },
        onWhatsApp: async (...jids) => jids.map((jid) => ({ jid, exists: !fake.absent.has(jid) })),
        updateMediaMessage: async (message) => message,
        signalRepository: { lidMapping: { getPNForLID: async (lid) => fake.phones.get(lid) ?? null } },
        end: async (error) => {
          shut(state, error);
        },
      };
    },
    get made() {
      return sockets.length;
    },
    get config() {
      return newest().config;
    },
    sent: [],
    presence: [],
    failures: [],
    subjects: new Map(),
    phones: new Map(),
    absent: new Set(),
    metadataRequests: [],
    open: () => {
      const socket = newest();
      socket.user = AGENT;
      socket.isOpen = true;
      socket.ev.emit("connection.update", { connection: "open" });
    },
    showCode: (qr) => void newest().ev.emit("connection.update", { qr }),
    pair: () => {
      newest().ev.emit("creds.update", { me: AGENT, registered: true });
      newest().ev.emit("connection.update", { isNewLogin: true });
      fake.close(515);
    },
    close: (status) => shut(newest(), boom(status)),
    receive: (message, type = "notify") => void newest().ev.emit("messages.upsert", { messages: [message], type }),
    startBuffering: () => newest().ev.buffer(),
    sendHistory: (messages) =>
      void newest().ev.emit("messaging-history.set", { chats: [], contacts: [], messages, isLatest: true }),
    rename: (id, subject) => void newest().ev.emit("groups.update", [{ id, subject }]),
    message: ({ from, alt, group, id, text, content, name = "Ada", fromMe = false }) => {
      const message = proto.WebMessageInfo.fromObject({
        key: {
          remoteJid: group ?? from,
          fromMe,
          id: id ?? `A${++nextId}`,
          ...(group === undefined ? {} : { participant: from }),
        },
        message: content ?? { conversation: text ?? "" },
        messageTimestamp: 1_794_744_000,
        pushName: name,
      });
      const { key } = message;
      if (!key) throw new Error("a message has a key");
      const alternative = group === undefined ? { remoteJidAlt: alt } : { participantAlt: alt };
      return Object.assign(message, { key: Object.assign(key, alt === undefined ? {} : alternative) });
    },
  };
  return fake;
}

export const ada = "15551111@s.whatsapp.net";
export const eve = "15552222@s.whatsapp.net";
export const family = "12036300@g.us";

export interface WhatsAppHome extends Pick<RememberingHost, "admitted" | "statuses" | "failures">, AsyncDisposable {
  folder: TemporaryFolder;
  whatsapp: FakeWhatsApp;
  create(options?: Partial<WhatsAppChannelOptions>): { channel: Channel; start: () => Promise<void> };
  /** Starts a channel and connects it. */
  start(options?: Partial<WhatsAppChannelOptions>): Promise<Channel>;
}

export async function createWhatsAppHome(): Promise<WhatsAppHome> {
  const folder = await temporaryFolder();
  const whatsapp = await createFakeWhatsApp();
  const channels: Channel[] = [];
  const host = createRememberingHost();
  const home: WhatsAppHome = {
    admitted: host.admitted,
    statuses: host.statuses,
    failures: host.failures,
    folder,
    whatsapp,
    create: (options = {}) => {
      const channel = createWhatsAppChannel({
        accountId: "default",
        keys: createDocumentFiles(folder.join("auth")),
        mediaFolder: folder.join("media"),
        allowFrom: ["+15551111"],
        makeSocket: (config) => whatsapp.makeSocket(config),
        clock: createTestClock(),
        logger: silentLogger,
        ...options,
      });
      channels.push(channel);
      return { channel, start: async () => await channel.start(host) };
    },
    start: async (options) => {
      const before = whatsapp.made;
      const { channel, start } = home.create(options);
      const started = start();
      await expect.poll(() => whatsapp.made, soon).toBe(before + 1);
      whatsapp.open();
      await started;
      return channel;
    },
    [Symbol.asyncDispose]: async () => {
      for (const channel of channels) await channel.stop();
      await folder[Symbol.asyncDispose]();
    },
  };
  return home;
}

export function target(to: string): { channel: string; accountId: string; to: string } {
  return { channel: "whatsapp", accountId: "default", to };
}

/**
 * From a WhatsApp message to admission. Baileys acknowledges a message just before it passes it on, so a
 * message lost before admission (the process is killed within those milliseconds, or stops while the store
 * fails) is not sent again. Therefore nothing avoidable delays admission, a message that cannot be stored
 * is retried while the channel runs, and a stop waits for it.
 */
import type { WAMessage } from "baileys";
import type { Clock } from "../../base/clock.ts";
import { errorMessage } from "../../base/errors.ts";
import type { ReceivedFiles } from "../files.ts";
import { type InboundParts, createInboundLanes, keepTrying, prepareInbound } from "../inbound.ts";
import type { Baileys, WhatsAppSocket } from "./connection.ts";
import {
  type OwnAccount,
  type Sender,
  buildWhatsAppContext,
  isGroupJid,
  isPersonJid,
  phoneOf,
  plainJid,
  plainJids,
  readContent,
} from "./context.ts";

export type DownloadMedia = (message: WAMessage, socket: WhatsAppSocket) => Promise<AsyncIterable<Uint8Array>>;

export interface InboundOptions extends Omit<InboundParts, "channel" | "repeats"> {
  baileys: Baileys;
  downloadMedia: DownloadMedia;
  groupNames: ReturnType<typeof createGroupNames>;
  recent: RecentMessages;
}

export function createInbound(options: InboundOptions) {
  const { host, logger } = options;
  const lanes = createInboundLanes();

  const takeIn = async (socket: WhatsAppSocket, message: WAMessage): Promise<void> => {
    const inbound = await keepTrying(async () => await prepare(socket, message, options), options);
    if (inbound !== undefined) await keepTrying(async () => await host.admit(inbound), options);
  };

  return {
    take: (socket: WhatsAppSocket, message: WAMessage): void => {
      const chat = message.key.remoteJid ?? "";
      if (message.key.fromMe === true || (!isGroupJid(chat) && !isPersonJid(chat))) return;
      const reportLoss = (error: unknown): void => {
        logger.error("WhatsApp message lost", { error, chat, id: message.key.id });
        host.report({ state: "retrying", text: `A message from WhatsApp was lost: ${errorMessage(error)}` });
      };
      lanes.run(chat, async () => await takeIn(socket, message), reportLoss);
    },
    idle: lanes.idle,
  };
}

async function prepare(socket: WhatsAppSocket, message: WAMessage, options: InboundOptions) {
  const { baileys, downloadMedia, groupNames, recent } = options;
  const messageId = message.key.id ?? "";
  const content = readContent(message.message, baileys);
  if (content === undefined || messageId === "") return undefined;
  const chat = plainJid(message.key.remoteJid ?? "");
  const isGroup = isGroupJid(chat);
  const sender = await senderOf(socket, message);
  const { media } = content;
  const save = async (files: ReceivedFiles): Promise<string> =>
    await files.save(await downloadMedia(message, socket), { ...media, id: `${message.key.remoteJid}/${messageId}` });
  const incoming = {
    chatId: isGroup ? chat : sender.jid,
    messageId,
    to: chat,
    sender: { ids: senderIds(sender), name: sender.name },
    groupIds: isGroup ? [chat] : undefined,
    files: media === undefined ? [] : [{ ...media, label: media.type, save }],
    describe: async () => {
      recent.add(message);
      return buildWhatsAppContext({
        content,
        quoted: readContent(content.context?.quotedMessage, baileys),
        sender,
        self: ownAccount(socket),
        group: isGroup ? { jid: chat, subject: await groupNames.subject(socket, chat) } : undefined,
        sentAt: baileys.toNumber(message.messageTimestamp) * 1000,
      });
    },
  };
  return await prepareInbound(incoming, { ...options, channel: "whatsapp", repeats: false });
}

/** People know each other by phone number; WhatsApp sends it beside the id, or can look it up. */
async function senderOf(socket: WhatsAppSocket, { key, pushName }: WAMessage): Promise<Sender> {
  const isGroup = isGroupJid(key.remoteJid ?? "");
  const jids = plainJids(isGroup ? [key.participant, key.participantAlt] : [key.remoteJid, key.remoteJidAlt]);
  const withPhone = jids.find((jid) => phoneOf(jid) !== undefined);
  const found = withPhone ?? (await phoneJidOf(socket, jids[0]));
  const jid = found ?? jids[0] ?? "";
  return { jid, jids: [...new Set([jid, ...jids])], name: pushName ?? undefined };
}

async function phoneJidOf(socket: WhatsAppSocket, lid: string | undefined): Promise<string | undefined> {
  if (lid === undefined) return undefined;
  const known = await socket.signalRepository?.lidMapping.getPNForLID(lid).catch(() => null);
  return known === undefined || known === null ? undefined : plainJid(known);
}

/** All forms that the owner may write into the allow list: `+1555`, `1555` and the addresses. */
function senderIds({ jid, jids }: Sender): [string, ...string[]] {
  const phone = phoneOf(jid);
  return phone === undefined ? [jid, ...jids] : [phone, phone.slice(1), ...jids];
}

function ownAccount({ user }: WhatsAppSocket): OwnAccount {
  const jids = plainJids([user?.id, user?.lid, user?.phoneNumber]);
  return { jids, name: user?.name ?? user?.notify };
}

const FRESH_MS = 60 * 60_000;
const MAX_GROUPS = 1000;

/** Group subjects, cached for an hour and updated by WhatsApp's events. */
export function createGroupNames(clock: Clock) {
  const names = new Map<string, { subject: string | undefined; at: number }>();
  const keep = (jid: string, subject: string | undefined): void => {
    names.set(jid, { subject, at: clock.now() });
    dropOldest(names, MAX_GROUPS);
  };
  return {
    subject: async (socket: WhatsAppSocket, jid: string): Promise<string | undefined> => {
      const known = names.get(jid);
      if (known !== undefined && Math.abs(clock.now() - known.at) < FRESH_MS) return known.subject;
      const found = await socket.groupMetadata(jid).catch(() => undefined);
      keep(jid, found?.subject ?? known?.subject);
      return names.get(jid)?.subject;
    },
    renamed: keep,
  };
}

export type RecentMessages = ReturnType<typeof createRecentMessages>;

const MAX_RECENT = 500;

/** The last messages of the account, in memory, to quote them or to resend one that a phone could not read. */
export function createRecentMessages() {
  const messages = new Map<string, WAMessage>();
  return {
    add: (message: WAMessage): void => {
      const { id } = message.key;
      if (id === undefined || id === null) return;
      messages.delete(id);
      messages.set(id, message);
      dropOldest(messages, MAX_RECENT);
    },
    get: (id: string) => messages.get(id),
  };
}

function dropOldest(map: Map<string, unknown>, limit: number): void {
  const [oldest] = map.keys();
  if (map.size > limit && oldest !== undefined) map.delete(oldest);
}

/**
 * The way in. Baileys confirms a message to WhatsApp by itself, just before it tells us: what is lost
 * between that moment and admission (the process killed within those milliseconds, or stopped while the
 * store takes nothing) WhatsApp will not tell again. So nothing slow stands in between that can be left
 * out, what cannot be kept is tried again for as long as the channel runs, and a stop waits for it.
 */
import type { WAMessage } from "baileys";
import type { Clock } from "../../base/clock.ts";
import { errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import { type AccessOptions, checkAccess } from "../access.ts";
import type { ChannelHost, InboundMessage } from "../channel.ts";
import { createInboundLanes } from "../inbound-lanes.ts";
import { keepTrying } from "../keep-trying.ts";
import { type ReceivedFiles, tooLarge } from "../received-files.ts";
import type { GroupNames } from "./group-names.ts";
import { type WhatsAppSelf, type WhatsAppSender, buildWhatsAppContext } from "./inbound-context.ts";
import { isGroupJid, isPersonJid, phoneOf, plainJid, plainJids } from "./jid.ts";
import { type WhatsAppContent, readContent } from "./message-content.ts";
import type { RecentMessages } from "./recent-messages.ts";
import type { Baileys, WhatsAppSocket } from "./socket.ts";

export interface WhatsAppInlet {
  take: (socket: WhatsAppSocket, message: WAMessage) => void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** The content of a message's file, decrypted. */
export type DownloadMedia = (message: WAMessage, socket: WhatsAppSocket) => Promise<AsyncIterable<Uint8Array>>;

export interface WhatsAppInletOptions {
  accountId: string;
  access: AccessOptions;
  host: ChannelHost;
  files: ReceivedFiles;
  baileys: Baileys;
  downloadMedia: DownloadMedia;
  groupNames: GroupNames;
  recent: RecentMessages;
  /** Says something to a stranger. */
  tell(target: DeliveryTarget, text: string, idempotencyKey: string): Promise<unknown>;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

export function createWhatsAppInlet(options: WhatsAppInletOptions): WhatsAppInlet {
  const { host, logger } = options;
  const lanes = createInboundLanes();

  const takeIn = async (socket: WhatsAppSocket, message: WAMessage): Promise<void> => {
    const inbound = await keepTrying(async () => await prepare(socket, message, options), options);
    if (inbound !== undefined) await keepTrying(async () => await host.admit(inbound), options);
  };

  return {
    take: (socket, message) => {
      const chat = message.key.remoteJid ?? "";
      if (message.key.fromMe === true || (!isGroupJid(chat) && !isPersonJid(chat))) return;
      const tellLoss = (error: unknown): void => {
        logger.error("A message from WhatsApp was lost.", { error, chat, id: message.key.id });
        host.report({ state: "retrying", text: `A message from WhatsApp was lost: ${errorMessage(error)}` });
      };
      lanes.run(chat, async () => await takeIn(socket, message), tellLoss);
    },
    idle: lanes.idle,
  };
}

/** Undefined for what is not for the agent. */
async function prepare(
  socket: WhatsAppSocket,
  message: WAMessage,
  options: WhatsAppInletOptions,
): Promise<InboundMessage | undefined> {
  const { accountId, access, baileys, clock, logger } = options;
  const messageId = message.key.id ?? "";
  const content = readContent(message.message, baileys);
  if (content === undefined || messageId === "") return undefined;
  const chat = plainJid(message.key.remoteJid ?? "");
  const isGroup = isGroupJid(chat);
  const sender = await senderOf(socket, message);
  const chatId = isGroup ? chat : sender.jid;
  const verdict = await checkAccess(
    {
      channel: "whatsapp",
      sender: { ids: senderIds(sender), name: sender.name },
      chatType: isGroup ? "group" : "direct",
      groupIds: isGroup ? [chat] : [],
    },
    access,
  );
  if (verdict.kind === "ignored") {
    logger.debug("A WhatsApp message was ignored.", { reason: verdict.reason, chatId, messageId });
    return undefined;
  }
  if (verdict.kind === "offered") {
    const target = { channel: "whatsapp", accountId, to: chat };
    await options.tell(target, verdict.text, `pairing:${verdict.code}:${messageId}`).catch((error: unknown) => {
      logger.warn("A stranger on WhatsApp could not be told the pairing code.", { error });
    });
    return undefined;
  }
  options.recent.add(message);
  const { media, missing } = await receiveMedia(socket, message, content, options);
  const ctx = buildWhatsAppContext({
    message,
    content,
    quoted: readContent(content.context?.quotedMessage, baileys),
    sender,
    self: selfOf(socket),
    group: isGroup ? { jid: chat, subject: await options.groupNames.subject(socket, chat) } : undefined,
    accountId,
    sentAt: baileys.toNumber(message.messageTimestamp) * 1000,
    commandAuthorized: verdict.commandAuthorized,
    media,
    missingMedia: missing,
  });
  return { address: { channel: "whatsapp", accountId, chatId, messageId }, ctx, receivedAt: clock.now() };
}

/** The phone number is what people know each other by; WhatsApp gives it beside the id, or knows the pair. */
async function senderOf(socket: WhatsAppSocket, { key, pushName }: WAMessage): Promise<WhatsAppSender> {
  const isGroup = isGroupJid(key.remoteJid ?? "");
  const given = isGroup ? [key.participant, key.participantAlt] : [key.remoteJid, key.remoteJidAlt];
  const jids = plainJids(given);
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

/** `+1555`, `1555` and the addresses: however the owner wrote it into the allow list. */
function senderIds({ jid, jids }: WhatsAppSender): [string, ...string[]] {
  const phone = phoneOf(jid);
  return phone === undefined ? [jid, ...jids] : [phone, phone.slice(1), ...jids];
}

function selfOf({ user }: WhatsAppSocket): WhatsAppSelf {
  const jids = plainJids([user?.id, user?.lid, user?.phoneNumber]);
  return { jids, name: user?.name ?? user?.notify };
}

async function receiveMedia(
  socket: WhatsAppSocket,
  message: WAMessage,
  { media }: WhatsAppContent,
  { files, downloadMedia }: WhatsAppInletOptions,
): Promise<{ media: { path: string; type: string } | undefined; missing: string[] }> {
  if (media === undefined) return { media: undefined, missing: [] };
  try {
    if (media.bytes > files.maxBytes) throw tooLarge(files.maxBytes);
    const id = `${message.key.remoteJid}/${message.key.id}`;
    const path = await files.save(await downloadMedia(message, socket), { ...media, id });
    return { media: { path, type: media.type }, missing: [] };
  } catch (error) {
    return { media: undefined, missing: [`A file (${media.type}) could not be fetched: ${errorMessage(error)}`] };
  }
}

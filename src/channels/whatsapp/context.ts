/** Reads a WhatsApp message into OpenClaw's field names. Pure. */
import type { WAContextInfo, WAMessageContent } from "baileys";
import type { MessageContext } from "../../keys/message-context.ts";
import { mediaPlaceholder } from "../files.ts";
import type { Baileys } from "./connection.ts";

interface InboundFacts {
  content: WhatsAppContent;
  quoted: WhatsAppContent | undefined;
  sender: Sender;
  self: OwnAccount;
  group: { jid: string; subject: string | undefined } | undefined;
  sentAt: number;
}

export interface Sender {
  /** The address with the phone number, if known. */
  jid: string;
  /** All addresses of the person, without device. */
  jids: readonly string[];
  name: string | undefined;
}

export interface OwnAccount {
  jids: readonly string[];
  name: string | undefined;
}

export function buildWhatsAppContext(facts: InboundFacts): MessageContext {
  const { content, sender, self, group } = facts;
  const phone = phoneOf(sender.jid);
  const person = phone ?? sender.jid;
  const own = self.jids.map(phoneOf).find((number) => number !== undefined);
  return {
    Body: content.text,
    Timestamp: facts.sentAt,
    From: group?.jid ?? `whatsapp:${person}`,
    To: own,
    BotId: own?.slice(1),
    OriginatingTo: group?.jid ?? person,
    ChatType: group === undefined ? "direct" : "group",
    SenderId: sender.jid,
    SenderE164: phone,
    SenderName: sender.name,
    BotUsername: self.name,
    ConversationLabel: group === undefined ? (sender.name ?? person) : (group.subject ?? group.jid),
    GroupSubject: group?.subject,
    WasMentioned: group && mentionsAccount(content, self),
    ...replyFields(facts),
    UntrustedContext: content.untrusted,
  };
}

function mentionsAccount({ context }: WhatsAppContent, { jids }: OwnAccount): boolean {
  const named = [...(context?.mentionedJid ?? []), ...(isReply(context) ? [context?.participant ?? ""] : [])];
  return named.some((jid) => jids.includes(plainJid(jid)));
}

function replyFields({ content, quoted, self }: InboundFacts): MessageContext {
  const { context } = content;
  if (!isReply(context)) return {};
  const author = context?.participant ?? undefined;
  return {
    ReplyToId: context?.stanzaId ?? "",
    ReplyToBody: quoted?.text || (quoted?.media && mediaPlaceholder([quoted.media.type])),
    ReplyToSender: author && (phoneOf(author) ?? plainJid(author)),
    ReplyToIsOwn: author !== undefined && self.jids.includes(plainJid(author)),
  };
}

function isReply(context: WhatsAppContent["context"]): boolean {
  return (context?.stanzaId ?? "") !== "";
}

export interface WhatsAppContent {
  text: string;
  /** The MIME type, and the size as announced by the sender. */
  media: { type: string; name: string | undefined; bytes: number } | undefined;
  context: WAContextInfo | undefined;
  /** Text by other people. */
  untrusted: string[];
}

/** Undefined for reactions, receipts, settings and keys. */
export function readContent(
  message: WAMessageContent | null | undefined,
  { normalizeMessageContent, toNumber }: Pick<Baileys, "normalizeMessageContent" | "toNumber">,
): WhatsAppContent | undefined {
  const inner = normalizeMessageContent(message);
  if (inner === undefined) return undefined;
  const { imageMessage, videoMessage, audioMessage, documentMessage, stickerMessage } = inner;
  const file = imageMessage ?? videoMessage ?? inner.ptvMessage ?? audioMessage ?? documentMessage ?? stickerMessage;
  const words = textOf(inner);
  if (words === undefined && !file) return undefined;
  const media = file
    ? {
        type: file.mimetype ?? "application/octet-stream",
        name: documentMessage?.fileName ?? undefined,
        bytes: toNumber(file.fileLength),
      }
    : undefined;
  return { text: words ?? "", media, context: contextOf(inner), untrusted: untrustedTexts(inner) };
}

function textOf(content: WAMessageContent): string | undefined {
  const { locationMessage, liveLocationMessage } = content;
  const place = locationMessage ?? liveLocationMessage;
  const candidates = [
    content.conversation,
    content.extendedTextMessage?.text,
    content.imageMessage?.caption,
    content.videoMessage?.caption,
    content.documentMessage?.caption,
    content.buttonsResponseMessage?.selectedDisplayText,
    content.listResponseMessage?.title,
    content.templateButtonReplyMessage?.selectedDisplayText,
    place ? `<location:${place.degreesLatitude},${place.degreesLongitude}>` : undefined,
    content.contactMessage ? "<contact>" : undefined,
    content.contactsArrayMessage ? "<contacts>" : undefined,
  ];
  return candidates.find((text): text is string => typeof text === "string" && text !== "");
}

/** Each kind of message that can quote or mention has its own `contextInfo`. */
function contextOf(content: WAMessageContent): WAContextInfo | undefined {
  for (const part of Object.values(content) as unknown[]) {
    if (typeof part === "object" && part !== null && "contextInfo" in part && part.contextInfo) {
      return part.contextInfo;
    }
  }
  return undefined;
}

function untrustedTexts(content: WAMessageContent): string[] {
  const { locationMessage, contactMessage, contactsArrayMessage } = content;
  const contacts = [contactMessage, ...(contactsArrayMessage?.contacts ?? [])].flatMap((contact) => contact ?? []);
  const place = [locationMessage?.name, locationMessage?.address].flatMap((part) => part ?? []);
  return [
    ...(place.length === 0 ? [] : [`Place: ${place.join(", ")}`]),
    ...contacts.map(({ displayName, vcard }) => `Contact ${displayName ?? ""}:\n${vcard ?? ""}`),
  ];
}

/*
 * Addresses. A person has a phone number (`1555@s.whatsapp.net`) and an id that hides it (`987@lid`); either
 * may name a device (`1555:12@…`). Groups end in `@g.us`.
 */

export function isGroupJid(jid: string): boolean {
  return jid.endsWith("@g.us");
}

/** False for groups, broadcasts, newsletters and statuses. */
export function isPersonJid(jid: string): boolean {
  return jid.endsWith("@s.whatsapp.net") || jid.endsWith("@lid");
}

/** Removes the device and normalizes the server of phone numbers. */
export function plainJid(jid: string): string {
  return jid.replace(/:\d+@/, "@").replace(/@c\.us$/, "@s.whatsapp.net");
}

export function plainJids(jids: readonly (string | null | undefined)[]): string[] {
  const given = jids.flatMap((jid) => (jid ? [plainJid(jid)] : []));
  return [...new Set(given)];
}

/** `+1555`; undefined for an address without a number. */
export function phoneOf(jid: string): string | undefined {
  const digits = /^(\d+)@s\.whatsapp\.net$/.exec(plainJid(jid))?.[1];
  return digits === undefined ? undefined : `+${digits}`;
}

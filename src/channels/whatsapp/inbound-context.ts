/** A WhatsApp message in OpenClaw's field names. Pure. */
import type { WAMessage } from "baileys";
import type { MessageContext } from "../../keys/message-context.ts";
import { mediaPlaceholder } from "../received-files.ts";
import { phoneOf, plainJid } from "./jid.ts";
import type { WhatsAppContent } from "./message-content.ts";

export interface InboundFacts {
  message: WAMessage;
  content: WhatsAppContent;
  /** What was quoted, if it has words. */
  quoted: WhatsAppContent | undefined;
  sender: WhatsAppSender;
  self: WhatsAppSelf;
  /** The group's address; undefined in a direct chat. */
  group: { jid: string; subject: string | undefined } | undefined;
  accountId: string;
  sentAt: number;
  commandAuthorized: boolean;
  media: { path: string; type: string } | undefined;
  missingMedia: readonly string[];
}

export interface WhatsAppSender {
  /** With the phone number if it is known. */
  jid: string;
  /** Every address of the person, without device. */
  jids: readonly string[];
  name: string | undefined;
}

/** The account that the agent speaks for. */
export interface WhatsAppSelf {
  jids: readonly string[];
  name: string | undefined;
}

export function buildWhatsAppContext(facts: InboundFacts): MessageContext {
  const { message, content, sender, self, group, accountId, media } = facts;
  const id = message.key.id ?? "";
  const phone = phoneOf(sender.jid);
  const person = phone ?? sender.jid;
  const own = self.jids.map(phoneOf).find((number) => number !== undefined);
  const text = content.text === "" && media !== undefined ? mediaPlaceholder([media.type]) : content.text;
  const untrusted = [...content.untrusted, ...facts.missingMedia];
  return {
    Body: text,
    RawBody: text,
    CommandBody: text,
    MessageSid: id,
    Timestamp: facts.sentAt,
    From: group?.jid ?? `whatsapp:${person}`,
    ...(own === undefined ? {} : { To: own, BotId: own.slice(1) }),
    OriginatingChannel: "whatsapp",
    OriginatingTo: group?.jid ?? person,
    AccountId: accountId,
    ChatType: group === undefined ? "direct" : "group",
    Provider: "whatsapp",
    Surface: "whatsapp",
    SenderId: sender.jid,
    ...(phone === undefined ? {} : { SenderE164: phone }),
    ...(sender.name === undefined ? {} : { SenderName: sender.name }),
    ...(self.name === undefined ? {} : { BotUsername: self.name }),
    CommandAuthorized: facts.commandAuthorized,
    ConversationLabel: group === undefined ? (sender.name ?? person) : (group.subject ?? group.jid),
    ...(group?.subject === undefined ? {} : { GroupSubject: group.subject }),
    ...(group === undefined ? {} : { WasMentioned: isMeant(content, self) }),
    ...replyFields(facts),
    ...(media === undefined ? {} : { MediaPaths: [media.path], MediaUrls: [media.path], MediaTypes: [media.type] }),
    ...(untrusted.length === 0 ? {} : { UntrustedContext: untrusted }),
  };
}

/** A mention of the account, or an answer to something it said. */
function isMeant({ context }: WhatsAppContent, { jids }: WhatsAppSelf): boolean {
  const named = [...(context?.mentionedJid ?? []), ...(isReply(context) ? [context?.participant ?? ""] : [])];
  return named.some((jid) => jids.includes(plainJid(jid)));
}

function replyFields({ content, quoted }: InboundFacts): MessageContext {
  const { context } = content;
  if (!isReply(context)) return {};
  const author = context?.participant ?? undefined;
  return {
    ReplyToId: context?.stanzaId ?? "",
    ...(quoted === undefined || quoted.text === "" ? {} : { ReplyToBody: quoted.text }),
    ...(author === undefined ? {} : { ReplyToSender: phoneOf(author) ?? plainJid(author) }),
  };
}

function isReply(context: WhatsAppContent["context"]): boolean {
  return (context?.stanzaId ?? "") !== "";
}

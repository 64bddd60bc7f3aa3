/**
 * Sends one chunk to WhatsApp. Message ids are derived from the idempotency key. Phones show a repeated id
 * once, but WhatsApp does not guarantee it.
 */
import type { AnyMessageContent, WAMessage } from "baileys";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type OutboundMessage, type MessageSender, emptyMessage } from "../channel.ts";
import { type OutgoingFile, loadOutgoingFiles } from "../files.ts";
import { whatsAppError, type WhatsAppSocket } from "./connection.ts";
import type { RecentMessages } from "./inbound.ts";
import { phoneOf, plainJid } from "./context.ts";
import type { DeliveryTarget } from "../../store/queues.ts";

/** WhatsApp allows more, but collapses longer texts. OpenClaw's limit too. */
export const WHATSAPP_TEXT_LIMIT = 4000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export function createWhatsAppSender({
  socket,
  recent,
  allowsAddress,
}: {
  socket: () => WhatsAppSocket;
  recent: RecentMessages;
  allowsAddress?: ((address: string) => boolean) | undefined;
}): MessageSender {
  const reachable = new Set<string>();
  return {
    send: async (message) => {
      const jid = parseTarget(message.target);
      const current = socket();
      const files = await loadOutgoingFiles(message, { maxBytes: MAX_FILE_BYTES, allowsAddress });
      const contents = contentsOf(message, files);
      try {
        await checkReachable(current, jid, reachable);
        const sent: string[] = [];
        for (const [index, content] of contents.entries()) {
          sent.push(await sendOne(current, jid, content, message, index, recent));
        }
        const [messageId] = sent;
        if (messageId === undefined) throw emptyMessage();
        return { messageId };
      } catch (error) {
        throw whatsAppError(error);
      }
    },
    showTyping: async (target) => {
      const jid = parseTarget(target);
      await socket()
        .sendPresenceUpdate("composing", jid)
        .catch((error: unknown) => {
          throw whatsAppError(error);
        });
    },
  };
}

/** Accepts `+1555`, `whatsapp:+1555`, `whatsapp:group:…@g.us` or a plain address. */
export function parseTarget({ to }: DeliveryTarget): string {
  const address = to
    .trim()
    .replace(/^whatsapp:/i, "")
    .replace(/^(?:group|dm|direct|user):/i, "");
  if (/^[\w.-]+@(?:g\.us|lid|s\.whatsapp\.net|c\.us)$/.test(address)) return plainJid(address);
  const digits = address.replace(/[\s().-]/g, "").replace(/^\+/, "");
  if (/^\d{5,20}$/.test(digits)) return `${digits}@s.whatsapp.net`;
  throw new HoldfastError("usage", "whatsapp-target", `Not a WhatsApp address: ${to}`, {
    hint: "Use a phone number with its country code (+15551234567) or the address of a group (…@g.us).",
    data: { to },
  });
}

async function sendOne(
  socket: WhatsAppSocket,
  jid: string,
  content: AnyMessageContent,
  { idempotencyKey, replyToId }: OutboundMessage,
  index: number,
  recent: RecentMessages,
): Promise<string> {
  // In the format of WhatsApp's web client.
  const digest = nodeCrypto().createHash("sha256").update(`${idempotencyKey}#${index}`).digest("hex");
  const messageId = `3EB0${digest.slice(0, 18).toUpperCase()}`;
  const quoted = index === 0 && replyToId !== undefined ? quotable(recent.get(replyToId), jid) : undefined;
  const sent = await socket.sendMessage(jid, content, { messageId, ...(quoted === undefined ? {} : { quoted }) });
  if (sent !== undefined) recent.add(sent);
  return sent?.key.id ?? messageId;
}

/** WhatsApp needs the whole message to quote it, so only remembered messages of this chat can be quoted. */
function quotable(message: WAMessage | undefined, jid: string): WAMessage | undefined {
  const chats = [message?.key.remoteJid, message?.key.remoteJidAlt];
  return chats.some((chat) => typeof chat === "string" && plainJid(chat) === jid) ? message : undefined;
}

/** The first file has the text as its caption, unless it is audio. */
function contentsOf({ text = "", asVoice = false }: OutboundMessage, files: readonly OutgoingFile[]) {
  const [first] = files;
  const isCaption = first !== undefined && !first.type.startsWith("audio/");
  // `null` keeps Baileys from fetching any URL in the text for a preview.
  const alone = text === "" || isCaption ? [] : [{ text, linkPreview: null }];
  return [...alone, ...files.map((file, index) => fileContent(file, index === 0 && isCaption ? text : "", asVoice))];
}

function fileContent({ name, content, type }: OutgoingFile, text: string, asVoice: boolean): AnyMessageContent {
  const caption = text === "" ? {} : { caption: text };
  if (type === "image/jpeg" || type === "image/png") return { image: content, mimetype: type, ...caption };
  if (type === "video/mp4") return { video: content, mimetype: type, ...caption };
  if (type.startsWith("audio/")) {
    // Phones play only Opus in Ogg as a voice message.
    const isVoice = asVoice && type === "audio/ogg";
    return { audio: content, mimetype: isVoice ? "audio/ogg; codecs=opus" : type, ptt: isVoice };
  }
  return { document: content, mimetype: type, fileName: name, ...caption };
}

/** WhatsApp silently drops messages to a number without an account. */
async function checkReachable(socket: WhatsAppSocket, jid: string, reachable: Set<string>): Promise<void> {
  if (phoneOf(jid) === undefined || reachable.has(jid)) return;
  const found = await socket.onWhatsApp(jid);
  if (found !== undefined && !found.some(({ exists }) => exists)) {
    throw new HoldfastError("not-found", "whatsapp-not-found", `${phoneOf(jid) ?? jid} is not on WhatsApp.`, {
      hint: "Check the number and its country code.",
    });
  }
  reachable.add(jid);
}

/**
 * One chunk to WhatsApp. The id of each message is made from the idempotency key: phones that get the
 * same id twice show it once, but nobody promises it, so the channel does not claim to deduplicate.
 */
import type { AnyMessageContent, WAMessage } from "baileys";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import type { OutboundMessage, SentMessage } from "../channel.ts";
import { type OutgoingFile, loadOutgoingFile } from "../outgoing-files.ts";
import { statusOf } from "./disconnects.ts";
import { parseWhatsAppTarget, phoneOf, plainJid } from "./jid.ts";
import type { RecentMessages } from "./recent-messages.ts";
import type { WhatsAppSocket } from "./socket.ts";

export interface WhatsAppSender {
  send: (message: OutboundMessage) => Promise<SentMessage>;
  showTyping: (target: DeliveryTarget) => Promise<void>;
}

export interface WhatsAppSenderOptions {
  socket: () => WhatsAppSocket;
  recent: RecentMessages;
  allowsAddress?: ((address: string) => boolean) | undefined;
}

/** WhatsApp takes more; longer ones are hidden behind "read more". OpenClaw's limit too. */
export const WHATSAPP_TEXT_LIMIT = 4000;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

export function createWhatsAppSender({ socket, recent, allowsAddress }: WhatsAppSenderOptions): WhatsAppSender {
  const reachable = new Set<string>();
  return {
    send: async (message) => {
      const jid = parseWhatsAppTarget(message.target.to);
      const current = socket();
      const { media = [] } = message;
      const files = await Promise.all(
        media.map(async (item) => await loadOutgoingFile(item, { maxBytes: MAX_FILE_BYTES, allowsAddress })),
      );
      const contents = contentsOf(message, files);
      try {
        await checkReachable(current, jid, reachable);
        const [first, ...others] = contents;
        if (first === undefined) throw emptyMessage();
        const sent = await sendOne(current, jid, first, message, 0, recent);
        for (const [index, content] of others.entries()) {
          await sendOne(current, jid, content, message, index + 1, recent);
        }
        return { messageId: sent };
      } catch (error) {
        throw whatsAppError(error);
      }
    },
    showTyping: async ({ to }) => {
      const jid = parseWhatsAppTarget(to);
      await socket()
        .sendPresenceUpdate("composing", jid)
        .catch((error: unknown) => {
          throw whatsAppError(error);
        });
    },
  };
}

async function sendOne(
  socket: WhatsAppSocket,
  jid: string,
  content: AnyMessageContent,
  { idempotencyKey, replyToId }: OutboundMessage,
  index: number,
  recent: RecentMessages,
): Promise<string> {
  const messageId = messageIdOf(`${idempotencyKey}#${index}`);
  const quoted = index === 0 && replyToId !== undefined ? quotable(recent.get(replyToId), jid) : undefined;
  const sent = await socket.sendMessage(jid, content, { messageId, ...(quoted === undefined ? {} : { quoted }) });
  if (sent !== undefined) recent.add(sent);
  return sent?.key.id ?? messageId;
}

/**
 * WhatsApp wants the whole message to quote it. One that is no longer remembered is answered without, and
 * one of another chat stays there.
 */
function quotable(message: WAMessage | undefined, jid: string): WAMessage | undefined {
  const chats = [message?.key.remoteJid, message?.key.remoteJidAlt];
  return chats.some((chat) => typeof chat === "string" && plainJid(chat) === jid) ? message : undefined;
}

/** The first file carries the text; sounds cannot. */
function contentsOf(
  { text = "", asVoice = false }: OutboundMessage,
  files: readonly OutgoingFile[],
): AnyMessageContent[] {
  const [first] = files;
  const isCaption = first !== undefined && !first.type.startsWith("audio/");
  // `null`: Baileys would fetch whatever address the text names to show a preview of it.
  const alone = text === "" || isCaption ? [] : [{ text, linkPreview: null }];
  return [...alone, ...files.map((file, index) => fileContent(file, index === 0 && isCaption ? text : "", asVoice))];
}

function fileContent({ name, content, type }: OutgoingFile, text: string, asVoice: boolean): AnyMessageContent {
  const caption = text === "" ? {} : { caption: text };
  if (type === "image/jpeg" || type === "image/png") return { image: content, mimetype: type, ...caption };
  if (type === "video/mp4") return { video: content, mimetype: type, ...caption };
  if (type.startsWith("audio/")) {
    // A voice message is Opus in Ogg; phones do not play anything else as one.
    const isVoice = asVoice && type === "audio/ogg";
    return { audio: content, mimetype: isVoice ? "audio/ogg; codecs=opus" : type, ptt: isVoice };
  }
  return { document: content, mimetype: type, fileName: name, ...caption };
}

/** A number that has no WhatsApp would swallow the message without a word. */
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

/** In the form of WhatsApp's web client. */
function messageIdOf(key: string): string {
  return `3EB0${nodeCrypto().createHash("sha256").update(key).digest("hex").slice(0, 18).toUpperCase()}`;
}

function emptyMessage(): HoldfastError {
  return new HoldfastError("usage", "empty-message", "There is nothing to send: no text and no file.", {
    hint: "Give the message a text or a file.",
  });
}

function whatsAppError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const status = statusOf(error);
  const text = `WhatsApp did not take the message: ${errorMessage(error)}`;
  const data = status === undefined ? {} : { status };
  if (status === 401 || status === 403) {
    const hint = "The account may not write there: it left the group, or only admins may write in it.";
    return new HoldfastError("forbidden", "whatsapp-forbidden", text, { hint, data, cause: error });
  }
  if (status === 404) {
    const hint = "Check the number or the group.";
    return new HoldfastError("not-found", "whatsapp-not-found", text, { hint, data, cause: error });
  }
  if (status === 408) {
    const hint = "It may have been sent all the same. Check the network, then try again.";
    return new HoldfastError("timeout", "whatsapp-timeout", text, { hint, data, cause: error });
  }
  const hint = "The connection may be down; it comes back by itself. Trying again can help.";
  return new HoldfastError("unavailable", "whatsapp-unreachable", text, { hint, data, cause: error });
}

/**
 * Sends one chunk to Telegram, without retries, except that a message refused with 400 was certainly not
 * delivered: it is sent again in a plainer form (as another kind of file, without markup, or without a
 * reference to a deleted message).
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import type { MessageEntity } from "grammy/types";
import { HoldfastError, fileError } from "../../base/errors.ts";
import {
  type MessageButton,
  type MessageEdit,
  type OutboundMedia,
  type OutboundMessage,
  type SentMessage,
  emptyMessage,
} from "../channel.ts";
import { type TelegramApi, refusalOf, telegramError } from "./connection.ts";
import { GENERAL_TOPIC } from "./context.ts";
import { printableLine } from "../../base/text.ts";
import type { DeliveryTarget } from "../../store/queues.ts";

const CAPTION_LIMIT = 1024;

export async function sendToTelegram(telegram: TelegramApi, message: OutboundMessage): Promise<SentMessage> {
  const { text = "", media = [] } = message;
  if (text.trim() === "" && media.length === 0) throw emptyMessage();
  const { chatId, threadId } = parseTarget(message.target);
  const topic = threadId === GENERAL_TOPIC ? undefined : threadId;
  // A model may invent an id, so anything but a number is ignored.
  const envelope = { chatId, topic, replyToId: readId(message.replyToId), buttons: message.buttons };
  const sent: number[] = [];
  try {
    // A short text becomes the caption of the first file.
    const isCaption = media.length > 0 && text.length <= CAPTION_LIMIT;
    if (text.trim() !== "" && !isCaption) sent.push(await sendText(text, envelope, telegram));
    for (const [index, item] of media.entries()) {
      const caption = isCaption && index === 0 ? text : "";
      const isFirst = sent.length === 0;
      const own = isFirst ? envelope : { ...envelope, replyToId: undefined };
      sent.push(await sendMedia(item, { caption, envelope: own, asVoice: message.asVoice === true, telegram }));
    }
  } catch (error) {
    throw withDelivered(telegramError(error, "send to Telegram"), sent);
  }
  return { messageId: String(sent[0]) };
}

interface Envelope {
  /** A number, or `@name` of a public group or channel. */
  chatId: number | string;
  topic: number | undefined;
  replyToId: number | undefined;
  buttons?: readonly MessageButton[] | undefined;
}

export async function editOnTelegram(
  { api }: TelegramApi,
  { target, messageId, text: source, buttons }: MessageEdit & { target: DeliveryTarget; messageId: string },
): Promise<void> {
  const { text, entities } = formatMarkdown(source);
  try {
    await api.raw.editMessageText({
      chat_id: parseTarget(target).chatId,
      message_id: Number(messageId),
      text,
      entities,
      link_preview_options: { is_disabled: true },
      ...keyboard(buttons),
    });
  } catch (error) {
    // An edit that is repeated changes nothing.
    if (refusalOf(error)?.description.includes("message is not modified") === true) return;
    throw telegramError(error, "edit a message on Telegram");
  }
}

export async function removeFromTelegram(
  { api }: TelegramApi,
  { target, messageId }: { target: DeliveryTarget; messageId: string },
): Promise<void> {
  try {
    await api.raw.deleteMessage({ chat_id: parseTarget(target).chatId, message_id: Number(messageId) });
  } catch (error) {
    throw telegramError(error, "delete a message on Telegram");
  }
}

/** One button per row: labels may be long. */
function keyboard(buttons: readonly MessageButton[] | undefined) {
  if (buttons === undefined || buttons.length === 0) return {};
  const rows = buttons.map(({ label, command }) => [{ text: label, callback_data: command }]);
  return { reply_markup: { inline_keyboard: rows } };
}

/** `123`, `telegram:123`, `telegram:group:-100`, `telegram:group:-100:topic:4`, `@name`. */
export function parseTarget(target: DeliveryTarget): Pick<Envelope, "chatId"> & { threadId: number | undefined } {
  const address = target.to
    .trim()
    .replace(/^(?:telegram|tg):/i, "")
    .replace(/^(?:group|channel|dm|direct|user):/i, "");
  const match = /^(-?\d+|@\w+)(?::(?:topic|thread):(\d+))?$/.exec(address);
  const [, chat, topic] = match ?? [];
  if (chat === undefined) {
    const shown = printableLine(target.to, 80);
    throw new HoldfastError("usage", "telegram-target-invalid", `${shown} is not a Telegram chat`, {
      hint: "Use a chat id such as 123456789, telegram:123456789 or telegram:group:-1001234567890, or @name of a public group.",
      data: { to: target.to },
    });
  }
  const threadId = readId(target.threadId) ?? readId(topic);
  return { chatId: chat.startsWith("@") ? chat : Number(chat), threadId };
}

/** Telegram's ids are positive whole numbers; undefined for anything else. */
function readId(value: string | number | undefined): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

async function sendText(source: string, envelope: Envelope, { api }: TelegramApi): Promise<number> {
  const formatted = formatMarkdown(source);
  return await firstAccepted(
    envelope,
    [formatted, { text: source, entities: [] }].map(({ text, entities }) => async (fields: EnvelopeFields) => {
      const { message_id: id } = await api.raw.sendMessage({
        ...fields,
        text,
        entities,
        // For a preview Telegram would fetch any URL that a model was tricked into writing.
        link_preview_options: { is_disabled: true },
      });
      return id;
    }),
  );
}

async function sendMedia(
  media: OutboundMedia,
  sending: { caption: string; envelope: Envelope; asVoice: boolean; telegram: TelegramApi },
): Promise<number> {
  const { caption, envelope, asVoice, telegram } = sending;
  const formatted = formatMarkdown(caption);
  const forms = await mediaMethods(media, asVoice);
  return await firstAccepted(
    envelope,
    forms.map((method) => async (fields: EnvelopeFields) => {
      const common = { ...fields, caption: formatted.text, caption_entities: formatted.entities };
      const { InputFile } = telegram;
      const { raw } = telegram.api;
      // Telegram fetches URLs itself. Every attempt needs a new stream.
      const file = media.kind === "url" ? media.url : new InputFile(createReadStream(media.path), basename(media.path));
      const send = {
        Photo: async () => await raw.sendPhoto({ ...common, photo: file }),
        Animation: async () => await raw.sendAnimation({ ...common, animation: file }),
        Video: async () => await raw.sendVideo({ ...common, video: file }),
        Audio: async () => await raw.sendAudio({ ...common, audio: file }),
        Voice: async () => await raw.sendVoice({ ...common, voice: file }),
        Document: async () => await raw.sendDocument({ ...common, document: file }),
      }[method];
      return (await send()).message_id;
    }),
  );
}

type EnvelopeFields = ReturnType<typeof envelopeFields>;
type Form = (fields: EnvelopeFields) => Promise<number>;

/** Tries the next form only after a 400 that another form can fix. */
async function firstAccepted(envelope: Envelope, forms: readonly Form[]): Promise<number> {
  const [form, ...plainer] = forms;
  if (form === undefined) throw emptyMessage();
  try {
    return await form(envelopeFields(envelope));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.status !== 400) throw error;
    // A group that became a supergroup has a new id, which Telegram sends.
    if (refusal.migratedTo !== undefined && refusal.migratedTo !== envelope.chatId) {
      return await firstAccepted({ ...envelope, chatId: refusal.migratedTo }, forms);
    }
    if (envelope.replyToId !== undefined && /repl/i.test(refusal.description)) {
      return await firstAccepted({ ...envelope, replyToId: undefined }, forms);
    }
    if (plainer.length === 0 || !FIXABLE.test(refusal.description)) throw error;
    return await firstAccepted(envelope, plainer);
  }
}

/** Errors about the form of the message, not about its chat. */
const FIXABLE = /entit|parse|photo|image|dimension|voice|audio|video|animation|wrong (?:type|file)|wrong remote file/i;

function envelopeFields({ chatId, topic, replyToId, buttons }: Envelope) {
  return {
    chat_id: chatId,
    ...keyboard(buttons),
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(replyToId === undefined
      ? {}
      : { reply_parameters: { message_id: replyToId, allow_sending_without_reply: true } }),
  };
}

/** Adds the ids of the parts that arrived, for a caller that retries. */
function withDelivered(error: HoldfastError, sent: readonly number[]): HoldfastError {
  if (sent.length === 0) return error;
  const { kind, code, message, hint, data } = error;
  return new HoldfastError(kind, code, message, { hint, data: { ...data, deliveredIds: sent.map(String) } });
}

/** The method is `send` + this; the parameter is this in lower case. */
type MediaMethod = "Photo" | "Animation" | "Video" | "Audio" | "Voice" | "Document";

const METHODS: Record<string, MediaMethod> = {
  ".jpg": "Photo",
  ".jpeg": "Photo",
  ".png": "Photo",
  ".webp": "Photo",
  ".gif": "Animation",
  ".mp4": "Video",
  ".mov": "Video",
  ".mp3": "Audio",
  ".m4a": "Audio",
  ".ogg": "Audio",
  ".oga": "Audio",
  ".opus": "Audio",
};

const MAX_PHOTO_BYTES = 10 * 1024 * 1024;
const MAX_FILE_BYTES = 50 * 1024 * 1024;

/** In order of preference: Telegram may refuse a picture or a voice message, but accept it as a document. */
async function mediaMethods(media: OutboundMedia, asVoice: boolean): Promise<MediaMethod[]> {
  const name = media.kind === "file" ? media.path : new URL(media.url).pathname;
  const method = METHODS[extname(name).toLowerCase()] ?? "Document";
  const bytes = media.kind === "file" ? await sizeOf(media.path) : 0;
  if (bytes > MAX_FILE_BYTES) {
    throw new HoldfastError("usage", "telegram-file-too-large", `A file of ${bytes} bytes is too large for Telegram`, {
      hint: "Telegram accepts files up to 50 MB; send a link instead.",
      data: { bytes },
    });
  }
  if (method === "Audio" && asVoice) return ["Voice", "Audio"];
  if (method === "Photo") return bytes > MAX_PHOTO_BYTES ? ["Document"] : ["Photo", "Document"];
  return method === "Document" ? ["Document"] : [method, "Document"];
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw fileError(error, "send", path);
  }
}

/** Matches leftmost first, so code stays as it is. Every repetition is bounded, so the time is linear. */
const MARKUP =
  /^```([\w+#.-]{0,32})[^\S\n]*\n([\s\S]{0,4096}?)\n```[^\S\n]*$|`([^`\n]{1,1000})`|\*\*(?=\S)([^*\n]{1,1000}?)(?<=\S)\*\*|\[([^\][\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,1000})\)/gm;

/** Markdown as plain text with ranges, so that no text is invalid for Telegram. Never longer than the source. */
export function formatMarkdown(source: string): { text: string; entities: MessageEntity[] } {
  const entities: MessageEntity[] = [];
  let text = "";
  let end = 0;
  for (const match of source.matchAll(MARKUP)) {
    const [whole, language, block, code, bold, label, url] = match;
    const content = block ?? code ?? bold ?? label ?? "";
    if (content.trim() === "") continue;
    text += source.slice(end, match.index);
    const range = { offset: text.length, length: content.length };
    if (block !== undefined) entities.push({ type: "pre", ...range, ...(language ? { language } : {}) });
    else if (code !== undefined) entities.push({ type: "code", ...range });
    else if (bold !== undefined) entities.push({ type: "bold", ...range });
    else if (url !== undefined) entities.push({ type: "text_link", ...range, url });
    text += content;
    end = match.index + whole.length;
  }
  return { text: text + source.slice(end), entities };
}

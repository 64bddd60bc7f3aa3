/**
 * One chunk of an answer to Telegram. Nothing is sent a second time, with one exception: what Telegram
 * has refused with 400 was certainly not delivered, so a plainer form of the same is tried. The forms
 * go from best to plainest: another kind of file, no markup, no reference to a message that is gone.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { OutboundMedia, OutboundMessage, SentMessage } from "../channel.ts";
import { refusalOf, telegramError } from "./api-errors.ts";
import type { TelegramApi } from "./api.ts";
import { formatMarkdown } from "./format.ts";
import { mediaInput, mediaMethods } from "./outbound-media.ts";
import { GENERAL_TOPIC, parseTarget, readId } from "./target.ts";

const CAPTION_LIMIT = 1024;

export async function sendToTelegram(message: OutboundMessage, telegram: TelegramApi): Promise<SentMessage> {
  const { text = "", media = [] } = message;
  if (text.trim() === "" && media.length === 0) throw nothingToSend();
  const envelope = envelopeOf(message);
  const sent: number[] = [];
  try {
    // A text that fits goes under the first file, as people do it.
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
  chatId: number | string;
  topic: number | undefined;
  replyToId: number | undefined;
}

function envelopeOf({ target, replyToId }: OutboundMessage): Envelope {
  const { chatId, threadId } = parseTarget(target);
  // A model may make up an id; what is no number cannot be one.
  return { chatId, topic: threadId === GENERAL_TOPIC ? undefined : threadId, replyToId: readId(replyToId) };
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
        // A preview lets Telegram fetch whatever address a model was talked into writing.
        link_preview_options: { is_disabled: true },
      });
      return id;
    }),
  );
}

interface MediaSending {
  caption: string;
  envelope: Envelope;
  asVoice: boolean;
  telegram: TelegramApi;
}

async function sendMedia(media: OutboundMedia, sending: MediaSending): Promise<number> {
  const { caption, envelope, asVoice, telegram } = sending;
  const formatted = formatMarkdown(caption);
  const forms = await mediaMethods(media, asVoice);
  return await firstAccepted(
    envelope,
    forms.map((method) => async (fields: EnvelopeFields) => {
      const common = { ...fields, caption: formatted.text, caption_entities: formatted.entities };
      const file = mediaInput(media, telegram);
      const { raw } = telegram.api;
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

/** Goes on to the next form only after a 400 that another form can mend. */
async function firstAccepted(envelope: Envelope, forms: readonly Form[]): Promise<number> {
  const [form, ...plainer] = forms;
  if (form === undefined) throw nothingToSend();
  try {
    return await form(envelopeFields(envelope));
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal?.status !== 400) throw error;
    // A group that became a supergroup has a new id; Telegram tells it.
    if (refusal.migratedTo !== undefined && refusal.migratedTo !== envelope.chatId) {
      return await firstAccepted({ ...envelope, chatId: refusal.migratedTo }, forms);
    }
    if (envelope.replyToId !== undefined && /repl/i.test(refusal.description)) {
      return await firstAccepted({ ...envelope, replyToId: undefined }, forms);
    }
    if (plainer.length === 0 || !MENDABLE.test(refusal.description)) throw error;
    return await firstAccepted(envelope, plainer);
  }
}

/** About the form of the message, not about the chat it is for. */
const MENDABLE = /entit|parse|photo|image|dimension|voice|audio|video|animation|wrong (?:type|file)|wrong remote file/i;

function envelopeFields({ chatId, topic, replyToId }: Envelope) {
  return {
    chat_id: chatId,
    ...(topic === undefined ? {} : { message_thread_id: topic }),
    ...(replyToId === undefined
      ? {}
      : { reply_parameters: { message_id: replyToId, allow_sending_without_reply: true } }),
  };
}

/** Whoever tries again should know that a part of it has arrived. */
function withDelivered(error: HoldfastError, sent: readonly number[]): HoldfastError {
  if (sent.length === 0) return error;
  const { kind, code, message, hint, data } = error;
  return new HoldfastError(kind, code, message, { hint, data: { ...data, deliveredIds: sent.map(String) } });
}

function nothingToSend(): HoldfastError {
  return new HoldfastError(
    "usage",
    "message-empty",
    "There is nothing to send: the message has neither text nor a file",
    {
      hint: "Give a text or a file.",
    },
  );
}

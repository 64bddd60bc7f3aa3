/** The words and the file of a WhatsApp message, whatever it is wrapped in. */
import type { WAContextInfo, WAMessageContent } from "baileys";
import type { Baileys } from "./socket.ts";

export interface WhatsAppContent {
  text: string;
  media: WhatsAppMedia | undefined;
  /** What was quoted, who was mentioned. */
  context: WAContextInfo | undefined;
  /** What somebody else wrote: data. */
  untrusted: string[];
}

export interface WhatsAppMedia {
  /** A MIME type. */
  type: string;
  name: string | undefined;
  /** As the sender says. */
  bytes: number;
}

/** Undefined for what nobody said: reactions, receipts, settings, keys. */
export function readContent(
  message: WAMessageContent | null | undefined,
  { normalizeMessageContent, toNumber }: Pick<Baileys, "normalizeMessageContent" | "toNumber">,
): WhatsAppContent | undefined {
  const inner = normalizeMessageContent(message);
  if (inner === undefined) return undefined;
  const { imageMessage, videoMessage, audioMessage, documentMessage, stickerMessage } = inner;
  const file = imageMessage ?? videoMessage ?? inner.ptvMessage ?? audioMessage ?? documentMessage ?? stickerMessage;
  const words = textOf(inner);
  if (words === undefined && (file === undefined || file === null)) return undefined;
  const media =
    file === undefined || file === null
      ? undefined
      : {
          type: file.mimetype ?? "application/octet-stream",
          name: documentMessage?.fileName ?? undefined,
          bytes: toNumber(file.fileLength),
        };
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
    place === undefined || place === null ? undefined : `<location:${place.degreesLatitude},${place.degreesLongitude}>`,
    content.contactMessage === undefined || content.contactMessage === null ? undefined : "<contact>",
    content.contactsArrayMessage === undefined || content.contactsArrayMessage === null ? undefined : "<contacts>",
  ];
  return candidates.find((text): text is string => typeof text === "string" && text !== "");
}

/** Every kind of message that can quote or mention has its own copy of this. */
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
  const contacts = [contactMessage, ...(contactsArrayMessage?.contacts ?? [])].filter(
    (contact) => contact !== undefined && contact !== null,
  );
  const place = [locationMessage?.name, locationMessage?.address].filter((part) => part !== undefined && part !== null);
  return [
    ...(place.length === 0 ? [] : [`Place: ${place.join(", ")}`]),
    ...contacts.map(({ displayName, vcard }) => `Contact ${displayName ?? ""}:\n${vcard ?? ""}`),
  ];
}

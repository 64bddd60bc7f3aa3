/** Who wrote a message, as a line under it. Names are chosen by their owners and may try to be more than a name. */
import { printableLine } from "../../base/printable.ts";
import { normalizeChatType } from "../../keys/chat-type.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { literalPattern } from "./literal-pattern.ts";

export interface Sender {
  name?: string | undefined;
  username?: string | undefined;
  tag?: string | undefined;
  e164?: string | undefined;
  id?: string | undefined;
}

/** In groups and channels `\n[from: <label>]` follows the text, unless it says already who wrote it. */
export function formatInboundBodyWithSenderMeta({ body, ctx }: { body: string; ctx: MessageContext }): string {
  const meta = senderMeta(ctx);
  return meta === undefined || namesSender(body, ctx) ? body : `${body}\n${meta}`;
}

/** `[from: Alice (+1555)]`; undefined in direct chats and for a sender without any name. */
export function senderMeta(ctx: MessageContext): string | undefined {
  const chatType = normalizeChatType(ctx.ChatType);
  if (chatType !== "group" && chatType !== "channel") return undefined;
  const label = resolveSenderLabel(senderOf(ctx));
  return label === null ? undefined : `[from: ${label}]`;
}

/** The name to show (name, else username, else tag) with the number or id behind it; null without any. */
export function resolveSenderLabel(sender: Sender): string | null {
  const shown = firstLabel(sender.name, sender.username, sender.tag);
  const address = firstLabel(sender.e164, sender.id);
  if (shown === undefined) return address ?? null;
  return address === undefined || address === shown ? shown : `${shown} (${address})`;
}

function senderOf(ctx: MessageContext): Sender {
  return {
    name: ctx.SenderName,
    username: ctx.SenderUsername,
    tag: ctx.SenderTag,
    e164: ctx.SenderE164,
    id: ctx.SenderId,
  };
}

function firstLabel(...candidates: readonly (string | undefined)[]): string | undefined {
  return candidates.map(label).find((candidate) => candidate !== "");
}

const MAX_LABEL = 100;

/** One line that cannot close the bracket around it. */
function label(text: string | undefined): string {
  return printableLine(text ?? "", MAX_LABEL)
    .replaceAll("[", "(")
    .replaceAll("]", ")");
}

/** A line `[from: …]`, or the sender in front: `Alice: hi`, `[Signal group 17:35] Alice: hi`. */
function namesSender(body: string, ctx: MessageContext): boolean {
  if (/^\[from:/im.test(body)) return true;
  const sender = senderOf(ctx);
  const names = [resolveSenderLabel(sender) ?? undefined, ...Object.values(sender)].map(label);
  return names.some(
    (name) => name !== "" && new RegExp(`(?:^|\\n|\\]\\s?)${literalPattern(name)}:\\s`, "i").test(body),
  );
}

/**
 * The first step for an inbound message: every text variant in one form, whatever the channel left
 * out. Nothing is judged here and the channel's own object is left alone. Doing it twice changes
 * nothing.
 */
import { type ChatType, normalizeChatType } from "../../keys/chat-type.ts";
import { isGroupMessage } from "../../keys/group.ts";
import type { MessageContext } from "../../keys/message-context.ts";

export type FinalizedContext = MessageContext &
  Required<Pick<MessageContext, "Body" | "BodyForAgent" | "BodyForCommands" | "CommandAuthorized">>;

/**
 * `BodyForAgent` falls back to `Body`; `BodyForCommands` to `CommandBody`, `RawBody`, `Body`. A
 * command is authorised only where the channel said so.
 */
export function finalizeInboundContext(ctx: MessageContext): FinalizedContext {
  const texts = Object.fromEntries(
    TEXT_FIELDS.flatMap((field) => {
      const text = ctx[field];
      return typeof text === "string" ? [[field, normalizeInboundTextNewlines(text)]] : [];
    }),
  ) as Pick<MessageContext, (typeof TEXT_FIELDS)[number]>;
  const chatType = normalizeChatType(ctx.ChatType) ?? addressedChatType(ctx);
  const untrusted = ctx.UntrustedContext?.map(normalizeInboundTextNewlines).filter((item) => item.trim() !== "");
  const Body = texts.Body ?? texts.RawBody ?? "";
  return {
    ...ctx,
    ...texts,
    Body,
    BodyForAgent: texts.BodyForAgent ?? Body,
    BodyForCommands: texts.BodyForCommands ?? texts.CommandBody ?? texts.RawBody ?? Body,
    ...(chatType === undefined ? {} : { ChatType: chatType }),
    ...(untrusted === undefined ? {} : { UntrustedContext: untrusted }),
    CommandAuthorized: ctx.CommandAuthorized === true,
  };
}

/** An address such as `telegram:group:-100` tells the type too. */
function addressedChatType(ctx: MessageContext): ChatType | undefined {
  if (!isGroupMessage(ctx)) return undefined;
  return ctx.From?.toLowerCase().includes(":channel:") === true ? "channel" : "group";
}

const TEXT_FIELDS = [
  "Body",
  "RawBody",
  "CommandBody",
  "BodyForAgent",
  "BodyForCommands",
  "BodyStripped",
  "ReplyToBody",
] as const satisfies readonly (keyof MessageContext)[];

/** Every line break becomes `\n`. A backslash and an `n` stay what they are: `C:\new` is a folder. */
export function normalizeInboundTextNewlines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Where the answer to a message goes. */
import { normalizeChatType } from "../../keys/chat-type.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { inboundRoutePatch } from "../../session/inbound-meta.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { DeliveryTarget } from "../../store/store.ts";

/** What the message says, completed by what the entry knows of the same chat. Undefined: nowhere. */
export function replyTarget(ctx: MessageContext, entry: SessionEntry | undefined): DeliveryTarget | undefined {
  const route = inboundRoutePatch(ctx, entry).deliveryContext;
  if (route?.channel === undefined || route.to === undefined) return undefined;
  const chatType = normalizeChatType(ctx.ChatType) ?? entry?.chatType;
  return {
    channel: route.channel,
    accountId: route.accountId ?? "default",
    to: route.to,
    ...(chatType === undefined ? {} : { chatType }),
    ...(route.threadId === undefined ? {} : { threadId: route.threadId }),
  };
}

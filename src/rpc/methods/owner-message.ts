/**
 * A message that the owner writes into a session from the page or a terminal. It belongs to the session
 * that the key names, whatever channel that lives on, and leaves the session's route as it is: the next
 * answer to a message from Telegram still goes to Telegram.
 */
import type { DeliveryContext, SessionEntry } from "../../store/session-entry.ts";
import { sessionKindOf } from "../../keys/session-kind.ts";
import type { AddressedMessage } from "../../turn/pipeline.ts";

export const WEB_CHANNEL = "web";

export interface OwnerMessage {
  agentId: string;
  key: string;
  entry: SessionEntry | undefined;
  text: string;
  idempotencyKey: string;
  now: number;
  deliver: boolean;
  /** Where the answer goes. Left out: where the session lives. */
  route?: DeliveryContext;
}

export function toAddressedMessage(message: OwnerMessage): AddressedMessage {
  const { agentId, key, entry, text, now } = message;
  const route = message.route ?? knownRoute(entry) ?? { channel: WEB_CHANNEL, to: key };
  const chatType = entry?.chatType ?? (sessionKindOf(key, entry) === "group" ? "group" : "direct");
  return {
    address: { channel: WEB_CHANNEL, accountId: "default", chatId: key, messageId: message.idempotencyKey },
    receivedAt: now,
    agentId,
    deliver: message.deliver,
    ctx: {
      Body: text,
      RawBody: text,
      CommandBody: text,
      MessageSid: message.idempotencyKey,
      Timestamp: now,
      SessionKey: key,
      ChatType: chatType,
      Provider: WEB_CHANNEL,
      Surface: WEB_CHANNEL,
      ...(route.channel === undefined ? {} : { OriginatingChannel: route.channel }),
      ...(route.to === undefined ? {} : { OriginatingTo: route.to }),
      ...(route.accountId === undefined ? {} : { AccountId: route.accountId }),
      ...(route.threadId === undefined ? {} : { MessageThreadId: route.threadId }),
      // Whoever has the gateway's token is the owner, and means the agent also in a group.
      CommandAuthorized: true,
      WasMentioned: true,
    },
  };
}

function knownRoute(entry: SessionEntry | undefined): DeliveryContext | undefined {
  const route: DeliveryContext = {
    ...(entry?.lastChannel === undefined ? {} : { channel: entry.lastChannel }),
    ...(entry?.lastTo === undefined ? {} : { to: entry.lastTo }),
    ...(entry?.lastAccountId === undefined ? {} : { accountId: entry.lastAccountId }),
    ...(entry?.lastThreadId === undefined ? {} : { threadId: entry.lastThreadId }),
    ...entry?.deliveryContext,
  };
  return route.channel === undefined || route.to === undefined ? undefined : route;
}

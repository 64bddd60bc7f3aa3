/**
 * A message that the owner writes into a session from the page or a terminal. It belongs to the session
 * that the key names, whatever channel that lives on, and leaves the session's route as it is: the next
 * answer to a message from Telegram still goes to Telegram.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { DeliveryContext, SessionEntry } from "../../store/session-entry.ts";
import { sessionKindOf } from "../../keys/session-kind.ts";
import type { AddressedMessage } from "../../turn/pipeline.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { channelAccounts } from "./channel-accounts.ts";

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

export function toAddressedMessage(message: OwnerMessage, parts: RpcParts): AddressedMessage {
  const { agentId, key, entry, text, now } = message;
  const known = message.route ?? knownRoute(entry);
  if (message.deliver) requireWayOut(key, known, parts);
  const route = known ?? { channel: WEB_CHANNEL, to: key };
  const chatType = entry?.chatType ?? (sessionKindOf(key, entry) === "group" ? "group" : "direct");
  return {
    address: { channel: WEB_CHANNEL, accountId: "default", chatId: key, messageId: message.idempotencyKey },
    receivedAt: now,
    agentId,
    deliver: message.deliver,
    awaited: true,
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

/** Asked before anything runs: an answer that can reach nobody is not what was asked for. */
function requireWayOut(key: string, route: DeliveryContext | undefined, parts: RpcParts): void {
  const { channel = WEB_CHANNEL, accountId } = route ?? {};
  // Also where channels do not run: then the answer waits for a gateway that has them.
  const isThere = channelAccounts(parts).some(
    (known) => known.channel === channel && (accountId === undefined || accountId === known.accountId),
  );
  if (channel !== WEB_CHANNEL && isThere) return;
  const message =
    channel === WEB_CHANNEL
      ? `Session ${key} lives on no channel: there is nowhere to send the answer to`
      : `Session ${key} lives on ${channel}${accountId === undefined ? "" : ` (${accountId})`}, which is not configured`;
  throw new HoldfastError("not-found", "nowhere-to-deliver", message, {
    hint: "Name a person and a channel that is configured (`holdfast channels status`), or do not ask for delivery.",
    data: { key, channel },
  });
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

/**
 * `message.send` first writes the message to the outbox, so that it is sent even if this process dies, then to
 * the transcript, so that the agent knows it. Both use the idempotency key: a request repeated after a crash
 * completes the missing part and repeats nothing.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { RpcParts, HandlersOf, RpcCall } from "../rpc-parts.ts";
import { type ChatAddress, type FoundChat, findChat, requireAccount } from "./target.ts";
import { printableLine } from "../../base/text.ts";
import { recordSessionMetaFromInbound, updateLastRoute } from "../../session/entry-updates.ts";
import { mirrorDelivery } from "../../session/transcript-changes.ts";
import type { DeliveryTarget, OutboxItem } from "../../store/queues.ts";
import { isWebUrl } from "../../turn/reply/directives.ts";
import { resolveMedia } from "../../turn/reply/draft-replies.ts";
import type { ReplyPayload } from "../../turn/reply/payloads.ts";
import { isInside } from "../../base/files.ts";

type Params = CheckedParamsOf<"message.send">;

export const messageHandlers: HandlersOf<"message.send"> = { "message.send": sendMessage };

const FILE_ROOT = "/";

async function sendMessage(params: Params, { parts, permission }: RpcCall): Promise<ResultOf<"message.send">> {
  const { channel, to, accountId, threadId } = params;
  const address: ChatAddress = { channel, to, accountId, threadId };
  requireAccount(parts, address);
  const chat = await findChat(parts, address, params.agentId);
  const files = permission === "admin" ? FILE_ROOT : chat.agent.workspace;
  const payload = await toPayload(params, files);
  requireSendPolicy(parts, chat);
  const target = toTarget(chat);
  // Before the session is created: an impossible chat gets neither a session nor a message.
  parts.channels.find(target.channel, target.accountId)?.channel.checkTarget?.(target);
  if (chat.entry === undefined) await beginSession(chat);

  const { agent, key } = chat;
  const turnId = `message:${params.idempotencyKey}`;
  const { media } = agent.store;
  const drafts = await parts.draft({ payloads: [payload], target, turnId, workspace: files, media });
  const items = await agent.store.outbox.enqueue(key, drafts);
  const { text, mediaUrls } = payload;
  const mirrored = await mirrorDelivery(agent, { sessionKey: key, text, mediaUrls, turnId });
  parts.pipeline.events.emit({ type: "session.changed", agentId: agent.agentId, sessionKey: key });
  return {
    ok: true,
    runId: params.idempotencyKey,
    channel: address.channel,
    to: address.to,
    agentId: agent.agentId,
    sessionKey: key,
    outboxIds: items.map(({ id }) => id),
    state: overallState(items),
    messageId: items[0]?.deliveredId,
    mirrored,
  };
}

async function toPayload({ message = "", media: named = [], replyToId }: Params, files: string): Promise<ReplyPayload> {
  const media = await Promise.all(named.map(async (item) => await toMediaRef(item, files)));
  const [first] = media;
  if (message.trim() === "" && first === undefined) {
    throw new HoldfastError("usage", "invalid-params", "No message given", {
      hint: "Add a message or media.",
    });
  }
  return {
    text: message.trim() === "" ? undefined : message,
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: media }),
    ...(replyToId === undefined ? {} : { replyToId, replyToTag: true }),
  };
}

/**
 * With `admin` any file can be attached, otherwise only files in the agent's workspace: access to all files
 * would be more than writing. Fails for a missing file.
 */
async function toMediaRef(named: string, files: string): Promise<string> {
  if (isWebUrl(named)) return named;
  if (!isAbsolute(named)) {
    const message = `${printableLine(named, 80)} is neither an absolute path nor a URL`;
    const hint = "The gateway runs in another folder: use the full path.";
    throw new HoldfastError("usage", "media-relative", message, { hint });
  }
  const path = resolve(named);
  if (!isInside(files, path)) {
    const message = `${printableLine(named, 80)} is not in the agent's workspace`;
    const hint = "Attaching other files needs the permission admin.";
    throw new HoldfastError("forbidden", "permission-missing", message, { hint, data: { needed: "admin" } });
  }
  const ref = relative(files, path);
  await resolveMedia(files, ref);
  return ref;
}

function requireSendPolicy({ config }: RpcParts, { key, entry, route }: FoundChat): void {
  const policy = resolveSendPolicy({ cfg: config, sessionKey: key, channel: route.channel, entry });
  if (policy === "allow") return;
  throw new HoldfastError("forbidden", "send-denied", `Sending is turned off for ${key}`, {
    hint: "Write `/send on` in that chat, or set sendPolicy with sessions.patch.",
    data: { key },
  });
}

async function beginSession({ agent, key, ctx, route }: FoundChat): Promise<void> {
  await recordSessionMetaFromInbound({ agent, sessionKey: key, ctx });
  await updateLastRoute({ agent, sessionKey: key, deliveryContext: route });
}

function toTarget({ entry, ctx, route }: FoundChat): DeliveryTarget {
  const { channel, accountId = "default", to, threadId } = route;
  const chatType = entry?.chatType ?? (ctx.ChatType === "direct" ? "direct" : undefined);
  return { channel, accountId, to, chatType, threadId };
}

function overallState(items: readonly OutboxItem[]): OutboxItem["state"] {
  const states = new Set(items.map(({ state }) => state));
  return (["failed", "pending", "sending"] as const).find((state) => states.has(state)) ?? "delivered";
}

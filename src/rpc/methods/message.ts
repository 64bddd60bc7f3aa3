/**
 * `message.send`. The outbox has the message first, so that it is sent whatever happens to this process;
 * then the transcript gets it, so that the agent knows what was said. Both go by the idempotency key: a
 * request that is repeated after a crash completes what is missing and repeats nothing.
 */
import { isAbsolute, relative, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import { isInside } from "../../engine/tools/workspace-path.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import { recordSessionMetaFromInbound, updateLastRoute } from "../../session/delivery.ts";
import { withSessionLease } from "../../session/lease.ts";
import { appendAssistantMessageToSessionTranscript } from "../../session/mirror.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import type { DeliveryTarget, OutboxItem } from "../../store/store.ts";
import { readTail } from "../../transcript/reader.ts";
import { isWebUrl, resolveMedia } from "../../turn/reply/media-ref.ts";
import type { ReplyPayload } from "../../turn/reply/payload.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { HandlersOf, RpcCall } from "../handler.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { type ChatAddress, type FoundChat, findChat, requireAccount } from "./find-chat.ts";

type Params = CheckedParamsOf<"message.send">;

export const messageHandlers: HandlersOf<"message.send"> = { "message.send": sendMessage };

const FILE_ROOT = "/";
/** A session whose turn runs is not waited for longer than this. */
const LEASE_WAIT_MS = 2000;
/** A request is repeated soon or never. */
const LOOK_BACK_ENTRIES = 500;

async function sendMessage(params: Params, { parts, permission }: RpcCall): Promise<ResultOf<"message.send">> {
  const address = toAddress(params);
  requireAccount(parts, address);
  const chat = await findChat(parts, address, params.agentId);
  const files = permission === "admin" ? FILE_ROOT : chat.agent.workspace;
  const payload = await toPayload(params, files);
  requireSendPolicy(parts, chat);
  const target = toTarget(chat);
  // A chat that cannot be there gets no session, and nothing that its agent would believe to have said.
  parts.channels.find(target.channel, target.accountId)?.channel.checkTarget?.(target);
  if (chat.entry === undefined) await beginSession(chat);

  const { agent, key } = chat;
  const drafts = await parts.draftMessage({
    payload,
    target,
    idempotencyKey: `message:${params.idempotencyKey}`,
    workspace: files,
  });
  const items = await agent.store.outbox.enqueue(key, drafts);
  const mirrored = await mirrorOnce(chat, payload, `message:${params.idempotencyKey}`);
  parts.pipeline.events.emit({ type: "session.changed", agentId: agent.agentId, sessionKey: key });
  const messageId = items[0]?.deliveredId;
  return {
    ok: true,
    runId: params.idempotencyKey,
    channel: address.channel,
    to: address.to,
    agentId: agent.agentId,
    sessionKey: key,
    outboxIds: items.map(({ id }) => id),
    state: overallState(items),
    ...(messageId === undefined ? {} : { messageId }),
    mirrored,
  };
}

async function toPayload({ message = "", media: named = [], replyToId }: Params, files: string): Promise<ReplyPayload> {
  const media = await Promise.all(named.map(async (item) => await toMediaRef(item, files)));
  const [first] = media;
  if (message.trim() === "" && first === undefined) {
    throw new HoldfastError("usage", "invalid-params", "There is nothing to send", {
      hint: "Give a message, or media.",
    });
  }
  return {
    ...(message.trim() === "" ? {} : { text: message }),
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: media }),
    ...(replyToId === undefined ? {} : { replyToId, replyToTag: true }),
  };
}

/**
 * The owner may attach any file of theirs, a connection that asked for less only what the agent itself may:
 * a folder of all files would be more than writing. What is not there fails the request.
 */
async function toMediaRef(named: string, files: string): Promise<string> {
  if (isWebUrl(named)) return named;
  if (!isAbsolute(named)) {
    throw new HoldfastError("usage", "media-relative", `${printableLine(named, 80)} is no absolute path and no URL`, {
      hint: "The gateway runs in another folder than you: give the whole path.",
    });
  }
  const path = resolve(named);
  if (!isInside(files, path)) throw outsideOfWorkspace(named);
  const ref = relative(files, path);
  await resolveMedia(files, ref);
  return ref;
}

function outsideOfWorkspace(named: string): HoldfastError {
  const message = `${printableLine(named, 80)} is not in the agent's workspace`;
  return new HoldfastError("forbidden", "permission-missing", message, {
    hint: "Other files can be attached by a connection with the permission admin.",
    data: { needed: "admin" },
  });
}

function toAddress({ channel, to, accountId, threadId }: Params): ChatAddress {
  return {
    channel,
    to,
    ...(accountId === undefined ? {} : { accountId }),
    ...(threadId === undefined ? {} : { threadId }),
  };
}

function requireSendPolicy({ config }: RpcParts, { key, entry, route }: FoundChat): void {
  const policy = resolveSendPolicy({
    cfg: config,
    sessionKey: key,
    channel: route.channel,
    ...(entry === undefined ? {} : { entry }),
  });
  if (policy === "allow") return;
  throw new HoldfastError("forbidden", "send-denied", `The send policy of ${key} is deny`, {
    hint: "Write `/send on` in that chat, or set sendPolicy with sessions.patch.",
    data: { key },
  });
}

async function beginSession({ agent, key, ctx, route }: FoundChat): Promise<void> {
  await recordSessionMetaFromInbound({ agent, sessionKey: key, ctx });
  await updateLastRoute({ agent, sessionKey: key, deliveryContext: route });
}

function toTarget({ entry, ctx, route }: FoundChat): DeliveryTarget {
  const chatType = entry?.chatType ?? (ctx.ChatType === "direct" ? "direct" : undefined);
  return {
    channel: route.channel,
    accountId: route.accountId ?? "default",
    to: route.to,
    ...(chatType === undefined ? {} : { chatType }),
    ...(route.threadId === undefined ? {} : { threadId: route.threadId }),
  };
}

/** False when the session is busy: then the agent is told with its next turn. */
async function mirrorOnce(chat: FoundChat, payload: ReplyPayload, turnId: string): Promise<boolean> {
  const { agent, key } = chat;
  const content = {
    ...(payload.text === undefined ? {} : { text: payload.text }),
    ...(payload.mediaUrls === undefined ? {} : { mediaUrls: payload.mediaUrls }),
  };
  try {
    return await withSessionLease(agent, key, { waitMs: LEASE_WAIT_MS }, async (held) => {
      if (await isMirrored(chat, turnId)) return true;
      const result = await appendAssistantMessageToSessionTranscript({
        agent,
        sessionKey: key,
        ...content,
        turnId,
        held,
      });
      if (!result.ok) agent.logger.warn("a sent message is not in the transcript", { key, reason: result.reason });
      return result.ok;
    });
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    const words = payload.text ?? (payload.mediaUrls ?? []).join(", ");
    await chat.systemEvents.enqueueSystemEvent(key, `This was sent to the chat in your name: ${words}`);
    return false;
  }
}

async function isMirrored({ agent, key }: FoundChat, turnId: string): Promise<boolean> {
  const entry = await agent.store.get(key);
  if (entry === undefined) return false;
  try {
    const { entries } = await readTail(transcriptPath(agent, entry), LOOK_BACK_ENTRIES);
    return entries.some(({ entry: line }) => line.type === "message" && line.turnId === turnId);
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found") return false;
    throw error;
  }
}

/** What the slowest part of a split message has reached. */
function overallState(items: readonly OutboxItem[]): OutboxItem["state"] {
  const states = new Set(items.map(({ state }) => state));
  return (["failed", "pending", "sending"] as const).find((state) => states.has(state)) ?? "delivered";
}

/**
 * Sends one reply. The attempt is recorded before the channel is called, and its result afterwards: a reply whose
 * attempt has no result may have arrived, so it is repeated and counted.
 */
import { TOO_LATE, within } from "../../base/async.ts";
import { backOffMs } from "../../base/clock.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { isRecord } from "../../base/json-record.ts";
import { redactText } from "../../base/redact.ts";
import { printableLine } from "../../base/text.ts";
import type { Channel, MessageButton, OutboundMedia, OutboundMessage, SentMessage } from "../../channels/channel.ts";
import type { OutboxItem } from "../../store/queues.ts";
import type { PipelineContext } from "../context.ts";
import type { AgentParts } from "../pipeline.ts";

/** `signal`: the process ends. A mark that cannot be written is then left to the next process. */
export interface SendRequest {
  pipeline: PipelineContext;
  parts: AgentParts;
  channel: Channel;
  /** As before the attempt. */
  item: OutboxItem;
  signal: AbortSignal;
}

const SEND_TIMEOUT_MS = 60_000;
const MARK_PAUSES = { firstMs: 200, maxMs: 30_000 };
const START_LENGTH = 80;

/** Resolves to whether the next items of the session may be sent now. */
export async function sendItem(request: SendRequest): Promise<boolean> {
  const { parts, item } = request;
  if (!(await parts.agent.store.outbox.startSending(item.id, item.attempts))) return false;
  return await sendStarted(request);
}

/** The attempt is recorded, here or by the commit that added the item. */
export async function sendStarted(request: SendRequest): Promise<boolean> {
  const { pipeline, parts, item, channel } = request;
  const { events, deliveries } = pipeline;
  const { outbox } = parts.agent.store;
  const name = { agentId: parts.agent.agentId, sessionKey: item.key, outboxId: item.id };
  faultPoint("delivery.started");
  const message = toOutboundMessage(item);
  if (message === undefined && replacedBy(item) === undefined) {
    await giveUp(request, "it contains nothing that can be sent");
    return true;
  }
  const isRepeated = mayRepeat(item);
  if (isRepeated) deliveries.mayRepeat += 1;
  events.emit({ type: "delivery.started", ...name, mayRepeat: isRepeated });

  let sent: SentMessage;
  try {
    sent = await sendInTime(request, message);
  } catch (error) {
    const errors = countError(pipeline.sendErrors, item, error);
    const verdict = judgeFailure(item, error, { now: pipeline.clock.now(), errors });
    pipeline.logger.warn("Could not send a message", { ...name, channel: channel.name, error, ...verdict });
    if (verdict.do === "give-up") {
      pipeline.sendErrors.delete(item.idempotencyKey);
      await giveUp(request, verdict.note);
      return true;
    }
    await outbox.retry(item.id, verdict.dueAt, verdict.note);
    events.emit({ type: "delivery.delayed", ...name, dueAt: verdict.dueAt, reason: verdict.note });
    return false;
  }
  faultPoint("delivery.sent");
  await markDelivered(request, sent);
  faultPoint("delivery.marked");
  pipeline.sendErrors.delete(item.idempotencyKey);
  deliveries.delivered += 1;
  events.emit({ type: "delivery.sent", ...name, deliveredId: sent.messageId });
  return true;
}

/** Undefined when there is nothing to show. Fields that another version wrote and are not valid are ignored. */
function toOutboundMessage({ target, idempotencyKey, payload }: OutboxItem): OutboundMessage | undefined {
  const { text, media, replyToId, asVoice, buttons } = isRecord(payload) ? payload : {};
  const files = Array.isArray(media) ? media.filter(isMedia) : [];
  const hasText = typeof text === "string" && text.trim() !== "";
  if (!hasText && files.length === 0) return undefined;
  return {
    target,
    idempotencyKey,
    text: hasText ? text : undefined,
    media: files.length === 0 ? undefined : files,
    replyToId: typeof replyToId === "string" ? replyToId : undefined,
    asVoice: asVoice === true ? true : undefined,
    buttons: Array.isArray(buttons) ? buttons.filter(isButton) : undefined,
  };
}

function isButton(value: unknown): value is MessageButton {
  return isRecord(value) && typeof value["label"] === "string" && typeof value["command"] === "string";
}

function isMedia(value: unknown): value is OutboundMedia {
  if (!isRecord(value)) return false;
  if (value["kind"] === "url") return typeof value["url"] === "string";
  return value["kind"] === "file" && typeof value["path"] === "string";
}

/** A channel that hangs must not block its session. A message that arrives late is still marked as delivered. */
async function sendInTime(request: SendRequest, message: OutboundMessage | undefined) {
  const { pipeline, parts, channel, item } = request;
  const { sendTimeoutMs = SEND_TIMEOUT_MS } = pipeline;
  const sending = sendOrReplace(request, message);
  const sent = await within(sendTimeoutMs, sending);
  if (sent !== TOO_LATE) return sent;
  sending
    .then(async ({ messageId }) => await parts.agent.store.outbox.delivered(item.id, messageId))
    .catch(() => undefined);
  const seconds = Math.round(sendTimeoutMs / 1000);
  throw new HoldfastError("timeout", "send-timed-out", `${channel.name} did not answer within ${seconds} s`, {
    hint: "It is sent again. If it keeps failing: `holdfast gateway restart`.",
  });
}

async function sendOrReplace(request: SendRequest, message: OutboundMessage | undefined): Promise<SentMessage> {
  const { parts, channel, item } = request;
  const block = replacedBy(item);
  const shownId = block === undefined ? undefined : (await parts.agent.store.outbox.get(block))?.deliveredId;
  if (shownId !== undefined && (await replaceBlock(request, shownId, message))) return { messageId: shownId };
  if (message === undefined) return { messageId: "" };
  return await channel.send({ ...message, media: await localMedia(parts, message.media) });
}

/** The machine that ran the turn may be another one. */
async function localMedia({ agent }: AgentParts, media: OutboundMedia[] | undefined) {
  const local = async (one: OutboundMedia): Promise<OutboundMedia> =>
    one.kind === "url" ? one : { ...one, path: await agent.store.media.locate(one.path) };
  return media && (await Promise.all(media.map(local)));
}

/**
 * Gives a block of a streamed answer its final text, or removes one that the answer does not need. Both can be
 * repeated. False: the platform no longer has the block, so the text is sent as a new message.
 */
async function replaceBlock({ channel, item }: SendRequest, shownId: string, message: OutboundMessage | undefined) {
  const text = message?.text;
  try {
    if (text === undefined) await channel.remove?.(item.target, shownId);
    else await channel.edit?.(item.target, shownId, { text });
    return text === undefined || channel.edit !== undefined;
  } catch (error) {
    if (!(error instanceof HoldfastError) || PASSING_KINDS.has(error.kind)) throw error;
    return false;
  }
}

/** The outbox id of the block of a streamed answer that this item replaces. */
function replacedBy({ payload }: OutboxItem): number | undefined {
  const replaced = isRecord(payload) ? payload["replaces"] : undefined;
  return typeof replaced === "number" ? replaced : undefined;
}

/** The platform has the message: this process retries until the store knows. */
async function markDelivered({ pipeline, parts, item, signal }: SendRequest, sent: SentMessage): Promise<void> {
  for (let refused = 1; ; refused++) {
    try {
      await parts.agent.store.outbox.delivered(item.id, sent.messageId);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      pipeline.logger.error("Could not mark a delivered message; trying again", { outboxId: item.id, error });
      await pipeline.clock.sleep(backOffMs(refused, MARK_PAUSES), signal).catch(() => undefined);
    }
  }
}

async function giveUp(request: SendRequest, reason: string): Promise<void> {
  const { pipeline, parts, item } = request;
  const { agentId } = parts.agent;
  // Before the item ends: a crash in between repeats the same event, which is stored once.
  await informAgent(request, reason);
  await parts.agent.store.outbox.failed(item.id, reason);
  pipeline.logger.error("A message was not delivered", { agentId, key: item.key, outboxId: item.id, reason });
  pipeline.events.emit({ type: "delivery.failed", agentId, sessionKey: item.key, outboxId: item.id, reason });
}

async function informAgent({ pipeline, parts, item, channel }: SendRequest, reason: string): Promise<void> {
  const text = printableLine(toOutboundMessage(item)?.text ?? "", START_LENGTH);
  const event = `Your message “${text}” did not arrive on ${channel.name}: ${printableLine(reason, 200)}`;
  try {
    await parts.agent.store.systemEvents.enqueueSystemEvent(item.key, event);
  } catch (error) {
    // The next messages must not wait for this.
    pipeline.logger.error("Could not inform the agent of a failed delivery", { outboxId: item.id, error });
  }
}

const GIVE_UP_MS = 24 * 60 * 60 * 1000;
const PAUSES = { firstMs: 1000, maxMs: 5 * 60 * 1000 };
/** An unexpected error may pass, but is not retried for a whole day. */
const MAX_UNEXPECTED_ERRORS = 5;
const PASSING_KINDS: ReadonlySet<string> = new Set(["unavailable", "timeout", "locked"]);

/** Prefix of the note of an attempt that may have arrived. */
const UNKNOWN = "may have arrived: ";

function countError(errors: Map<string, number>, { idempotencyKey }: OutboxItem, error: unknown): number {
  if (error instanceof HoldfastError) return 0;
  const count = (errors.get(idempotencyKey) ?? 0) + 1;
  errors.set(idempotencyKey, count);
  return count;
}

/** `item` is in its state before the attempt; `errors` counts the unexpected ones in this process. */
export function judgeFailure(
  item: OutboxItem,
  error: unknown,
  { now, errors }: { now: number; errors: number },
): { do: "retry"; dueAt: number; note: string } | { do: "give-up"; note: string } {
  const reason = redactText(errorMessage(error));
  const attempts = item.attempts + 1;
  const isOld = now - item.createdAt >= GIVE_UP_MS;
  const isDefect = !(error instanceof HoldfastError);
  if (isOld || errors >= MAX_UNEXPECTED_ERRORS) {
    return { do: "give-up", note: `${reason} (given up after ${attempts} attempts)` };
  }
  if (!isDefect && !PASSING_KINDS.has(error.kind)) return { do: "give-up", note: reason };
  const asked = isDefect ? undefined : error.data["retryAfterMs"];
  const pause = typeof asked === "number" && asked >= 0 ? asked : 0;
  const dueAt = now + Math.max(pause, backOffMs(attempts, PAUSES));
  const isUnknown = isDefect || error.kind === "timeout";
  return { do: "retry", dueAt, note: isUnknown ? `${UNKNOWN}${reason}` : reason };
}

function mayRepeat({ state, note }: OutboxItem): boolean {
  return state === "sending" || note?.startsWith(UNKNOWN) === true;
}

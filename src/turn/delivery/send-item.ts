/** One attempt to deliver one item. Every outcome is in the store before the next item of its key is looked at. */
import { backOffMs } from "../../base/back-off.ts";
import { faultPoint } from "../../base/faults.ts";
import { printableLine } from "../../base/printable.ts";
import type { Channel, OutboundMessage, SentMessage } from "../../channels/channel.ts";
import type { OutboxItem } from "../../store/store.ts";
import type { AgentParts } from "../turn.ts";
import type { DeliveryShared } from "./delivery-parts.ts";
import { judgeFailure, mayRepeat, sendTimedOut } from "./judge-failure.ts";
import { toOutboundMessage } from "./outbound-message.ts";

export interface SendRequest {
  shared: DeliveryShared;
  parts: AgentParts;
  channel: Channel;
  item: OutboxItem;
  /** Aborted when the process ends: a mark that cannot be written is then left to the next one. */
  signal: AbortSignal;
}

const SEND_TIMEOUT_MS = 60_000;
const MARK_PAUSES = { firstMs: 200, maxMs: 30_000 };
const START_LENGTH = 80;

/** Whether the items behind it may be sent now. */
export async function sendItem(request: SendRequest): Promise<boolean> {
  const { shared, parts, item, channel } = request;
  const { outbox } = parts.agent.store;
  const name = { agentId: parts.agent.agentId, sessionKey: item.key, outboxId: item.id };
  const message = toOutboundMessage(item);
  if (message === undefined) {
    await giveUp(request, "there is nothing in it that can be sent");
    return true;
  }
  if (!(await outbox.startSending(item.id, item.attempts))) return false;
  faultPoint("delivery.started");
  const isRepeated = mayRepeat(item);
  if (isRepeated) shared.counts.mayRepeat += 1;
  shared.events.emit({ type: "delivery.started", ...name, mayRepeat: isRepeated });

  let sent: SentMessage;
  try {
    sent = await sendInTime(request, message);
  } catch (error) {
    const now = shared.clock.now();
    const verdict = judgeFailure(item, error, now);
    shared.logger.warn("A message could not be sent", { ...name, channel: channel.name, error, ...verdict });
    if (verdict.do === "give-up") {
      await giveUp(request, verdict.note);
      return true;
    }
    await outbox.retry(item.id, verdict.dueAt, verdict.note);
    shared.events.emit({ type: "delivery.delayed", ...name, dueAt: verdict.dueAt, reason: verdict.note });
    return false;
  }
  faultPoint("delivery.sent");
  await markDelivered(request, sent);
  faultPoint("delivery.marked");
  shared.counts.delivered += 1;
  shared.events.emit({ type: "delivery.sent", ...name, deliveredId: sent.messageId });
  return true;
}

/** A channel that hangs must not hold up its session for ever. What arrives after all is not sent again. */
async function sendInTime(
  { shared, parts, channel, item }: SendRequest,
  message: OutboundMessage,
): Promise<SentMessage> {
  const { sendTimeoutMs = SEND_TIMEOUT_MS } = shared;
  const tooSlow = Promise.withResolvers<never>();
  const timer = setTimeout(() => tooSlow.reject(sendTimedOut(channel.name, sendTimeoutMs)), sendTimeoutMs);
  let isLate = false;
  const sending = channel.send(message);
  sending
    .then(async ({ messageId }) => {
      if (isLate) await parts.agent.store.outbox.delivered(item.id, messageId);
    })
    .catch(() => undefined);
  try {
    return await Promise.race([sending, tooSlow.promise]);
  } finally {
    clearTimeout(timer);
    isLate = true;
  }
}

/** The platform has it: whatever the store says, it is not sent again by this process. */
async function markDelivered({ shared, parts, item, signal }: SendRequest, sent: SentMessage): Promise<void> {
  for (let refused = 1; ; refused++) {
    try {
      await parts.agent.store.outbox.delivered(item.id, sent.messageId);
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      shared.logger.error("A delivered message could not be marked; trying again", { outboxId: item.id, error });
      await shared.clock.sleep(backOffMs(refused, MARK_PAUSES), signal).catch(() => undefined);
    }
  }
}

/** Visibly: an event, the log, and the agent learns of it in its next turn. */
async function giveUp(request: SendRequest, reason: string): Promise<void> {
  const { shared, parts, item } = request;
  const { agentId } = parts.agent;
  await tellAgent(request, reason);
  await parts.agent.store.outbox.failed(item.id, reason);
  shared.counts.failed += 1;
  shared.logger.error("A message was not delivered", { agentId, key: item.key, outboxId: item.id, reason });
  shared.events.emit({ type: "delivery.failed", agentId, sessionKey: item.key, outboxId: item.id, reason });
}

/** Before the item is settled: a crash in between tells it twice at worst, and the same event twice is one. */
async function tellAgent({ shared, parts, item, channel }: SendRequest, reason: string): Promise<void> {
  const text = printableLine(toOutboundMessage(item)?.text ?? "", START_LENGTH);
  const event = `Your message “${text}” did not arrive on ${channel.name}: ${printableLine(reason, 200)}`;
  try {
    await parts.systemEvents.enqueueSystemEvent(item.key, event);
  } catch (error) {
    // The messages behind it must not wait for that.
    shared.logger.error("The agent could not be told of it", { outboxId: item.id, error });
  }
}

/**
 * Sends the replies in the outboxes of all agents. Each agent has a deliverer per channel account: it sends
 * in order per session, and to several sessions in parallel. If several processes have the account, the
 * holder of the route's lease delivers. It keeps the lease while it can send, because taking it for each
 * message would cost a commit each. Announcements to the command line are shown by
 * `holdfast mcp --announcements`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type TakenLease, acquireLease } from "../../session/lease.ts";
import type { PipelineContext } from "../context.ts";
import { Bell } from "../lanes/waiting.ts";
import type { AgentParts, ChannelAccount } from "../pipeline.ts";
import { deliveryLeaseKey } from "../../store/store-rules.ts";
import type { DeliveryRoute, OutboxItem } from "../../store/queues.ts";
import { TOO_LATE, within } from "../../base/async.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { isRecord } from "../../base/json-record.ts";
import { redactText } from "../../base/redact.ts";
import type { Channel, MessageButton, OutboundMedia, OutboundMessage, SentMessage } from "../../channels/channel.ts";
import { backOffMs } from "../../base/clock.ts";
import { printableLine } from "../../base/text.ts";

const MAX_REPORTED = 50;
const COMMAND_LINE = "cli";

export function createDelivery(pipeline: PipelineContext) {
  const { channels, clock, events, logger } = pipeline;
  /** By agent, channel and account. */
  const deliverers = new Map<string, ReturnType<typeof createRouteDeliverer>>();
  const agents = new Map<string, AgentParts>();
  /** The newest reported item by route. */
  const reported = new Map<string, number>();
  let isStopped = false;

  /** Items of the agent may be due. Default session and route: any. */
  const wake = (parts: AgentParts, { key, route }: { key?: string; route?: DeliveryRoute | undefined } = {}): void => {
    if (isStopped) return;
    const { agentId } = parts.agent;
    agents.set(agentId, parts);
    for (const account of channels.accounts()) {
      const { name, accountId } = account.channel;
      if (route !== undefined && (name !== route.channel || accountId !== route.accountId)) continue;
      const owner = `${agentId} ${name} ${accountId}`;
      const known = deliverers.get(owner);
      if (known !== undefined) known.wake(key);
      else if (canSend(account)) deliverers.set(owner, createRouteDeliverer(pipeline, parts, account));
    }
  };
  const unsubscribe = events.subscribe((event) => {
    if (event.type === "channel.status") for (const parts of agents.values()) wake(parts);
  });

  return {
    wake,
    /** Reports, once per message, which messages wait for a channel that is not running. */
    reportWaiting: async ({ agent }: AgentParts): Promise<void> => {
      for (const { channel, accountId } of await agent.store.outbox.routes()) {
        if (channel === COMMAND_LINE) continue;
        const account = channels.find(channel, accountId);
        if (account !== undefined && canSend(account)) continue;
        const route = { channel, accountId };
        if ((await agent.store.leases.current(route)) !== undefined) continue;
        const name = deliveryLeaseKey(agent.agentId, route);
        const now = clock.now();
        const due = await agent.store.outbox.due(now, MAX_REPORTED, route);
        const reason = account === undefined ? `${channel} is not configured here` : account.status.text;
        for (const { id, key } of due) {
          if (id <= (reported.get(name) ?? 0)) continue;
          reported.set(name, id);
          const delayed = { agentId: agent.agentId, sessionKey: key, outboxId: id, dueAt: now, reason };
          logger.warn("A message waits for its channel", delayed);
          events.emit({ type: "delivery.delayed", ...delayed });
        }
      }
    },
    stop: async (graceMs: number): Promise<void> => {
      isStopped = true;
      unsubscribe();
      await Promise.all([...deliverers.values()].map((deliverer) => deliverer.stop(graceMs)));
    },
  };
}

function canSend({ status }: ChannelAccount): boolean {
  return status.state === "connected" || status.state === "retrying";
}

/** How many items are read at a time, and how many sessions are served in parallel. */
const MAX_READ = 200;
const MAX_PARALLEL = 32;
const SWEEP_MS = 30_000;
const TOGETHER_MS = 3;
const SOONEST_MS = 250;
const HELD_MS = 2_000;
const FAILED_MS = 1_000;

function createRouteDeliverer(pipeline: PipelineContext, parts: AgentParts, account: ChannelAccount) {
  const { clock, logger } = pipeline;
  const { agent } = parts;
  const { channel } = account;
  const route: DeliveryRoute = { channel: channel.name, accountId: channel.accountId };
  const bell = new Bell();
  const ending = new AbortController();
  const busy = new Map<string, Promise<void>>();
  let taken: TakenLease | undefined;
  let isStopping = false;
  /** When the first waiting item is due. Undefined: must be read from the store. */
  let nextDueAt: number | undefined;
  let lookedAt = 0;

  const live = async (): Promise<void> => {
    for (;;) {
      bell.reset();
      try {
        const next = await advance();
        if (next === undefined) break;
        if (next.ms > 0) await bell.wait(next);
      } catch (error) {
        logger.error("Could not read the outbox; trying again", { ...route, error });
        if (isStopping) break;
        await bell.wait({ ms: FAILED_MS });
      }
    }
    await Promise.all(busy.values());
    await taken?.release({ evenIf: "refused" }).catch(() => undefined);
  };

  /** Resolves to how long to wait, or to undefined at the end. */
  const advance = async (): Promise<{ ms: number } | undefined> => {
    if (ending.signal.aborted) return undefined;
    if (taken?.held.signal.aborted === true) {
      taken.forget();
      taken = undefined;
    }
    if (!canSend(account)) return isStopping ? undefined : await release(SWEEP_MS);
    // While messages are being sent, new ones are collected for a moment and read together.
    const soon = lookedAt + TOGETHER_MS - performance.now();
    if (busy.size > 0 && soon > 0) await delay(soon);
    lookedAt = performance.now();
    const due = await agent.store.outbox.due(clock.now(), MAX_READ, route);
    const free = due.filter(({ key }) => !busy.has(key));
    if (free.length === 0) return isStopping && busy.size === 0 ? undefined : { ms: await untilNext() };
    if (taken === undefined) {
      const attempt = await acquireLease(agent, route);
      if ("heldBy" in attempt) return isStopping ? undefined : { ms: HELD_MS };
      taken = attempt;
      nextDueAt = undefined;
      // Items that the previous holder was sending can be read only now.
      return { ms: 0 };
    }
    for (const [key, items] of Map.groupBy(free, (item) => item.key)) {
      if (busy.size >= MAX_PARALLEL) break;
      busy.set(key, deliver(key, items));
    }
    return { ms: SWEEP_MS };
  };

  const deliver = async (key: string, items: readonly OutboxItem[]): Promise<void> => {
    try {
      for (const item of items) {
        if (ending.signal.aborted || taken === undefined || taken.held.signal.aborted) return;
        const isSettled = await sendItem({ pipeline, parts, channel, item, signal: ending.signal });
        if (isSettled) continue;
        nextDueAt = undefined;
        return;
      }
    } catch (error) {
      logger.error("Could not deliver messages; trying again", { key, ...route, error });
      await clock.sleep(FAILED_MS, ending.signal).catch(() => undefined);
    } finally {
      busy.delete(key);
      bell.ring();
    }
  };

  /** Time until the next item is due. Due items behind a delayed one of the same session do not count. */
  const untilNext = async (): Promise<number> => {
    if (nextDueAt === undefined || nextDueAt <= clock.now()) {
      const routes = await agent.store.outbox.routes();
      const mine = routes.find((one) => one.channel === route.channel && one.accountId === route.accountId);
      nextDueAt = mine?.dueAt ?? Number.POSITIVE_INFINITY;
    }
    return Math.min(SWEEP_MS, Math.max(SOONEST_MS, nextDueAt - clock.now()));
  };

  const release = async (ms: number): Promise<{ ms: number }> => {
    await Promise.all(busy.values());
    await taken?.release();
    taken = undefined;
    return { ms };
  };

  const ended = live();
  return {
    wake: (key?: string): void => {
      // A session that is being served is read again afterwards.
      if (key === undefined || !busy.has(key)) bell.ring();
    },
    /** Ends when everything that is due now is sent, or when the time is over. */
    stop: async (graceMs: number): Promise<void> => {
      isStopping = true;
      bell.ring();
      const timer = setTimeout(() => {
        ending.abort();
        bell.ring();
      }, graceMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** `signal`: the process ends. A mark that cannot be written is then left to the next process. */
interface SendRequest {
  pipeline: PipelineContext;
  parts: AgentParts;
  channel: Channel;
  item: OutboxItem;
  signal: AbortSignal;
}

const SEND_TIMEOUT_MS = 60_000;
const MARK_PAUSES = { firstMs: 200, maxMs: 30_000 };
const START_LENGTH = 80;

/** Resolves to whether the next items of the session may be sent now. */
async function sendItem(request: SendRequest): Promise<boolean> {
  const { pipeline, parts, item, channel } = request;
  const { events, deliveries } = pipeline;
  const { outbox } = parts.agent.store;
  const name = { agentId: parts.agent.agentId, sessionKey: item.key, outboxId: item.id };
  const message = toOutboundMessage(item);
  if (message === undefined) {
    await giveUp(request, "it contains nothing that can be sent");
    return true;
  }
  if (!(await outbox.startSending(item.id, item.attempts))) return false;
  faultPoint("delivery.started");
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
async function sendInTime({ pipeline, parts, channel, item }: SendRequest, message: OutboundMessage) {
  const { sendTimeoutMs = SEND_TIMEOUT_MS } = pipeline;
  const sending = channel.send(message);
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
    await parts.systemEvents.enqueueSystemEvent(item.key, event);
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

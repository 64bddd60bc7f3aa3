/**
 * What needs no turn and waits for none: messages that nobody meant for the agent, and commands that are
 * answered at once. They are claimed by id under the lane's lease, so that each is dealt with once.
 */
import type { HeldLease } from "../../session/lease.ts";
import { resolveSenderLabel } from "../body/sender-meta.ts";
import type { WaitingItem } from "./classify.ts";
import { type LaneContext, type StepResult, draftsOf, endOf, markOf, tellEnd } from "./lane-context.ts";
import { claimAll } from "./lane-step.ts";
import { MAX_ATTEMPTS, failedStep } from "./perform-step.ts";
import { commandTooSlow, isFenced, tooManyAttempts } from "./turn-errors.ts";

const COMMAND_SECONDS = 30;

/** Resolves when all of it is written. */
export async function doQuickWork(lane: LaneContext, held: HeldLease, items: readonly WaitingItem[]): Promise<void> {
  const mine = await claimAll(lane, held.lease, items);
  const notes = mine.filter(({ need }) => need.what === "note");
  const others = mine.filter(({ need }) => need.what !== "note");
  await Promise.all([noteAll(lane, held, notes), ...others.map((item) => answer(lane, held, item))]);
}

async function noteAll(lane: LaneContext, held: HeldLease, notes: readonly WaitingItem[]): Promise<void> {
  if (notes.length === 0) return;
  const { parts, key, shared } = lane;
  const startedAt = shared.clock.now();
  for (const { ctx, item } of notes) {
    const body = ctx.RawBody ?? ctx.Body ?? "";
    await parts.history.append(key, {
      sender: senderOf(ctx),
      body,
      timestamp: ctx.Timestamp ?? item.receivedAt,
      messageId: ctx.MessageSid ?? item.address.messageId,
    });
  }
  const ids = notes.map(({ item }) => item.id);
  await parts.agent.store.inbox.finish(held.lease, ids, [], { note: "noted" });
  for (const note of notes) {
    tellEnd(lane, [note], endOf(lane, note.item.id, { outcome: "noted", payloads: [] }, startedAt));
  }
}

function senderOf(ctx: WaitingItem["ctx"]): string {
  const { SenderName: name, SenderUsername: username, SenderTag: tag, SenderE164: e164, SenderId: id } = ctx;
  return resolveSenderLabel({ name, username, tag, e164, id }) ?? "unknown";
}

async function answer(lane: LaneContext, held: HeldLease, item: WaitingItem): Promise<void> {
  const startedAt = lane.shared.clock.now();
  const result = await resultOf(lane, held, item);
  const { inbox } = lane.parts.agent.store;
  const drafts = await draftsOf(lane, [item], result);
  const end = endOf(lane, item.item.id, result, startedAt);
  await inbox.finish(held.lease, [item.item.id], drafts, markOf([item], end));
  tellEnd(lane, [item], end);
}

async function resultOf(lane: LaneContext, held: HeldLease, waiting: WaitingItem): Promise<StepResult> {
  const { need, item, ctx } = waiting;
  if (need.what === "answer") return { outcome: "command", payloads: [{ text: need.text }], text: need.text };
  if (need.what !== "command") throw new Error("Neither a command nor an answer");
  const { command, argument } = need;
  if (item.attempts > MAX_ATTEMPTS) return failedStep(tooManyAttempts(item.attempts - 1));
  const limit = AbortSignal.timeout(COMMAND_SECONDS * 1000);
  const signal = AbortSignal.any([held.signal, limit]);
  try {
    const running = command.run({
      parts: lane.parts,
      sessionKey: lane.key,
      ctx,
      argument,
      lane: lane.control(waiting),
      signal,
    });
    const { text } = await orTooSlow(running, limit, command.name);
    return { outcome: "command", payloads: text === undefined ? [] : [{ text }], text };
  } catch (error) {
    if (isFenced(error)) throw error;
    lane.shared.logger.warn("A command failed", { key: lane.key, command: command.name, error });
    return failedStep(error);
  }
}

async function orTooSlow<T>(running: Promise<T>, limit: AbortSignal, name: string): Promise<T> {
  const tooSlow = Promise.withResolvers<never>();
  const onLimit = (): void => tooSlow.reject(commandTooSlow(name, COMMAND_SECONDS));
  limit.addEventListener("abort", onLimit, { once: true });
  try {
    return await Promise.race([running, tooSlow.promise]);
  } finally {
    limit.removeEventListener("abort", onLimit);
  }
}

/**
 * One step of a lane: a turn, or a command that runs in order. Its messages are claimed, answered, and ended
 * in one commit with their replies. A step throws when nothing more may be written (`fenced`), and when the
 * store or the disk failed and the step can be repeated. Any other failure is its result.
 */
import { errorMessage } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { type TakenLease, isNotRenewed } from "../../session/lease.ts";
import type { LaneContext, RunningStep, StepResult, WaitingItem } from "../context.ts";
import type { ChannelPool, TurnRequest, TurnResult } from "../pipeline.ts";
import type { ChatBlocks } from "../reply/chat-blocks.ts";
import { replyTarget } from "../reply/draft-replies.ts";
import { giveUpTurn } from "../run/run-turn.ts";
import {
  canPass,
  diedTogether,
  diedTooOften,
  errorPayload,
  failedResult,
  fencedError,
  isFenced,
  isPutOff,
  isStoreClosed,
  turnFailed,
  turnPutOff,
} from "../turn-errors.ts";
import { laneControl } from "./attend.ts";
import { draftsOf, endOf, markOf, tellEnd } from "./ends.ts";
import { areClaimed, claimItems, deathsOf, isSpent, turnIdOfItems } from "./queue.ts";
import type { DeliveryTarget, FinishOptions, OutboxDraft, OutboxItem } from "../../store/queues.ts";

export async function runStep(lane: LaneContext, { held }: TakenLease, next: readonly WaitingItem[]): Promise<void> {
  // Without a claim, `lane.running` is set in this tick, so that messages which wait already can join the turn.
  const items = areClaimed(next) ? [...next] : await claimItems(lane, held.lease, next);
  faultPoint("turn.claimed");
  if (items.length === 0) return;
  // The end of the process would interrupt the turn, possibly between a tool call and its result.
  if (lane.isDraining) return await putOff(lane, items, turnPutOff());
  const running: RunningStep = {
    items,
    held,
    startedAt: lane.pipeline.clock.now(),
    abort: new AbortController(),
    attending: Promise.resolve(),
    isAttendDue: false,
    isEnding: false,
  };
  for (const { item } of items) lane.mine.add(item.id);
  lane.running = running;
  lane.waiting = Math.max(0, lane.waiting - items.length);
  try {
    const result = await answerItems(lane, running);
    running.isEnding = true;
    await running.attending;
    await endStep(lane, running, result);
  } catch (error) {
    running.isEnding = true;
    await running.attending;
    if (isNotRenewed(held)) excuse(lane, items, held.signal.reason);
    else if (!isFenced(error) && canPass(error)) await putOff(lane, items, error).catch(() => undefined);
    throw error;
  } finally {
    for (const { item } of items) lane.mine.delete(item.id);
    lane.running = undefined;
  }
}

/** A message that the store or the disk delays for longer is given up, and its sender informed. */
const MAX_DELAY_MS = 24 * 60 * 60 * 1000;

async function answerItems(lane: LaneContext, running: RunningStep): Promise<StepResult> {
  const [head] = running.items;
  const last = running.items.at(-1);
  if (head === undefined || last === undefined) throw new Error("A step without messages");
  const { pipeline, key } = lane;
  const request = turnRequest(lane, running, head, last);
  if (isSpent(head.item)) return await giveUp(lane, request, head);
  using _typing = last.deliver ? showTyping(pipeline.channels, replyTarget(last.ctx, undefined)) : undefined;
  try {
    if (head.need.what === "command") return await runCommand(lane, request, head);
    const { itemId, attempt } = request;
    const { agentId } = lane.parts.agent;
    pipeline.events.emit({ type: "turn.started", agentId, sessionKey: key, itemId, attempt });
    return toStepResult(await pipeline.runTurn(request));
  } catch (error) {
    if (isFenced(error) || running.held.signal.aborted) throw fencedError(error);
    const isTooOld = pipeline.clock.now() - head.item.receivedAt > MAX_DELAY_MS;
    if (canPass(error) && !isTooOld) throw error;
    pipeline.logger.error("A turn failed", { key, itemId: last.item.id, error });
    const failed = await recordFailure(lane, request, head, error);
    return { ...failed, givenUp: failed.outcome === "failed" && canPass(error) };
  }
}

function turnRequest(lane: LaneContext, running: RunningStep, head: WaitingItem, last: WaitingItem): TurnRequest {
  const { pipeline, parts } = lane;
  const { items, held, abort } = running;
  const { attempts, note } = head.item;
  const { channel, accountId } = last.item.address;
  const turnId = turnIdOfItems(lane, items);
  return {
    parts,
    held,
    turnId,
    itemId: last.item.id,
    // An excused attempt may have written its message.
    attempt: attempts + (note === undefined ? 0 : 1),
    messages: items.map(({ ctx }) => ctx),
    isHeartbeat: items.every(({ ctx }) => ctx.IsHeartbeat === true),
    replyToMode: pipeline.channels.find(channel, accountId)?.replyTo,
    signal: AbortSignal.any([abort.signal, held.signal]),
    emit: (event) => pipeline.events.emit(event),
    blocks: last.deliver ? blockSource(lane, running, last, turnId) : undefined,
    tell: last.deliver
      ? async (name, text) => {
          const drafts = await draftsOf(lane, items, { payloads: [{ text }] }, `${turnIdOfItems(lane, items)}:${name}`);
          await parts.agent.store.outbox.enqueue(lane.key, drafts, { lease: held.lease });
        }
      : undefined,
  };
}

/** The code is loaded by answers that take longer, and by repeated turns. */
function blockSource({ pipeline, parts, key }: LaneContext, { held }: RunningStep, last: WaitingItem, turnId: string) {
  const { store, logger } = parts.agent;
  const { channel, accountId } = last.item.address;
  const account = pipeline.channels.find(channel, accountId);
  let opening: Promise<ChatBlocks | undefined> | undefined;
  const open = async (): Promise<ChatBlocks | undefined> => {
    const target = replyTarget(last.ctx, await store.get(key));
    if (target === undefined) return undefined;
    const { createChatBlocks } = await import("../reply/chat-blocks.ts");
    const found = pipeline.channels.find(target.channel, target.accountId);
    const place = { sessionKey: key, target, channel: found?.channel };
    return createChatBlocks({ turnId, ...place, outbox: store.outbox, lease: held.lease, logger });
  };
  return {
    canShow: account?.blockStreaming === true && account.channel.edit !== undefined,
    open: async () => await (opening ??= open()),
    get isOpen() {
      return opening !== undefined;
    },
  };
}

function toStepResult({ session, payloads, ...result }: TurnResult): StepResult {
  const { outcome, text, streamed, withheld, settle, usage, error } = result;
  const isUntold = outcome === "failed" && payloads.length === 0;
  const replies = isUntold ? [errorPayload(error ?? turnFailed())] : payloads;
  const entry = session.sessionEntry;
  return { outcome, payloads: replies, text, streamed, withheld, settle, usage, error, entry };
}

async function runCommand(lane: LaneContext, request: TurnRequest, item: WaitingItem): Promise<StepResult> {
  if (item.need.what !== "command") throw new Error("Not a command");
  const { command, argument } = item.need;
  const { key: sessionKey } = lane;
  const { parts, held, signal, turnId } = request;
  const common = { parts, sessionKey, held, turnId, signal, lane: laneControl(lane, item) };
  const text = await command.run({ ...common, ctx: item.ctx, argument });
  // The command may have moved the session to another window.
  const entry = await parts.agent.store.get(sessionKey);
  return { outcome: "command", payloads: [{ text }], text, entry };
}

/** Too many processes died while the messages ran alone. Several messages are tried one by one first. */
async function giveUp(lane: LaneContext, request: TurnRequest, head: WaitingItem): Promise<StepResult> {
  const { itemId, messages } = request;
  const deaths = deathsOf(head.item);
  const isBatch = messages.length > 1;
  const error = isBatch ? diedTogether(deaths, messages.length) : diedTooOften(deaths);
  lane.pipeline.logger.error("Giving up messages", { key: lane.key, itemId, deaths, isBatch });
  const result = await recordFailure(lane, request, head, error);
  // The answer may have been complete when the last process died.
  if (result.outcome !== "failed") return result;
  return isBatch ? { ...result, apart: true } : { ...result, givenUp: true };
}

/** Writes the message and the reason into the transcript. If that fails too, the sender still gets the reason. */
async function recordFailure(lane: LaneContext, request: TurnRequest, head: WaitingItem, error: unknown) {
  if (head.need.what === "command") return failedResult(error);
  try {
    return toStepResult(await giveUpTurn(request, error));
  } catch (refused) {
    if (isFenced(refused) || request.held.signal.aborted) throw fencedError(refused);
    // A disk that is full for a moment must not keep the message out of its transcript.
    if (canPass(refused) && !canPass(error)) throw refused;
    lane.pipeline.logger.error("Could not write a failed message to its transcript", { key: lane.key, error: refused });
    return failedResult(error);
  }
}

async function endStep(lane: LaneContext, running: RunningStep, result: StepResult): Promise<void> {
  const { abort, held, items } = running;
  const isStopping = result.outcome === "aborted" && isPutOff(abort.signal);
  if (!isStopping && result.apart !== true) return await finish(lane, running, result);
  const { store } = lane.parts.agent;
  const { lease } = held;
  if (result.settle !== undefined) await store.update(lane.key, result.settle, { lease });
  if (isStopping) return await putOff(lane, items, abort.signal.reason);
  const ids = items.map(({ item }) => item.id);
  await store.inbox.requeue(lease, { ids, excuse: "each is answered on its own", apart: true });
}

/** Queues the items again without counting the attempt. If that fails, the next look of the lane repeats it. */
async function putOff(lane: LaneContext, items: readonly WaitingItem[], reason: unknown): Promise<void> {
  excuse(lane, items, reason);
  const ids = items.map(({ item }) => item.id);
  if (lane.taken !== undefined) await requeue(lane, lane.taken, ids);
}

function excuse(lane: LaneContext, items: readonly WaitingItem[], reason: unknown): void {
  for (const { item } of items) lane.excuses.set(item.id, errorMessage(reason));
}

export async function requeue(lane: LaneContext, { held }: TakenLease, ids: readonly number[]): Promise<void> {
  const { inbox } = lane.parts.agent.store;
  const counted = ids.filter((id) => !lane.excuses.has(id));
  if (counted.length > 0) await inbox.requeue(held.lease, { ids: counted });
  for (const id of ids) {
    const excuse = lane.excuses.get(id);
    if (excuse === undefined) continue;
    await inbox.requeue(held.lease, { ids: [id], excuse });
    lane.excuses.delete(id);
  }
}

/** Retries the commit while the disk is full: finished work must not be repeated. */
async function finish(lane: LaneContext, { items, startedAt }: RunningStep, result: StepResult): Promise<void> {
  const ids = items.map(({ item }) => item.id);
  const drafts = await draftsOf(lane, items, result);
  const end = endOf(lane, ids.at(-1) ?? 0, result, startedAt);
  const options = { ...markOf(items, end, result), entry: result.settle };
  for (let refused = 1; ; refused++) {
    try {
      await commitEnd(lane, ids, drafts, options);
      break;
    } catch (error) {
      if (!canPass(error) || isStoreClosed(error) || lane.isDraining) throw error;
      await lane.pause(refused, error, ids.at(-1));
    }
  }
  lane.failures = 0;
  faultPoint("turn.finished");
  tellEnd(lane, items, end);
}

/** The same commit releases the lease if nothing more is queued, or if other sessions wait for a slot. */
async function commitEnd(
  lane: LaneContext,
  ids: readonly number[],
  drafts: readonly OutboxDraft[],
  options: Omit<FinishOptions, "release">,
): Promise<void> {
  const { pipeline, parts, key, taken } = lane;
  const { inbox } = parts.agent.store;
  if (taken === undefined) throw new Error("A turn without its lease");
  lane.isMore = (await inbox.pending(key)).some((item) => item.state === "queued");
  const isOver = !lane.isMore || lane.isDraining || lane.ticket?.isAlone === true || pipeline.slots.isContended();
  const release = isOver && lane.quickWork.size === 0;
  // Reserved before the commit, so that no one else sends the replies that it adds.
  const send = pipeline.reserveDelivery(parts, key, drafts[0]?.target);
  const finish = { ...options, release, startSending: send !== undefined };
  let replies: OutboxItem[] = [];
  try {
    replies = await inbox.finish(taken.held.lease, ids, drafts, finish);
  } finally {
    send?.(replies);
  }
  if (!isOver) return;
  lane.ticket?.release();
  lane.ticket = undefined;
  if (!release) return;
  taken.forget();
  lane.taken = undefined;
}

const TYPING_EVERY_MS = 4_000;
/** Quick answers need no indicator. */
const TYPING_AFTER_MS = 300;

/** Shows the typing indicator until it is disposed. Failures are ignored, and calls that hang do not pile up. */
function showTyping(channels: ChannelPool, target: DeliveryTarget | undefined): Disposable | undefined {
  const channel = target === undefined ? undefined : channels.find(target.channel, target.accountId)?.channel;
  if (target === undefined || channel?.showTyping === undefined) return undefined;
  let isOver = false;
  const show = async (): Promise<void> => {
    await channel.showTyping?.(target).catch(() => undefined);
    if (!isOver) timer = setTimeout(() => void show(), TYPING_EVERY_MS).unref();
  };
  let timer = setTimeout(() => void show(), TYPING_AFTER_MS).unref();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

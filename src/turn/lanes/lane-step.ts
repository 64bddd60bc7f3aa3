/** One step of a lane: claimed, performed, and ended together with its replies. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { TakenLease } from "../../session/lease.ts";
import type { FinishOptions, OutboxDraft } from "../../store/store.ts";
import type { WaitingItem } from "./classify.ts";
import {
  type LaneContext,
  type RunningStep,
  type StepResult,
  draftsOf,
  endOf,
  markOf,
  tellEnd,
} from "./lane-context.ts";
import { performStep } from "./perform-step.ts";
import { PUT_OFF_CODE, canPass, isFenced, isStoreClosed } from "./turn-errors.ts";

export async function runStep(lane: LaneContext, { held }: TakenLease, next: readonly WaitingItem[]): Promise<void> {
  const { state, shared } = lane;
  const items = areClaimed(next) ? [...next] : await claimAll(lane, held.lease, next);
  faultPoint("turn.claimed");
  if (items.length === 0) return;
  const abort = new AbortController();
  const startedAt = shared.clock.now();
  const attending = Promise.resolve();
  const running: RunningStep = { items, startedAt, abort, attending, isAttendDue: false, isEnding: false };
  for (const { item } of items) state.mine.add(item.id);
  state.running = running;
  state.waiting = Math.max(0, state.waiting - items.length);
  try {
    const signal = AbortSignal.any([abort.signal, held.signal]);
    const result = await performStep(lane, { held, items: [...items], signal });
    running.isEnding = true;
    await running.attending;
    if (result.outcome === "aborted" && isPutOff(abort.signal)) {
      await settle(lane, result);
      await putOff(lane, running, abort.signal.reason);
    } else await finish(lane, running, result);
  } catch (error) {
    running.isEnding = true;
    await running.attending;
    if (!isFenced(error) && canPass(error)) await putOff(lane, running, error).catch(() => undefined);
    throw error;
  } finally {
    for (const { item } of running.items) state.mine.delete(item.id);
    state.running = undefined;
  }
}

export async function claimAll(
  { parts }: LaneContext,
  lease: TakenLease["held"]["lease"],
  next: readonly WaitingItem[],
): Promise<WaitingItem[]> {
  if (areClaimed(next)) return [...next];
  const ids = next.map(({ item }) => item.id);
  const claimed = new Map((await parts.agent.store.inbox.claim(lease, { ids })).map((item) => [item.id, item]));
  return next.flatMap((one) => {
    const item = claimed.get(one.item.id);
    return item === undefined ? [] : [{ ...one, item }];
  });
}

/** What came with the lease is. */
function areClaimed(items: readonly WaitingItem[]): boolean {
  return items.every(({ item }) => item.state === "running");
}

function isPutOff({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof HoldfastError && reason.code === PUT_OFF_CODE;
}

/** For a turn whose messages do not end with it. */
async function settle({ parts, key, state }: LaneContext, { settle: change }: StepResult): Promise<void> {
  const lease = state.taken?.held.lease;
  if (change !== undefined && lease !== undefined) await parts.agent.store.update(key, change, { lease });
}

/** Back to the queue without counting the attempt; when that fails, the next look sees to it. */
async function putOff(lane: LaneContext, { items }: RunningStep, why: unknown): Promise<void> {
  const { taken, excuses } = lane.state;
  for (const { item } of items) excuses.set(item.id, errorMessage(why));
  if (taken === undefined) return;
  const ids = items.map(({ item }) => item.id);
  await requeue(lane, taken, ids);
}

export async function requeue(
  { parts, state }: LaneContext,
  { held }: TakenLease,
  ids: readonly number[],
): Promise<void> {
  const { inbox } = parts.agent.store;
  const counted = ids.filter((id) => !state.excuses.has(id));
  if (counted.length > 0) await inbox.requeue(held.lease, { ids: counted });
  for (const id of ids) {
    const excuse = state.excuses.get(id);
    if (excuse === undefined) continue;
    await inbox.requeue(held.lease, { ids: [id], excuse });
    state.excuses.delete(id);
  }
}

/** What was done must not be done again because the disk is full: the end is written as soon as it can be. */
async function finish(lane: LaneContext, { items, startedAt }: RunningStep, result: StepResult): Promise<void> {
  const ids = items.map(({ item }) => item.id);
  const drafts = await draftsOf(lane, items, result);
  const end = endOf(lane, ids.at(-1) ?? 0, result, startedAt);
  const options = { ...markOf(items, end), ...(result.settle === undefined ? {} : { entry: result.settle }) };
  for (let refused = 1; ; refused++) {
    try {
      await writeEnd(lane, ids, drafts, options);
      break;
    } catch (error) {
      if (!canPass(error) || isStoreClosed(error) || lane.state.isDraining) throw error;
      await lane.pause(refused, error, ids.at(-1));
    }
  }
  lane.state.failures = 0;
  faultPoint("turn.finished");
  tellEnd(lane, items, end);
}

/** The lease goes back in the same commit where nothing more is to be done, or others wait for a slot. */
async function writeEnd(
  { state, shared, parts, key }: LaneContext,
  ids: readonly number[],
  drafts: readonly OutboxDraft[],
  options: Omit<FinishOptions, "release">,
): Promise<void> {
  const { inbox } = parts.agent.store;
  const { taken } = state;
  if (taken === undefined) throw new Error("A turn without its lease");
  state.isMore = (await inbox.pending(key)).some((item) => item.state === "queued");
  const isOver = !state.isMore || state.isDraining || shared.slots.isContended();
  const release = isOver && state.quickWork.size === 0;
  await inbox.finish(taken.held.lease, ids, drafts, { ...options, release });
  if (!isOver) return;
  state.ticket?.release();
  state.ticket = undefined;
  if (!release) return;
  taken.forget();
  state.taken = undefined;
}

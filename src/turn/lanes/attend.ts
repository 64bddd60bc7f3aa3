/**
 * Handles messages that arrive while a turn of their session runs, and messages that need no turn. Depending
 * on the queue mode, a message steers the turn, interrupts it, or waits. Dropped messages are never dropped
 * silently: each stays in the transcript and causes an event, a log line and a reply to its sender.
 */
import { TOO_LATE, within } from "../../base/async.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { QueueDrop } from "../../config/choices.ts";
import type { HeldLease, TakenLease } from "../../session/lease.ts";
import { writeDropped } from "../../session/transcript-changes.ts";
import { buildInboundBody, saidBy, senderLabel } from "../body/body.ts";
import type { LaneControl } from "../commands/command.ts";
import type { LaneContext, RunningStep, StepResult, WaitingItem } from "../context.ts";
import { commandTooSlow, failedResult, isFenced, turnInterrupted, turnStopped } from "../turn-errors.ts";
import { draftsOf, endOf, markOf, tellEnd } from "./ends.ts";
import { claimItems, deathsOf, isQuick, isSameReplyPlace, look, turnIdOfItems, wasBegun } from "./queue.ts";
import { printableLine } from "../../base/text.ts";
import type { DropReply } from "../../store/queues.ts";

/** Several calls before the first look have the effect of one. */
export function attend(lane: LaneContext): void {
  const { running } = lane;
  if (running === undefined || running.isAttendDue || running.isEnding) return;
  running.isAttendDue = true;
  running.attending = running.attending
    .then(async () => {
      running.isAttendDue = false;
      if (!running.isEnding && lane.taken !== undefined) await attendOnce(lane, running, lane.taken);
    })
    .catch((error: unknown) => {
      lane.pipeline.logger.warn("Messages that arrived during a turn must wait for its end", { key: lane.key, error });
    });
}

async function attendOnce(lane: LaneContext, running: RunningStep, taken: TakenLease): Promise<void> {
  const { shed, quick, queued, settings, next } = await look(lane);
  if (quick.length > 0) {
    startQuickWork(lane, taken, quick).catch((error: unknown) => {
      lane.pipeline.logger.warn("A message that needs no turn must wait for one", { key: lane.key, error });
    });
  }
  if (shed.length > 0) await shedItems(lane, shed, settings.drop);
  if (settings.mode === "interrupt" && next.some(({ need }) => need.what === "turn")) {
    abortRunning(lane, turnInterrupted());
  }
  const [head] = running.items;
  // A message must not join a turn that may be given up.
  const canSteer = head?.need.what === "turn" && deathsOf(head.item) === 0;
  if (settings.mode !== "steer" || lane.parts.engine.steer === undefined || !canSteer) return;
  const inOrder = queued.filter((item) => !isQuick(item) && !shed.includes(item));
  await steerTurn(lane, running, inOrder);
}

export function abortRunning({ running }: LaneContext, reason: HoldfastError): boolean {
  if (running === undefined || running.isEnding) return false;
  running.abort.abort(reason);
  return true;
}

/** Gives messages to the running turn, with which they end. From the first that cannot join on, they wait. */
async function steerTurn(lane: LaneContext, running: RunningStep, waiting: readonly WaitingItem[]): Promise<void> {
  const { lease } = running.held;
  const { inbox } = lane.parts.agent.store;
  for (const one of waiting) {
    if (!isSteerable(one, running.items[0])) return;
    const ids = [one.item.id];
    // Claimed first: otherwise it could also start a turn of its own and reach the engine twice.
    const [item] = await inbox.claim(lease, { ids });
    if (item === undefined) return;
    if (!(await isAccepted(lane, one))) {
      await inbox.requeue(lease, { ids, excuse: "too late for the running turn" });
      return;
    }
    lane.mine.add(item.id);
    running.items.push({ ...one, item });
  }
}

/** Engines read attachments only when a turn starts. */
function isSteerable(one: WaitingItem, head: WaitingItem | undefined): boolean {
  if ((one.ctx.MediaPaths ?? []).length > 0) return false;
  if (one.need.what !== "turn" || one.need.alone || wasBegun(one.item) || head === undefined) return false;
  return isSameReplyPlace(one, head);
}

async function isAccepted(lane: LaneContext, one: WaitingItem): Promise<boolean> {
  const { parts, key, pipeline } = lane;
  const text = buildInboundBody({ ctx: one.ctx, mentionPatterns: pipeline.mentionPatterns });
  // If the process dies now, both turns are repeated. The mark tells the second that the first has its message.
  const mark = { turnId: turnIdOfItems(lane, [one]), said: saidBy(one.ctx) };
  try {
    return (await parts.engine.steer?.(key, text, mark)) ?? false;
  } catch (error) {
    pipeline.logger.warn("Could not add a message to the running turn", { key, itemId: one.item.id, error });
    return false;
  }
}

export async function shedItems(lane: LaneContext, items: readonly WaitingItem[], drop: QueueDrop): Promise<void> {
  if (drop === "summarize") {
    // Before the drop: a crash in between repeats the same event, which is stored once.
    await lane.parts.agent.store.systemEvents.enqueueSystemEvent(lane.key, summaryOf(items));
  }
  const advice = drop === "new" ? "Send it again later." : "Newer messages took its place.";
  await dropItems(lane, items, {
    note: "queue full",
    reply: ({ ctx }) => `Too many messages are waiting, so this one was dropped: “${startOf(ctx)}”. ${advice}`,
  });
}

/** Sends `reply`, if any, to each sender. Resolves to the number of messages that were still queued. */
async function dropItems(
  lane: LaneContext,
  items: readonly WaitingItem[],
  { note, reply }: { note: string; reply: (item: WaitingItem) => string | undefined },
): Promise<number> {
  if (items.length === 0) return 0;
  const { pipeline, parts, key } = lane;
  const now = pipeline.clock.now();
  const replies: DropReply[] = [];
  for (const item of items) {
    const text = reply(item);
    const drafts = text === undefined ? [] : await draftsOf(lane, [item], { payloads: [{ text, isError: true }] });
    replies.push(...drafts.map((draft) => ({ itemId: item.item.id, draft })));
  }
  const ids = items.map(({ item }) => item.id);
  for (const id of ids) lane.mine.add(id);
  try {
    const lost = items.map(({ item, ctx }) => ({ text: saidBy(ctx), reason: note, receivedAt: item.receivedAt }));
    if (lane.taken !== undefined) await writeDropped(parts.agent, lane.taken.held, lost);
    const dropped = (await parts.agent.store.inbox.drop(key, ids, note, replies)).map(({ id }) => id);
    if (dropped.length > 0) reportDropped(lane, dropped, note, now);
    return dropped.length;
  } finally {
    for (const id of ids) lane.mine.delete(id);
  }
}

function reportDropped(lane: LaneContext, itemIds: number[], note: string, startedAt: number): void {
  const { pipeline, parts, key } = lane;
  const { agentId } = parts.agent;
  pipeline.logger.warn("Messages were dropped", { key, itemIds, note });
  pipeline.events.emit({ type: "message.dropped", agentId, sessionKey: key, itemIds, reason: note });
  for (const id of itemIds) pipeline.onEnded([id], endOf(lane, id, { outcome: "dropped", payloads: [] }, startedAt));
}

const MAX_SUMMARIZED = 10;
const START_LENGTH = 80;

function summaryOf(items: readonly WaitingItem[]): string {
  const count = items.length === 1 ? "1 message was" : `${items.length} messages were`;
  const starts = items.slice(0, MAX_SUMMARIZED).map(({ ctx }) => `“${startOf(ctx)}”`);
  const more = items.length > MAX_SUMMARIZED ? ` and ${items.length - MAX_SUMMARIZED} more` : "";
  return `${count} dropped unread because too many were waiting: ${starts.join(", ")}${more}`;
}

/** The text is shown in quotes in a system line, so it must not contain quotes that would end them. */
function startOf(ctx: WaitingItem["ctx"]): string {
  return printableLine(ctx.RawBody ?? ctx.Body ?? "", START_LENGTH).replace(/["“”„‟«»＂]/g, "'");
}

export function laneControl(lane: LaneContext, command: WaitingItem): LaneControl {
  const { chatId } = command.item.address;
  // People in the chat of the command see its answer.
  const reply = ({ item }: WaitingItem) => (item.address.chatId === chatId ? undefined : STOPPED_BY_OTHERS);
  return {
    stop: async () => {
      const { queued } = await look(lane);
      const before = queued.filter((item) => !isQuick(item) && item.item.id < command.item.id);
      let aborted = false;
      const dropped = await dropItems(lane, before, { note: "stopped", reply }).finally(() => {
        // Last: when the running turn ends, the lane starts the next message that waits.
        aborted = abortRunning(lane, turnStopped("somebody asked for it"));
      });
      return { aborted, dropped };
    },
    state: () => ({ queued: lane.waiting, runningSince: lane.running?.startedAt }),
  };
}

const STOPPED_BY_OTHERS = "This session was stopped, so your message was dropped.";

/** Runs alongside other work of the lane. Resolves when everything is committed. */
export function startQuickWork(lane: LaneContext, { held }: TakenLease, items: readonly WaitingItem[]): Promise<void> {
  const { mine, quickWork } = lane;
  const ids = items.map(({ item }) => item.id);
  for (const id of ids) mine.add(id);
  const work = doQuickWork(lane, held, items).finally(() => {
    for (const id of ids) mine.delete(id);
    quickWork.delete(tracked);
  });
  // The lease is released after the work ends, whether or not it succeeds.
  const tracked = work.catch(() => undefined);
  quickWork.add(tracked);
  return work;
}

/** Items are claimed by id under the lane's lease, so that each is handled once. */
async function doQuickWork(lane: LaneContext, held: HeldLease, items: readonly WaitingItem[]): Promise<void> {
  const mine = await claimItems(lane, held.lease, items);
  const notes = mine.filter(({ need }) => need.what === "note");
  const others = mine.filter(({ need }) => need.what !== "note");
  await Promise.all([noteAll(lane, held, notes), ...others.map((item) => answerQuickly(lane, held, item))]);
}

async function noteAll(lane: LaneContext, held: HeldLease, notes: readonly WaitingItem[]): Promise<void> {
  if (notes.length === 0) return;
  const { parts, key, pipeline } = lane;
  const startedAt = pipeline.clock.now();
  for (const { ctx, item } of notes) {
    await parts.agent.store.history.append(key, {
      sender: senderLabel(ctx) ?? "unknown",
      body: ctx.RawBody ?? ctx.Body ?? "",
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

async function answerQuickly(lane: LaneContext, held: HeldLease, item: WaitingItem): Promise<void> {
  const startedAt = lane.pipeline.clock.now();
  const result = await quickResult(lane, held, item);
  const drafts = await draftsOf(lane, [item], result);
  const end = endOf(lane, item.item.id, result, startedAt);
  await lane.parts.agent.store.inbox.finish(held.lease, [item.item.id], drafts, markOf([item], end, result));
  tellEnd(lane, [item], end);
}

const COMMAND_SECONDS = 30;

async function quickResult(lane: LaneContext, held: HeldLease, waiting: WaitingItem): Promise<StepResult> {
  const { need, ctx } = waiting;
  if (need.what === "answer") return { outcome: "command", payloads: [{ text: need.text }], text: need.text };
  if (need.what !== "command") throw new Error("Neither a command nor an answer");
  const { command, argument } = need;
  const signal = AbortSignal.any([held.signal, AbortSignal.timeout(COMMAND_SECONDS * 1000)]);
  const { parts, key, pipeline } = lane;
  try {
    const control = laneControl(lane, waiting);
    const turnId = turnIdOfItems(lane, [waiting]);
    const running = command.run({ parts, sessionKey: key, ctx, argument, turnId, lane: control, signal });
    const text = await within(COMMAND_SECONDS * 1000, running);
    if (text === TOO_LATE) throw commandTooSlow(command.name, COMMAND_SECONDS);
    return { outcome: "command", payloads: [{ text }], text };
  } catch (error) {
    if (isFenced(error)) throw error;
    pipeline.logger.warn("A command failed", { key, command: command.name, error });
    return failedResult(error);
  }
}

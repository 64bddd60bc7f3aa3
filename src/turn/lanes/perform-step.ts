/**
 * One turn, or one command that waits its turn. Returns how it ended, also when it failed for good; throws
 * when nothing more may be written (`fenced`) and when it can be tried again because store or disk are to blame.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { HeldLease } from "../../session/lease.ts";
import { showTyping } from "../delivery/typing.ts";
import { replyTarget } from "../reply/reply-target.ts";
import type { WaitingItem } from "./classify.ts";
import { type LaneContext, type StepResult, turnIdOf } from "./lane-context.ts";
import { canPass, errorPayload, isFenced, tooManyAttempts } from "./turn-errors.ts";

export interface Step {
  held: HeldLease;
  /** Claimed, in order; not empty. */
  items: readonly WaitingItem[];
  signal: AbortSignal;
}

/**
 * The first time, and again after each of so many deaths of its process less one. A turn limits by itself
 * how often an engine is asked; this is for what a process dies of before that.
 */
export const MAX_ATTEMPTS = 20;
/** A message that store or disk keep from being answered for longer is given up, and its sender told. */
const PUT_OFF_MS = 24 * 60 * 60 * 1000;

export async function performStep(lane: LaneContext, step: Step): Promise<StepResult> {
  const [head] = step.items;
  const last = step.items.at(-1);
  if (head === undefined || last === undefined) throw new Error("A turn without messages");
  if (head.item.attempts > MAX_ATTEMPTS) return failedStep(tooManyAttempts(head.item.attempts - 1));
  const stopTyping = last.deliver ? showTyping(lane.shared.channels, replyTarget(last.ctx, undefined)) : nothing;
  try {
    return head.need.what === "command" ? await runCommand(lane, head, step) : await runTurn(lane, step, head, last);
  } catch (error) {
    if (isFenced(error) || step.held.signal.aborted) throw fencedError(error);
    const isTooOld = lane.shared.clock.now() - head.item.receivedAt > PUT_OFF_MS;
    if (canPass(error) && !isTooOld) throw error;
    lane.shared.logger.error("A turn failed", { key: lane.key, itemId: last.item.id, error });
    return failedStep(error);
  } finally {
    stopTyping();
  }
}

/** A turn that failed because its lease was lost may throw anything. */
function fencedError(error: unknown): unknown {
  if (isFenced(error)) return error;
  return new HoldfastError("fenced", "lease-lost", `The session was taken over: ${errorMessage(error)}`, {
    hint: "Another process goes on with it. Nothing was changed.",
    cause: error,
  });
}

async function runTurn(lane: LaneContext, step: Step, head: WaitingItem, last: WaitingItem): Promise<StepResult> {
  const { shared, parts, key } = lane;
  const { agentId } = parts.agent;
  const { attempts, note } = head.item;
  // An attempt that was excused was begun all the same: its message may be written.
  const attempt = attempts + (note === undefined ? 0 : 1);
  const itemId = last.item.id;
  const { channel, accountId } = last.item.address;
  const account = shared.channels.find(channel, accountId);
  shared.events.emit({ type: "turn.started", agentId, sessionKey: key, itemId, attempt });
  const result = await shared.runTurn({
    parts,
    held: step.held,
    turnId: turnIdOf(lane, step.items),
    itemId,
    attempt,
    messages: step.items.map(({ ctx }) => ctx),
    ...(account === undefined ? {} : { replyToMode: account.replyTo }),
    signal: step.signal,
    emit: (event) => shared.events.emit(event),
  });
  const { outcome, payloads, text, settle, usage, error, session } = result;
  const told = outcome === "failed" && payloads.length === 0 ? [errorPayload(error ?? unknownFailure())] : payloads;
  return { outcome, payloads: told, text, settle, usage, error, sessionId: session.sessionId };
}

async function runCommand(lane: LaneContext, item: WaitingItem, step: Step): Promise<StepResult> {
  if (item.need.what !== "command") throw new Error("Not a command");
  const { command, argument } = item.need;
  const { parts, key } = lane;
  const { held, signal } = step;
  const { ctx } = item;
  const control = lane.control(item);
  const { text } = await command.run({ parts, sessionKey: key, ctx, argument, held, lane: control, signal });
  // It may have moved the session to another window.
  const sessionId = (await parts.agent.store.get(key))?.sessionId;
  return { outcome: "command", payloads: text === undefined ? [] : [{ text }], text, sessionId };
}

export function failedStep(error: unknown): StepResult {
  const payload = errorPayload(error);
  return { outcome: "failed", payloads: [payload], text: payload.text, error };
}

function nothing(): void {}

function unknownFailure(): HoldfastError {
  return new HoldfastError("internal", "turn-failed", "The message could not be answered", {
    hint: "Send it again; the log of the gateway tells what happened.",
  });
}

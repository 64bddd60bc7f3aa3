/**
 * The lane of one session in this process: one turn at a time, in order. It lives as long as something
 * is pending for its session, and does everything under the session's lease, so that of several processes
 * one answers.
 *
 * - It holds the lease only while it works, never while it waits for a slot, a pause or another process.
 * - Items that are running under our lease and that we are not at are left over from a process that died,
 *   or from a step of our own that failed: they are queued again.
 * - Every failure ends in `recover`, which pauses; the lane then begins anew from what the store says.
 */
import { backOffMs } from "../../base/back-off.ts";
import { type HoldfastError, errorMessage } from "../../base/errors.ts";
import { type TakenLease, takeSessionLease } from "../../session/lease.ts";
import type { LaneControl } from "../commands/chat-command.ts";
import type { AgentParts } from "../turn.ts";
import { abortRunning, attend, startQuickWork } from "./attend.ts";
import { createBell } from "./bell.ts";
import { type WaitingItem, classify, isQuick } from "./classify.ts";
import { type LaneContext, createLaneState } from "./lane-context.ts";
import type { LaneShared } from "./lane-parts.ts";
import { requeue, runStep } from "./lane-step.ts";
import { look } from "./look.ts";
import { resolveQueueSettings } from "./queue-settings.ts";
import { dropItems, shedItems } from "./shed.ts";
import { isFenced, isStoreClosed, turnStopped } from "./turn-errors.ts";

export interface Lane {
  readonly parts: AgentParts;
  readonly key: string;
  /** There is something new for the session. */
  wake(): void;
  /** The store changed, maybe by what the lane itself wrote. */
  nudge(what: "inbox" | "lease"): void;
  /** Stops the turn that runs; false when none does. */
  abort(reason: HoldfastError): boolean;
  /** Begins nothing more. */
  drain(): void;
  /** How many messages waited for a turn when it last looked. */
  readonly waiting: number;
  readonly running: { itemId: number; startedAt: number } | undefined;
  readonly ended: Promise<void>;
}

export interface LaneOptions {
  shared: LaneShared;
  parts: AgentParts;
  key: string;
  /** Called in the same tick as the lane sees that nothing is pending. */
  onEnd: () => void;
}

/** What to do before the next look. */
type Next = "again" | "end" | { ms?: number; until?: Promise<unknown> };

const HOLDER_PAUSES = { firstMs: 50, maxMs: 2000 };
const FAILURE_PAUSES = { firstMs: 200, maxMs: 60_000 };
const NUDGED_MS = 100;

export function createLane({ shared, parts, key, onEnd }: LaneOptions): Lane {
  const { agent } = parts;
  const bell = createBell();
  /** Rings at the drain only: changes elsewhere must not shorten a pause. */
  const stopPause = createBell();
  const state = createLaneState();
  let isNew = true;
  /** Until it looks for the first time, it sees everything that it could be told of. */
  let hasLooked = false;
  let toldBefore = 0;
  let heldByOthers = 0;
  let nudged: NodeJS.Timeout | undefined;

  const pause = async (failures: number, error: unknown, itemId?: number): Promise<void> => {
    const ms = backOffMs(failures, FAILURE_PAUSES);
    shared.logger.warn("A session cannot go on; trying again", { key, error, pauseMs: ms });
    if (itemId !== undefined) {
      const text = `${errorMessage(error)}. Trying again in ${Math.ceil(ms / 1000)} s; nothing is lost.`;
      shared.events.emit({ type: "turn.notice", agentId: agent.agentId, sessionKey: key, itemId, text });
    }
    await stopPause.wait({ ms });
  };
  const lane: LaneContext = { shared, parts, key, state, pause, control: (item) => controlOf(lane, item) };

  const advance = async (): Promise<Next> => {
    if (state.isDraining) return await letGo("end");
    if (isNew) state.ticket = shared.slots.request(agent.agentId);
    isNew = false;
    // With room for a turn, one look under the lease is enough.
    if (state.ticket?.isGranted === true && state.taken === undefined) return await takeLease();
    hasLooked = true;
    const seen = await look(lane);
    const { quick, next, orphans } = seen;
    if (seen.pending === 0) return await letGo("end");
    if (seen.shed.length > 0) {
      await shedItems(lane, seen.shed, seen.settings.drop);
      return "again";
    }
    if (quick.length > 0 || orphans.length > 0 || next.length === 0) {
      if (state.taken === undefined) return await takeLease();
      const ids = orphans.map(({ id }) => id);
      if (ids.length > 0) await requeue(lane, state.taken, ids);
      else if (quick.length > 0) await startQuickWork(lane, state.taken, quick).then(() => (state.failures = 0));
      // All that is pending is being dealt with; whoever comes meanwhile rings.
      else return { until: Promise.all(state.quickWork) };
      return "again";
    }
    const early = seen.notBefore - shared.clock.now();
    if (early > 0) return await letGo({ ms: early });
    state.ticket ??= shared.slots.request(agent.agentId);
    if (!state.ticket.isGranted) return await letGo({ until: state.ticket.granted }, { keepTicket: true });
    if (state.taken === undefined) return await takeLease();
    return await takeStep(state.taken, next);
  };

  const takeStep = async (taken: TakenLease, next: readonly WaitingItem[]): Promise<Next> => {
    await runStep(lane, taken, next);
    // Without a lease there was nothing more; what came since rang the bell, or another process is at it.
    return state.taken === undefined && !state.isMore ? "end" : "again";
  };

  const takeLease = async (): Promise<Next> => {
    const entry = await agent.store.get(key);
    const { mode } = resolveQueueSettings(entry, shared.config.turns.queue);
    // A message that is alone and need not wait for others begins with the lease, in one commit.
    const claim = mode !== "collect" && state.ticket?.isGranted === true;
    const attempt = await takeSessionLease(agent, key, { claim });
    if (!("heldBy" in attempt)) {
      state.taken = attempt;
      if (heldByOthers > 0) shared.onOthersDone(parts, key);
      heldByOthers = 0;
      return attempt.claimed === undefined
        ? "again"
        : await beginWith(classify(attempt.claimed, entry, shared), attempt);
    }
    hasLooked = true;
    if ((await agent.store.inbox.pending(key)).length === 0) return await letGo("end");
    heldByOthers += 1;
    return await letGo({ ms: backOffMs(heldByOthers, HOLDER_PAUSES) });
  };

  const beginWith = async (only: WaitingItem, taken: TakenLease): Promise<Next> => {
    hasLooked = true;
    if (isQuick(only)) {
      await startQuickWork(lane, taken, [only]);
      return "again";
    }
    const step = takeStep(taken, [only]);
    // The first who told was whoever brought this message.
    if (toldBefore > 1 && state.running !== undefined) attend(lane, state.running);
    return await step;
  };

  /** Nothing is held while the lane waits. */
  const letGo = async (next: Next, { keepTicket = false } = {}): Promise<Next> => {
    if (!keepTicket) leaveSlot();
    await Promise.all(state.quickWork);
    await state.taken?.release();
    state.taken = undefined;
    return next;
  };

  const leaveSlot = (): void => {
    state.ticket?.release();
    state.ticket = undefined;
  };

  /** Resolves to whether the lane is at its end. */
  const recover = async (error: unknown): Promise<boolean> => {
    leaveSlot();
    if (isFenced(error) || isStoreClosed(error)) {
      state.taken?.forget();
      state.taken = undefined;
    }
    if (isStoreClosed(error)) return true;
    state.failures += 1;
    try {
      await letGo("again");
    } catch (refused) {
      shared.logger.warn("The lease could not be given back; it is kept", { key, error: refused });
    }
    if (state.isDraining) return true;
    await pause(state.failures, error, await firstPending());
    return false;
  };

  const firstPending = async (): Promise<number | undefined> => {
    try {
      return (await agent.store.inbox.pending(key))[0]?.id;
    } catch {
      // The store that cannot be read is most often what there is to tell about.
      return undefined;
    }
  };

  const live = async (): Promise<void> => {
    for (;;) {
      bell.reset();
      try {
        const next = await advance();
        if (next === "end" && (state.isDraining || !bell.hasRung)) return onEnd();
        if (typeof next === "object") await bell.wait(next);
      } catch (error) {
        if (await recover(error)) return onEnd();
      }
    }
  };
  const ended = live();

  return {
    parts,
    key,
    wake: () => {
      if (!hasLooked) {
        toldBefore += 1;
        return;
      }
      bell.ring();
      if (state.running !== undefined) attend(lane, state.running);
    },
    nudge: (what) => {
      if (state.running !== undefined && what === "inbox") {
        // Most often it was the lane itself. What another process did is seen a moment later.
        nudged ??= setTimeout(() => {
          nudged = undefined;
          if (state.running !== undefined) attend(lane, state.running);
        }, NUDGED_MS).unref();
      }
      if (heldByOthers > 0) bell.ring();
    },
    abort: (reason) => abortRunning(lane, reason),
    drain: () => {
      state.isDraining = true;
      bell.ring();
      stopPause.ring();
    },
    get waiting() {
      return state.waiting;
    },
    get running() {
      const itemId = state.running?.items.at(-1)?.item.id;
      if (state.running === undefined || itemId === undefined) return undefined;
      return { itemId, startedAt: state.running.startedAt };
    },
    ended,
  };
}

function controlOf(lane: LaneContext, command: WaitingItem): LaneControl {
  const { chatId } = command.item.address;
  // Whoever is in the same chat sees the answer to the command.
  const tell = ({ item }: WaitingItem): string | undefined =>
    item.address.chatId === chatId ? undefined : "Somebody stopped this session, so your message was dropped.";
  return {
    stop: async () => {
      const aborted = abortRunning(lane, turnStopped("somebody asked for it"));
      const { queued } = await look(lane);
      const before = queued.filter((item) => !isQuick(item) && item.item.id < command.item.id);
      return { aborted, dropped: await dropItems(lane, before, { note: "stopped", tell }) };
    },
    state: () => {
      const { waiting, running } = lane.state;
      return { queued: waiting, ...(running === undefined ? {} : { runningSince: running.startedAt }) };
    },
  };
}

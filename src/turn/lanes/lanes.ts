/**
 * All lanes of this process. A lane runs the turns of one session: one at a time, in order. It lives while
 * messages are pending, and works under the session's lease, so that only one of several processes answers.
 *
 * - A lane holds the lease only while it works, never while it waits for a slot, a pause or another process.
 * - Items that are running under our lease but not in this lane are left over from a process that died, or
 *   from a failed step of our own. They are queued again.
 * - Every failure ends in `recover`, which pauses. The lane then starts over from the store's state.
 */
import { hostname } from "node:os";
import { type HoldfastError, errorMessage } from "../../base/errors.ts";
import { type TakenLease, acquireLease } from "../../session/lease.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { LaneContext, PipelineContext, WaitingItem } from "../context.ts";
import type { AgentParts, PipelineStatus } from "../pipeline.ts";
import { isFenced, isStoreClosed, turnPutOff } from "../turn-errors.ts";
import { abortRunning, attend, shedItems, startQuickWork } from "./attend.ts";
import { classify, isQuick, look, resolveQueueSettings, runsAlone } from "./queue.ts";
import { requeue, runStep } from "./step.ts";
import { Bell, type Wait } from "./waiting.ts";
import { backOffMs } from "../../base/clock.ts";
import { TOO_LATE, within } from "../../base/async.ts";

/** How long an aborted turn may take to end. */
const ABORTED_MS = 10_000;

export function createLanes(pipeline: PipelineContext) {
  const lanes = new Map<string, Lane>();
  let isDraining = false;

  const open = (parts: AgentParts, key: string): void => {
    const name = nameOf(parts.agent.agentId, key);
    if (isDraining || lanes.has(name)) return;
    const onEnd = (): void => {
      lanes.delete(name);
      pipeline.onOthersDone(parts, key);
    };
    lanes.set(name, createLane(pipeline, parts, key, onEnd));
  };

  return {
    /** A message for the session is being admitted; `serve` follows. */
    prepare: (parts: AgentParts, key: string) => {
      // Only with a free slot: a lane that waits for one would read the inbox before the message is stored.
      if (!pipeline.slots.isContended()) open(parts, key);
    },
    serve: (parts: AgentParts, key: string) => {
      const known = lanes.get(nameOf(parts.agent.agentId, key));
      if (known === undefined) open(parts, key);
      else if (!isDraining) known.wake();
    },
    /** The store changed. Only an existing lane reacts. */
    nudge: (agentId: string, key: string, what: "inbox" | "lease") => lanes.get(nameOf(agentId, key))?.nudge(what),
    has: (agentId: string, key: string) => lanes.has(nameOf(agentId, key)),
    isMine: (agentId: string, key: string, itemId: number) =>
      lanes.get(nameOf(agentId, key))?.context.mine.has(itemId) === true,
    abort: (key: string, reason: HoldfastError) =>
      [...lanes.values()].filter(({ context }) => context.key === key && abortRunning(context, reason)).length > 0,
    queued: () => [...lanes.values()].reduce((sum, { context }) => sum + context.waiting, 0),
    running: () => [...lanes.values()].flatMap(({ context }) => runningOf(context)),
    /** Resolves when no turn is running, or when aborted turns do not end. */
    drain: async (graceMs: number): Promise<void> => {
      isDraining = true;
      const all = [...lanes.values()];
      for (const lane of all) lane.drain();
      const ended = Promise.all(all.map((lane) => lane.ended));
      if ((await within(graceMs, ended)) !== TOO_LATE) return;
      for (const { context } of all) abortRunning(context, turnPutOff());
      if ((await within(ABORTED_MS, ended)) !== TOO_LATE) return;
      // Their items stay claimed under leases that end with this process. The next process continues with them.
      pipeline.logger.error("Aborted turns did not end", { sessions: [...lanes.keys()] });
    },
  };
}

/** Several agents may have a session with the key `global`. */
function nameOf(agentId: string, key: string): string {
  return `${agentId} ${key}`;
}

function runningOf({ parts, key, running }: LaneContext): PipelineStatus["running"] {
  const last = running?.items.at(-1);
  if (last === undefined || running === undefined) return [];
  return [{ agentId: parts.agent.agentId, sessionKey: key, itemId: last.item.id, startedAt: running.startedAt }];
}

type Lane = ReturnType<typeof createLane>;

type Next = "again" | "end" | Wait;

const HOLDER_PAUSES = { firstMs: 50, maxMs: 2000 };
const FAILURE_PAUSES = { firstMs: 200, maxMs: 60_000 };
const NUDGED_MS = 100;
const ELSEWHERE_MS = 1000;

/** `onEnd` is called in the tick in which the lane finds nothing pending. */
function createLane(pipeline: PipelineContext, parts: AgentParts, key: string, onEnd: () => void) {
  const { agent } = parts;
  const bell = new Bell();
  /** Rings only at the drain, because store changes must not shorten a pause. */
  const stopPause = new Bell();
  let isNew = true;
  /** A message that is admitted before the first look is found by it. */
  let hasLooked = false;
  let wakesBefore = 0;
  let heldByOthers = 0;
  let nudged: NodeJS.Timeout | undefined;

  const lane: LaneContext = {
    pipeline,
    parts,
    key,
    taken: undefined,
    ticket: undefined,
    running: undefined,
    isDraining: false,
    mine: new Set(),
    excuses: new Map(),
    quickWork: new Set(),
    waiting: 0,
    isMore: false,
    failures: 0,
    pause: async (failures, error, itemId) => {
      const ms = backOffMs(failures, FAILURE_PAUSES);
      pipeline.logger.warn("A session cannot continue; trying again", { key, error, pauseMs: ms });
      if (itemId !== undefined) {
        const text = `${errorMessage(error)}. Trying again in ${Math.ceil(ms / 1000)} s; nothing is lost.`;
        pipeline.events.emit({ type: "turn.notice", agentId: agent.agentId, sessionKey: key, itemId, text });
      }
      await stopPause.wait({ ms });
    },
  };

  const live = async (): Promise<void> => {
    for (;;) {
      bell.reset();
      try {
        const next = await advance();
        if (next === "end" && (lane.isDraining || !bell.hasRung)) return onEnd();
        if (typeof next === "object") await bell.wait(next);
      } catch (error) {
        if (await recover(error)) return onEnd();
      }
    }
  };

  const advance = async (): Promise<Next> => {
    if (lane.isDraining) return await release("end");
    if (isNew) lane.ticket = pipeline.slots.request(agent.agentId);
    isNew = false;
    // With a free slot, one look under the lease is enough.
    if (lane.ticket?.isGranted === true && lane.taken === undefined) return await takeLease();
    hasLooked = true;
    const seen = await look(lane);
    const { quick, next, orphans } = seen;
    if (seen.pending === 0) return await release("end");
    if (seen.shed.length > 0) {
      if (lane.taken === undefined) return await takeLease();
      await shedItems(lane, seen.shed, seen.settings.drop);
      return "again";
    }
    if (quick.length > 0 || orphans.length > 0 || next.length === 0) {
      if (lane.taken === undefined) return await takeLease();
      const ids = orphans.map(({ id }) => id);
      if (ids.length > 0) await requeue(lane, lane.taken, ids);
      else if (quick.length > 0) await startQuickWork(lane, lane.taken, quick).then(() => (lane.failures = 0));
      // All pending items are being handled. A new message rings the bell.
      else return { until: Promise.all(lane.quickWork) };
      return "again";
    }
    const early = seen.notBefore - pipeline.clock.now();
    if (early > 0) return await release({ ms: early });
    const [head] = next;
    const alone = head !== undefined && runsAlone(head.item) ? { deaths: head.item.attempts } : undefined;
    if (lane.ticket?.isAlone !== (alone !== undefined)) leaveSlot();
    lane.ticket ??= pipeline.slots.request(agent.agentId, alone);
    if (!lane.ticket.isGranted) return await release({ until: lane.ticket.granted }, { keepTicket: true });
    if (lane.taken === undefined) return await takeLease();
    return await takeStep(lane.taken, next);
  };

  const takeStep = async (taken: TakenLease, next: readonly WaitingItem[]): Promise<Next> => {
    await runStep(lane, taken, next);
    // The step released the lease if nothing was queued. A message that came since then rang the bell.
    return lane.taken === undefined && !lane.isMore ? "end" : "again";
  };

  const takeLease = async (): Promise<Next> => {
    const entry = await agent.store.get(key);
    if (await belongsElsewhere(parts, entry)) return await release({ ms: ELSEWHERE_MS });
    const { mode } = resolveQueueSettings(entry, pipeline.config.turns.queue);
    // The only message of the session is claimed in the same commit, unless it waits for others.
    const claim = mode !== "collect" && lane.ticket?.isGranted === true;
    const attempt = await acquireLease(agent, key, { claim });
    if (!("heldBy" in attempt)) {
      lane.taken = attempt;
      if (heldByOthers > 0) pipeline.onOthersDone(parts, key);
      heldByOthers = 0;
      return attempt.claimed === undefined
        ? "again"
        : await startWith(classify(attempt.claimed, entry, pipeline), attempt);
    }
    hasLooked = true;
    if ((await agent.store.inbox.pending(key)).length === 0) return await release("end");
    heldByOthers += 1;
    return await release({ ms: backOffMs(heldByOthers, HOLDER_PAUSES) });
  };

  const startWith = async (only: WaitingItem, taken: TakenLease): Promise<Next> => {
    hasLooked = true;
    if (isQuick(only)) {
      await startQuickWork(lane, taken, [only]);
      return "again";
    }
    const step = takeStep(taken, [only]);
    // The first wake was for this message.
    if (wakesBefore > 1) attend(lane);
    return await step;
  };

  const release = async (next: Next, { keepTicket = false } = {}): Promise<Next> => {
    if (!keepTicket) leaveSlot();
    await Promise.all(lane.quickWork);
    await lane.taken?.release();
    lane.taken = undefined;
    return next;
  };

  const leaveSlot = (): void => {
    lane.ticket?.release();
    lane.ticket = undefined;
  };

  /** Resolves to true when the lane must end. */
  const recover = async (failure: unknown): Promise<boolean> => {
    leaveSlot();
    if (isFenced(failure) || isStoreClosed(failure)) {
      lane.taken?.forget();
      lane.taken = undefined;
    }
    if (isStoreClosed(failure)) return true;
    lane.failures += 1;
    try {
      await release("again");
    } catch (refused) {
      pipeline.logger.warn("Could not release the lease; it is kept", { key, error: refused });
    }
    if (lane.isDraining) return true;
    // Usually the store that cannot be read is the failure that is being reported.
    const [first] = await agent.store.inbox.pending(key).catch(() => []);
    await lane.pause(lane.failures, failure, first?.id);
    return false;
  };

  return {
    context: lane,
    wake: (): void => {
      if (!hasLooked) {
        wakesBefore += 1;
        return;
      }
      bell.ring();
      attend(lane);
    },
    /** The store changed, possibly by a write of the lane itself. */
    nudge: (what: "inbox" | "lease"): void => {
      if (lane.running !== undefined && what === "inbox") {
        // Most changes are writes of the lane itself, so it reacts after a short delay.
        nudged ??= setTimeout(() => {
          nudged = undefined;
          attend(lane);
        }, NUDGED_MS).unref();
      }
      if (heldByOthers > 0) bell.ring();
    },
    drain: (): void => {
      lane.isDraining = true;
      bell.ring();
      stopPause.ring();
    },
    ended: live(),
  };
}

/**
 * Claude Code's session is on the disk of another machine, and a gateway runs there: it finds the messages and continues
 * the session. If none runs there, this one begins a new session with the hand-off, and the engine tells the person.
 */
async function belongsElsewhere({ agent, engine }: AgentParts, entry: SessionEntry | undefined): Promise<boolean> {
  const { cluster } = agent.store;
  const host = entry?.sdkSessionHost;
  if (cluster === undefined || host === undefined || host === hostname() || !engine.keepsConversation) return false;
  return (await cluster.describe()).nodes.some((node) => node.isAlive && node.host === host);
}

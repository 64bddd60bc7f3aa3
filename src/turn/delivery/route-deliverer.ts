/**
 * Delivers what one agent has to say through one account: in order per session, side by side across
 * sessions. Of several processes that have the account, the one that holds the route's lease delivers; it
 * keeps the lease as long as it can send, because taking it for each message would cost a commit each.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createBell } from "../lanes/bell.ts";
import { type TakenLease, takeDeliveryLease } from "../../session/lease.ts";
import type { DeliveryRoute, OutboxItem } from "../../store/store.ts";
import type { ChannelAccount } from "../pools.ts";
import type { AgentParts } from "../turn.ts";
import type { DeliveryShared } from "./delivery-parts.ts";
import { sendItem } from "./send-item.ts";

export interface RouteDeliverer {
  /** Something may be due. Left out session: for any. */
  wake(key?: string): void;
  /** Begins nothing more once what is due now is sent or the time is over. */
  stop(graceMs: number): Promise<void>;
}

export interface RouteOptions {
  shared: DeliveryShared;
  parts: AgentParts;
  account: ChannelAccount;
}

/** How many items are looked at, and how many sessions are sent to, at a time. */
const LOOKED_AT = 200;
const SIDE_BY_SIDE = 32;
const SWEEP_MS = 30_000;
const TOGETHER_MS = 3;
const SOONEST_MS = 250;
const HELD_MS = 2_000;
const FAILED_MS = 1_000;

export function canSend({ status }: ChannelAccount): boolean {
  return status.state === "connected" || status.state === "retrying";
}

export function createRouteDeliverer({ shared, parts, account }: RouteOptions): RouteDeliverer {
  const { agent } = parts;
  const { channel } = account;
  const route: DeliveryRoute = { channel: channel.name, accountId: channel.accountId };
  const bell = createBell();
  const ending = new AbortController();
  const busy = new Map<string, Promise<void>>();
  let taken: TakenLease | undefined;
  let isStopping = false;
  /** When the first of those that wait is due; undefined: the store knows. */
  let nextDueAt: number | undefined;
  let lookedAt = 0;

  /** Resolves to how long to wait, or to undefined when it is over. */
  const advance = async (): Promise<{ ms: number } | undefined> => {
    if (ending.signal.aborted) return undefined;
    if (taken?.held.signal.aborted === true) {
      taken.forget();
      taken = undefined;
    }
    if (!canSend(account)) return isStopping ? undefined : await letGo(SWEEP_MS);
    // While messages are on their way, those that come meanwhile are looked for together.
    const soon = lookedAt + TOGETHER_MS - performance.now();
    if (busy.size > 0 && soon > 0) await delay(soon);
    lookedAt = performance.now();
    const due = await agent.store.outbox.due(shared.clock.now(), LOOKED_AT, route);
    const free = due.filter(({ key }) => !busy.has(key));
    if (free.length === 0) return isStopping && busy.size === 0 ? undefined : { ms: await untilNext() };
    if (taken === undefined) {
      const attempt = await takeDeliveryLease(agent, route);
      if ("heldBy" in attempt) return isStopping ? undefined : { ms: HELD_MS };
      taken = attempt;
      nextDueAt = undefined;
      // What the holder before us was at is only now known to be nobody's.
      return { ms: 0 };
    }
    for (const [key, items] of Map.groupBy(free, (item) => item.key)) {
      if (busy.size >= SIDE_BY_SIDE) break;
      busy.set(key, deliver(key, items));
    }
    return { ms: SWEEP_MS };
  };

  const deliver = async (key: string, items: readonly OutboxItem[]): Promise<void> => {
    try {
      for (const item of items) {
        if (ending.signal.aborted || taken === undefined || taken.held.signal.aborted) return;
        const isSettled = await sendItem({ shared, parts, channel, item, signal: ending.signal });
        if (isSettled) continue;
        nextDueAt = undefined;
        return;
      }
    } catch (error) {
      shared.logger.error("Messages could not be delivered; trying again", { key, ...route, error });
      await shared.clock.sleep(FAILED_MS, ending.signal).catch(() => undefined);
    } finally {
      busy.delete(key);
      bell.ring();
    }
  };

  /** Until the next one is due. A session whose first message waits hides that others of it are due. */
  const untilNext = async (): Promise<number> => {
    if (nextDueAt === undefined || nextDueAt <= shared.clock.now()) {
      const routes = await agent.store.outbox.routes();
      const mine = routes.find((one) => one.channel === route.channel && one.accountId === route.accountId);
      nextDueAt = mine?.dueAt ?? Number.POSITIVE_INFINITY;
    }
    return Math.min(SWEEP_MS, Math.max(SOONEST_MS, nextDueAt - shared.clock.now()));
  };

  const letGo = async (ms: number): Promise<{ ms: number }> => {
    await Promise.all(busy.values());
    await taken?.release();
    taken = undefined;
    return { ms };
  };

  const live = async (): Promise<void> => {
    for (;;) {
      bell.reset();
      try {
        const next = await advance();
        if (next === undefined) break;
        if (next.ms > 0) await bell.wait(next);
      } catch (error) {
        shared.logger.error("The outbox could not be looked at; trying again", { ...route, error });
        if (isStopping) break;
        await bell.wait({ ms: FAILED_MS });
      }
    }
    await Promise.all(busy.values());
    await taken?.release({ evenIf: "refused" }).catch(() => undefined);
  };
  const ended = live();

  return {
    // Whoever delivers to a session looks again when it is done.
    wake: (key) => {
      if (key === undefined || !busy.has(key)) bell.ring();
    },
    stop: async (graceMs) => {
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

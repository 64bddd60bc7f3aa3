/**
 * Sends the replies in the outboxes of all agents. Each agent has a deliverer per channel account: it sends
 * in order per session, and to several sessions in parallel. If several processes have the account, the
 * holder of the route's lease delivers. It keeps the lease while it can send, because taking it for each
 * message would cost a commit each. Announcements to the command line are shown by
 * `holdfast mcp --announcements`.
 */
import { type TakenLease, acquireLease } from "../../session/lease.ts";
import type { PipelineContext, SendStarted } from "../context.ts";
import { Bell } from "../lanes/waiting.ts";
import type { AgentParts, ChannelAccount } from "../pipeline.ts";
import { accountLeaseKey } from "../../store/store-rules.ts";
import type { DeliveryRoute, OutboxItem } from "../../store/queues.ts";
import { sendItem, sendStarted } from "./send-reply.ts";

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
      const owner = ownerOf(agentId, { channel: name, accountId });
      const known = deliverers.get(owner);
      if (known !== undefined) known.wake(key);
      else if (canSend(account)) deliverers.set(owner, createRouteDeliverer(pipeline, parts, account));
    }
  };
  /**
   * Keeps a session's replies to the caller, who sends those of a turn once they are committed. Undefined if this
   * process cannot send them at once.
   */
  const reserve = ({ agent }: AgentParts, key: string, route: DeliveryRoute | undefined): SendStarted | undefined =>
    route && deliverers.get(ownerOf(agent.agentId, route))?.reserve(key);
  const unsubscribe = events.subscribe((event) => {
    if (event.type === "channel.status") for (const parts of agents.values()) wake(parts);
  });

  return {
    wake,
    reserve,
    /** Reports, once per message, which messages wait for a channel that is not running. */
    reportWaiting: async ({ agent }: AgentParts): Promise<void> => {
      for (const { channel, accountId } of await agent.store.outbox.routes()) {
        if (channel === COMMAND_LINE) continue;
        const account = channels.find(channel, accountId);
        if (account !== undefined && canSend(account)) continue;
        const route = { channel, accountId };
        const { leases } = agent.store;
        if ((await leases.current(route)) !== undefined) continue;
        if ((await leases.current({ connection: route })) !== undefined) continue;
        const name = accountLeaseKey("delivery", agent.agentId, route);
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

function ownerOf(agentId: string, { channel, accountId }: DeliveryRoute): string {
  return `${agentId} ${channel} ${accountId}`;
}

function canSend({ status }: ChannelAccount): boolean {
  return status.state === "connected" || status.state === "retrying";
}

/** How many items are read at a time, and how many sessions are served in parallel. */
const MAX_READ = 200;
const MAX_PARALLEL = 32;
const SWEEP_MS = 30_000;
const SOONEST_MS = 250;
const HELD_MS = 2_000;
const FAILED_MS = 1_000;

/** A session whose items are being sent. */
interface Serving {
  ended: Promise<void>;
  /** Of the items being sent. 0: not known yet. */
  lastId: number;
  /** How often the session's outbox changed meanwhile. More often than sending explains: there are further items. */
  changes: number;
}

function createRouteDeliverer(pipeline: PipelineContext, parts: AgentParts, account: ChannelAccount) {
  const { clock, logger } = pipeline;
  const { agent } = parts;
  const { channel } = account;
  const route: DeliveryRoute = { channel: channel.name, accountId: channel.accountId };
  const bell = new Bell();
  const ending = new AbortController();
  const busy = new Map<string, Serving>();
  /** Due items wait until sessions have been served. */
  let isFull = false;
  let servedSinceRead = 0;
  let taken: TakenLease | undefined;
  let isStopping = false;
  /** When the first waiting item is due. Undefined: must be read from the store. */
  let nextDueAt: number | undefined;

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
    await allServed();
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
    const due = await agent.store.outbox.due(clock.now(), MAX_READ, route);
    const free = due.filter(({ key }) => !busy.has(key));
    for (const { id, key } of due) {
      const serving = busy.get(key);
      if (serving !== undefined && id > serving.lastId) serving.changes += 1;
    }
    isFull = due.length === MAX_READ;
    servedSinceRead = 0;
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
      if (busy.size < MAX_PARALLEL) serve(key, async (serving) => await deliver(key, items, serving));
      else isFull = true;
    }
    return { ms: SWEEP_MS };
  };

  const serve = (key: string, work: (serving: Serving) => Promise<void>): void => {
    const serving: Serving = { lastId: 0, changes: 0, ended: Promise.resolve() };
    busy.set(key, serving);
    serving.ended = work(serving);
  };
  const allServed = async () => await Promise.all([...busy.values()].map(({ ended }) => ended));

  /** `isFirstStarted`: the attempt for the first item is recorded. */
  const deliver = async (
    key: string,
    items: readonly OutboxItem[],
    serving: Serving,
    { isFirstStarted = false } = {},
  ): Promise<void> => {
    serving.lastId = items.at(-1)?.id ?? 0;
    // Adding an item and settling it change the outbox once each.
    let ownChanges = isFirstStarted ? items.length : 0;
    let isDone = false;
    try {
      for (const [index, item] of items.entries()) {
        if (ending.signal.aborted || taken === undefined || taken.held.signal.aborted) return;
        const request = { pipeline, parts, channel, signal: ending.signal };
        const isStarted = isFirstStarted && index === 0;
        const isSettled = isStarted
          ? await sendStarted({ ...request, item: { ...item, state: "pending", attempts: 0 } })
          : await sendItem({ ...request, item });
        ownChanges += 1;
        if (isSettled) continue;
        nextDueAt = undefined;
        return;
      }
      // Without items, others must be sent first.
      isDone = items.length > 0;
    } catch (error) {
      logger.error("Could not deliver messages; trying again", { key, ...route, error });
      await clock.sleep(FAILED_MS, ending.signal).catch(() => undefined);
    } finally {
      busy.delete(key);
      servedSinceRead += 1;
      // Reading the outbox after each reply would cost more than the delivery.
      const hasRoom = Math.max(servedSinceRead, MAX_PARALLEL - busy.size) >= MAX_PARALLEL / 2;
      const isMore = serving.changes !== ownChanges || (isFull && hasRoom);
      if (!isDone || isMore || isStopping) bell.ring();
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
    await allServed();
    await taken?.release();
    taken = undefined;
    return { ms };
  };

  const reserve = (key: string): SendStarted | undefined => {
    const isHolder = taken !== undefined && !taken.held.signal.aborted;
    if (!isHolder || isStopping || !canSend(account) || busy.has(key) || busy.size >= MAX_PARALLEL) return undefined;
    const { promise, resolve } = Promise.withResolvers<readonly OutboxItem[]>();
    serve(key, async (serving) => await deliver(key, await promise, serving, { isFirstStarted: true }));
    return resolve;
  };

  const ended = live();
  return {
    reserve,
    wake: (key?: string): void => {
      // A session that is being served is read again afterwards.
      const serving = key === undefined ? undefined : busy.get(key);
      if (serving !== undefined) serving.changes += 1;
      else if (key !== undefined && busy.size >= MAX_PARALLEL) isFull = true;
      else bell.ring();
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

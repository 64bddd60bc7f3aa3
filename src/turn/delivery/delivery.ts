/**
 * Takes replies from the outboxes of all agents to the channels. Woken by whoever puts something into an
 * outbox; looks by itself only now and then. Announcements to the command line are not its business:
 * `holdfast mcp --announcements` shows them.
 */
import { deliveryLeaseKey } from "../../store/lease-key.ts";
import type { DeliveryRoute } from "../../store/store.ts";
import type { ChannelAccount, ChannelPool } from "../pools.ts";
import type { AgentParts } from "../turn.ts";
import type { DeliveryShared } from "./delivery-parts.ts";
import { type RouteDeliverer, canSend, createRouteDeliverer } from "./route-deliverer.ts";

export interface Delivery {
  /** Something may be due for the agent. Left out session or route: for any. */
  wake(parts: AgentParts, due?: { key?: string; route?: DeliveryRoute }): void;
  /** Tells, once for each message, what waits for a channel that is not running. */
  reportWaiting(parts: AgentParts): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

/** How many messages of one route are told of at a time. */
const TOLD_AT_ONCE = 50;
const COMMAND_LINE = "cli";

export function createDelivery(shared: DeliveryShared, channels: ChannelPool): Delivery {
  const deliverers = new Map<ChannelAccount, Map<string, RouteDeliverer>>();
  const agents = new Map<string, AgentParts>();
  /** The newest item told of, by route. */
  const told = new Map<string, number>();
  let isStopped = false;

  const wake: Delivery["wake"] = (parts, { key, route } = {}) => {
    if (isStopped) return;
    const { agentId } = parts.agent;
    agents.set(agentId, parts);
    for (const account of channels.accounts()) {
      if (route !== undefined && !isAccountOf(account, route)) continue;
      const ofAccount = deliverers.get(account) ?? new Map<string, RouteDeliverer>();
      deliverers.set(account, ofAccount);
      const known = ofAccount.get(agentId);
      if (known !== undefined) known.wake(key);
      else if (canSend(account)) ofAccount.set(agentId, createRouteDeliverer({ shared, parts, account }));
    }
  };
  const unsubscribe = shared.events.subscribe((event) => {
    if (event.type === "channel.status") for (const parts of agents.values()) wake(parts);
  });

  return {
    wake,
    reportWaiting: async (parts) => {
      const { agent } = parts;
      for (const { channel, accountId } of await agent.store.outbox.routes()) {
        if (channel === COMMAND_LINE) continue;
        const account = channels.find(channel, accountId);
        if (account !== undefined && canSend(account)) continue;
        const route = { channel, accountId };
        if ((await agent.store.leases.current(route)) !== undefined) continue;
        const name = deliveryLeaseKey(agent.agentId, route);
        const now = shared.clock.now();
        const due = await agent.store.outbox.due(now, TOLD_AT_ONCE, route);
        const reason = account === undefined ? `${channel} is not configured here` : account.status.text;
        for (const { id, key } of due) {
          if (id <= (told.get(name) ?? 0)) continue;
          told.set(name, id);
          const delayed = { agentId: agent.agentId, sessionKey: key, outboxId: id, dueAt: now, reason };
          shared.logger.warn("A message waits for its channel", delayed);
          shared.events.emit({ type: "delivery.delayed", ...delayed });
        }
      }
    },
    stop: async (graceMs) => {
      isStopped = true;
      unsubscribe();
      const all = [...deliverers.values()].flatMap((ofAccount) => [...ofAccount.values()]);
      await Promise.all(all.map((deliverer) => deliverer.stop(graceMs)));
    },
  };
}

function isAccountOf({ channel }: ChannelAccount, route: DeliveryRoute): boolean {
  return channel.name === route.channel && channel.accountId === route.accountId;
}

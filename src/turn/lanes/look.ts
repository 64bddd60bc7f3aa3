/** What the store says about a session, and what that asks for. */
import type { QueueConfig } from "../../config/config.ts";
import type { InboxItem } from "../../store/store.ts";
import { type WaitingItem, classify } from "./classify.ts";
import type { LaneContext } from "./lane-context.ts";
import { type QueuePlan, planQueue } from "./plan-queue.ts";
import { resolveQueueSettings } from "./queue-settings.ts";

export interface Look extends QueuePlan {
  settings: QueueConfig;
  queued: WaitingItem[];
  /** How many have not ended, whoever is at them. */
  pending: number;
  /** Running, and not by us. */
  orphans: InboxItem[];
}

export async function look({ shared, parts, key, state }: LaneContext): Promise<Look> {
  const { store } = parts.agent;
  const [pending, entry] = await Promise.all([store.inbox.pending(key), store.get(key)]);
  const settings = resolveQueueSettings(entry, shared.config.turns.queue);
  const queued = pending.filter((item) => item.state === "queued").map((item) => classify(item, entry, shared));
  const orphans = pending.filter((item) => item.state === "running" && !state.mine.has(item.id));
  const plan = planQueue({ queued, settings, isRunning: state.running !== undefined, now: shared.clock.now() });
  state.waiting = plan.waiting;
  return { ...plan, settings, queued, orphans, pending: pending.length };
}

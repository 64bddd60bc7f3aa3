/** Which channels may hold messages that nobody has seen, and from where to ask. Pure. */
import { isNewer } from "./snowflake.ts";

export interface VisibleChannel {
  id: string;
  /** Of the last message, as the gateway told it. */
  lastMessageId: string | undefined;
}

export interface CatchUpPlan {
  fetch: { channelId: string; after: string }[];
  /** Channels that are known from here on; what was said there before is not ours. */
  seeds: { channelId: string; at: string }[];
  /** Private chats that were left out because there are too many. */
  skipped: number;
}

const MOST_HIDDEN = 100;

/**
 * The gateway lists servers' channels with their last message, so that only those that have moved are
 * asked for. It lists no private chats: of those that are known the latest are asked one by one.
 */
export function planCatchUp(cursors: ReadonlyMap<string, string>, visible: readonly VisibleChannel[]): CatchUpPlan {
  const plan: CatchUpPlan = { fetch: [], seeds: [], skipped: 0 };
  const newest = [...cursors.values()].reduce((one, other) => (isNewer(other, one) ? other : one), "0");
  for (const { id, lastMessageId } of visible) {
    const cursor = cursors.get(id);
    // A channel made after everything we know was made while nobody listened: all of it is new.
    const from = cursor ?? (cursors.size > 0 && isNewer(id, newest) ? id : undefined);
    if (from === undefined) plan.seeds.push({ channelId: id, at: lastMessageId ?? id });
    else if (lastMessageId !== undefined && isNewer(lastMessageId, from)) {
      plan.fetch.push({ channelId: id, after: from });
    }
  }
  const seen = new Set(visible.map(({ id }) => id));
  const hidden = [...cursors].filter(([id]) => !seen.has(id));
  hidden.sort(([, one], [, other]) => (isNewer(one, other) ? -1 : 1));
  plan.fetch.push(...hidden.slice(0, MOST_HIDDEN).map(([channelId, after]) => ({ channelId, after })));
  plan.skipped = Math.max(0, hidden.length - MOST_HIDDEN);
  return plan;
}

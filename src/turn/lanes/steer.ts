/** Messages that go into the turn that runs. They belong to it from then on and end with it. */
import type { Engine } from "../../engine/engine.ts";
import type { HeldLease } from "../../session/lease.ts";
import { buildInboundBody } from "../body/build-body.ts";
import { saidBy } from "../run/turn-body.ts";
import type { WaitingItem } from "./classify.ts";
import { type LaneContext, turnIdOf } from "./lane-context.ts";
import { wasBegun } from "./plan-queue.ts";

export function canSteer(engine: Engine, running: readonly WaitingItem[]): boolean {
  return engine.steer !== undefined && running[0]?.need.what === "turn";
}

/** In order, up to the first that cannot go in; that one and the ones behind it wait for their own turn. */
export async function* steerItems(
  lane: LaneContext,
  held: HeldLease,
  running: readonly WaitingItem[],
  waiting: readonly WaitingItem[],
): AsyncGenerator<WaitingItem> {
  const { parts, key, shared } = lane;
  const { inbox } = parts.agent.store;
  for (const one of waiting) {
    if (!isSteerable(one, running[0])) return;
    const ids = [one.item.id];
    // Claimed first: what the engine has must not be asked of it again by a turn of its own.
    const [item] = await inbox.claim(held.lease, { ids });
    if (item === undefined) return;
    if (!(await isTaken(one))) {
      await inbox.requeue(held.lease, { ids, excuse: "too late for the turn that ran" });
      return;
    }
    yield { ...one, item };
  }

  async function isTaken(one: WaitingItem): Promise<boolean> {
    const { ctx, item } = one;
    const text = buildInboundBody({ ctx, mentionPatterns: shared.mentionPatterns });
    // A process that dies meanwhile leaves both turns; the mark tells the second that the first had its message.
    const mark = { turnId: turnIdOf(lane, [one]), said: saidBy(ctx) };
    try {
      return (await parts.engine.steer?.(key, text, mark)) ?? false;
    } catch (error) {
      shared.logger.warn("A message could not be put into the running turn", { key, itemId: item.id, error });
      return false;
    }
  }
}

/** An answer goes to one place only, and engines look at what was attached when a turn begins. */
function isSteerable({ ctx, need, item, deliver }: WaitingItem, head: WaitingItem | undefined): boolean {
  if ((ctx.MediaPaths ?? []).length > 0) return false;
  if (need.what !== "turn" || need.alone || wasBegun(item) || head === undefined) return false;
  const [a, b] = [item.address, head.item.address];
  const isSameChat = a.channel === b.channel && a.accountId === b.accountId && a.chatId === b.chatId;
  return isSameChat && deliver === head.deliver;
}

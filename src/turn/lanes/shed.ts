/** Giving up messages, never silently: an event, a count, and a message to each sender. */
import { printableLine } from "../../base/printable.ts";
import type { QueueDrop } from "../../config/config.ts";
import type { DropReply } from "../../store/store.ts";
import type { WaitingItem } from "./classify.ts";
import { type LaneContext, draftsOf, endOf } from "./lane-context.ts";

const START_LENGTH = 80;
/** So many beginnings are told to the agent. */
const TOLD = 10;

/** Messages that are more than may wait. */
export async function shedItems(lane: LaneContext, items: readonly WaitingItem[], drop: QueueDrop): Promise<void> {
  if (drop === "summarize") {
    // First: a crash in between tells the agent twice at worst, and the same event twice is one.
    await lane.parts.systemEvents.enqueueSystemEvent(lane.key, summaryOf(items));
  }
  const advice = drop === "new" ? "Send it again later." : "Newer messages took its place.";
  await dropItems(lane, items, {
    note: "queue full",
    tell: ({ ctx }) => `Too many messages are waiting, so this one was dropped: “${startOf(ctx)}”. ${advice}`,
  });
}

export interface DropReason {
  note: string;
  /** What the sender is told. Undefined: they know. */
  tell: (item: WaitingItem) => string | undefined;
}

/** Resolves to how many were still there to be dropped. */
export async function dropItems(
  lane: LaneContext,
  items: readonly WaitingItem[],
  { note, tell }: DropReason,
): Promise<number> {
  if (items.length === 0) return 0;
  const { shared, parts, key } = lane;
  const now = shared.clock.now();
  const replies: DropReply[] = [];
  for (const item of items) {
    const text = tell(item);
    const drafts = text === undefined ? [] : await draftsOf(lane, [item], { payloads: [{ text, isError: true }] });
    replies.push(...drafts.map((draft) => ({ itemId: item.item.id, draft })));
  }
  const ids = items.map(({ item }) => item.id);
  const dropped = await parts.agent.store.inbox.drop(key, ids, note, replies);
  if (dropped.length === 0) return 0;
  const itemIds = dropped.map(({ id }) => id);
  shared.logger.warn("Messages were dropped", { key, itemIds, note });
  shared.events.emit({ type: "message.dropped", agentId: parts.agent.agentId, sessionKey: key, itemIds, reason: note });
  for (const id of itemIds) shared.onEnded([id], endOf(lane, id, { outcome: "dropped", payloads: [] }, now));
  return dropped.length;
}

function summaryOf(items: readonly WaitingItem[]): string {
  const count = items.length === 1 ? "1 message was" : `${items.length} messages were`;
  const starts = items.slice(0, TOLD).map(({ ctx }) => `“${startOf(ctx)}”`);
  const more = items.length > TOLD ? ` and ${items.length - TOLD} more` : "";
  return `${count} dropped unread because too many were waiting: ${starts.join(", ")}${more}`;
}

/** Stands in quotes on a line of the system, so it cannot end them. */
function startOf(ctx: WaitingItem["ctx"]): string {
  return printableLine(ctx.RawBody ?? ctx.Body ?? "", START_LENGTH).replace(/["“”„‟«»＂]/g, "'");
}

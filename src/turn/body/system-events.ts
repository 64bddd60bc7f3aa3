/**
 * Events that a session's next turn is told of, on disk. An event is told in exactly one turn that is
 * written: a turn drains a batch, writes its message, and acknowledges the batch. A turn that was cut
 * short in between is begun again under the same id: it drains the same batch, or, when its message is
 * in the transcript already, only acknowledges it.
 */
import type { PendingDatabase } from "./pending-database.ts";
import { type TurnClaim, createPendingQueue } from "./pending-queue.ts";
import type { SystemEvent } from "./system-lines.ts";

export interface SystemEvents {
  /** On disk once resolved. False when the text is empty, or the newest waiting event says the same. */
  enqueueSystemEvent(sessionKey: string, text: string): Promise<boolean>;
  /** Everything that waits, oldest first. Most often nothing, and then nothing is written. */
  drainSystemEvents(sessionKey: string, turn: TurnClaim): Promise<SystemEventBatch>;
  /** The batch's turn is written. False when it held nothing, was acknowledged, or was taken over. */
  acknowledgeSystemEvents(sessionKey: string, batchId: string): Promise<boolean>;
  /** Forgets what waits for a session that is deleted. */
  forgetSystemEvents(sessionKey: string): Promise<void>;
}

export interface SystemEventBatch {
  /** The id of the turn that drained it. */
  id: string;
  events: SystemEvent[];
  /** How many older events were let go because too many waited. */
  dropped: number;
}

export interface SystemEventsOptions {
  database: PendingDatabase;
  now: () => number;
  /** How many events wait per session at most. Left out: 20, as in OpenClaw. */
  limit?: number;
}

const DEFAULT_LIMIT = 20;
const MAX_TEXT = 4096;

export function createSystemEvents({ database, now, limit = DEFAULT_LIMIT }: SystemEventsOptions): SystemEvents {
  const queue = createPendingQueue({ database, kind: "event", durability: "disk", limit, skipRepeated: true });
  return {
    enqueueSystemEvent: async (sessionKey, text) => {
      const value = text.trim();
      if (value === "") return false;
      const cut = value.length <= MAX_TEXT ? value : `${value.slice(0, MAX_TEXT).toWellFormed()}…`;
      return await queue.add(sessionKey, { at: now(), value: cut });
    },
    drainSystemEvents: async (sessionKey, turn) => {
      const { items, dropped } = await queue.take(sessionKey, turn);
      return { id: turn.id, events: items.map(({ at, value }) => ({ at, text: value })), dropped };
    },
    acknowledgeSystemEvents: async (sessionKey, batchId) => await queue.settle(sessionKey, batchId),
    forgetSystemEvents: async (sessionKey) => await queue.forget(sessionKey),
  };
}

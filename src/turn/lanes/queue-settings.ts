/** How a session queues: what its entry says, else the configuration. */
import { type QueueConfig, type QueueDrop, type QueueMode, QUEUE_DROPS, QUEUE_MODES } from "../../config/config.ts";
import type { SessionEntry } from "../../store/session-entry.ts";

type QueueFields = Pick<SessionEntry, "queueMode" | "queueDebounceMs" | "queueCap" | "queueDrop">;

/** What another tool left in the entry and nobody here knows counts as nothing said. */
export function resolveQueueSettings(entry: QueueFields | undefined, configured: QueueConfig): QueueConfig {
  return {
    mode: QUEUE_MODES.find((mode: QueueMode) => mode === entry?.queueMode) ?? configured.mode,
    debounceMs: atLeast(0, entry?.queueDebounceMs) ?? configured.debounceMs,
    cap: atLeast(1, entry?.queueCap) ?? configured.cap,
    drop: QUEUE_DROPS.find((drop: QueueDrop) => drop === entry?.queueDrop) ?? configured.drop,
  };
}

function atLeast(least: number, value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= least ? value : undefined;
}

/** How turns share the process, and what happens to messages that wait. */

export interface TurnsConfig {
  /** Turns that run at the same time, over all agents. */
  concurrency: number;
  /** The same for one agent. Left out: 4 with Claude Code, else no less than `concurrency`. */
  concurrencyPerAgent?: number;
  /** A turn whose engine takes longer is stopped. */
  timeoutSeconds: number;
  /** How long running turns may go on when the process is asked to end. */
  drainSeconds: number;
  /** How long finished inbox and outbox items are kept, against the same message coming again. */
  keepFinishedDays: number;
  /** What holds for sessions that say nothing else. */
  queue: QueueConfig;
}

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

export const QUEUE_DROPS = ["old", "new", "summarize"] as const;
export type QueueDrop = (typeof QUEUE_DROPS)[number];

/** What happens to messages that arrive while a turn of their session runs. */
export interface QueueConfig {
  mode: QueueMode;
  /** How long `collect` waits for one more message. */
  debounceMs: number;
  /** How many messages may wait. */
  cap: number;
  /** Which one goes when there are more. */
  drop: QueueDrop;
}

export const DEFAULT_TURNS: TurnsConfig = {
  concurrency: 64,
  timeoutSeconds: 600,
  drainSeconds: 30,
  keepFinishedDays: 30,
  queue: { mode: "followup", debounceMs: 1000, cap: 20, drop: "summarize" },
};

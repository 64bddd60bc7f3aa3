/**
 * Keeps the view up to date without getting in the way: many changes make one rewrite, and the more
 * a rewrite costs the rarer it gets. A view that cannot be written is reported, but holds up nothing.
 */
import type { Logger } from "../../base/log.ts";

const SHORTEST_DELAY_MS = 300;
/** Rewriting takes at most this part of the time. */
const SHARE_OF_TIME = 1 / 20;

export interface View {
  /** Says that the store has changed. */
  touch(): void;
  /** Writes what is outstanding. */
  flush(): Promise<void>;
}

export const noView: View = { touch: () => undefined, flush: async () => undefined };

export function createView(write: () => Promise<void>, logger: Logger): View {
  let delay = SHORTEST_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let isStale = false;
  let writing: Promise<void> | undefined;

  const rewrite = async () => {
    isStale = false;
    const startedAt = performance.now();
    try {
      await write();
    } catch (error) {
      logger.warn("The view sessions.json could not be written; it shows an older state.", { error });
    }
    delay = Math.max(SHORTEST_DELAY_MS, (performance.now() - startedAt) / SHARE_OF_TIME);
  };
  const begin = async () => {
    clearTimeout(timer);
    timer = undefined;
    writing = rewrite();
    await writing;
    writing = undefined;
    if (isStale) schedule();
  };
  const schedule = () => {
    if (timer !== undefined || writing !== undefined) return;
    timer = setTimeout(() => void begin(), delay).unref();
  };

  return {
    touch: () => {
      isStale = true;
      schedule();
    },
    flush: async () => {
      await writing;
      clearTimeout(timer);
      if (isStale) await begin();
    },
  };
}

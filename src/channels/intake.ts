/** Taking messages in: in order per chat, and again after a failure that may pass. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ChannelHost } from "./channel.ts";
import { createKeyedMutex } from "../base/async.ts";

/** Runs one task per chat at a time, in order. */
export interface InboundLanes {
  run(chat: string, task: () => Promise<void>, onFailure: (error: unknown) => void): void;
  /** Resolves when all tasks have ended. */
  idle: () => Promise<void>;
}

export function createInboundLanes(): InboundLanes {
  const lanes = createKeyedMutex();
  const running = new Set<Promise<void>>();
  return {
    run: (chat, task, onFailure) => {
      const work = lanes.run(chat, task).catch(onFailure);
      running.add(work);
      void work.then(() => running.delete(work));
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

export interface KeepTryingOptions {
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
  /** Aborting it ends the pause; the next failure is then thrown. */
  signal: AbortSignal;
}

/** Retries until the task succeeds or the channel stops. */
export async function keepTrying<T>(task: () => Promise<T>, options: KeepTryingOptions): Promise<T> {
  const { host, clock, logger, signal } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await task();
      if (attempt > 0) host.report({ state: "connected", text: "Receiving messages again." });
      return result;
    } catch (error) {
      if (signal.aborted) throw error;
      const pause = pauseAfter(error, attempt);
      logger.warn("cannot accept a message yet", { error, retryInMs: pause });
      host.report({ state: "retrying", text: `Cannot accept a message yet: ${errorMessage(error)}` });
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}

const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

/** The pause that the platform asks for, else 1 s, 2 s, 4 s … up to a minute. */
export function pauseAfter(error: unknown, attempt: number): number {
  const requested = error instanceof HoldfastError ? error.data["retryAfterMs"] : undefined;
  if (typeof requested === "number") return requested;
  const full = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(attempt, 10));
  // Jitter, so that many gateways do not reconnect at the same moment.
  return Math.round(full * (0.8 + Math.random() * 0.2));
}

/** Taking messages in: in order per chat, and again after a failure that may pass. */
import { type Clock, backOffMs } from "../base/clock.ts";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ChannelHost } from "./channel.ts";
import { createKeyedMutex } from "../base/async.ts";

/** Runs one task per chat at a time, in order. */
export function createInboundLanes() {
  const lanes = createKeyedMutex();
  const running = new Set<Promise<void>>();
  return {
    run: (chat: string, task: () => Promise<void>, onFailure: (error: unknown) => void): void => {
      const work = lanes.run(chat, task).catch(onFailure);
      running.add(work);
      void work.then(() => running.delete(work));
    },
    /** Resolves when all tasks have ended. */
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Retries until the task succeeds or the channel stops. `signal` ends the pause; the next failure is then thrown. */
export async function keepTrying<T>(
  task: () => Promise<T>,
  { host, clock, logger, signal }: { host: ChannelHost; clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<T> {
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

/** The pause that the platform asks for, else growing ones. `attempt` counts from 0. */
export function pauseAfter(error: unknown, attempt: number): number {
  const requested = error instanceof HoldfastError ? error.data["retryAfterMs"] : undefined;
  return typeof requested === "number" ? requested : backOffMs(attempt + 1, { firstMs: 1000, maxMs: 60_000 });
}

/** What may pass is tried again with growing pauses, and the owner is told. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { ChannelHost } from "./channel.ts";

export interface KeepTryingOptions {
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
  /** A last attempt, then the failure. */
  signal: AbortSignal;
}

/** Takes a message in: until it works or the channel is stopped. */
export async function keepTrying<T>(task: () => Promise<T>, options: KeepTryingOptions): Promise<T> {
  const { host, clock, logger, signal } = options;
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await task();
      if (attempt > 0) host.report({ state: "connected", text: "Messages are taken in again." });
      return result;
    } catch (error) {
      if (signal.aborted) throw error;
      const pause = pauseAfter(error, attempt);
      logger.warn("A message cannot be taken in yet.", { error, retryInMs: pause });
      host.report({ state: "retrying", text: `A message cannot be taken in yet: ${errorMessage(error)}` });
      // Woken by the stop, it tries a last time.
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** As long as the platform asks for; else 1 s, 2 s, 4 s … up to a minute. */
export function pauseAfter(error: unknown, attempt: number): number {
  const asked = error instanceof HoldfastError ? error.data["retryAfterMs"] : undefined;
  if (typeof asked === "number") return asked;
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  // Many gateways that lost the same platform should not come back in the same instant.
  return Math.round(full * (0.8 + Math.random() * 0.2));
}

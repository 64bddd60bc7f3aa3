/**
 * Background captures: after a number of messages, a large tool result, or a turn that took too long. They only save
 * time later: a capture that is missed here happens when the hand-off is needed.
 */
import { within } from "../base/async.ts";
import type { Logger } from "../base/log.ts";
import type { HandoffConfig } from "../config/config.ts";
import type { EndedTurn, Handoff } from "./handoff.ts";
import type { CaptureReason } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";

export interface Background extends Pick<Handoff, "turnEnded" | "captureOpen" | "settled"> {
  /** Another capture of the session runs: its count starts again. */
  captured(sessionKey: string): void;
  /** Starts nothing new. Later failures are expected, because the store closes, and are not reported. */
  stop(): void;
}

export interface BackgroundOptions {
  config: HandoffConfig;
  logger: Logger;
  capture: (sessionKey: string, reason: CaptureReason) => Promise<unknown>;
  captureBehind: (sessionKey: string, reason: CaptureReason) => Promise<void>;
}

/** Background captures take a twentieth of the time. */
const REST = 19;

export function createBackground({ config, logger, capture, captureBehind }: BackgroundOptions): Background {
  /** Messages since the last capture, by session key. */
  const open = new Map<string, number>();
  let lastCaptures: Promise<void> = Promise.resolve();
  let isStopped = false;
  const notCaptured = (sessionKey: string, error: unknown): void => {
    if (!isStopped) logger.warn("a hand-off could not be captured", { sessionKey, error });
  };
  const queue = createWorkQueue<CaptureReason>({
    rest: REST,
    work: async (sessionKey, reason) => {
      open.delete(sessionKey);
      await captureBehind(sessionKey, reason);
    },
    onError: notCaptured,
  });

  return {
    turnEnded({ sessionKey, messages, ...turn }) {
      const count = (open.get(sessionKey) ?? 0) + messages;
      open.set(sessionKey, count);
      const reason = reasonFor(config, count, turn);
      if (reason !== undefined) queue.put(sessionKey, reason);
    },
    captured(sessionKey) {
      open.delete(sessionKey);
      queue.drop(sessionKey);
    },
    async captureOpen(reason, withinMs) {
      const until = performance.now() + withinMs;
      let captured = 0;
      const captureAll = async (): Promise<void> => {
        for (const sessionKey of Array.from(open.keys()).reverse()) {
          if (isStopped || performance.now() >= until) return;
          open.delete(sessionKey);
          queue.drop(sessionKey);
          await capture(sessionKey, reason).then(
            () => captured++,
            (error: unknown) => notCaptured(sessionKey, error),
          );
        }
      };
      lastCaptures = captureAll();
      await within(withinMs, lastCaptures);
      return captured;
    },
    async settled() {
      await queue.settled();
      await lastCaptures;
    },
    stop() {
      isStopped = true;
      queue.stop();
    },
  };
}

function reasonFor(
  { everyMessages, largeToolResult }: HandoffConfig,
  count: number,
  { largestToolResult, timedOut }: Pick<EndedTurn, "largestToolResult" | "timedOut">,
): CaptureReason | undefined {
  if (timedOut) return "timeout";
  if (largestToolResult >= largeToolResult) return "tool-result";
  return count >= everyMessages ? "messages" : undefined;
}

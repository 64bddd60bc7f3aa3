/**
 * Captures that nobody waits for: after so many messages, a large tool result, a turn that took too long.
 * Several for one session become one, one at a time runs in the process, and while people are answered it takes
 * little of the time (`pace.ts`). They are only early: whatever they do not come to is captured when it is needed.
 * What goes wrong is logged; the next turn counts on.
 */
import type { Logger } from "../base/log.ts";
import type { HandoffConfig } from "../config/config.ts";
import type { EndedTurn } from "./handoff.ts";
import { type Pace, createPacer } from "./pace.ts";
import type { CaptureReason } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";
import { within } from "../base/async.ts";

export interface Background {
  turnEnded(turn: EndedTurn): void;
  /** Somebody else captures the session: its count starts again, and what is under way here is given up. */
  captured(sessionKey: string): void;
  /** Captures every session with turns since its last capture. How many were captured in time. */
  captureOpen(reason: CaptureReason, withinMs: number): Promise<number>;
  settled(): Promise<void>;
  /** Nothing new is begun. */
  stop(): void;
}

export interface BackgroundOptions {
  config: HandoffConfig;
  logger: Logger;
  capture: (sessionKey: string, reason: CaptureReason) => Promise<unknown>;
  captureBehind: (sessionKey: string, reason: CaptureReason, pace: Pace) => Promise<unknown>;
}

export function createBackground({ config, logger, capture, captureBehind }: BackgroundOptions): Background {
  const pacer = createPacer();
  let running: { sessionKey: string; giveUp: AbortController } | undefined;
  /** Messages since the last capture. */
  const open = new Map<string, number>();
  const queue = createWorkQueue<CaptureReason>({
    work: async (sessionKey, reason) => {
      open.delete(sessionKey);
      const giveUp = new AbortController();
      running = { sessionKey, giveUp };
      const pace = pacer.begin(giveUp.signal);
      try {
        await captureBehind(sessionKey, reason, pace);
      } finally {
        running = undefined;
        // The next one begins when this one is paid for.
        await pace.rest().catch(() => undefined);
      }
    },
    onError: (sessionKey, error) => {
      if (error !== GIVEN_UP) logger.warn("a hand-off could not be captured", { sessionKey, error });
    },
  });

  return {
    turnEnded({ sessionKey, messages, largestToolResult, timedOut }) {
      pacer.busy();
      const count = (open.get(sessionKey) ?? 0) + messages;
      open.set(sessionKey, count);
      const reason = reasonFor(config, { count, largestToolResult, timedOut });
      if (reason !== undefined) queue.put(sessionKey, reason);
    },
    captured(sessionKey) {
      open.delete(sessionKey);
      queue.drop(sessionKey);
      if (running?.sessionKey === sessionKey) running.giveUp.abort(GIVEN_UP);
    },
    async captureOpen(reason, withinMs) {
      const until = performance.now() + withinMs;
      let captured = 0;
      const all = async (): Promise<void> => {
        for (const sessionKey of Array.from(open.keys()).reverse()) {
          if (performance.now() >= until) return;
          open.delete(sessionKey);
          queue.drop(sessionKey);
          await capture(sessionKey, reason).then(
            () => captured++,
            (error: unknown) => logger.warn("a hand-off could not be captured", { sessionKey, reason, error }),
          );
        }
      };
      await pacer.hurried(async () => await within(withinMs, all()));
      return captured;
    },
    settled: async () => await pacer.hurried(async () => await queue.settled()),
    stop() {
      queue.stop();
      pacer.stop();
    },
  };
}

const GIVEN_UP = new Error("Somebody else captures it.");

function reasonFor(
  { everyMessages, largeToolResult }: HandoffConfig,
  turn: { count: number; largestToolResult: number; timedOut: boolean },
): CaptureReason | undefined {
  if (turn.timedOut) return "timeout";
  if (turn.largestToolResult >= largeToolResult) return "tool-result";
  return turn.count >= everyMessages ? "messages" : undefined;
}

/**
 * Who comes first is served first, within this process. Unlike a mutex one can leave the line: by a
 * signal, or when the patience ends.
 */
import { HoldfastError } from "../../base/errors.ts";
import { timerDelay } from "./timer-delay.ts";

export interface WaitLimits {
  signal?: AbortSignal | undefined;
  /** On the scale of `performance.now()`. */
  deadline: number;
  /** Called once when one has to wait. */
  onWait?: (() => void) | undefined;
}

export interface WaitLine {
  /** Resolves when it is the caller's turn, with what ends the turn. */
  enter(key: string, limits: WaitLimits): Promise<() => void>;
}

export function createWaitLine(): WaitLine {
  /** The first of each line has its turn; the others are called in order. */
  const lines = new Map<string, (() => void)[]>();
  const leave = (key: string, place: () => void): void => {
    const line = lines.get(key) ?? [];
    const index = line.indexOf(place);
    if (index === -1) return;
    line.splice(index, 1);
    if (line.length === 0) lines.delete(key);
    else if (index === 0) line[0]?.();
  };
  return {
    async enter(key, limits) {
      throwIfCancelled(limits.signal);
      const turn = Promise.withResolvers<void>();
      const place = (): void => turn.resolve();
      const line = lines.get(key) ?? [];
      lines.set(key, line);
      line.push(place);
      if (line.length > 1) {
        limits.onWait?.();
        try {
          await withinLimits(turn.promise, limits);
        } catch (error) {
          leave(key, place);
          throw error;
        }
      }
      return () => leave(key, place);
    },
  };
}

async function withinLimits(turn: Promise<void>, limits: WaitLimits): Promise<void> {
  const over = Promise.withResolvers<never>();
  const onAbort = (): void => over.reject(cancelled());
  const timer = setTimeout(
    () => over.reject(waitedTooLong({ pid: process.pid })),
    timerDelay(limits.deadline - performance.now()),
  );
  limits.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([turn, over.promise]);
  } finally {
    clearTimeout(timer);
    limits.signal?.removeEventListener("abort", onAbort);
  }
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

export function cancelled(): HoldfastError {
  return new HoldfastError("interrupted", "run-cancelled", "The run was cancelled before it started.", {
    hint: "Nothing was sent to Claude Code; start it again when you want it.",
  });
}

export function waitedTooLong(holder?: Record<string, unknown>): HoldfastError {
  return new HoldfastError("locked", "queue-timeout", "Another run still has this repo or session.", {
    hint: "Wait for it, stop it with `holdfast cc kill`, or run beside it with --fork, --label or in a worktree.",
    ...(holder === undefined ? {} : { data: holder }),
  });
}

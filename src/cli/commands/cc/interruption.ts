/**
 * Ctrl-C once asks Claude Code to stop what it does, so that what was said so far is kept; twice ends it.
 * A signal that wants this process gone ends it at once. Nothing of it stays behind.
 */
import { constants } from "node:os";
import { ERROR_KINDS } from "../../../base/errors.ts";
import { talk } from "../../output.ts";

export interface Interruption extends Disposable {
  /** Aborted by the first Ctrl-C. */
  signal: AbortSignal;
}

/** `endAll` resolves when no process is left. */
export function listenForInterrupts(endAll: () => Promise<void>): Interruption {
  const controller = new AbortController();
  const end = (code: number): void => {
    void endAll().finally(() => process.exit(code));
  };
  const onInterrupt = (): void => {
    if (controller.signal.aborted) {
      talk("holdfast: ending Claude Code");
      end(ERROR_KINDS.interrupted.exitCode);
    } else {
      talk("holdfast: interrupting; Ctrl-C again ends Claude Code");
      controller.abort();
    }
  };
  const onTerminate = (signal: "SIGTERM" | "SIGHUP"): void => end(128 + constants.signals[signal]);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("SIGHUP", onTerminate);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      process.off("SIGHUP", onTerminate);
    },
  };
}

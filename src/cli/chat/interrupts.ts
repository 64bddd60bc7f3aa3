/**
 * Ctrl-C in a chat: while an answer comes it stops the turn, so that what was said so far is kept; a second
 * one, or one at the prompt, leaves.
 */
import type { Interface } from "node:readline";

export interface Interrupts extends Disposable {
  /** Resolves with the answer, or as soon as the person leaves. */
  during(answer: Promise<void>): Promise<void>;
  isLeaving(): boolean;
}

/** Readline takes Ctrl-C away from the terminal; without one it is a signal. */
export function listenForInterrupts(input: Interface, abort: () => Promise<boolean>): Interrupts {
  const { promise: left, resolve: leave } = Promise.withResolvers<void>();
  let isAnswering = false;
  let isStopping = false;
  let isLeaving = false;

  const onInterrupt = (): void => {
    if (isAnswering && !isStopping) {
      isStopping = true;
      // A turn that cannot be stopped any more ends by itself; the second Ctrl-C does not depend on it.
      abort().catch(() => undefined);
      // A script that is interrupted does not want its next line answered.
      if (!process.stdin.isTTY) isLeaving = true;
      return;
    }
    isLeaving = true;
    leave();
    input.close();
  };
  input.on("SIGINT", onInterrupt);
  process.on("SIGINT", onInterrupt);

  return {
    during: async (answer) => {
      isAnswering = true;
      isStopping = false;
      try {
        await Promise.race([answer, left]);
      } finally {
        isAnswering = false;
      }
    },
    isLeaving: () => isLeaving,
    [Symbol.dispose]: () => {
      process.off("SIGINT", onInterrupt);
      input.off("SIGINT", onInterrupt);
    },
  };
}

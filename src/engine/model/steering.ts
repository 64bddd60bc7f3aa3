/** Messages for a turn that runs. Whoever sent one is told whether it was taken in. */
import type { SteerMark } from "../engine.ts";

export interface SteeredMessage {
  text: string;
  mark?: SteerMark;
}

export interface Steering {
  /** Resolves when it is known: true before the next request to the model, false at the end of the turn. */
  offer(message: SteeredMessage): Promise<boolean>;
  /** What was offered since the last time; from now on it is part of the turn. */
  take(): SteeredMessage[];
  /** Too late for everything else. */
  close(): void;
}

export function createSteering(): Steering {
  let waiting: { message: SteeredMessage; settle: (taken: boolean) => void }[] = [];
  let isOpen = true;
  const settleAll = (taken: boolean): SteeredMessage[] => {
    const settled = waiting;
    waiting = [];
    for (const { settle } of settled) settle(taken);
    return settled.map(({ message }) => message);
  };
  return {
    offer: async (message) => {
      if (!isOpen) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ message, settle: resolve });
      return await promise;
    },
    take: () => settleAll(true),
    close: () => {
      isOpen = false;
      settleAll(false);
    },
  };
}

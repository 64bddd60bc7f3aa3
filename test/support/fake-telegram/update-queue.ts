/**
 * Telegram's side of getUpdates: updates stay until an offset beyond them is asked for; a poller waits
 * while there is none; a second poller ends the first one's request with 409.
 */
import type { Message, Update } from "grammy/types";
import type { BotFailure } from "./bot-calls.ts";

export type PollAnswer = { updates: Update[] } | { failure: BotFailure };

export interface UpdateQueue {
  add(update: Partial<Update>): Update;
  addMessage(message: Message): Update;
  /** Comes with the next answer whatever the offset, in this order; for duplicates and disorder. */
  repeat(updates: readonly Update[]): void;
  /** Not yet confirmed by an offset. */
  readonly pending: readonly Update[];
  /** The highest offset that anybody has asked for. */
  readonly offset: number;
  /** `gone` says that nobody waits for the answer any more. */
  poll(params: Record<string, unknown>, gone: AbortSignal): Promise<PollAnswer>;
  /** Ends a poll under way with an empty answer. */
  release(): void;
}

const OTHER_POLLER: BotFailure = {
  error_code: 409,
  description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
};

export function createUpdateQueue(): UpdateQueue {
  let pending: Update[] = [];
  let repeated: Update[] = [];
  let lastId = 500;
  let offset = 0;
  let waiting: ((answer: PollAnswer | "look") => void) | undefined;

  const add = (update: Partial<Update>): Update => {
    lastId += 1;
    const added: Update = { update_id: lastId, ...update };
    pending.push(added);
    waiting?.("look");
    return added;
  };

  const take = (limit: number): Update[] => {
    const first = repeated;
    repeated = [];
    const rest = pending.filter((update) => update.update_id >= offset && !first.includes(update));
    return [...first, ...rest].slice(0, limit);
  };

  return {
    add,
    addMessage: (message) => add({ message: message as NonNullable<Update["message"]> }),
    repeat: (updates) => {
      repeated.push(...updates);
      waiting?.("look");
    },
    get pending() {
      return pending;
    },
    get offset() {
      return offset;
    },
    poll: async (params, gone) => {
      waiting?.({ failure: OTHER_POLLER });
      offset = Math.max(offset, Number(params["offset"] ?? 0));
      pending = pending.filter((update) => update.update_id >= offset);
      const limit = Number(params["limit"] ?? 100);
      const ready = take(limit);
      const seconds = Number(params["timeout"] ?? 0);
      if (ready.length > 0 || seconds === 0) return { updates: ready };
      return await new Promise<PollAnswer>((resolve) => {
        const finish = (answer: PollAnswer | "look"): void => {
          clearTimeout(timer);
          if (waiting === finish) waiting = undefined;
          resolve(answer === "look" ? { updates: take(limit) } : answer);
        };
        const timer = setTimeout(() => finish("look"), seconds * 1000);
        waiting = finish;
        gone.addEventListener("abort", () => finish({ updates: [] }), { once: true });
      });
    },
    release: () => waiting?.({ updates: [] }),
  };
}

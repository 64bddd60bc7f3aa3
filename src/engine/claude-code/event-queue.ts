/**
 * Events between a process that speaks when it likes and a reader that writes each of them to disk.
 * Nothing is lost; pieces of text that nobody has read yet become one.
 */
import type { EngineEvent } from "../engine.ts";

export interface EventQueue extends AsyncIterable<EngineEvent> {
  push(events: readonly EngineEvent[]): void;
  /** The reader gets what is left, then ends. */
  close(): void;
}

export function createEventQueue(): EventQueue {
  const waiting: EngineEvent[] = [];
  let isClosed = false;
  let news = Promise.withResolvers<void>();
  return {
    push(events) {
      for (const event of events) add(waiting, event);
      news.resolve();
    },
    close() {
      isClosed = true;
      news.resolve();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) yield next;
        if (isClosed) return;
        await news.promise;
        news = Promise.withResolvers();
      }
    },
  };
}

function add(waiting: EngineEvent[], event: EngineEvent): void {
  const last = waiting.at(-1);
  if (event.type === "text" && last?.type === "text") {
    waiting[waiting.length - 1] = { type: "text", text: last.text + event.text };
  } else waiting.push(event);
}

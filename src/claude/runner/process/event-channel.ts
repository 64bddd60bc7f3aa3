/**
 * Events from one process to any number of readers, each at its own pace and with bounded memory: text
 * that nobody has read yet is joined, and beyond the limit the oldest events give way and are counted.
 */
import type { ClaudeEvent } from "./claude-process.ts";

export interface EventChannel {
  publish(event: ClaudeEvent): void;
  /** Readers get what is left for them, then end. */
  close(): void;
  subscribe(): AsyncIterable<ClaudeEvent>;
}

const EVENT_LIMIT = 1000;
const JOINED_LENGTH = 16_384;

export function createEventChannel(limit: number = EVENT_LIMIT): EventChannel {
  const readers = new Set<Reader>();
  let closed = false;
  return {
    publish: (event) => {
      for (const reader of readers) reader.add(event);
    },
    close: () => {
      closed = true;
      for (const reader of readers) reader.close();
      readers.clear();
    },
    subscribe: () => {
      const reader = createReader(limit, () => readers.delete(reader));
      if (closed) reader.close();
      else readers.add(reader);
      return reader.events;
    },
  };
}

interface Reader {
  add(event: ClaudeEvent): void;
  close(): void;
  events: AsyncIterable<ClaudeEvent>;
}

function createReader(limit: number, leave: () => void): Reader {
  let waiting: ClaudeEvent[] = [];
  let dropped = 0;
  let closed = false;
  let wake: (() => void) | undefined;

  async function* read(): AsyncGenerator<ClaudeEvent> {
    try {
      while (true) {
        const [batch, lost] = [waiting, dropped];
        waiting = [];
        dropped = 0;
        if (lost > 0) yield { type: "dropped", count: lost, sessionId: batch[0]?.sessionId };
        yield* batch;
        if (waiting.length > 0) continue;
        if (closed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      leave();
    }
  }

  return {
    add: (event) => {
      const last = waiting.at(-1);
      const joined = last === undefined ? undefined : join(last, event);
      if (joined !== undefined) waiting[waiting.length - 1] = joined;
      else if (waiting.push(event) > limit) {
        waiting.shift();
        dropped += 1;
      }
      wake?.();
    },
    close: () => {
      closed = true;
      wake?.();
    },
    events: read(),
  };
}

/** One event for two pieces of the same text, if they are. */
function join(first: ClaudeEvent, second: ClaudeEvent): ClaudeEvent | undefined {
  if (first.type !== "text" && first.type !== "thinking") return undefined;
  if (second.type !== first.type || second.parentToolUseId !== first.parentToolUseId) return undefined;
  if (second.sessionId !== first.sessionId || first.text.length >= JOINED_LENGTH) return undefined;
  return { ...first, text: first.text + second.text };
}

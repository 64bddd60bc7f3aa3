/**
 * The events of a process: made from protocol messages, and delivered to any number of readers. Each
 * reader has bounded memory: unread text is joined, and beyond the limit the oldest events are dropped.
 */
import type { JsonRecord } from "../../../base/json-record.ts";
import type { ContentBlock, OutboundMessage } from "../../protocol/messages.ts";
import type { ClaudeEvent } from "./claude-process.ts";

const TEXT_LENGTH = 8000;
const INPUT_LENGTH = 2000;

/** Returns a function that turns each message of one process into events. */
export function createEventReader(): (message: OutboundMessage) => ClaudeEvent[] {
  /** Ids of messages whose text already came in pieces, so the complete message adds nothing. */
  let streamed = new Set<string>();
  let streaming: string | undefined;

  const readStream = (message: OutboundMessage & { type: "stream_event" }): ClaudeEvent[] => {
    const { event, sessionId, parentToolUseId } = message;
    if (event.kind === "message-start") streaming = event.messageId;
    if (event.kind !== "text" && event.kind !== "thinking") return [];
    if (streaming !== undefined) streamed.add(streaming);
    return [{ type: event.kind, text: event.text, sessionId, parentToolUseId }];
  };

  return (message) => {
    const { sessionId } = message;
    switch (message.type) {
      case "init":
        streamed = new Set();
        return [{ type: "turn-started", model: message.model, sessionId }];
      case "stream_event":
        return readStream(message);
      case "assistant": {
        const isKnown = message.messageId !== undefined && streamed.has(message.messageId);
        return blockEvents(message, ({ type }) => !isKnown || type === "tool_use");
      }
      case "user":
        return blockEvents(message, ({ type }) => type === "tool_result");
      case "status":
        return [{ type: "status", status: message.status, sessionId }];
      case "api_retry": {
        const { attempt, maxRetries, delayMs, status, error } = message;
        return [{ type: "retry", attempt, maxRetries, delayMs, status, error, sessionId }];
      }
      case "compact_boundary": {
        const { trigger, preTokens, postTokens } = message;
        return [{ type: "compaction", trigger, preTokens, postTokens, sessionId }];
      }
      case "task": {
        const { taskId, event, description, status } = message;
        return [{ type: "task", id: taskId, event, description, status, sessionId }];
      }
      case "damaged":
        return [{ type: "damaged", reason: message.reason, excerpt: message.excerpt, sessionId }];
      default:
        return [];
    }
  };
}

function blockEvents(
  { blocks, sessionId, parentToolUseId }: OutboundMessage & { type: "assistant" | "user" },
  isNew: (block: ContentBlock) => boolean,
): ClaudeEvent[] {
  const from = { sessionId, parentToolUseId };
  return blocks.filter(isNew).flatMap((block): ClaudeEvent[] => {
    switch (block.type) {
      case "text":
      case "thinking":
        return [{ type: block.type, text: block.text, ...from }];
      case "tool_use":
        return [{ type: "tool-use", id: block.id, name: block.name, input: shortened(block.input), ...from }];
      case "tool_result": {
        const { toolUseId: id, isError } = block;
        return [{ type: "tool-result", id, text: cut(block.text, TEXT_LENGTH), isError, ...from }];
      }
      default:
        return [];
    }
  });
}

function shortened(input: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, typeof value === "string" ? cut(value, INPUT_LENGTH) : value]),
  );
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

export interface EventChannel {
  publish(event: ClaudeEvent): void;
  /** Readers receive the remaining events, then end. */
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

/** One event for two pieces of the same text; undefined when they do not belong together. */
function join(first: ClaudeEvent, second: ClaudeEvent): ClaudeEvent | undefined {
  if (first.type !== "text" && first.type !== "thinking") return undefined;
  if (second.type !== first.type || second.parentToolUseId !== first.parentToolUseId) return undefined;
  if (second.sessionId !== first.sessionId || first.text.length >= JOINED_LENGTH) return undefined;
  return { ...first, text: first.text + second.text };
}

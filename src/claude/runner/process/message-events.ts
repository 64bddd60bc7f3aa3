/** From the messages of the protocol to the events that readers of a process get. */
import type { JsonRecord } from "../../../base/json-record.ts";
import type { ContentBlock, OutboundMessage } from "../../protocol/messages.ts";
import type { ClaudeEvent } from "./claude-process.ts";

export interface MessageEvents {
  read(message: OutboundMessage): ClaudeEvent[];
}

const TEXT_LENGTH = 8000;
const INPUT_LENGTH = 2000;

export function createMessageEvents(): MessageEvents {
  /** Messages whose text has come piece by piece already; the whole that follows is no news. */
  let streamed = new Set<string>();
  let streaming: string | undefined;

  const readStream = (message: OutboundMessage & { type: "stream_event" }): ClaudeEvent[] => {
    const { event, sessionId } = message;
    if (event.kind === "message-start") streaming = event.messageId;
    if (event.kind !== "text" && event.kind !== "thinking") return [];
    if (streaming !== undefined) streamed.add(streaming);
    return [{ type: event.kind, text: event.text, sessionId, ...parentOf(message) }];
  };

  return {
    read(message) {
      const { sessionId } = message;
      switch (message.type) {
        case "init":
          streamed = new Set();
          return [{ type: "turn-started", model: message.model, sessionId }];
        case "stream_event":
          return readStream(message);
        case "assistant": {
          const known = message.messageId !== undefined && streamed.has(message.messageId);
          const news = known ? message.blocks.filter(({ type }) => type === "tool_use") : message.blocks;
          return news.flatMap((block) => blockEvents(block, { sessionId, ...parentOf(message) }));
        }
        case "user":
          return message.blocks
            .filter(({ type }) => type === "tool_result")
            .flatMap((block) => blockEvents(block, { sessionId, ...parentOf(message) }));
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
    },
  };
}

function parentOf(message: { parentToolUseId: string | undefined }): { parentToolUseId?: string } {
  return message.parentToolUseId === undefined ? {} : { parentToolUseId: message.parentToolUseId };
}

function blockEvents(
  block: ContentBlock,
  from: { sessionId: string | undefined; parentToolUseId?: string },
): ClaudeEvent[] {
  switch (block.type) {
    case "text":
    case "thinking":
      return [{ type: block.type, text: block.text, ...from }];
    case "tool_use":
      return [{ type: "tool-use", id: block.id, name: block.name, input: shortened(block.input), ...from }];
    case "tool_result":
      return [
        {
          type: "tool-result",
          id: block.toolUseId,
          text: cut(block.text, TEXT_LENGTH),
          isError: block.isError,
          ...from,
        },
      ];
    default:
      return [];
  }
}

function shortened(input: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, typeof value === "string" ? cut(value, INPUT_LENGTH) : value]),
  );
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** What the echo engine says, in the shape of a transcript, and what it would have used as a model. */
import type { AssistantMessage, ContentBlock, ToolResultMessage } from "../../transcript/entries.ts";
import { estimateTokens, textTokens } from "../../transcript/estimate-tokens.ts";
import { NO_COST } from "../../transcript/no-usage.ts";
import type { EngineTurn, EngineUsage } from "../engine.ts";

/** `context`: how many tokens the script pretends. */
export function echoUsage(turn: EngineTurn, answer: string, context: number | undefined): EngineUsage {
  return {
    provider: "holdfast",
    model: "echo",
    input: context ?? estimateTokens(turn.context),
    output: textTokens(answer),
    cacheRead: 0,
    cacheWrite: 0,
  };
}

export function echoMessage(
  content: ContentBlock[],
  facts: { usage: EngineUsage; stopReason: "stop" | "toolUse" | "aborted"; timestamp: number },
): AssistantMessage {
  const { provider, model, input, output, cacheRead, cacheWrite } = facts.usage;
  return {
    role: "assistant",
    content,
    api: "holdfast",
    provider,
    model,
    usage: {
      input,
      output,
      cacheRead,
      cacheWrite,
      totalTokens: input + output + cacheRead + cacheWrite,
      cost: NO_COST,
    },
    stopReason: facts.stopReason,
    timestamp: facts.timestamp,
  };
}

export function toolResult(result: {
  id: string;
  name: string;
  text: string;
  isError: boolean;
  timestamp: number;
}): ToolResultMessage {
  const { id, name, text, isError, timestamp } = result;
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content: [{ type: "text", text }],
    isError,
    timestamp,
  };
}

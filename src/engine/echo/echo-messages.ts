/** What the echo engine says, in the shape of a transcript, and what it would have used as a model. */
import type { AssistantMessage, ContentBlock, ToolResultMessage, TranscriptMessage } from "../../transcript/entries.ts";
import type { EngineTurn, EngineUsage } from "../engine.ts";

const CHARACTERS_PER_TOKEN = 4;

/** `context`: how many tokens the script pretends. */
export function echoUsage(turn: EngineTurn, answer: string, context: number | undefined): EngineUsage {
  return {
    provider: "holdfast",
    model: "echo",
    input: context ?? toTokens(turn.context.reduce((sum, message) => sum + lengthOf(message), 0)),
    output: toTokens(answer.length),
    cacheRead: 0,
    cacheWrite: 0,
  };
}

function toTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The messages of a conversation come again with every turn of it. */
const lengths = new WeakMap<TranscriptMessage, number>();

function lengthOf(message: TranscriptMessage): number {
  const known = lengths.get(message);
  if (known !== undefined) return known;
  const { length } = JSON.stringify(message);
  lengths.set(message, length);
  return length;
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
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
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

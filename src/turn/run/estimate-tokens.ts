/** A rough count of tokens where no model has counted them. */
import type { MessageContent, TranscriptMessage } from "../../transcript/entries.ts";

const CHARACTERS_PER_TOKEN = 4;
/** About what the providers count for a picture of common size. */
const IMAGE_TOKENS = 1500;

export function estimateTokens(messages: readonly TranscriptMessage[]): number {
  return messages.reduce((total, message) => total + messageTokens(message), 0);
}

export function messageTokens(message: TranscriptMessage): number {
  switch (message.role) {
    case "bashExecution":
      return textTokens(message.command.length + message.output.length);
    case "branchSummary":
    case "compactionSummary":
      return textTokens(message.summary.length);
    default:
      return contentTokens(message.content);
  }
}

function contentTokens(content: MessageContent): number {
  if (typeof content === "string") return textTokens(content.length);
  return content.reduce((total, block) => {
    if (block.type === "text") return total + textTokens(block.text.length);
    if (block.type === "thinking") return total + textTokens(block.thinking.length);
    if (block.type === "image") return total + IMAGE_TOKENS;
    return total + textTokens(JSON.stringify(block).length);
  }, 0);
}

function textTokens(length: number): number {
  return Math.ceil(length / CHARACTERS_PER_TOKEN);
}

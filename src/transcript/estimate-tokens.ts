/** A rough count of tokens where no model has counted them. */
import type { MessageContent, TranscriptMessage } from "./entries.ts";

/** Of English prose; code and most other languages take more tokens, at worst about one for each character. */
export const CHARACTERS_PER_TOKEN = 4;
/** About what the providers count for a picture of common size. */
const IMAGE_TOKENS = 1500;

export function estimateTokens(messages: readonly TranscriptMessage[]): number {
  return messages.reduce((total, message) => total + messageTokens(message), 0);
}

export function messageTokens(message: TranscriptMessage): number {
  switch (message.role) {
    case "bashExecution":
      return textTokens(message.command) + textTokens(message.output);
    case "branchSummary":
    case "compactionSummary":
      return textTokens(message.summary);
    default:
      return contentTokens(message.content);
  }
}

function contentTokens(content: MessageContent): number {
  if (typeof content === "string") return textTokens(content);
  return content.reduce((total, block) => {
    if (block.type === "text") return total + textTokens(block.text);
    if (block.type === "thinking") return total + textTokens(block.thinking);
    if (block.type === "image") return total + IMAGE_TOKENS;
    return total + textTokens(JSON.stringify(block));
  }, 0);
}

export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

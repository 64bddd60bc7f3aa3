/** A rough count of tokens where no model has counted them. */
import { attachmentsOf } from "./attachments.ts";
import type { MessageContent, TranscriptMessage, UserMessage } from "./entries.ts";

/** Of English prose; code and most other languages take more tokens, at worst about one for each character. */
export const CHARACTERS_PER_TOKEN = 4;
/** About what the providers count for a picture of common size. */
export const IMAGE_TOKENS = 1500;

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
    case "user":
      return contentTokens(message.content) + attachedImages(message) * IMAGE_TOKENS;
    default:
      return contentTokens(message.content);
  }
}

function attachedImages(message: UserMessage): number {
  if (message.attachments === undefined) return 0;
  return attachmentsOf([message]).filter(({ mimeType = "" }) => mimeType.startsWith("image/")).length;
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

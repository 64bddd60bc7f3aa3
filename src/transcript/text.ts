import type { MessageContent, TranscriptMessage } from "./entries.ts";

/** The plain text of a message, for previews and titles; tool calls, images and thinking are left out. */
export function messageText(message: TranscriptMessage): string {
  if (message.role === "bashExecution") return message.output;
  if (message.role === "branchSummary" || message.role === "compactionSummary") return message.summary;
  return contentText(message.content);
}

export function contentText(content: MessageContent): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

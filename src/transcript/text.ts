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

/** What an earlier conversation left and stands before the words; undefined where nothing does. */
export function handoffText(content: MessageContent): string | undefined {
  if (typeof content === "string") return undefined;
  const blocks = content.flatMap((block) => (block.type === "text" && block.handoff === true ? [block.text] : []));
  return blocks.length === 0 ? undefined : blocks.join("\n");
}

/** The same message without what an earlier conversation left: for whoever tells what was said in this one. */
export function withoutHandoff(message: TranscriptMessage): TranscriptMessage {
  if (message.role !== "user" || typeof message.content === "string") return message;
  if (handoffText(message.content) === undefined) return message;
  return { ...message, content: message.content.filter((block) => block.type !== "text" || block.handoff !== true) };
}

/** Keeping one message within bounds: a tool may hand over a whole disk. */
import type { ContentBlock, MessageContent } from "../../transcript/entries.ts";
import type { EngineMessage } from "./turn-record.ts";

/** The same message when its text is not longer than `room`; what is cut off is counted in its place. */
export function cutMessage(message: EngineMessage, room: number): EngineMessage {
  if (textLength(message.content) <= room) return message;
  return { ...message, content: cutContent(message.content, room) };
}

function textLength(content: MessageContent): number {
  if (typeof content === "string") return content.length;
  return content.reduce((length, block) => length + (block.type === "text" ? block.text.length : 0), 0);
}

function cutContent(content: MessageContent, room: number): MessageContent {
  if (typeof content === "string") return cutText(content, room);
  let left = room;
  return content.map((block): ContentBlock => {
    if (block.type !== "text") return block;
    const text = cutText(block.text, left);
    left = Math.max(0, left - block.text.length);
    return { ...block, text };
  });
}

function cutText(text: string, room: number): string {
  if (text.length <= room) return text;
  return `${text.slice(0, room).toWellFormed()}… (${text.length - room} more characters)`;
}

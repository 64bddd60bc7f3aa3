/**
 * An agent's Markdown as Telegram shows it. The text is sent plain with a list of ranges beside it, so
 * that no text, whatever a model or a stranger put into it, can be unreadable for Telegram or turn into
 * other markup than is meant here: fenced and inline code, bold, and links to web pages. The result is
 * never longer than the text, so that limits that were kept stay kept.
 */
import type { MessageEntity } from "grammy/types";

export interface FormattedText {
  text: string;
  entities: MessageEntity[];
}

/**
 * One pass, leftmost first: what stands inside code is left alone. Every run has an end, so that a long
 * text costs time in proportion to its length.
 */
const MARKUP =
  /^```([\w+#.-]{0,32})[^\S\n]*\n([\s\S]{0,4096}?)\n```[^\S\n]*$|`([^`\n]{1,1000})`|\*\*(?=\S)([^*\n]{1,1000}?)(?<=\S)\*\*|\[([^\][\n]{1,500})\]\((https?:\/\/[^\s()<>]{1,1000})\)/gm;

export function formatMarkdown(source: string): FormattedText {
  const entities: MessageEntity[] = [];
  let text = "";
  let end = 0;
  for (const match of source.matchAll(MARKUP)) {
    const [whole, language, block, code, bold, label, url] = match;
    const content = block ?? code ?? bold ?? label ?? "";
    if (content.trim() === "") continue;
    text += source.slice(end, match.index);
    const range = { offset: text.length, length: content.length };
    if (block !== undefined) entities.push({ type: "pre", ...range, ...(language ? { language } : {}) });
    else if (code !== undefined) entities.push({ type: "code", ...range });
    else if (bold !== undefined) entities.push({ type: "bold", ...range });
    else if (url !== undefined) entities.push({ type: "text_link", ...range, url });
    text += content;
    end = match.index + whole.length;
  }
  return { text: text + source.slice(end), entities };
}

/**
 * Texts of unknown authors on their way into a prompt: strings of one JSON document, whatever they say. A
 * text can neither end its own string nor look like a tag.
 */
import { redactText } from "../base/redact.ts";

/** One line without secrets and invisible characters. Secrets go first: half of one would not be recognised. */
export function plainText(text: string, length: number): string {
  const line = redactText(text.slice(0, 20 * length).toWellFormed())
    // Marks that nobody sees, among them the tag characters that some models read all the same.
    .replace(/\p{Cf}/gu, "")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** JSON on one line without angle brackets, so that no text looks like a tag of any kind. */
export function quotedJson(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

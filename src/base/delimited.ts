/**
 * Text of somebody else within words for a model, between two marks. The marks hold a digest of the
 * text: a text that holds its own closing mark cannot be made, and the same text always looks the same,
 * which keeps a provider's cache of it.
 */
import { nodeCrypto } from "./builtin.ts";

/** `label` is ours or harmless: a file's name, a word. */
export function delimited(label: string, text: string): string {
  const digest = nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `<${label} ${digest}>\n${text}\n</${label} ${digest}>`;
}

/**
 * For records of who said what, one below the other: further lines are indented, or somebody could write
 * lines that pass for another's. Whatever shows as the end of a line counts as one.
 */
export function indentLines(text: string): string {
  return text.replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, "\n  ");
}

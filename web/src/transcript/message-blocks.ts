/** The parts of a message that can be shown. */

export type ShownBlock =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "image"; source: string }
  | { kind: "tool"; id: string; tool: ShownTool };

export interface ShownTool {
  name: string;
  /** The arguments. Undefined if only the result is known. */
  input?: string;
  /** Undefined until it has answered. */
  output?: string;
  isError: boolean;
}

/** Without SVG, which can contain scripts. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/=]+$/;

/** `content` comes from a file and is unchecked. Leaves out the hand-off: see `handoffOf`. */
export function blocksOf(content: unknown): ShownBlock[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => (isHandoff(block) ? [] : (toBlock(block) ?? [])));
}

/** The hand-off from the previous window, without its markers. */
export function handoffOf(content: unknown): string | undefined {
  const block: unknown = Array.isArray(content) ? content.find(isHandoff) : undefined;
  if (!isHandoff(block)) return undefined;
  return asText(block.text).replace(/^<handoff [0-9a-f]+>\n|\n<\/handoff [0-9a-f]+>\s*$/g, "");
}

function isHandoff(block: unknown): block is { text: unknown } {
  return typeof block === "object" && block !== null && "handoff" in block && block.handoff === true && "text" in block;
}

export function textOf(blocks: readonly ShownBlock[]): string {
  return blocks.flatMap((block) => (block.kind === "text" ? [block.text] : [])).join("\n");
}

export function resultText(content: unknown): string {
  const blocks = blocksOf(content);
  const images = blocks.filter(({ kind }) => kind === "image").length;
  return [textOf(blocks), ...(images === 0 ? [] : [`(${images} image${images === 1 ? "" : "s"})`])]
    .filter((text) => text !== "")
    .join("\n");
}

/** For unchecked fields. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toBlock(block: unknown): ShownBlock | undefined {
  if (typeof block !== "object" || block === null) return undefined;
  const { type, text, thinking, data, mimeType, id, name } = block as Record<string, unknown>;
  if (type === "text" && typeof text === "string") return text.trim() === "" ? undefined : { kind: "text", text };
  if (type === "thinking" && typeof thinking === "string") {
    return thinking.trim() === "" ? undefined : { kind: "thinking", text: thinking };
  }
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") return toImage(data, mimeType);
  if (type !== "toolCall") return undefined;
  return { kind: "tool", id: asText(id), tool: { name: asText(name), input: inputText(block), isError: false } };
}

function toImage(data: string, mimeType: string): ShownBlock {
  const isShown = IMAGE_TYPES.has(mimeType) && BASE64.test(data);
  return isShown ? { kind: "image", source: `data:${mimeType};base64,${data}` } : { kind: "text", text: "(an image)" };
}

function inputText(block: object): string {
  const input = "arguments" in block ? block.arguments : undefined;
  if (typeof input === "string") return input;
  return input === undefined || input === null ? "" : JSON.stringify(input, undefined, 2);
}

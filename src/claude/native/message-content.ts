/** What the content of a message says: whether a person wrote it, and which files its tool calls name. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";

/** What Claude Code writes in a person's name around its own commands. */
const NOT_A_PROMPT = ["<command-name>", "<local-command-", "[Request interrupted"];

/** Content of a user line that no flag of the line rules out already. */
export function isRealPrompt(content: unknown): content is string | unknown[] {
  if (typeof content !== "string" && !Array.isArray(content)) return false;
  if (blocks(content).some((block) => block["type"] === "tool_result")) return false;
  const text = promptText(content);
  return !NOT_A_PROMPT.some((start) => text.startsWith(start));
}

/** Its text blocks, one below the other; empty for a picture alone. */
export function promptText(content: string | unknown[]): string {
  if (typeof content === "string") return content;
  return blocks(content)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");
}

export interface TouchedFile {
  path: string;
  edited: boolean;
}

const EDITING_TOOLS = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
const MAX_PATH_LENGTH = 4096;

/** The files that the tool calls of a message name. */
export function touchedFiles(content: unknown): TouchedFile[] {
  const files: TouchedFile[] = [];
  for (const { type, name, input } of blocks(content)) {
    if (type !== "tool_use" || !isRecord(input)) continue;
    const path = input["file_path"] ?? input["notebook_path"];
    if (typeof path !== "string" || path === "" || path.length > MAX_PATH_LENGTH) continue;
    files.push({ path, edited: typeof name === "string" && EDITING_TOOLS.has(name) });
  }
  return files;
}

function blocks(content: unknown): JsonRecord[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

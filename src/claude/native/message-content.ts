/** What the content of a message says: whether a person wrote it, and which files its tool calls name. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { COMMA, DAMAGED, OPEN_BRACE, OPEN_BRACKET, skipSpace, skipValue } from "./json-steps.ts";
import { createObjectSkimmer } from "./object-skimmer.ts";

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

function blocks(content: unknown): JsonRecord[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

export interface TouchedFiles {
  /** Reports the files that the tool calls in the content from `start` to `end` name. */
  find(bytes: Buffer, text: string, start: number, end: number, report: (path: string, edited: boolean) => void): void;
}

const EDITING_TOOLS = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
const MAX_PATH_LENGTH = 4096;

export function createTouchedFiles(): TouchedFiles {
  const block = createObjectSkimmer(["type", "name", "input.file_path", "input.notebook_path"]);
  const member = block.slots;
  return {
    find(bytes, text, start, end, report) {
      if (end === start || bytes[start] !== OPEN_BRACKET) return;
      let at = skipSpace(bytes, start + 1, end);
      while (at < end) {
        const next = bytes[at] === OPEN_BRACE ? block.skim(bytes, at, end, text) : skipValue(bytes, text, at, end);
        if (next === DAMAGED) return;
        if (bytes[at] === OPEN_BRACE && block.text(member.type) === "tool_use") {
          const path = block.text(member["input.file_path"]) ?? block.text(member["input.notebook_path"]);
          if (path !== undefined && path !== "" && path.length <= MAX_PATH_LENGTH) {
            report(path, EDITING_TOOLS.has(block.text(member.name) ?? ""));
          }
        }
        at = skipSpace(bytes, next, end);
        if (bytes[at] !== COMMA) return;
        at = skipSpace(bytes, at + 1, end);
      }
    },
  };
}

/** Tool calls as text: the name, the file and the command. Not the content that a tool writes, and not its output. */
import { isAbsolute, join } from "node:path";
import { isRecord } from "../base/json-record.ts";
import { redactText } from "../base/redact.ts";

export interface ToolCalls {
  /** One call per line; calls that were read before are left out. */
  text: string;
  /** Paths of files that were changed, without secrets. */
  edits: string[];
}

const EDITING_TOOLS: ReadonlySet<string> = new Set([
  "Write",
  "Edit",
  "MultiEdit",
  "NotebookEdit",
  "write",
  "edit",
  "write_file",
]);
/** What a call is about. Other arguments are content. */
const MEMBERS = ["file_path", "notebook_path", "path", "command", "description", "pattern", "query", "url"] as const;
const MEMBER_LENGTH = 300;
const PATH_LENGTH = 4096;
const MAX_SEEN = 2000;

/** Reads the calls of one transcript, message by message. */
export function createToolCallReader(): (content: unknown, folder: string | undefined) => ToolCalls {
  const seen = new Set<string>();
  return (content, folder) => {
    const lines: string[] = [];
    const edits: string[] = [];
    for (const block of Array.isArray(content) ? content.filter(isRecord) : []) {
      const { type, name } = block;
      const input = type === "tool_use" ? block["input"] : type === "toolCall" ? block["arguments"] : undefined;
      if (typeof name !== "string" || !isRecord(input)) continue;
      const path = [input["file_path"], input["notebook_path"], input["path"]].find((each) => typeof each === "string");
      if (typeof path === "string" && path.length <= PATH_LENGTH && EDITING_TOOLS.has(name)) {
        edits.push(redactText(isAbsolute(path) || folder === undefined ? path : join(folder, path)));
      }
      const texts = MEMBERS.map((member) => input[member]).filter((text) => typeof text === "string");
      const line = [name, ...texts.map((text) => withoutFolder(shortened(text), folder))].join(" ");
      if (texts.length === 0 || seen.has(line)) continue;
      if (seen.size < MAX_SEEN) seen.add(line);
      lines.push(line);
    }
    return { text: lines.join("\n"), edits };
  };
}

/** More than the longest secret that can begin before the cut. */
const SECRET_LENGTH = 8192;

/** Redacts before cutting, because half a secret is not recognized. Short texts are redacted with the others later. */
function shortened(text: string): string {
  if (text.length <= MEMBER_LENGTH) return text;
  return redactText(text.slice(0, MEMBER_LENGTH + SECRET_LENGTH)).slice(0, MEMBER_LENGTH);
}

/** Every path of a session begins with its folder, which tells nothing. */
function withoutFolder(text: string, folder: string | undefined): string {
  return folder === undefined || folder === "/" ? text : text.replaceAll(`${folder}/`, "");
}

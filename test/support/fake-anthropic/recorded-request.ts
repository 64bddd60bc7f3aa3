/** A recorded request to the fake API, and functions that read it. */
import { isRecord } from "../../../src/base/json-record.ts";

export interface RecordedRequest {
  /**
   * `main`: the conversation; `subagent`: one that a tool started; `compaction`: a summary is wanted;
   * `side`: what the CLI asks on its own account (titles, quota, warm-up).
   */
  kind: "main" | "subagent" | "compaction" | "side";
  model: string;
  /** All system blocks, joined. */
  system: string;
  messages: RequestMessage[];
  /** Names of the offered tools. */
  tools: string[];
  streamed: boolean;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
}

export interface RequestMessage {
  role: string;
  content: Record<string, unknown>[];
}

export function recordRequest(
  body: Record<string, unknown>,
  headers: Record<string, string | string[] | undefined>,
): RecordedRequest {
  const system = blocksOf(body["system"]).map(textOfBlock).join("\n");
  const messages = (Array.isArray(body["messages"]) ? body["messages"] : []).filter(isRecord).map((entry) => ({
    role: String(entry["role"]),
    content: blocksOf(entry["content"]),
  }));
  const tools = (Array.isArray(body["tools"]) ? body["tools"] : [])
    .filter(isRecord)
    .map((tool) => String(tool["name"]));
  const request = {
    model: String(body["model"]),
    system,
    messages,
    tools,
    streamed: body["stream"] === true,
    headers,
    body,
  };
  return { ...request, kind: kindOf(request) };
}

/** The person's last text, without tool results and text added by the CLI. */
export function lastUserText(request: Pick<RecordedRequest, "messages">): string {
  return lastUserBlocks(request)
    .map(textOfBlock)
    .filter((part) => part !== "" && !ADDED_BY_THE_CLI.test(part))
    .join("\n")
    .trim();
}

const ADDED_BY_THE_CLI = /^<(?:system-reminder|local-command-|command-)/;

/** The tool results in the last message. */
export function toolResults(request: RecordedRequest): { id: string; text: string; isError: boolean }[] {
  return lastUserBlocks(request)
    .filter((block) => block["type"] === "tool_result")
    .map((block) => ({
      id: String(block["tool_use_id"]),
      text: blocksOf(block["content"]).map(textOfBlock).join("\n"),
      isError: block["is_error"] === true,
    }));
}

function kindOf(request: Omit<RecordedRequest, "kind">): RecordedRequest["kind"] {
  if (!String(request.headers["user-agent"]).startsWith("claude-cli/")) return "main";
  if (request.headers["x-claude-code-agent-id"] !== undefined) return "subagent";
  if (lastUserText(request).includes("create a detailed summary of the")) return "compaction";
  return request.tools.length === 0 ? "side" : "main";
}

/** The CLI puts `system` messages between and after the person's messages. */
function lastUserBlocks(request: Pick<RecordedRequest, "messages">): Record<string, unknown>[] {
  return request.messages.findLast(({ role }) => role === "user")?.content ?? [];
}

function blocksOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function textOfBlock(block: Record<string, unknown>): string {
  return typeof block["text"] === "string" ? block["text"] : "";
}

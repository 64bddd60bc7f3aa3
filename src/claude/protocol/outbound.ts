/**
 * Parses one line of Claude Code's stdout. It never throws: a line that is not a message becomes `damaged`,
 * and a message of another version becomes `unknown` or lacks members.
 */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type {
  ControlResponseMessage,
  OutboundMessage,
  PermissionDenial,
  ResultMessage,
  StreamEventMessage,
  TokenUsage,
  ContentBlock,
} from "./messages.ts";

const EXCERPT_LENGTH = 200;

export function parseOutboundMessage(line: string): OutboundMessage {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return damaged("not a complete JSON value", line);
  }
  if (!isRecord(parsed)) return damaged("not a JSON object", line);
  return readMessage(parsed) ?? { type: "unknown", sessionId: sessionIdOf(parsed), raw: parsed };
}

function damaged(reason: string, line: string): OutboundMessage {
  return { type: "damaged", sessionId: undefined, reason, excerpt: line.slice(0, EXCERPT_LENGTH) };
}

function sessionIdOf(raw: JsonRecord): string | undefined {
  return text(raw["session_id"]);
}

function readMessage(raw: JsonRecord): OutboundMessage | undefined {
  switch (raw["type"]) {
    case "system":
      return readSystem(raw);
    case "assistant": {
      const message = record(raw["message"]);
      return {
        type: "assistant",
        ...conversation(raw),
        messageId: text(message["id"]),
        model: text(message["model"]),
        blocks: contentBlocks(message["content"]),
        apiError: text(raw["error"]),
      };
    }
    case "user":
      return {
        type: "user",
        ...conversation(raw),
        uuid: text(raw["uuid"]),
        blocks: contentBlocks(record(raw["message"])["content"]),
        isReplay: flag(raw["isReplay"]),
        isSynthetic: flag(raw["isSynthetic"]),
      };
    case "stream_event":
      return { type: "stream_event", ...conversation(raw), event: streamEvent(record(raw["event"])) };
    case "result":
      return readResult(raw);
    case "control_response":
      return readControlResponse(record(raw["response"]));
    case "control_request": {
      const requestId = text(raw["request_id"]);
      if (requestId === undefined) return undefined;
      return { type: "control_request", sessionId: undefined, requestId, request: record(raw["request"]) };
    }
    default:
      return undefined;
  }
}

function conversation(raw: JsonRecord): { sessionId: string | undefined; parentToolUseId: string | undefined } {
  return { sessionId: sessionIdOf(raw), parentToolUseId: text(raw["parent_tool_use_id"]) };
}

function readSystem(raw: JsonRecord): OutboundMessage | undefined {
  const sessionId = sessionIdOf(raw);
  const subtype = text(raw["subtype"]) ?? "";
  switch (subtype) {
    case "init":
      return {
        type: "init",
        sessionId,
        model: text(raw["model"]),
        cwd: text(raw["cwd"]),
        permissionMode: text(raw["permissionMode"]),
        version: text(raw["claude_code_version"]),
        tools: list(raw["tools"]).filter((tool) => typeof tool === "string"),
        mcpServers: list(raw["mcp_servers"])
          .filter(isRecord)
          .map((server) => ({ name: text(server["name"]) ?? "", status: text(server["status"]) ?? "" })),
      };
    case "status":
      return {
        type: "status",
        sessionId,
        status: text(raw["status"]),
        permissionMode: text(raw["permissionMode"]),
        compactResult: text(raw["compact_result"]),
        compactError: text(raw["compact_error"]),
      };
    case "api_retry":
      return {
        type: "api_retry",
        sessionId,
        attempt: number(raw["attempt"]) ?? 0,
        maxRetries: number(raw["max_retries"]) ?? 0,
        delayMs: number(raw["retry_delay_ms"]) ?? 0,
        status: number(raw["error_status"]),
        error: text(raw["error"]) ?? "",
      };
    case "compact_boundary": {
      const compaction = record(raw["compact_metadata"]);
      return {
        type: "compact_boundary",
        sessionId,
        trigger: text(compaction["trigger"]),
        preTokens: number(compaction["pre_tokens"]),
        postTokens: number(compaction["post_tokens"]),
      };
    }
    default:
      return readTaskOrHook(raw, subtype, sessionId);
  }
}

function readTaskOrHook(raw: JsonRecord, subtype: string, sessionId: string | undefined): OutboundMessage | undefined {
  const taskId = text(raw["task_id"]);
  if (subtype.startsWith("task_") && taskId !== undefined) {
    return {
      type: "task",
      sessionId,
      event: subtype.slice("task_".length),
      taskId,
      taskType: text(raw["task_type"]),
      toolUseId: text(raw["tool_use_id"]),
      description: text(raw["description"]) ?? text(raw["summary"]) ?? "",
      status: text(raw["status"]) ?? text(record(raw["patch"])["status"]),
    };
  }
  if (!subtype.startsWith("hook_")) return undefined;
  return {
    type: "hook",
    sessionId,
    event: subtype.slice("hook_".length),
    name: text(raw["hook_name"]) ?? "",
    hookEvent: text(raw["hook_event"]),
    outcome: text(raw["outcome"]),
    exitCode: number(raw["exit_code"]),
  };
}

function streamEvent(event: JsonRecord): StreamEventMessage["event"] {
  const name = text(event["type"]) ?? "";
  const delta = record(event["delta"]);
  if (name === "message_start") {
    const message = record(event["message"]);
    const usage = tokenUsage(message["usage"]);
    return { kind: "message-start", messageId: text(message["id"]), model: text(message["model"]), usage };
  }
  if (name === "message_delta") {
    return { kind: "message-end", stopReason: text(delta["stop_reason"]), usage: tokenUsage(event["usage"]) };
  }
  if (name === "message_stop") return { kind: "message-stop" };
  const said = text(delta["text"]);
  if (delta["type"] === "text_delta" && said !== undefined) return { kind: "text", text: said };
  const thought = text(delta["thinking"]);
  if (delta["type"] === "thinking_delta" && thought !== undefined) return { kind: "thinking", text: thought };
  return { kind: "other", name };
}

function readResult(raw: JsonRecord): ResultMessage {
  return {
    type: "result",
    sessionId: sessionIdOf(raw),
    subtype: text(raw["subtype"]) ?? "",
    isError: flag(raw["is_error"]),
    text: text(raw["result"]) ?? "",
    errors: list(raw["errors"]).filter((error) => typeof error === "string"),
    numTurns: number(raw["num_turns"]) ?? 0,
    durationMs: number(raw["duration_ms"]) ?? 0,
    totalCostUsd: number(raw["total_cost_usd"]) ?? 0,
    usage: tokenUsage(raw["usage"]),
    denials: list(raw["permission_denials"]).filter(isRecord).map(readDenial),
    apiStatus: number(raw["api_error_status"]),
    terminalReason: text(raw["terminal_reason"]),
    origin: text(record(raw["origin"])["kind"]),
  };
}

function tokenUsage(value: unknown): TokenUsage {
  const usage = record(value);
  return {
    inputTokens: number(usage["input_tokens"]) ?? 0,
    outputTokens: number(usage["output_tokens"]) ?? 0,
    cacheReadTokens: number(usage["cache_read_input_tokens"]) ?? 0,
    cacheWriteTokens: number(usage["cache_creation_input_tokens"]) ?? 0,
  };
}

function readDenial(raw: JsonRecord): PermissionDenial {
  return {
    toolName: text(raw["tool_name"]) ?? "",
    toolUseId: text(raw["tool_use_id"]) ?? "",
    input: record(raw["tool_input"]),
  };
}

function readControlResponse(response: JsonRecord): ControlResponseMessage | undefined {
  const requestId = text(response["request_id"]);
  if (requestId === undefined) return undefined;
  const answer: ControlResponseMessage["answer"] =
    response["subtype"] === "error"
      ? { ok: false, error: text(response["error"]) ?? "no reason given" }
      : { ok: true, response: record(response["response"]) };
  return { type: "control_response", sessionId: undefined, requestId, answer };
}

function contentBlocks(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return list(content).filter(isRecord).map(readBlock);
}

function readBlock(raw: JsonRecord): ContentBlock {
  switch (raw["type"]) {
    case "text":
      return { type: "text", text: text(raw["text"]) ?? "" };
    case "thinking":
      return { type: "thinking", text: text(raw["thinking"]) ?? "" };
    case "tool_use": {
      const id = text(raw["id"]) ?? "";
      return { type: "tool_use", id, name: text(raw["name"]) ?? "", input: record(raw["input"]) };
    }
    case "tool_result": {
      const toolUseId = text(raw["tool_use_id"]) ?? "";
      return { type: "tool_result", toolUseId, text: plainText(raw["content"]), isError: flag(raw["is_error"]) };
    }
    default:
      return { type: "other", raw };
  }
}

function plainText(content: unknown): string {
  return contentBlocks(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function flag(value: unknown): boolean {
  return value === true;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

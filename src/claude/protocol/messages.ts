/**
 * The stream-json messages of Claude Code that Holdfast uses, in Holdfast's spelling, and the parser of one line of its
 * stdout. The format is Claude Code's own and changes without notice. The parser never throws: a line that is not a
 * message becomes `damaged`, a message of another version becomes `unknown`, and any member may be missing.
 *
 * - Each message has its own session id, because `/clear` changes it within a process.
 * - Only a `result` has real usage and cost; the figures of assistant messages are placeholders.
 */
import { type JsonRecord, isRecord, listOf, recordOf } from "../../base/json-record.ts";

export type PermissionMode = "default" | "acceptEdits" | "plan" | "bypassPermissions" | "dontAsk" | "auto";

/** Claude Code asks whether it may use a tool. The texts were written by a model. */
export interface PermissionQuestion {
  tool: string;
  input: JsonRecord;
  description: string | undefined;
  /** Rules that would answer such questions from then on, in Claude Code's own form. */
  suggestions: readonly JsonRecord[];
}

/** `session`: also allows the same command, or the same tool, until the process ends. */
export type PermissionAnswer = { allow: "once" | "session" } | { deny: string };

/** The answer in Claude Code's form. Rules never reach a settings file: they belong to this process only. */
export function permissionResponse(answer: PermissionAnswer, question: PermissionQuestion): JsonRecord {
  if ("deny" in answer) return { behavior: "deny", message: answer.deny };
  const updatedPermissions = answer.allow === "session" ? sessionRules(question) : undefined;
  return { behavior: "allow", updatedInput: question.input, updatedPermissions };
}

/** Other suggestions, such as a mode that accepts every edit, allow more than the person was asked for. */
function sessionRules({ tool, suggestions }: PermissionQuestion): JsonRecord[] {
  const rules = suggestions.filter(({ type }) => type === "addRules");
  const own = { type: "addRules", rules: [{ toolName: tool }], behavior: "allow" };
  return (rules.length === 0 ? [own] : rules).map((rule) => ({ ...rule, destination: "session" }));
}

export type OutboundMessage =
  | NonNullable<ReturnType<typeof readMessage>>
  | { type: "unknown"; sessionId: string | undefined; raw: JsonRecord }
  /** Not a JSON object. */
  | { type: "damaged"; sessionId: undefined; reason: string; excerpt: string };

export type ResultMessage = ReturnType<typeof readResult>;
export type ContentBlock = ReturnType<typeof readBlock>;
export type TokenUsage = ReturnType<typeof tokenUsage>;
export type PermissionDenial = ReturnType<typeof readDenial>;

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

function readMessage(raw: JsonRecord) {
  switch (raw["type"]) {
    case "system":
      return readSystem(raw);
    case "assistant": {
      const message = recordOf(raw["message"]);
      return {
        type: "assistant" as const,
        ...conversation(raw),
        /** Several messages can share it: each content block is a message of its own. */
        messageId: text(message["id"]),
        model: text(message["model"]),
        blocks: contentBlocks(message["content"]),
        /** Set when the API refused and Claude Code answers instead of the model: `rate_limit`, … */
        apiError: text(raw["error"]),
      };
    }
    case "user":
      return {
        type: "user" as const,
        ...conversation(raw),
        uuid: text(raw["uuid"]),
        blocks: contentBlocks(recordOf(raw["message"])["content"]),
        /** Our own message, echoed when its turn begins. */
        isReplay: flag(raw["isReplay"]),
        /** Written by Claude Code, such as the summary after a compaction. */
        isSynthetic: flag(raw["isSynthetic"]),
      };
    // Only with `--include-partial-messages`.
    case "stream_event":
      return { type: "stream_event" as const, ...conversation(raw), event: streamEvent(recordOf(raw["event"])) };
    case "result":
      return readResult(raw);
    case "control_response":
      return readControlResponse(recordOf(raw["response"]));
    // A request from Claude Code. The turn hangs until it is answered.
    case "control_request":
      return readControlRequest(raw);
    // The request no longer needs an answer, as after an interrupt.
    case "control_cancel_request": {
      const requestId = text(raw["request_id"]);
      if (requestId === undefined) return undefined;
      return { type: "control_cancel_request" as const, sessionId: undefined, requestId };
    }
    default:
      return undefined;
  }
}

function readControlRequest(raw: JsonRecord) {
  const requestId = text(raw["request_id"]);
  if (requestId === undefined) return undefined;
  const request = recordOf(raw["request"]);
  const permission = request["subtype"] === "can_use_tool" ? readPermission(request) : undefined;
  return { type: "control_request" as const, sessionId: undefined, requestId, permission };
}

/** Only with `--permission-prompt-tool=stdio`. */
function readPermission(request: JsonRecord): PermissionQuestion {
  return {
    tool: text(request["tool_name"]) ?? "",
    input: recordOf(request["input"]),
    description: text(request["description"]),
    suggestions: listOf(request["permission_suggestions"]).filter(isRecord),
  };
}

/** Messages of a subagent carry the id of the tool use that started it. */
function conversation(raw: JsonRecord) {
  return { sessionId: sessionIdOf(raw), parentToolUseId: text(raw["parent_tool_use_id"]) };
}

function readSystem(raw: JsonRecord) {
  const sessionId = sessionIdOf(raw);
  const subtype = text(raw["subtype"]) ?? "";
  switch (subtype) {
    // Sent once per turn, not once per process.
    case "init":
      return {
        type: "init" as const,
        sessionId,
        model: text(raw["model"]),
        cwd: text(raw["cwd"]),
        permissionMode: text(raw["permissionMode"]),
        version: text(raw["claude_code_version"]),
        tools: listOf(raw["tools"]).filter((tool) => typeof tool === "string"),
        mcpServers: listOf(raw["mcp_servers"])
          .filter(isRecord)
          .map((server) => ({ name: text(server["name"]) ?? "", status: text(server["status"]) ?? "" })),
      };
    case "status":
      return {
        type: "status" as const,
        sessionId,
        /** Undefined: back to normal. */
        status: text(raw["status"]),
        permissionMode: text(raw["permissionMode"]),
        compactResult: text(raw["compact_result"]),
        compactError: text(raw["compact_error"]),
      };
    case "api_retry":
      return {
        type: "api_retry" as const,
        sessionId,
        attempt: number(raw["attempt"]) ?? 0,
        maxRetries: number(raw["max_retries"]) ?? 0,
        delayMs: number(raw["retry_delay_ms"]) ?? 0,
        /** HTTP status; undefined without a response. */
        status: number(raw["error_status"]),
        error: text(raw["error"]) ?? "",
      };
    case "compact_boundary": {
      const compaction = recordOf(raw["compact_metadata"]);
      return {
        type: "compact_boundary" as const,
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

/** A task is a subagent or a background command. */
function readTaskOrHook(raw: JsonRecord, subtype: string, sessionId: string | undefined) {
  const taskId = text(raw["task_id"]);
  if (subtype.startsWith("task_") && taskId !== undefined) {
    return {
      type: "task" as const,
      sessionId,
      event: subtype.slice("task_".length),
      taskId,
      taskType: text(raw["task_type"]),
      toolUseId: text(raw["tool_use_id"]),
      description: text(raw["description"]) ?? text(raw["summary"]) ?? "",
      status: text(raw["status"]) ?? text(recordOf(raw["patch"])["status"]),
    };
  }
  if (!subtype.startsWith("hook_")) return undefined;
  return {
    type: "hook" as const,
    sessionId,
    event: subtype.slice("hook_".length),
    name: text(raw["hook_name"]) ?? "",
    hookEvent: text(raw["hook_event"]),
    outcome: text(raw["outcome"]),
    exitCode: number(raw["exit_code"]),
  };
}

function streamEvent(event: JsonRecord) {
  const name = text(event["type"]) ?? "";
  const delta = recordOf(event["delta"]);
  if (name === "message_start") {
    const message = recordOf(event["message"]);
    const usage = tokenUsage(message["usage"]);
    return { kind: "message-start" as const, messageId: text(message["id"]), model: text(message["model"]), usage };
  }
  // The final usage of one model request; no other message has it.
  if (name === "message_delta") {
    return { kind: "message-end" as const, stopReason: text(delta["stop_reason"]), usage: tokenUsage(event["usage"]) };
  }
  if (name === "message_stop") return { kind: "message-stop" as const };
  const said = text(delta["text"]);
  if (delta["type"] === "text_delta" && said !== undefined) return { kind: "text" as const, text: said };
  const thought = text(delta["thinking"]);
  if (delta["type"] === "thinking_delta" && thought !== undefined) return { kind: "thinking" as const, text: thought };
  return { kind: "other" as const, name };
}

function readResult(raw: JsonRecord) {
  return {
    type: "result" as const,
    sessionId: sessionIdOf(raw),
    /** `success` even when the API refused: check `isError` too. */
    subtype: text(raw["subtype"]) ?? "",
    isError: flag(raw["is_error"]),
    text: text(raw["result"]) ?? "",
    errors: listOf(raw["errors"]).filter((error) => typeof error === "string"),
    numTurns: number(raw["num_turns"]) ?? 0,
    durationMs: number(raw["duration_ms"]) ?? 0,
    /** Cumulative over the process; newer versions include the earlier cost of a resumed session. */
    totalCostUsd: number(raw["total_cost_usd"]) ?? 0,
    /** Of this turn, without subagents. */
    usage: tokenUsage(raw["usage"]),
    denials: listOf(raw["permission_denials"]).filter(isRecord).map(readDenial),
    apiStatus: number(raw["api_error_status"]),
    terminalReason: text(raw["terminal_reason"]),
    /** Set on a turn that Claude Code started itself, such as `task-notification` after a background command. */
    origin: text(recordOf(raw["origin"])["kind"]),
  };
}

function tokenUsage(value: unknown) {
  const usage = recordOf(value);
  return {
    inputTokens: number(usage["input_tokens"]) ?? 0,
    outputTokens: number(usage["output_tokens"]) ?? 0,
    cacheReadTokens: number(usage["cache_read_input_tokens"]) ?? 0,
    cacheWriteTokens: number(usage["cache_creation_input_tokens"]) ?? 0,
  };
}

function readDenial(raw: JsonRecord) {
  return {
    toolName: text(raw["tool_name"]) ?? "",
    toolUseId: text(raw["tool_use_id"]) ?? "",
    input: recordOf(raw["tool_input"]),
  };
}

function readControlResponse(response: JsonRecord) {
  const requestId = text(response["request_id"]);
  if (requestId === undefined) return undefined;
  const answer =
    response["subtype"] === "error"
      ? { ok: false as const, error: text(response["error"]) ?? "no reason given" }
      : { ok: true as const, response: recordOf(response["response"]) };
  return { type: "control_response" as const, sessionId: undefined, requestId, answer };
}

function contentBlocks(content: unknown): ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listOf(content).filter(isRecord).map(readBlock);
}

function readBlock(raw: JsonRecord) {
  switch (raw["type"]) {
    case "text":
      return { type: "text" as const, text: text(raw["text"]) ?? "" };
    case "thinking":
      return { type: "thinking" as const, text: text(raw["thinking"]) ?? "" };
    case "tool_use": {
      const id = text(raw["id"]) ?? "";
      return { type: "tool_use" as const, id, name: text(raw["name"]) ?? "", input: recordOf(raw["input"]) };
    }
    case "tool_result": {
      const toolUseId = text(raw["tool_use_id"]) ?? "";
      return {
        type: "tool_result" as const,
        toolUseId,
        text: plainText(raw["content"]),
        isError: flag(raw["is_error"]),
      };
    }
    default:
      return { type: "other" as const, raw };
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

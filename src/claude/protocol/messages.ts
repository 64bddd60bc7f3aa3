/**
 * The stream-json messages of Claude Code that Holdfast uses, in Holdfast's spelling. The format is
 * Claude Code's own and changes without notice: other messages become `unknown`, and any member may be
 * missing.
 *
 * - Each message has its own session id, because `/clear` changes it within a process.
 * - Only a `result` has real usage and cost; the figures of assistant messages are placeholders.
 */
import type { JsonRecord } from "../../base/json-record.ts";

export type PermissionMode = "default" | "acceptEdits" | "plan" | "bypassPermissions" | "dontAsk" | "auto";

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export interface PermissionDenial {
  toolName: string;
  toolUseId: string;
  input: JsonRecord;
}

/** Requests to a running process other than user messages. */
export type ControlRequest =
  | { subtype: "initialize" }
  | { subtype: "interrupt" }
  | { subtype: "set_permission_mode"; mode: PermissionMode }
  | { subtype: "set_model"; model: string }
  | { subtype: "get_context_usage" }
  | { subtype: "mcp_status" }
  | { subtype: "rename_session"; title: string }
  | { subtype: "end_session" };

export type OutboundMessage =
  | InitMessage
  | AssistantMessage
  | UserMessage
  | StreamEventMessage
  | StatusMessage
  | ApiRetryMessage
  | TaskMessage
  | HookMessage
  | CompactBoundaryMessage
  | ResultMessage
  | ControlResponseMessage
  | IncomingControlRequest
  | { type: "unknown"; sessionId: string | undefined; raw: JsonRecord }
  /** Not a JSON object. */
  | { type: "damaged"; sessionId: undefined; reason: string; excerpt: string };

interface FromSession {
  sessionId: string | undefined;
}

/** Messages of a subagent carry the id of the tool use that started it. */
interface FromConversation extends FromSession {
  parentToolUseId: string | undefined;
}

/** Sent once per turn, not once per process. */
export interface InitMessage extends FromSession {
  type: "init";
  model: string | undefined;
  cwd: string | undefined;
  permissionMode: string | undefined;
  version: string | undefined;
  tools: string[];
  mcpServers: { name: string; status: string }[];
}

export interface AssistantMessage extends FromConversation {
  type: "assistant";
  /** Several messages can share it: each content block is a message of its own. */
  messageId: string | undefined;
  model: string | undefined;
  blocks: ContentBlock[];
  /** Set when the API refused and Claude Code answers instead of the model: `rate_limit`, … */
  apiError: string | undefined;
}

export interface UserMessage extends FromConversation {
  type: "user";
  uuid: string | undefined;
  blocks: ContentBlock[];
  /** Our own message, echoed when its turn begins. */
  isReplay: boolean;
  /** Written by Claude Code, such as the summary after a compaction. */
  isSynthetic: boolean;
}

export type ContentBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_use"; id: string; name: string; input: JsonRecord }
  | { type: "tool_result"; toolUseId: string; text: string; isError: boolean }
  | { type: "other"; raw: JsonRecord };

/** Only with `--include-partial-messages`. */
export interface StreamEventMessage extends FromConversation {
  type: "stream_event";
  event:
    | { kind: "message-start"; messageId: string | undefined; model: string | undefined; usage: TokenUsage }
    | { kind: "text"; text: string }
    | { kind: "thinking"; text: string }
    /** The final usage of one model request; no other message has it. */
    | { kind: "message-end"; stopReason: string | undefined; usage: TokenUsage }
    | { kind: "message-stop" }
    | { kind: "other"; name: string };
}

export interface StatusMessage extends FromSession {
  type: "status";
  /** Undefined: back to normal. */
  status: string | undefined;
  permissionMode: string | undefined;
  compactResult: string | undefined;
  compactError: string | undefined;
}

export interface ApiRetryMessage extends FromSession {
  type: "api_retry";
  attempt: number;
  maxRetries: number;
  delayMs: number;
  /** HTTP status; undefined without a response. */
  status: number | undefined;
  error: string;
}

/** A subagent or a background command. */
export interface TaskMessage extends FromSession {
  type: "task";
  event: string;
  taskId: string;
  taskType: string | undefined;
  toolUseId: string | undefined;
  description: string;
  status: string | undefined;
}

export interface HookMessage extends FromSession {
  type: "hook";
  event: string;
  name: string;
  hookEvent: string | undefined;
  outcome: string | undefined;
  exitCode: number | undefined;
}

export interface CompactBoundaryMessage extends FromSession {
  type: "compact_boundary";
  trigger: string | undefined;
  preTokens: number | undefined;
  postTokens: number | undefined;
}

export interface ResultMessage extends FromSession {
  type: "result";
  /** `success` even when the API refused: check `isError` too. */
  subtype: string;
  isError: boolean;
  text: string;
  errors: string[];
  numTurns: number;
  durationMs: number;
  /** Cumulative over the process; newer versions include the earlier cost of a resumed session. */
  totalCostUsd: number;
  /** Of this turn, without subagents. */
  usage: TokenUsage;
  denials: PermissionDenial[];
  apiStatus: number | undefined;
  terminalReason: string | undefined;
  /** Set on a turn that Claude Code started itself, such as `task-notification` after a background command. */
  origin: string | undefined;
}

export interface ControlResponseMessage {
  type: "control_response";
  sessionId: undefined;
  requestId: string;
  answer: { ok: true; response: JsonRecord } | { ok: false; error: string };
}

/** A request from Claude Code. The turn hangs until it is answered. */
export interface IncomingControlRequest {
  type: "control_request";
  sessionId: undefined;
  requestId: string;
  request: JsonRecord;
}

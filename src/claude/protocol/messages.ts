/**
 * The messages of Claude Code's stream-json, as far as Holdfast uses them, in Holdfast's own spelling.
 * The format belongs to Claude Code and changes without notice: a message that is not listed here passes
 * through as `unknown`, and every member may be missing.
 *
 * Two traps that the types cannot show. The session id belongs to each message, because `/clear` changes
 * it within a process. And only a `result` knows usage and cost: assistant messages carry placeholders.
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

/** What can be asked of a running process besides answering a message. */
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
  /** Not a message at all: no JSON, or no object. */
  | { type: "damaged"; sessionId: undefined; reason: string; excerpt: string };

interface FromSession {
  sessionId: string | undefined;
}

/** What a subagent says and does carries the tool use that started it. */
interface FromConversation extends FromSession {
  parentToolUseId: string | undefined;
}

/** Comes once per turn, not once per process. */
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
  /** Several messages can share it: each content block comes in one of its own. */
  messageId: string | undefined;
  model: string | undefined;
  blocks: ContentBlock[];
  /** Set when Claude Code speaks in the model's place because the API refused: `rate_limit`, … */
  apiError: string | undefined;
}

export interface UserMessage extends FromConversation {
  type: "user";
  uuid: string | undefined;
  blocks: ContentBlock[];
  /** Our own message, sent back when its turn begins. */
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
    /** What one request to the model used in the end, which only these events know. */
    | { kind: "message-end"; stopReason: string | undefined; usage: TokenUsage }
    | { kind: "message-stop" }
    | { kind: "other"; name: string };
}

export interface StatusMessage extends FromSession {
  type: "status";
  /** Undefined: nothing special any more. */
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
  /** The HTTP status, if there was an answer at all. */
  status: number | undefined;
  error: string;
}

/** A subagent or a command in the background. */
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
  /** `success` even when the API refused: look at `isError` too. */
  subtype: string;
  isError: boolean;
  text: string;
  errors: string[];
  numTurns: number;
  durationMs: number;
  /** Cumulative over the process; newer versions also carry over what a resumed session had cost. */
  totalCostUsd: number;
  /** Of this turn, without subagents. */
  usage: TokenUsage;
  denials: PermissionDenial[];
  apiStatus: number | undefined;
  terminalReason: string | undefined;
  /** Set on a turn that nobody asked for, such as `task-notification` after a background command. */
  origin: string | undefined;
}

export interface ControlResponseMessage {
  type: "control_response";
  sessionId: undefined;
  requestId: string;
  answer: { ok: true; response: JsonRecord } | { ok: false; error: string };
}

/** Claude Code asks us; whoever leaves it without an answer leaves the turn hanging. */
export interface IncomingControlRequest {
  type: "control_request";
  sessionId: undefined;
  requestId: string;
  request: JsonRecord;
}

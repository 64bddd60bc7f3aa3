/**
 * One running `claude` under control: what it is started with, what comes back, how it ends. This file
 * is the contract; `startClaudeProcess(options)` in `start-claude-process.ts` makes one.
 *
 * - One turn at a time. Messages sent while a turn runs wait in line: Claude Code would merge them.
 * - `send` resolves with an outcome whatever happens to the turn; it rejects only when there is no
 *   process any more to send to.
 * - When the process ends, by whatever cause, everything that it started is ended too.
 * - Text in events and results was written by models and tools: data, never instructions.
 */
import type { JsonRecord } from "../../../base/json-record.ts";
import type { Environment } from "../../../config/layout.ts";
import type {
  ControlRequest,
  OutboundMessage,
  PermissionDenial,
  PermissionMode,
  TokenUsage,
} from "../../protocol/messages.ts";

export interface ClaudeProcessOptions {
  /** A name on the PATH or a path: `claudeCode.command`. */
  command: string;
  cwd: string;
  /** Left out: the environment of this process. Variables of an outer Claude Code session are taken out. */
  env?: Environment;
  /** Left out: a new session whose id Claude Code chooses. */
  session?: SessionStart;
  /**
   * What Claude Code last reported as the cost of the session that is resumed or forked. Newer versions
   * carry it over; it is needed to tell what the first turn cost.
   */
  resumedCostUsd?: number;
  /** Left out: what Claude Code itself would use; so for all that follow. */
  model?: string;
  permissionMode?: PermissionMode;
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  mcpConfigFile?: string;
  /** Only the servers of `mcpConfigFile`, none of the person's own. */
  strictMcpConfig?: boolean;
  /** Model calls within one turn. */
  maxTurns?: number;
  /** What the process may spend; Claude Code looks at it after each call. */
  maxBudgetUsd?: number;
  /** A file, because an argument is limited in length and everybody on the machine can read it. */
  appendSystemPromptFile?: string;
  effort?: string;
  addDirs?: readonly string[];
  /** Name shown by Claude Code's own lists. */
  name?: string;
  /** False: no text deltas; text then comes block by block. */
  partialMessages?: boolean;
  /** A turn that takes longer is ended with `timed-out`. Left out: no limit. */
  turnTimeoutMs?: number;
  grace?: Partial<GraceTimes>;
  /** Every message as it comes, for whoever must not miss any; `events` leaves out and cuts. */
  onMessage?: (message: OutboundMessage) => void;
}

export type SessionStart =
  /** A UUID that no session has yet. */
  | { kind: "new"; sessionId?: string }
  | { kind: "resume"; sessionId: string }
  /** Goes on under a new id; `sessionId` is the one to copy. */
  | { kind: "fork"; sessionId: string; newSessionId?: string };

/** How long each step of ending something may take before the next, harder one. */
export interface GraceTimes {
  /** From a control request to interrupt until the turn has ended. Default 3 s. */
  interruptMs: number;
  /** From the polite request to end until SIGINT. Default 5 s. */
  endMs: number;
  /** From SIGINT to SIGTERM, and from SIGTERM until everything is ended with SIGKILL. Default 3 s. */
  terminateMs: number;
}

export interface ClaudeProcess extends AsyncDisposable {
  readonly pid: number;
  /** As the last message named it: `/clear` changes it. Undefined until the first message. */
  readonly sessionId: string | undefined;
  readonly state: "idle" | "busy" | "ended";
  /** Resolves when the process and everything it started are gone. Never rejects. */
  readonly ended: Promise<ClaudeExit>;
  send(text: string, options?: SendOptions): Promise<ClaudeTurn>;
  /**
   * Ends the turn that runs, if one does: control request, then SIGINT, SIGTERM, SIGKILL of everything.
   * Resolves when the turn has ended. After `answered` the process lives on and what was said so far is
   * in the transcript.
   */
  interrupt(): Promise<"idle" | "answered" | "process-ended">;
  /** Ends the process: end of input, then SIGINT, SIGTERM, SIGKILL of everything. Resolves with `ended`. */
  stop(): Promise<ClaudeExit>;
  /** A control request and its answer. Rejects when Claude Code refuses it, does not answer or has ended. */
  request(request: ControlRequest): Promise<JsonRecord>;
  /**
   * What happens from now on, for one reader. A reader that is slow loses the oldest events, and is told
   * how many (`dropped`); text deltas that nobody has read yet are joined. Ends with the process.
   */
  events(): AsyncIterable<ClaudeEvent>;
}

export interface SendOptions {
  /** Instead of `turnTimeoutMs`. */
  timeoutMs?: number;
}

export type TurnOutcome =
  | "completed"
  /** Finished, but some tools were not allowed: see `denials`. */
  | "permission-denied"
  | "limit-turns"
  | "limit-budget"
  | "api-error"
  /** The API said 429, or that a usage limit is reached. */
  | "rate-limited"
  /** The session to resume does not exist (any more). */
  | "stale-resume"
  | "interrupted"
  | "timed-out"
  /** The process ended before the turn had a result, or Claude Code failed in itself. */
  | "crashed";

export interface ClaudeTurn {
  outcome: TurnOutcome;
  /** The answer; of a turn without one, what was said until it ended. */
  text: string;
  /** Undefined only when the process ended before it named one. */
  sessionId: string | undefined;
  /** Of this turn; 0 when it ended without a result. */
  costUsd: number;
  /** As Claude Code counts: of this process so far, newer versions add what resumed sessions had cost. */
  totalCostUsd: number;
  /** Of this turn, without subagents. */
  usage: TokenUsage;
  /** Model calls and tool rounds, as Claude Code counts them. */
  numTurns: number;
  durationMs: number;
  denials: PermissionDenial[];
  compactions: number;
  /** What went wrong, for people; on everything except `completed`. */
  error?: string;
  /** The API's HTTP status, when it refused. */
  apiStatus?: number;
  /** False: the process has ended or is ending; a follow-up needs a new one with `resume`. */
  canContinue: boolean;
}

export interface ClaudeExit {
  code: number | undefined;
  signal: string | undefined;
  /** The end of what it wrote to stderr. */
  stderr: string;
}

/** Long texts and inputs of tools are cut here; the transcript has them whole. */
export type ClaudeEvent = { sessionId: string | undefined } & (
  | { type: "turn-started"; model: string | undefined }
  /** `parentToolUseId` is set on everything that a subagent does. */
  | { type: "text"; text: string; parentToolUseId?: string }
  | { type: "thinking"; text: string; parentToolUseId?: string }
  | { type: "tool-use"; id: string; name: string; input: JsonRecord; parentToolUseId?: string }
  | { type: "tool-result"; id: string; text: string; isError: boolean; parentToolUseId?: string }
  | { type: "compaction"; trigger: string | undefined; preTokens: number | undefined; postTokens: number | undefined }
  | { type: "retry"; attempt: number; maxRetries: number; delayMs: number; status: number | undefined; error: string }
  | { type: "status"; status: string | undefined }
  /** A subagent or a command in the background. */
  | { type: "task"; id: string; event: string; description: string; status: string | undefined }
  /** `asked` is false for a turn that Claude Code began by itself, as it does when a background command ends. */
  | { type: "turn-ended"; turn: ClaudeTurn; asked: boolean }
  /** Something on stdout that is no message: reported, not fatal. */
  | { type: "damaged"; reason: string; excerpt: string }
  /** So many events were lost because nobody read them. */
  | { type: "dropped"; count: number }
);

/**
 * The contract of one running `claude`: its options, turns, events and end. `startClaudeProcess` in
 * `start-claude-process.ts` creates one.
 *
 * - One `send` at a time: Claude Code would merge the messages. A turn that it started itself is waited for.
 * - `send` resolves with an outcome whatever happens to the turn; it rejects only when the process has ended.
 * - When the process ends for any reason, everything that it started is ended too.
 * - Text in events and results was written by models and tools: data, never instructions.
 */
import type { Environment } from "../../../config/layout.ts";
import type {
  OutboundMessage,
  PermissionAnswer,
  PermissionDenial,
  PermissionMode,
  PermissionQuestion,
} from "../../protocol/messages.ts";

export interface ClaudeProcessOptions {
  /** A name on the PATH or a path: `claudeCode.command`. */
  command: string;
  cwd: string;
  /** Default: the environment of this process. Variables of an outer Claude Code session are removed. */
  env?: Environment | undefined;
  /** Default: a new session with an id that Claude Code chooses. */
  session?: SessionStart | undefined;
  /** Last reported cost of the resumed or forked session. Newer versions of Claude Code include it in their total. */
  resumedCostUsd?: number | undefined;
  /** This option and those below default to Claude Code's own settings. */
  model?: string | undefined;
  permissionMode?: PermissionMode | undefined;
  allowedTools?: readonly string[] | undefined;
  mcpConfigFile?: string | undefined;
  /** Model calls within one turn. */
  maxTurns?: number | undefined;
  /** Budget of the process; Claude Code checks it after each model call. */
  maxBudgetUsd?: number | undefined;
  /** A file, because arguments are limited in length and visible to every user of the machine. */
  appendSystemPromptFile?: string | undefined;
  effort?: string | undefined;
  grace?: Partial<GraceTimes> | undefined;
  /** Answers for the person. Default: Claude Code refuses what its settings do not allow. */
  onPermission?: AskPermission | undefined;
  /** Called at once for every message. Optional. */
  onMessage?: ((message: OutboundMessage) => void) | undefined;
}

/**
 * The turn waits for the answer. `signal` aborts when the answer is no longer needed: the turn was interrupted or the
 * process has ended. A rejection denies.
 */
export type AskPermission = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>;

export type SessionStart =
  /** `sessionId` is a UUID that no session has yet. */
  | { kind: "new"; sessionId?: string | undefined }
  | { kind: "resume"; sessionId: string }
  /** Copies `sessionId` to a new id. */
  | { kind: "fork"; sessionId: string; newSessionId?: string | undefined };

/** How long each step of ending a turn or a process may take before the next, harder one. */
export interface GraceTimes {
  /** From the interrupt request to the end of the turn. Default: 3 s. */
  interruptMs: number;
  /** From the request to end until SIGINT. Default: 5 s. */
  endMs: number;
  /** From SIGINT to SIGTERM, and from SIGTERM to SIGKILL. Default: 3 s. */
  terminateMs: number;
}

export interface ClaudeProcess extends AsyncDisposable {
  readonly pid: number;
  /** From the latest message: `/clear` changes it. Undefined until the first message. */
  readonly sessionId: string | undefined;
  readonly state: "idle" | "busy" | "ended";
  /** Resolves when the process and everything it started are gone. Never rejects. */
  readonly ended: Promise<ClaudeExit>;
  send(text: string, options?: SendOptions): Promise<ClaudeTurn>;
  /**
   * Ends the running turn, if any: control request, then SIGINT, SIGTERM, SIGKILL. Resolves when the turn has ended.
   * After `answered` the process is still alive and the text so far is in the transcript.
   */
  interrupt(): Promise<"idle" | "answered" | "process-ended">;
  /** Ends the process: end of input, then SIGINT, SIGTERM, SIGKILL. Resolves with `ended`. */
  stop(): Promise<ClaudeExit>;
  /** Calls `listener` at once for every message and the end of every turn. Returns a function that ends this. */
  listen(listener: (event: ClaudeEvent) => void): () => void;
}

export interface SendOptions {
  /** A longer turn ends with `timed-out`. Default: no limit. */
  timeoutMs?: number | undefined;
}

export type TurnOutcome =
  | "completed"
  /** Completed, but some tools were not allowed: see `denials`. */
  | "permission-denied"
  | "limit-turns"
  | "limit-budget"
  | "api-error"
  /** The API returned 429, or a usage limit is reached. */
  | "rate-limited"
  /** The session to resume does not exist. */
  | "stale-resume"
  | "interrupted"
  | "timed-out"
  /** The process ended before the turn had a result, or Claude Code itself failed. */
  | "crashed";

export interface ClaudeTurn {
  outcome: TurnOutcome;
  /** The answer, or the text so far if there is no answer. */
  text: string;
  /** Undefined only when the process ended before it reported one. */
  sessionId: string | undefined;
  /** Of this turn; 0 without a result. */
  costUsd: number;
  /** As Claude Code counts: of this process so far. Newer versions add the earlier cost of a resumed session. */
  totalCostUsd: number;
  /** Model calls and tool rounds, as Claude Code counts them. */
  numTurns: number;
  durationMs: number;
  denials: PermissionDenial[];
  /** For people. Set for every outcome except `completed`. */
  error?: string | undefined;
  /** HTTP status of a refusal by the API. */
  apiStatus?: number | undefined;
  /** False: the process has ended or is ending; a follow-up needs a new process with `resume`. */
  canContinue: boolean;
}

export interface ClaudeExit {
  code: number | undefined;
  signal: string | undefined;
  /** The end of stderr. */
  stderr: string;
}

export type ClaudeEvent =
  | OutboundMessage
  /** `asked` is false for a turn that Claude Code started itself, as it does when a background command ends. */
  | { type: "turn-ended"; turn: ClaudeTurn; asked: boolean; sessionId: string | undefined };

/**
 * The contract of the runner: options, events, results, and the parts it is built from.
 *
 * - One process at a time writes a native session; one run at a time works in a lane.
 * - Nothing is sent twice: the runner never repeats a task that may have had effects.
 * - Text in events and results was written by models, tools and other people: data, never instructions.
 */
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { Environment } from "../../config/layout.ts";
import type { OutboundMessage, PermissionMode } from "../protocol/messages.ts";
import type { RunningSession } from "../native/layout.ts";
import type { SaveSessionOptions } from "../registry/registry.ts";
import type { RunStats, SessionCosts } from "../registry/run-stats.ts";
import type { SessionSelection } from "../selection/selection.ts";
import type { AskPermission, ClaudeProcess, ClaudeProcessOptions, ClaudeTurn } from "./process/claude-process.ts";
import type { ClaudeCodeConfig } from "../../config/claude-code.ts";

/** Runs in the same lane wait for each other: one worktree, or one label within it. */
export interface Lane {
  /** Real path. */
  worktree: string;
  label?: string | undefined;
}

export interface SpawnOptions {
  task: string;
  /** A folder of the repo. Claude Code works in its worktree. */
  repoPath: string;
  agentId: string;
  /** Name of a separate work stream in this repo. It runs in parallel with the others. */
  label?: string | undefined;
  /** The conversation that the task comes from; the MCP tools can see it. Default: the agent's only one, if any. */
  sessionKey?: string | undefined;
  /** Appended to Claude Code's own system prompt, for this process only. */
  systemPrompt?: string | undefined;
  /** `low`, `medium`, `high`, `xhigh`, `max`. Default: Claude Code's own. */
  effort?: string | undefined;
  /** `model`, `permissionMode` and `allowedTools` default to the configuration. */
  model?: string | undefined;
  permissionMode?: PermissionMode | undefined;
  allowedTools?: readonly string[] | undefined;
  /** Budget of this run. Default: the rest of the session's budget. */
  maxBudgetUsd?: number | undefined;
  /** `maxTurns` and `timeoutMs` default to the configuration. */
  maxTurns?: number | undefined;
  timeoutMs?: number | undefined;
  /** Keeps the process for follow-ups until it is stopped or idle for too long. Default: false. */
  persistent?: boolean | undefined;
  /** When the repo or the session is in use. Default: `queue`, or `fork` if `fork` is set. */
  onRunning?: "queue" | "fork" | "refuse" | undefined;
  /** Default: 30 minutes. */
  queueTimeoutMs?: number | undefined;
  /** At most one of `resume`, `fork` and `fresh`. Default: the selection decides. */
  resume?: string | undefined;
  fork?: string | undefined;
  fresh?: boolean | undefined;
  /** Whose sessions the selection may resume. Default: from the configuration, else `own`. */
  candidates?: "own" | "all" | undefined;
  /** Context for a fresh session when the one to resume is gone. Default: the rest of its transcript. */
  handOff?: string | undefined;
  /** More context for the same case, read when it is needed. Optional; a failure is logged. */
  recall?: (() => Promise<string | undefined>) | undefined;
  /** Added to the system prompt of a fresh session, read when it is needed. Optional; a failure is logged. */
  begin?: (() => Promise<string | undefined>) | undefined;
  /** Cancels the wait, or interrupts the task. */
  signal?: AbortSignal | undefined;
  /** May be slow: text is joined meanwhile, other events are dropped and counted. Optional. */
  onEvent?: ((event: RunnerEvent) => void | Promise<void>) | undefined;
  /** Asks the person. Default: Claude Code refuses what its settings do not allow. */
  onPermission?: AskPermission | undefined;
  /** Every message of the process, complete and in order. Optional. */
  onMessage?: ((message: OutboundMessage) => void) | undefined;
}

/** The process that another run waits for. */
export interface Holder {
  /** `person`: a `claude` that Holdfast did not start. */
  kind: "holdfast" | "person";
  pid: number;
  sessionId?: string | undefined;
  agentId?: string | undefined;
  task?: string | undefined;
  /** ISO. */
  since?: string | undefined;
  heldMs?: number | undefined;
  /** `busy`, `idle`, `waiting`. */
  status?: string | undefined;
}

export type RunnerEvent =
  | { type: "queued"; holder: Holder; waitedMs: number; reason: string }
  | { type: "selected"; selection: SessionSelection }
  | { type: "started"; sessionId: string | undefined; pid: number; how: "fresh" | "resume" | "fork" }
  | { type: "text"; text: string }
  | { type: "tool"; name: string; detail: string; isSubagent: boolean }
  | { type: "tool-failed"; name: string; text: string }
  | { type: "progress"; progress: ProgressSummary }
  /** Of the task so far, after each request to the model. */
  | { type: "cost"; costUsd: number }
  /** Claude Code told the person something with `openclaw_announce`. `id` is unique to the call. */
  | { type: "announced"; id: string; text: string }
  | { type: "session-changed"; from: string | undefined; to: string }
  /** Another process writes the session of this run: its transcript may fork. */
  | { type: "second-writer"; pid: number; sessionId: string; text: string }
  | { type: "fallback"; sessionId: string; text: string }
  | { type: "ended"; result: ClaudeCodeResult }
  /** The reader was slow: this many events are missing. */
  | { type: "dropped"; count: number };

export interface ProgressSummary {
  elapsedMs: number;
  toolUses: number;
  lastTool?: string | undefined;
  lastToolDetail?: string | undefined;
  lastText?: string | undefined;
  /** Of the task so far; of a turn that has not ended, at list prices. */
  costUsd: number;
  retries: number;
  subagents: number;
}

export interface ClaudeCodeResult extends Pick<
  ClaudeTurn,
  "outcome" | "text" | "costUsd" | "durationMs" | "denials" | "error" | "apiStatus"
> {
  /** Present after a crash too: the session can be resumed. Missing when the process reported none. */
  sessionId?: string | undefined;
  turns: number;
  selection: SessionSelection;
  /** For a person; must be shown. */
  warnings: string[];
  /** True for a persistent session that waits for follow-ups. */
  isLive: boolean;
}

/** A run of any Holdfast process on this machine. */
export interface LiveSession {
  runId: string;
  sessionId?: string | undefined;
  agentId: string;
  repoPath: string;
  label?: string | undefined;
  task: string;
  persistent: boolean;
  state: "starting" | "busy" | "idle";
  /** ISO. */
  startedAt: string;
  budgetUsd?: number | undefined;
  /** Earlier cost of the session that does not count against `budgetUsd`. */
  spentUsd?: number | undefined;
  hostPid: number;
  /** Pid of `claude`. */
  pid?: number | undefined;
  isLocal: boolean;
}

/** Claude Code's own list of running processes. */
export type ReadRunning = () => Promise<RunningSession[]>;

export interface RunnerParts {
  /** Private folder for locks, run records and control sockets. */
  locksFolder: string;
  /** The configuration, including the agent's own settings. */
  configOf(agentId: string): ClaudeCodeConfig;
  /** Environment of `claude`. Default: the environment of this process. */
  env?: Environment | undefined;
  log: Logger;
  ids: Ids;
  startProcess(options: ClaudeProcessOptions): ClaudeProcess;
  readRunning: ReadRunning;
  /** Decides from the current state of the project. Called again after every wait. */
  selectSession(request: SelectionRequest): Promise<SessionSelection>;
  /** Puts the agent's marker before the task. Throws on an agent id that could break the marker. */
  markTask(agentId: string, task: string): string;
  /** The end of a session's conversation as text. Undefined: nothing is left. */
  peekHistory(sessionId: string, repoPath: string): Promise<string | undefined>;
  /** The session key of the chat that uses a native session. Default: none does. */
  conversationOf?(sessionId: string): Promise<string | undefined>;
  registry: RunnerRegistry;
  /** How to start Holdfast's MCP server for a run. Optional. */
  mcpServer?(run: { agentId: string; repoPath: string; sessionKey?: string | undefined }): McpServerCommand;
  /** Called after the process of a task has ended, so a hand-off can be captured. Not for chats. Optional. */
  onEnded?(run: { agentId: string; sessionId: string; cwd: string }): Promise<void>;
}

export interface SelectionRequest extends Pick<
  SpawnOptions,
  "task" | "repoPath" | "agentId" | "label" | "sessionKey" | "candidates"
> {
  /** Sessions of other lanes: they neither block the task nor may be chosen. */
  excluded: readonly string[];
  /** Idle persistent sessions of this lane: the task may continue one of them. */
  waiting: readonly string[];
  /** `[]`: ask no model. Default: the configured chain. */
  model?: readonly [] | undefined;
}

/** The agent's registry of native sessions. A failed write is reported and does not stop a run. */
export interface RunnerRegistry {
  saveSession(agentId: string, session: SaveSessionOptions): Promise<void>;
  updateSessionStats(agentId: string, stats: RunStats): Promise<void>;
  readSessionCosts(agentId: string, sessionId: string): Promise<SessionCosts | undefined>;
}

export interface McpServerCommand {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>> | undefined;
  /** Tools that may be used without asking. */
  tools: readonly string[];
}

/**
 * What the runner is asked for, what it says while it works and what it gives back. The parts it works
 * with come in from outside (`runner-parts.ts`).
 *
 * - A native session is written by one process at a time, a lane by one run at a time.
 * - Nothing is sent twice: a task that may have had effects is never repeated by itself.
 * - Text in events and results was written by models, tools and other people: data, never instructions.
 */
import type { OutboundMessage, PermissionDenial, PermissionMode } from "../protocol/messages.ts";
import type { SessionSelection } from "../selection/selection.ts";
import type { TurnOutcome } from "./process/claude-process.ts";

/** Where runs wait for each other: one worktree, or one label within it. */
export interface Lane {
  /** Its real path. */
  worktree: string;
  label?: string;
}

export interface SpawnOptions {
  task: string;
  /** A folder of the repo; its worktree is where Claude Code works. */
  repoPath: string;
  agentId: string;
  /** A line of work of its own in this repo, which runs beside the others. */
  label?: string;
  /** The conversation that the task comes from: the MCP tools then know it. Left out: the agent's only one, if any. */
  sessionKey?: string;
  /** What the session is told besides Claude Code's own system prompt. It holds for this process only. */
  systemPrompt?: string;
  /** How hard the model thinks: `low`, `medium`, `high`, `xhigh`, `max`. Left out: as Claude Code has it. */
  effort?: string;
  /** Left out: as configured; so for the next five. */
  model?: string;
  permissionMode?: PermissionMode;
  allowedTools?: readonly string[];
  /** What this run may spend. Left out: what is left of the session's budget. */
  maxBudgetUsd?: number;
  maxTurns?: number;
  timeoutMs?: number;
  /** True: the process stays for follow-ups until it is stopped or idle for too long. */
  persistent?: boolean;
  /** What to do when somebody else has the repo or the session. Default `queue`, with `fork` given: `fork`. */
  onRunning?: "queue" | "fork" | "refuse";
  /** How long to stay in the queue. Default 30 minutes. */
  queueTimeoutMs?: number;
  /** At most one of the three; left out: the selection decides. */
  resume?: string;
  fork?: string;
  fresh?: boolean;
  /** What a fresh session is told when the one to resume is gone. Left out: what is left of its transcript. */
  handOff?: string;
  /** Asked for besides, when it comes to that. Left out, or failing: nothing more is told. */
  recall?: () => Promise<string | undefined>;
  /** What a fresh session is told besides its task; asked for when it comes to that. Left out, or failing: nothing. */
  begin?: () => Promise<string | undefined>;
  /** Cancels the wait, or interrupts the task. */
  signal?: AbortSignal;
  /** May be slow: events are joined or left out meanwhile, and the number of lost ones is told. */
  onEvent?: (event: RunnerEvent) => void | Promise<void>;
  /** Every message of the process, whole and in order, at once: for whoever must not miss any. */
  onMessage?: (message: OutboundMessage) => void;
}

/** Where the process comes from, for whoever waits for it. */
export interface Holder {
  /** `person`: a `claude` that Holdfast did not start. */
  kind: "holdfast" | "person";
  pid: number;
  sessionId?: string;
  agentId?: string;
  task?: string;
  /** ISO. */
  since?: string;
  heldMs?: number;
  /** `busy`, `idle`, `waiting`. */
  status?: string;
}

export type RunnerEvent =
  | { type: "queued"; holder: Holder; waitedMs: number; reason: string }
  | { type: "selected"; selection: SessionSelection }
  | { type: "started"; sessionId: string | undefined; pid: number; how: "fresh" | "resume" | "fork" }
  | { type: "text"; text: string }
  | { type: "tool"; name: string; detail: string; isSubagent: boolean }
  | { type: "tool-failed"; name: string; text: string }
  | { type: "progress"; progress: ProgressSummary }
  | { type: "session-changed"; from: string | undefined; to: string }
  /** Another process writes the session that this run writes: its transcript may fork. */
  | { type: "second-writer"; pid: number; sessionId: string; text: string }
  | { type: "fallback"; sessionId: string; text: string }
  | { type: "warning"; text: string }
  | { type: "ended"; result: ClaudeCodeResult }
  /** So many events of this run were left out, because the reader was slow. */
  | { type: "dropped"; count: number };

export interface ProgressSummary {
  elapsedMs: number;
  toolUses: number;
  lastTool?: string;
  lastToolDetail?: string;
  /** The end of what was said last. */
  lastText?: string;
  /** Of the turns that have ended. */
  costUsd: number;
  retries: number;
  subagents: number;
}

export interface ClaudeCodeResult {
  outcome: TurnOutcome;
  /** Kept also after a crash: it can be resumed. Missing when the process named none. */
  sessionId?: string;
  text: string;
  /** Of this task. */
  costUsd: number;
  turns: number;
  durationMs: number;
  selection: SessionSelection;
  denials: PermissionDenial[];
  /** For a person, loud. */
  warnings: string[];
  /** What went wrong, on everything except `completed`. */
  error?: string;
  /** The API's HTTP status, when it refused. */
  apiStatus?: number;
  /** A persistent session that waits for follow-ups. */
  isLive: boolean;
}

/** A run of some Holdfast process on this machine. */
export interface LiveSession {
  runId: string;
  sessionId?: string;
  agentId: string;
  repoPath: string;
  label?: string;
  task: string;
  persistent: boolean;
  state: "starting" | "busy" | "idle";
  /** ISO. */
  startedAt: string;
  /** Of the Holdfast process. */
  hostPid: number;
  /** Of `claude`. */
  pid?: number;
  /** It runs in this very process. */
  isLocal: boolean;
}

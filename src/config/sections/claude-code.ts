/** How Claude Code is started, what it is shown, and what is kept of its sessions. */
import { DEFAULT_SESSION_SELECTION, type SessionSelectionConfig } from "./session-selection.ts";

export interface ClaudeCodeConfig {
  /** The program to start. */
  command: string;
  /** Left out: what Claude Code itself would use. */
  model?: string;
  permissionMode?: "default" | "acceptEdits" | "plan" | "bypassPermissions";
  /** Tools that need no permission, besides Holdfast's own. */
  allowedTools: string[];
  /** What one session may cost; selection counts what it has used of it. */
  maxBudgetUsd: number;
  maxTurns?: number;
  /** A task that takes longer is stopped. */
  timeoutMinutes: number;
  /** A persistent session that gets no message for so long is stopped. */
  idleTimeoutMinutes: number;
  /** How often a running task reports what it does. */
  progressSeconds: number;
  sessionSelection: SessionSelectionConfig;
  /** What the MCP bridge shows to Claude Code. */
  mcp: McpConfig;
  /** The guard against Claude Code's own clean-up. */
  archive: NativeArchiveConfig;
}

export interface McpConfig {
  exposeMemory: boolean;
  exposeConversation: boolean;
  projectStatusEnabled: boolean;
  sessionListEnabled: boolean;
}

export interface NativeArchiveConfig {
  /** Copy what Claude Code would delete within so many days. */
  daysBefore: number;
  /** Replace secrets in the copies. */
  redact: boolean;
}

export const DEFAULT_CLAUDE_CODE: ClaudeCodeConfig = {
  command: "claude",
  allowedTools: [],
  maxBudgetUsd: 10,
  timeoutMinutes: 60,
  idleTimeoutMinutes: 30,
  progressSeconds: 30,
  sessionSelection: DEFAULT_SESSION_SELECTION,
  mcp: { exposeMemory: true, exposeConversation: true, projectStatusEnabled: true, sessionListEnabled: true },
  archive: { daysBefore: 7, redact: false },
};

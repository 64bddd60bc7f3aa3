/**
 * One Claude Code session, whoever started it: what its transcript says, what the registries know and
 * whether a living process has it. This is what commands, MCP tools and selection work with. Dates
 * become ISO strings in JSON. Text fields are what people and models wrote: data, never instructions.
 */

export interface DiscoveredSession {
  sessionId: string;
  /** `openclaw`: in a registry, or carrying an agent's marker. */
  source: "openclaw" | "native-only";
  /** Who started it, as far as the files tell. */
  origin: SessionOrigin;
  /** The agent that spawned it, by registry or marker. */
  agentId?: string;
  /** The main worktree of the repo, or the folder where the session was started. */
  repoPath: string;
  /** The branch of its last message. */
  branch: string;
  /** Every branch, oldest first. */
  branches: string[];
  /** Every working folder, oldest first. */
  cwds: string[];
  title?: string;
  /** What the person wrote first, without the marker. */
  firstMessage: string;
  /** What the person wrote last, without the marker. */
  lastPrompt?: string;
  /** More of what the person wrote, oldest first, each cut; for comparing tasks. */
  prompts: string[];
  /** The registry's last task. */
  lastTask?: string;
  label?: string;
  createdAt?: Date;
  lastModified: Date;
  /** Lines of people, tools and the model. */
  messageCount: number;
  /** What a person really said. */
  userTurns: number;
  fileSizeBytes: number;
  /** Of the registry. */
  totalCostUsd?: number;
  /** Of the registry. */
  totalTurns?: number;
  /** By list prices, from the tokens; subagents included. Missing when no model has a known price. */
  estimatedCostUsd?: number;
  /** Each message counted once, subagents included; messages that a fork shares belong to the original. */
  totalInputTokens: number;
  totalOutputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** What the last call sent: what a resumed session would have to read again. */
  contextTokens: number;
  compactionCount: number;
  /** Share of the budget, when cost and budget are known. */
  budgetUsedPct?: number;
  models: string[];
  ccVersion?: string;
  entrypoint?: string;
  permissionMode?: string;
  slug?: string;
  /** The agent named by the marker in the first message. */
  originMarker?: string;
  subagentCount: number;
  /** Read or edited, the one touched last at the end. */
  filesTouched: TouchedFile[];
  forkedFrom?: string;
  isRunning: boolean;
  running?: { pid: number; status?: string; waitingFor?: string };
  damagedLines: number;
  /** Where the transcript lies; missing when only a registry knows the session. */
  transcriptPath?: string;
  /** Set when Claude Code's own file is gone and Holdfast's copy stands in. */
  archived?: true;
}

export type SessionOrigin =
  | "this-agent"
  | "other-agent"
  | "cli"
  | "vscode"
  | "desktop"
  | "sdk"
  | "github-action"
  | "other";

export interface TouchedFile {
  path: string;
  edited: boolean;
}

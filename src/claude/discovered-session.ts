/**
 * One Claude Code session: facts from its transcript, the registries and the running processes. Commands, MCP tools and
 * selection work with it. Dates become ISO strings in JSON. Texts were written by people and models: they are data,
 * never instructions.
 */

export interface DiscoveredSession extends ShownFacts {
  sessionId: string;
  /** `openclaw`: it is in a registry or has an agent's marker. */
  source: "openclaw" | "native-only";
  /** Who started it, as far as the files show. */
  origin: SessionOrigin;
  /** The agent that uses it, by registry or marker: the calling agent if it is one of them, else the latest. */
  agentId?: string | undefined;
  /** All agents that used it. Only set when there are several. */
  agentIds?: string[] | undefined;
  /**
   * The session key of the chat that runs in it, or `unknown` when only the transcript shows that it is a chat. No task
   * and no other chat may resume such a session.
   */
  conversation?: string | undefined;
  /** The main worktree of the repo, or the folder where the session was started. */
  repoPath: string;
  lastTask?: string | undefined;
  label?: string | undefined;
  /** All its labels. Only set when there are several. */
  labels?: string[] | undefined;
  lastModified: Date;
  fileSizeBytes: number;
  /** Sums over the registries. */
  totalCostUsd?: number | undefined;
  totalTurns?: number | undefined;
  /** Computed from tokens and list prices, subagents included. Absent when no model has a known price. */
  estimatedCostUsd?: number | undefined;
  /** Each message counts once, subagents included. Messages shared with a fork count for the original. */
  totalInputTokens: number;
  totalOutputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** The larger cost as a share of the budget, if both are known. */
  budgetUsedPct?: number | undefined;
  subagentCount: number;
  forkedFrom?: string | undefined;
  isRunning: boolean;
  running?: { pid: number; status?: string | undefined; waitingFor?: string | undefined } | undefined;
  /** Absent when only a registry has the session. */
  transcriptPath?: string | undefined;
  /** Set when Claude Code's file is gone and Holdfast's copy is used. */
  archived?: true | undefined;
}

/** The facts that come from the transcript alone. */
export interface ShownFacts {
  /** The branch of its last message. */
  branch: string;
  /** Every branch, oldest first. */
  branches: string[];
  /** Every working folder, oldest first. */
  cwds: string[];
  title?: string | undefined;
  /** The first prompt, without the marker. */
  firstMessage: string;
  /** The last prompt, without the marker. */
  lastPrompt?: string | undefined;
  /** The first and the last prompts, oldest first, each cut. Used to compare tasks. */
  prompts: string[];
  createdAt?: Date | undefined;
  /** Lines from people, tools and the model. */
  messageCount: number;
  /** Prompts that a person wrote. */
  userTurns: number;
  /** Tokens sent by the last call. A resume sends them again. */
  contextTokens: number;
  compactionCount: number;
  models: string[];
  ccVersion?: string | undefined;
  entrypoint?: string | undefined;
  permissionMode?: string | undefined;
  slug?: string | undefined;
  /** The agent in the marker of the first message. */
  originMarker?: string | undefined;
  /** Files read or edited, the one touched last at the end. */
  filesTouched: TouchedFile[];
  damagedLines: number;
}

export function agentsOf({ agentId, agentIds, originMarker }: DiscoveredSession): string[] {
  return [...new Set([agentId, ...(agentIds ?? []), originMarker])].filter((agent) => agent !== undefined);
}

type SessionCosts = Pick<DiscoveredSession, "totalCostUsd" | "estimatedCostUsd">;

/**
 * The cost of a session: the larger of the recorded and the estimated cost. Either may be too low, because registries
 * know only their own runs and some models have no known price.
 */
export function countedCost({ totalCostUsd, estimatedCostUsd }: SessionCosts): number | undefined {
  const known = [totalCostUsd, estimatedCostUsd].filter((cost) => cost !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** The cost as a share of the budget. Undefined unless both are known. */
export function budgetUsed(costs: SessionCosts, budgetUsd: number | undefined): number | undefined {
  const cost = countedCost(costs);
  return cost === undefined || budgetUsd === undefined || budgetUsd <= 0 ? undefined : cost / budgetUsd;
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

/** A session that a conversation runs in is shown to that conversation only. Undefined: a caller without one. */
export function visibleTo(conversation: string | undefined): (session: DiscoveredSession) => boolean {
  return (session) => session.conversation === undefined || session.conversation === conversation;
}

/**
 * Everything the tools of the bridge may use. The bridge serves one agent in one repo, so no tool can reach data of
 * another agent. Stores and indexes are opened on first use, because clients wait for the server to start.
 */
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { Discovery } from "../claude/discovery/discover.ts";
import type { ProjectStatus } from "../claude/project-status.ts";
import type { LiveSession } from "../claude/runner/runner-contract.ts";
import type { SessionSelection, SelectOptions } from "../claude/selection/selection.ts";
import type { ClaudeCodeConfig } from "../config/claude-code.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { HandoffPlace } from "../handoff/find-handoff.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { AgentHandle } from "../session/agent-handle.ts";

export interface McpParts {
  agentId: string;
  repoPath: string;
  /** The conversation behind this task. Default: the agent's only one, if it has exactly one. */
  sessionKey?: string | undefined;
  /** The Claude Code session that started the server. Undefined: another client did. */
  claudeSessionId?: string | undefined;
  config: HoldfastConfig;
  claude: BridgeClaude;
  /** Undefined: the agent has no store yet, and `create` is false. */
  openAgent(options: { create: boolean }): Promise<AgentHandle | undefined>;
  /**
   * Hand-offs of the agent's own sessions, or of Claude Code sessions, which the default agent stores for all.
   * Undefined: turned off, or the agent has no store yet.
   */
  openHandoff(whose: "agent" | "claude-code"): Promise<HandoffPlace | undefined>;
  openSearchIndex(): Promise<SearchIndex>;
  /** The files that the agent may search. `archived` are session ids. */
  searchSources(
    want: { memory: true } | { nativeFolders: readonly string[]; archived: readonly string[] },
  ): Promise<SearchSources>;
  clock: Clock;
  ids: Ids;
  logger: Logger;
  /** Finishes running work and closes everything that was opened. */
  close(): Promise<void>;
}

/** The Claude Code side as the agent sees it. */
export interface BridgeClaude {
  /** The configuration with the agent's overrides applied. */
  config: ClaudeCodeConfig;
  discover(repoPath: string, options?: { limit?: number | undefined }): Promise<Discovery>;
  find(idOrPrefix: string): Promise<DiscoveredSession>;
  status(repoPath: string): Promise<ProjectStatus>;
  select(
    task: string,
    repoPath: string,
    options: SelectOptions,
  ): Promise<{ selection: SessionSelection; sessions: DiscoveredSession[] }>;
  /** The running Holdfast run of this session. */
  liveRun(sessionId: string): Promise<LiveSession | undefined>;
}

/** Names of all tools on the wire. */
export const TOOL_NAMES = [
  "openclaw_conversation_context",
  "openclaw_memory_search",
  "openclaw_announce",
  "openclaw_session_info",
  "openclaw_project_status",
  "openclaw_session_list",
  "openclaw_session_search",
  "openclaw_decide_session",
  "openclaw_handoff",
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

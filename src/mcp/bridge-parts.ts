/**
 * What the bridge works on. It serves one agent in one repo; every tool gets these parts and nothing
 * else, so that no tool can reach what belongs to another agent. Stores and indexes are opened by the
 * first call that needs them: a client waits for the start of the server, not for them.
 */
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { Discovery } from "../claude/discovery/discover.ts";
import type { ProjectStatus } from "../claude/project-status.ts";
import type { SelectOptions } from "../claude/selection/select-options.ts";
import type { SessionSelection } from "../claude/selection/selection.ts";
import type { ClaudeCodeConfig, HoldfastConfig } from "../config/config.ts";
import type { HandoffPlace } from "../handoff/find-handoff.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { AgentHandle } from "../session/agent-handle.ts";

export interface McpParts {
  agentId: string;
  repoPath: string;
  /** The conversation that led to this task. Left out: the agent's only one, if it has only one. */
  sessionKey?: string | undefined;
  /** The Claude Code session that started the server. Left out: another client did. */
  claudeSessionId?: string | undefined;
  config: HoldfastConfig;
  claude: BridgeClaude;
  /** Undefined when the agent has no store yet and none is to be made. */
  openAgent(options: { create: boolean }): Promise<AgentHandle | undefined>;
  /**
   * What sessions have left: the agent's own, or those of Claude Code, which the default agent keeps whoever
   * asks. Undefined where it is turned off, or the agent has no store yet.
   */
  openHandoff(whose: "agent" | "claude-code"): Promise<HandoffPlace | undefined>;
  openSearchIndex(): Promise<SearchIndex>;
  /** The files that the agent may search; of native ones those in these project folders, and these archived ones. */
  searchSources(want: { memory: true } | NativeWish): Promise<SearchSources>;
  clock: Clock;
  ids: Ids;
  logger: Logger;
  /** Finishes what was begun and lets go of everything that was opened. */
  close(): Promise<void>;
}

export interface NativeWish {
  nativeFolders: readonly string[];
  /** Session ids. */
  archived: readonly string[];
}

/** The Claude Code side as the agent sees it. */
export interface BridgeClaude {
  /** With what the agent does differently. */
  config: ClaudeCodeConfig;
  discover(repoPath: string, options?: { limit?: number }): Promise<Discovery>;
  find(idOrPrefix: string): Promise<DiscoveredSession>;
  status(repoPath: string): Promise<ProjectStatus>;
  select(
    task: string,
    repoPath: string,
    options: SelectOptions,
  ): Promise<{ selection: SessionSelection; sessions: DiscoveredSession[] }>;
}

/** The Claude Code side of this machine as one agent sees it. `compose/claude.ts` builds it; close it when done. */
import type { ClaudeCodeConfig } from "../config/claude-code.ts";
import type { DiscoveredSession } from "./discovered-session.ts";
import type { DiscoverOptions, Discovery, DiscoveryTexts } from "./discovery/discover.ts";
import type { NativeIndex } from "./index/native-index.ts";
import type { ProjectStatus } from "./project-status.ts";
import type { KeptDecision } from "./registry/registry-file.ts";
import type { LiveSession } from "./runner/runner-contract.ts";
import type { ClaudeRunner } from "./runner/runner.ts";
import type { SelectOptions, SessionSelection } from "./selection/selection.ts";

export interface ClaudeSide {
  agentId: string;
  home: string;
  claudeHome: string;
  config: ClaudeCodeConfig;
  index(): Promise<NativeIndex>;
  /** `repoPath` undefined: every repo. */
  discover(repoPath: string | undefined, options?: DiscoverChoice): Promise<Discovery>;
  /** Without a limit, and with rows as JSON, for callers that pass thousands of them on. */
  discoverTexts(repoPath: string | undefined, options?: Omit<DiscoverChoice, "limit">): Promise<DiscoveryTexts>;
  find(idOrPrefix: string, options?: DiscoverChoice): Promise<DiscoveredSession>;
  status(repoPath: string, options?: StatusChoice): Promise<ProjectStatus>;
  /** The decision that `spawnClaudeCode` would make now. */
  select(task: string, repoPath: string, options?: SelectChoice): Promise<ClaudeDecision>;
  /** Kept decisions of the tasks of all agents, or of one, oldest first. */
  decisions(about?: { agentId?: string | undefined; sessionId?: string | undefined }): Promise<KeptDecision[]>;
  liveRun(sessionId: string): Promise<LiveSession | undefined>;
  runner(): Promise<ClaudeRunner>;
  close(): void;
}

export type DiscoverChoice = Omit<DiscoverOptions, "index" | "claudeHome" | "home" | "openClawHome" | "agentId">;

export interface StatusChoice {
  github?: false | undefined;
  /** Which sessions it may show. Default: all. */
  mayShow?: ((session: DiscoveredSession) => boolean) | undefined;
  /** Finds the sessions of the repo, for a caller that knows them or needs none. Default: `discover`. */
  sessions?: (() => Promise<readonly DiscoveredSession[]>) | undefined;
}

export interface SelectChoice extends SelectOptions {
  status?: ProjectStatus | undefined;
}

export interface ClaudeDecision {
  selection: SessionSelection;
  sessions: DiscoveredSession[];
  repoPath: string;
}

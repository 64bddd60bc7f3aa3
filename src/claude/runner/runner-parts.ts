/** What the runner works with. `compose.ts` builds the real ones; a test may leave a part small. */
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { ClaudeCodeConfig } from "../../config/config.ts";
import type { Environment } from "../../config/layout.ts";
import type { SaveSessionOptions } from "../registry/registry.ts";
import type { RunStats, SessionCosts } from "../registry/run-stats.ts";
import type { SessionSelection } from "../selection/selection.ts";
import type { ClaudeProcess, ClaudeProcessOptions } from "./process/claude-process.ts";
import type { ReadRunning } from "./second-writers.ts";

export interface RunnerParts {
  /** Private: locks, records of runs, the control socket. */
  locksFolder: string;
  /** With what the agent does differently. */
  configOf(agentId: string): ClaudeCodeConfig;
  /** For `claude`. Left out: the environment of this process. */
  env?: Environment;
  log: Logger;
  ids: Ids;
  startProcess(options: ClaudeProcessOptions): ClaudeProcess;
  /** Claude Code's own list of living processes. */
  readRunning: ReadRunning;
  /** Looks at the project as it is now and decides; asked again after every wait. */
  selectSession(request: SelectionRequest): Promise<SessionSelection>;
  /** The task with the agent's mark before it. Refuses an agent id that could break the mark. */
  markTask(agentId: string, task: string): string;
  /** The end of a session's conversation as text; undefined when nothing is left of it. */
  peekHistory(sessionId: string, repoPath: string): Promise<string | undefined>;
  registry: RunnerRegistry;
  /** Left out: the session gets no MCP server of ours. */
  mcpServer?(run: { agentId: string; repoPath: string; sessionKey?: string }): McpServerCommand;
  /** A process has ended that no conversation of Holdfast ran: what it leaves for the next can be captured. */
  onEnded?(run: { agentId: string; sessionId: string; cwd: string }): Promise<void>;
}

export interface SelectionRequest {
  task: string;
  repoPath: string;
  agentId: string;
  label?: string;
  /** Sessions that run in other lanes (labels, worktrees): no reason to wait, and not to be chosen. */
  besides: readonly string[];
  /** Sessions that a process of ours has open and that wait for a message: one of them may be continued. */
  waiting: readonly string[];
}

/** The agent's registry of native sessions; a failure to write it is reported and does not stop a run. */
export interface RunnerRegistry {
  saveSession(agentId: string, session: SaveSessionOptions): Promise<void>;
  updateSessionStats(agentId: string, stats: RunStats): Promise<void>;
  /** What the session has cost so far; undefined when the registry does not know it. */
  readSessionCosts(agentId: string, sessionId: string): Promise<SessionCosts | undefined>;
}

export interface McpServerCommand {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Names of the tools that may be used without asking. */
  tools: readonly string[];
}

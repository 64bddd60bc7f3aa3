/** What RPC methods work on; the gateway hands it in. */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { ProjectStatus } from "../claude/project-status.ts";
import type { ClaudeRunner } from "../claude/runner/runner.ts";
import type { SessionSelection } from "../claude/selection/selection.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { DeliveryTarget, OutboxDraft } from "../store/store.ts";
import type { Pipeline } from "../turn/pipeline.ts";
import type { AgentPool, ChannelPool } from "../turn/pools.ts";
import type { ReplyPayload } from "../turn/reply/payload.ts";

export interface RpcParts {
  home: string;
  config: HoldfastConfig;
  version: string;
  startedAt: number;
  clock: Clock;
  logger: Logger;
  agents: AgentPool;
  channels: ChannelPool;
  pipeline: Pipeline;
  /**
   * Closes the window of a session and opens the next, under the session's lease, after the agent has
   * written down what it must not forget. Refused with kind `not-found` for a session that is not there,
   * `conflict` when it is not at the expected window.
   */
  resetSession(
    agentId: string,
    sessionKey: string,
    options: { expectedSessionId?: string },
  ): Promise<{ previous: SessionEntry; entry: SessionEntry }>;
  /** What the outbox is given for a message that no turn has made: split as its channel needs it. */
  draftMessage(message: {
    payload: ReplyPayload;
    target: DeliveryTarget;
    idempotencyKey: string;
    /** The folder that attached files must lie in. */
    workspace: string;
  }): Promise<OutboxDraft[]>;
  /** The Claude Code side as an agent sees it; opened once per agent. */
  claude(agentId: string): ClaudeParts;
}

/** The part of the Claude Code side that methods use. */
export interface ClaudeParts {
  discover(repoPath: string | undefined, options?: { limit?: number }): Promise<{ sessions: DiscoveredSession[] }>;
  find(idOrPrefix: string): Promise<DiscoveredSession>;
  status(repoPath: string): Promise<ProjectStatus>;
  select(task: string, repoPath: string): Promise<{ selection: SessionSelection }>;
  runner(): Promise<ClaudeRunner>;
}

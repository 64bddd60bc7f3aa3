/** What a method's handler gets: the parts it works on, and the call. Parameters are checked before. */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { MeaningStatus } from "../memory/meaning.ts";
import type { PersonQuery, PersonResult } from "../memory/person-search.ts";
import type { IndexCounts } from "../memory/search-index.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Pipeline, AgentPool, ChannelPool } from "../turn/pipeline.ts";
import type { CheckedParamsOf, MethodName, ResultOf } from "./contract.ts";
import type { Permission } from "./protocol.ts";
import type { OutboxDraft } from "../store/queues.ts";
import type { DraftRequest } from "../turn/reply/draft-replies.ts";

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
   * Saves the agent's memory, closes the window of a session and opens the next, under the session's lease.
   * Fails with kind `not-found`, or with `conflict` if the session is not at the expected window.
   */
  resetSession(
    agentId: string,
    sessionKey: string,
    options: { expectedSessionId?: string | undefined },
  ): Promise<{ previous: SessionEntry; entry: SessionEntry }>;
  /** Splits a message that no turn has made into outbox items for its channel. */
  draft(request: Omit<DraftRequest, "capabilities">): Promise<OutboxDraft[]>;
  claude(agentId: string): ClaudeParts;
  search: SearchParts;
}

export interface SearchParts {
  query(query: PersonQuery): Promise<PersonResult>;
  status(): Promise<SearchStatus>;
}

export interface SearchStatus extends IndexCounts {
  complete: boolean;
  pendingFiles: number;
  pendingBytes: number;
  /** Set with a configured embedding model, after its first run. */
  embeddings?: MeaningStatus | undefined;
}

export type ClaudeParts = Pick<ClaudeSide, "discover" | "find" | "status" | "config" | "select" | "runner">;

export interface RpcCall {
  parts: RpcParts;
  permission: Permission;
  /** Aborted when the caller disconnects. */
  signal: AbortSignal;
  recentFailures?: (() => readonly CallFailure[]) | undefined;
  /** Selects the events of this connection. Undefined if the caller cannot get events. */
  subscribe?: ((choice: EventChoice) => void) | undefined;
}

export interface CallFailure {
  method: string;
  message: string;
}

export interface EventChoice {
  /** Canonical keys. Default: all sessions. */
  sessionKeys?: readonly string[] | undefined;
  /** Default: all. */
  events?: readonly string[] | undefined;
}

export type Handler<Name extends MethodName> = (
  params: CheckedParamsOf<Name>,
  call: RpcCall,
) => Promise<ResultOf<Name>>;

export type HandlersOf<Prefix extends MethodName> = { [Name in Prefix]: Handler<Name> };

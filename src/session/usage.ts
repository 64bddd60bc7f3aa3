/** Token counts of a session after a turn or a compaction. */
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";

export interface TokenUsage {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

export async function persistSessionUsageUpdate(params: {
  agent: AgentHandle;
  sessionKey: string;
  usage?: TokenUsage | undefined;
  modelUsed?: string;
  providerUsed?: string;
  contextTokensUsed?: number;
  systemPromptReport?: Record<string, unknown>;
  cliSessionId?: string;
  /** When the agent answered a person. Left out: this was a heartbeat or bookkeeping. */
  answeredAt?: number;
  lease?: Lease;
}): Promise<SessionEntry | undefined> {
  const { agent, usage } = params;
  const patch: Partial<SessionEntry> = {
    ...(usage === undefined ? {} : tokenFields(usage)),
    ...(params.modelUsed === undefined ? {} : { model: params.modelUsed }),
    ...(params.providerUsed === undefined ? {} : { modelProvider: params.providerUsed }),
    ...(params.contextTokensUsed === undefined ? {} : { contextTokens: params.contextTokensUsed }),
    ...(params.systemPromptReport === undefined ? {} : { systemPromptReport: params.systemPromptReport }),
    ...(params.cliSessionId === undefined ? {} : { sdkSessionId: params.cliSessionId }),
    ...(params.answeredAt === undefined ? {} : { lastInteractionAt: params.answeredAt }),
  };
  if (Object.keys(patch).length === 0) return await agent.store.get(params.sessionKey);
  return await agent.store.update(
    params.sessionKey,
    (entry) => (entry === undefined ? undefined : { ...entry, ...patch, updatedAt: agent.clock.now() }),
    params.lease === undefined ? {} : { lease: params.lease },
  );
}

/** What fills the context window is the prompt, cached or not; the answer is counted apart. */
export function tokenFields(usage: TokenUsage): Partial<SessionEntry> {
  const input = usage.input ?? 0;
  return {
    inputTokens: input,
    outputTokens: usage.output ?? 0,
    totalTokens: input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0),
  };
}

/** Counts a compaction; resolves to the new count. */
export async function incrementCompactionCount(params: {
  agent: AgentHandle;
  sessionKey: string;
  /** The context after the compaction; the old split into input and output no longer holds then. */
  tokensAfter?: number;
  lease?: Lease;
}): Promise<number | undefined> {
  const { agent, tokensAfter } = params;
  const updated = await agent.store.update(
    params.sessionKey,
    (entry) => {
      if (entry === undefined) return undefined;
      const counted = { ...entry, compactionCount: (entry.compactionCount ?? 0) + 1, updatedAt: agent.clock.now() };
      if (tokensAfter === undefined || tokensAfter <= 0) return counted;
      const { inputTokens: _input, outputTokens: _output, ...rest } = counted;
      return { ...rest, totalTokens: tokensAfter };
    },
    params.lease === undefined ? {} : { lease: params.lease },
  );
  return updated?.compactionCount;
}

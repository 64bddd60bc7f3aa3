/** Updates of a stored entry: its route, its chat, its token counts, its flags. */
import { type GroupKeyResolution, resolveGroupSessionKey } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { DeliveryContext, Mutate, SessionEntry } from "../store/session-entry.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { defined, mergeSessionEntry, metaPatch, normalizeDeliveryContext, routePatch } from "./entry.ts";
import { openWindow } from "./window.ts";
import type { Lease } from "../store/queues.ts";

/** Stores the route of the last message. Members of `deliveryContext` win over flat ones. */
export async function updateLastRoute(
  params: {
    agent: AgentHandle;
    sessionKey: string;
    deliveryContext?: DeliveryContext | undefined;
    lease?: Lease | undefined;
  } & DeliveryContext,
): Promise<SessionEntry | undefined> {
  const { agent, sessionKey, lease } = params;
  const route = { ...normalizeDeliveryContext(params), ...normalizeDeliveryContext(params.deliveryContext) };
  const now = agent.clock.now();
  return await agent.store.update(
    sessionKey,
    (entry) => entry && mergeSessionEntry(entry, routePatch(route, entry), now),
    { lease },
  );
}

/** Stores the facts of an inbound message. Creates a missing session. */
export async function recordSessionMetaFromInbound(params: {
  agent: AgentHandle;
  sessionKey: string;
  ctx: MessageContext;
  groupResolution?: GroupKeyResolution | null | undefined;
  /** False: only update existing sessions. Default: true. */
  createIfMissing?: boolean | undefined;
}): Promise<SessionEntry | undefined> {
  const { agent, sessionKey, ctx } = params;
  const group = params.groupResolution ?? resolveGroupSessionKey(ctx);
  for (;;) {
    const updated = await agent.store.update(
      sessionKey,
      (entry) => entry && mergeSessionEntry(entry, metaPatch(ctx, group, sessionKey, entry), agent.clock.now()),
    );
    if (updated !== undefined || params.createIfMissing === false) return updated;
    const created = await openWindow(agent, {
      key: sessionKey,
      previous: undefined,
      reason: "initial",
      complete: (entry) => ({ ...entry, ...metaPatch(ctx, group, sessionKey, undefined) }),
    });
    if (created !== undefined) return created;
  }
}

export interface TokenUsage {
  input?: number | undefined;
  output?: number | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
}

export async function persistSessionUsageUpdate(params: {
  agent: AgentHandle;
  sessionKey: string;
  usage?: TokenUsage | undefined;
  modelUsed?: string | undefined;
  providerUsed?: string | undefined;
  contextTokensUsed?: number | undefined;
  systemPromptReport?: Record<string, unknown> | undefined;
  cliSessionId?: string | undefined;
  /** When the agent answered a person. Undefined for heartbeats and bookkeeping. */
  answeredAt?: number | undefined;
  lease?: Lease | undefined;
}): Promise<SessionEntry | undefined> {
  const { agent, usage } = params;
  const patch = defined({
    ...(usage === undefined ? {} : tokenFields(usage)),
    model: params.modelUsed,
    modelProvider: params.providerUsed,
    contextTokens: params.contextTokensUsed,
    systemPromptReport: params.systemPromptReport,
    sdkSessionId: params.cliSessionId,
    lastInteractionAt: params.answeredAt,
  });
  if (Object.keys(patch).length === 0) return await agent.store.get(params.sessionKey);
  const now = agent.clock.now();
  const change: Mutate = (entry) => entry && { ...entry, ...patch, updatedAt: now };
  return await agent.store.update(params.sessionKey, change, { lease: params.lease });
}

/** The prompt fills the context window, cached or not; the answer is counted separately. */
export function tokenFields(usage: TokenUsage): Partial<SessionEntry> {
  const input = usage.input ?? 0;
  return {
    inputTokens: input,
    outputTokens: usage.output ?? 0,
    totalTokens: input + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0),
  };
}

export async function incrementCompactionCount(params: {
  agent: AgentHandle;
  sessionKey: string;
  /** Size of the context after the compaction. Replaces the old input and output counts. */
  tokensAfter?: number | undefined;
  lease?: Lease | undefined;
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
    { lease: params.lease },
  );
  return updated?.compactionCount;
}

export async function markRunAborted(
  agent: AgentHandle,
  key: string,
  options: { lease?: Lease | undefined } = {},
): Promise<void> {
  const mark = { abortedLastRun: true, updatedAt: agent.clock.now() };
  await agent.store.update(
    key,
    (entry) => (entry?.abortedLastRun === true ? undefined : entry && { ...entry, ...mark }),
    options,
  );
}

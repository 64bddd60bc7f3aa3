/** Changes that a turn makes to its session's entry: fenced, and only while the key points at its window. */
import { resolveContextWindow } from "../../models/context-window.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { HeldLease } from "../../session/lease.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Mutate } from "../../store/store.ts";

export interface OwnWindow {
  agent: AgentHandle;
  held: HeldLease;
  sessionKey: string;
  sessionId: string;
}

/** The entry as it is afterwards; undefined when the session has moved on. */
export async function updateOwnEntry(window: OwnWindow, change: EntryChange): Promise<SessionEntry | undefined> {
  const { agent, held, sessionKey, sessionId } = window;
  const updated = await agent.store.update(sessionKey, changeOwnEntry(window, change), { lease: held.lease });
  return updated?.sessionId === sessionId ? updated : undefined;
}

type EntryChange = (entry: SessionEntry) => Partial<SessionEntry>;

/** Leaves everything as it is when the session has moved on. */
export function changeOwnEntry(
  { agent, sessionId }: Pick<OwnWindow, "agent" | "sessionId">,
  change: EntryChange,
): Mutate {
  return (entry) =>
    entry?.sessionId === sessionId
      ? { ...entry, ...change(entry), updatedAt: Math.max(entry.updatedAt, agent.clock.now()) }
      : undefined;
}

/** Where the engine keeps the conversation; on disk at once, so that a crash does not lose the thread. */
export async function rememberEngineSession(window: OwnWindow, known: string | undefined, id: string): Promise<void> {
  if (id !== known) await updateOwnEntry(window, () => ({ sdkSessionId: id }));
}

/** `provider/model`: the session's own choice, else the agent's. */
export function modelOf(entry: SessionEntry, config: HoldfastConfig, agentId: string): string | undefined {
  const { providerOverride, modelOverride } = entry;
  if (modelOverride === undefined) return config.agents[agentId]?.model;
  return providerOverride === undefined ? modelOverride : `${providerOverride}/${modelOverride}`;
}

/** How many tokens fit into one request; what answered last tells where nothing is configured. */
export function contextWindowOf(entry: SessionEntry, config: HoldfastConfig, agentId: string): number {
  const used = entry.model === undefined ? undefined : `${entry.modelProvider ?? ""}/${entry.model}`;
  return resolveContextWindow(modelOf(entry, config, agentId) ?? used, config.models).tokens;
}

/**
 * Which sessions a session may touch with its tools: itself, and those that it or its descendants
 * spawned. Another agent's sessions are out of reach already, because a store has none of them.
 */
import { HoldfastError } from "../base/errors.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { isSubagentSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "./agent-handle.ts";

/** Longer chains than this are a loop or an accident. */
const MAX_LINEAGE = 32;

export async function assertMayAccessSession(agent: AgentHandle, requester: string, target: string): Promise<void> {
  const from = canonicalSessionKey(requester, agent);
  const to = canonicalSessionKey(target, agent);
  // A person's own session sees all of the agent; a subagent only itself and what it spawned.
  if (from === to || !isSubagentSessionKey(from)) {
    // Refuses the key of another agent.
    await agent.store.get(to);
    return;
  }
  if (await isDescendant(agent, to, from)) return;
  throw new HoldfastError("forbidden", "session-not-owned", `Session ${from} may not touch ${to}`, {
    hint: "A subagent reaches only itself and the sessions that it spawned.",
    data: { requester: from, target: to },
  });
}

async function isDescendant(agent: AgentHandle, key: string, ancestor: string): Promise<boolean> {
  let current: string | undefined = key;
  for (let depth = 0; current !== undefined && depth < MAX_LINEAGE; depth++) {
    const spawnedBy: string | undefined = (await agent.store.get(current))?.spawnedBy;
    if (spawnedBy === undefined) return false;
    current = canonicalSessionKey(spawnedBy, agent);
    if (current === ancestor) return true;
  }
  return false;
}

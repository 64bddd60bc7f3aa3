/** Which agent and session a request means. */
import { HoldfastError } from "../../base/errors.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { parseAgentSessionKey } from "../../keys/session-key.ts";
import { findSession } from "../../session/find-session.ts";
import type { AgentParts } from "../../turn/turn.ts";
import type { RpcParts } from "../rpc-parts.ts";

export interface TargetSession extends AgentParts {
  /** Canonical. */
  key: string;
}

/** The agent that is named, else that of the key, else the default one. */
export async function openTarget(
  parts: RpcParts,
  { key, agentId }: { key: string; agentId?: string },
): Promise<TargetSession> {
  const named = agentId ?? parseAgentSessionKey(key)?.agentId ?? parts.config.defaultAgent;
  const opened = await parts.agents.open(normalizeAgentId(named));
  const canonical = canonicalSessionKey(key, opened.agent);
  const owner = parseAgentSessionKey(canonical)?.agentId;
  if (owner !== undefined && owner !== opened.agent.agentId) throw foreignKey(canonical, opened.agent.agentId);
  return { ...opened, key: canonical };
}

/** By label, session id or the start of one; looked for with every agent unless one is named. */
export async function findTarget(
  parts: RpcParts,
  reference: string,
  agentId?: string,
): Promise<TargetSession & { sessionId: string; isCurrent: boolean }> {
  const ids = agentId === undefined ? await parts.agents.list() : [normalizeAgentId(agentId)];
  let failure: unknown;
  for (const id of ids.length === 0 ? [parts.config.defaultAgent] : defaultFirst(ids, parts.config.defaultAgent)) {
    const opened = await parts.agents.open(id);
    try {
      const { key, entry, window } = await findSession(opened.agent, reference);
      return { ...opened, key, sessionId: window?.sessionId ?? entry.sessionId, isCurrent: window === undefined };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.kind !== "not-found") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

function defaultFirst(ids: readonly string[], first: string): string[] {
  return ids.toSorted((a, b) => Number(b === first) - Number(a === first));
}

function foreignKey(key: string, agentId: string): HoldfastError {
  return new HoldfastError("forbidden", "foreign-key", `Session ${key} does not belong to agent ${agentId}`, {
    hint: "Leave agentId out: the key names its agent.",
    data: { key, agentId },
  });
}

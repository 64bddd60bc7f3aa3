/**
 * The gate that every key passes on its way into a store: made canonical, and refused when it
 * belongs to another agent. `global` is everybody's, each agent having its own.
 */
import { HoldfastError } from "../base/errors.ts";
import { printableLine } from "../base/printable.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { resolveAgentIdFromSessionKey } from "../keys/session-key.ts";

export interface KeyOwner {
  agentId: string;
  /** Left out: `main`. */
  mainKey?: string | undefined;
}

/** The canonical form of a key of this agent. */
export function ownSessionKey(key: string, owner: KeyOwner): string {
  // Text with half a surrogate pair cannot be written as UTF-8: two such keys would become one.
  if (key.trim() === "" || !key.isWellFormed()) throw invalidKey(key);
  const canonical = canonicalSessionKey(key, owner);
  if (canonical !== "global" && resolveAgentIdFromSessionKey(canonical) !== owner.agentId) {
    throw foreignSession(canonical, owner.agentId);
  }
  return canonical;
}

function invalidKey(key: string): HoldfastError {
  return new HoldfastError("usage", "invalid-key", `"${printableLine(key, 80)}" is no session key`, {
    hint: "A session key is well-formed text such as agent:main:main.",
  });
}

function foreignSession(key: string, agentId: string): HoldfastError {
  return new HoldfastError(
    "forbidden",
    "foreign-session",
    `${printableLine(key, 80)} is not a session of the agent ${agentId}`,
    { hint: `Name its agent: --agent ${resolveAgentIdFromSessionKey(key)}.`, data: { key, agentId } },
  );
}

/**
 * Finds the session that a person names for a hand-off: one of the agent's own, by key, label or id, or one of Claude
 * Code's, by id or a prefix of it. A Claude Code session that an agent runs for people is private to them: it is handed
 * over by its own session, never by its folder.
 */
import { HoldfastError } from "../base/errors.ts";
import { isHoldfastEntrypoint } from "../claude/attribution.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { findSession } from "../session/find-session.ts";
import { type CaptureTarget, type Handoff, nativeSessionKey } from "./handoff.ts";

export interface HandoffPlace {
  agent: AgentHandle;
  handoff: Handoff;
  /** Claude Code's sessions, for the agent that keeps their hand-offs. Optional. */
  findNative?: ((idOrPrefix: string) => Promise<DiscoveredSession>) | undefined;
}

export interface FoundHandoff {
  /** Canonical. */
  key: string;
  /** Undefined: it cannot be captured any more. */
  target?: CaptureTarget;
}

/** Fails with kind `not-found`. */
export async function findHandoff(place: HandoffPlace, reference: string): Promise<FoundHandoff> {
  const { agent } = place;
  const native = nativeIdOf(agent, reference);
  if (native !== undefined) return await findNativeHandoff(place, native);
  try {
    const { key } = await findSession(agent, reference);
    return { key, target: { kind: "session", sessionKey: key } };
  } catch (error) {
    if (!isNotFound(error) || !isIdLike(reference)) throw error;
    return await findNativeHandoff(place, reference.trim()).catch((failure: unknown) => {
      throw isNotFound(failure) ? error : failure;
    });
  }
}

/** A session of Claude Code, even if only its hand-off exists. */
export async function findNativeHandoff(place: HandoffPlace, idOrPrefix: string): Promise<FoundHandoff> {
  const { agent, findNative } = place;
  const kept = await keptNative(place, idOrPrefix);
  if (findNative === undefined) {
    if (kept !== undefined) return { key: kept };
    throw keepsNone(agent.agentId);
  }
  let session: DiscoveredSession;
  try {
    session = await findNative(idOrPrefix);
  } catch (error) {
    if (kept !== undefined && isNotFound(error)) return { key: kept };
    throw error;
  }
  return await handoffOfNative(place, session);
}

/** Fails with kind `forbidden` for a conversation of an agent, and `not-found` if nothing exists. */
export async function handoffOfNative(
  { agent }: Pick<HandoffPlace, "agent">,
  session: DiscoveredSession,
): Promise<FoundHandoff> {
  const { sessionId, transcriptPath, cwds, repoPath, archived, entrypoint } = session;
  const key = canonicalSessionKey(nativeSessionKey(agent.agentId, sessionId), agent);
  const isKept = (await agent.store.handoffs.get(key)) !== undefined;
  // Holdfast captures its own tasks when they end. Its other sessions are private conversations.
  if (isHoldfastEntrypoint(entrypoint) && !isKept) throw notItsOwn(sessionId);
  if (transcriptPath === undefined || archived === true) {
    if (isKept) return { key };
    throw nothingLeft(sessionId);
  }
  return { key, target: { kind: "native", sessionId, transcriptPath, cwd: cwds[0] ?? repoPath } };
}

/** The session id in a native key. */
export function nativeIdOf(agent: AgentHandle, sessionKey: string): string | undefined {
  const key = canonicalSessionKey(sessionKey, agent);
  const prefix = `${canonicalSessionKey(nativeSessionKey(agent.agentId, ""), agent)}:`;
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

async function keptNative({ agent, handoff }: HandoffPlace, idOrPrefix: string): Promise<string | undefined> {
  const wanted = idOrPrefix.toLowerCase();
  const fitting = (await handoff.list()).filter(
    ({ sessionKey }) => nativeIdOf(agent, sessionKey)?.startsWith(wanted) === true,
  );
  return fitting.length === 1 ? fitting[0]?.sessionKey : undefined;
}

function isIdLike(reference: string): boolean {
  return /^[0-9a-f][0-9a-f-]{3,35}$/i.test(reference.trim());
}

function isNotFound(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "not-found";
}

function keepsNone(agentId: string): HoldfastError {
  return new HoldfastError("not-found", "native-session-not-found", `Agent ${agentId} has no such session`, {
    hint: "Hand-offs of Claude Code sessions belong to the default agent: leave out --agent.",
    data: { agentId },
  });
}

function notItsOwn(sessionId: string): HoldfastError {
  return new HoldfastError("forbidden", "session-of-an-agent", `Session ${sessionId} is a conversation of an agent`, {
    hint: "Name the agent's session instead: `holdfast sessions --all-agents` lists them.",
    data: { sessionId },
  });
}

function nothingLeft(sessionId: string): HoldfastError {
  return new HoldfastError("not-found", "transcript-missing", `Session ${sessionId} has no transcript any more`, {
    hint: "`holdfast cc info` shows the rest.",
    data: { sessionId },
  });
}

/**
 * Which session a person means when they ask for a hand-off: one of the agent's own, by key, label or id, or
 * one of Claude Code's, by id or the start of it. What Holdfast runs for people inside Claude Code is theirs
 * alone: it is handed over by its own session, never by the folder it runs in.
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
  /** Claude Code's sessions, for the agent that keeps what they leave. Left out: it keeps none. */
  findNative?: ((idOrPrefix: string) => Promise<DiscoveredSession>) | undefined;
}

export interface FoundHandoff {
  /** Canonical. */
  key: string;
  /** Left out: nothing of it can be captured any more. */
  target?: CaptureTarget;
}

/** By whatever a person calls it. Refused with kind `not-found`, and with what to look at. */
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

/** A session of Claude Code, also one that only its hand-off is left of. */
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

/** Refused with kind `forbidden` for what Holdfast runs for people, `not-found` when nothing is left of it. */
export async function handoffOfNative(
  { agent }: Pick<HandoffPlace, "agent">,
  session: DiscoveredSession,
): Promise<FoundHandoff> {
  const { sessionId, transcriptPath, cwds, repoPath, archived, entrypoint } = session;
  const key = canonicalSessionKey(nativeSessionKey(agent.agentId, sessionId), agent);
  const isKept = (await agent.store.handoffs.get(key)) !== undefined;
  // Tasks are captured as they end; anything else that Holdfast runs is somebody's conversation.
  if (isHoldfastEntrypoint(entrypoint) && !isKept) throw notItsOwn(sessionId);
  if (transcriptPath === undefined || archived === true) {
    if (isKept) return { key };
    throw nothingLeft(sessionId);
  }
  return { key, target: { kind: "native", sessionId, transcriptPath, cwd: cwds[0] ?? repoPath } };
}

/** The id in the key of a native session. */
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
  return new HoldfastError("not-found", "native-session-not-found", `Agent ${agentId} keeps no such session`, {
    hint: "What sessions of Claude Code leave is kept by the default agent: leave the agent out.",
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
    hint: "`holdfast cc info` shows what is known of it.",
    data: { sessionId },
  });
}

/**
 * After the fact: whatever a process died of, the transcripts are there. Sessions that were used since their
 * last capture are captured now, the newest first, within a number and a time. What is older than a hand-off lasts
 * would never be offered, and is left alone.
 */
import { fileSize } from "../base/files.ts";
import type { HandoffConfig } from "../config/config.ts";
import { type AgentHandle, transcriptPath } from "../session/agent-handle.ts";
import type { ListedSession } from "../store/store.ts";
import { type CaptureTarget, nativeSessionKey } from "./handoff.ts";
import { readState } from "./kept-state.ts";
import { findEndedSessions } from "./native-sessions.ts";
import type { CaptureReason, SessionState } from "./state.ts";

export interface RecoverParts {
  agent: AgentHandle;
  config: HandoffConfig;
  claudeHome?: string | undefined;
  capture(target: CaptureTarget, reason: CaptureReason): Promise<SessionState | undefined>;
}

const MOST_SESSIONS = 100;
const MOST_NATIVE = 20;
const MOST_MS = 5_000;

/** How many were captured. */
export async function recoverSessions(parts: RecoverParts): Promise<number> {
  const until = performance.now() + MOST_MS;
  let captured = 0;
  for await (const target of uncaptured(parts)) {
    if (performance.now() >= until) break;
    try {
      if ((await parts.capture(target, "found")) !== undefined) captured++;
    } catch (error) {
      parts.agent.logger.warn("what a session left cannot be captured", { ...nameOf(target), error });
    }
  }
  return captured;
}

async function* uncaptured(parts: RecoverParts): AsyncGenerator<CaptureTarget> {
  const { agent, config, claudeHome } = parts;
  const since = agent.clock.now() - config.expiresHours * 3_600_000;
  const { sessions } = await agent.store.list({ activeSince: since, sort: "updatedAt", limit: MOST_SESSIONS });
  for (const session of sessions) {
    if (await isUncaptured(agent, session)) yield { kind: "session", sessionKey: session.key, entry: session.entry };
  }
  if (claudeHome === undefined) return;
  for (const target of await findEndedSessions({ claudeHome, since, limit: MOST_NATIVE })) {
    const key = nativeSessionKey(agent.agentId, target.sessionId);
    if (!(await isRead(agent, key, target.sessionId, target.transcriptPath))) yield target;
  }
}

async function isUncaptured(agent: AgentHandle, { key, entry }: ListedSession): Promise<boolean> {
  if (entry.handoff === "off") return false;
  return !(await isRead(agent, key, entry.sessionId, transcriptPath(agent, entry)));
}

/** To its end, as far as its length tells; a transcript that is not there is read, too. */
async function isRead(agent: AgentHandle, key: string, sessionId: string, path: string): Promise<boolean> {
  const size = await fileSize(path).catch(() => undefined);
  if (size === undefined) return true;
  const state = readState(await agent.store.handoffs.get(key));
  return state?.previousSessionId === sessionId && state.transcript.offset === size;
}

function nameOf(target: CaptureTarget): Record<string, string> {
  return target.kind === "session" ? { key: target.sessionKey } : { sessionId: target.sessionId };
}

/**
 * At the start of a process: captures sessions that were used since their last capture, newest first, and removes the
 * hand-offs of deleted sessions. An earlier process may have died at any point; the transcripts and the manifests of
 * deletions are enough.
 */
import { fileSize } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import type { HandoffConfig } from "../config/config.ts";
import { type AgentHandle, transcriptPath } from "../session/agent-handle.ts";
import { deletedWindows } from "../session/archive.ts";
import type { Views } from "./files/views.ts";
import { type CaptureTarget, type Handoff, nativeSessionKey } from "./handoff.ts";
import { readState } from "./kept-state.ts";
import { findEndedSessions } from "./native-sessions.ts";

export interface RecoverParts extends Pick<Handoff, "capture"> {
  agent: AgentHandle;
  config: HandoffConfig;
  claudeHome?: string | undefined;
}

const MAX_SESSIONS = 100;
const MAX_NATIVE = 20;
const MAX_MS = 5_000;

/** Returns the number of captured sessions. */
export async function recoverSessions(parts: RecoverParts): Promise<number> {
  const until = performance.now() + MAX_MS;
  let captured = 0;
  for await (const target of uncaptured(parts)) {
    if (performance.now() >= until) break;
    try {
      if ((await parts.capture(target, "found")) !== undefined) captured++;
    } catch (error) {
      const name = target.kind === "session" ? { key: target.sessionKey } : { sessionId: target.sessionId };
      parts.agent.logger.warn("a session cannot be captured", { ...name, error });
    }
  }
  return captured;
}

/** Older sessions are skipped: their hand-offs would have expired. */
async function* uncaptured({ agent, config, claudeHome }: RecoverParts): AsyncGenerator<CaptureTarget> {
  const since = agent.clock.now() - config.expiresHours * 3_600_000;
  const { sessions } = await agent.store.list({ activeSince: since, sort: "updatedAt", limit: MAX_SESSIONS });
  for (const { key, entry } of sessions) {
    if (entry.handoff === "off" || (await isRead(agent, key, entry.sessionId, await transcriptPath(agent, entry))))
      continue;
    yield { kind: "session", sessionKey: key, entry };
  }
  if (claudeHome === undefined) return;
  for (const target of await findEndedSessions({ claudeHome, since, limit: MAX_NATIVE })) {
    const key = nativeSessionKey(agent.agentId, target.sessionId);
    if (!(await isRead(agent, key, target.sessionId, target.transcriptPath))) yield target;
  }
}

/** Compares only the length of the transcript. True if there is none. */
async function isRead(agent: AgentHandle, key: string, sessionId: string, path: string): Promise<boolean> {
  const size = await fileSize(path).catch(() => undefined);
  if (size === undefined) return true;
  const state = readState(await agent.store.handoffs.get(key));
  return state?.previousSessionId === sessionId && state.transcript.offset === size;
}

/** Limits the number of manifests that are read. */
const LOOK_BACK_MS = 30 * 24 * 3_600_000;

export async function recoverDeletions(agent: AgentHandle, views: Pick<Views, "forget">): Promise<void> {
  const windows = await deletedWindows(agent, agent.clock.now() - LOOK_BACK_MS);
  if (windows.size === 0) return;
  const { handoffs } = agent.store;
  for (const key of new Set(windows.values())) {
    const state = await handoffs.get(key);
    const window = isRecord(state) ? state["previousSessionId"] : undefined;
    if (typeof window === "string" && windows.has(window)) await handoffs.delete(key);
  }
  views.forget({ windows: windows.keys() });
}

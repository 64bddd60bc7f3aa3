/** Stored states for readers. A state that is damaged or describes another transcript is made again first. */
import { basename } from "node:path";
import { isInside } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { projectsFolder } from "../claude/native/layout.ts";
import type { HandoffConfig } from "../config/config.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { CaptureSource, Sources } from "./capture-source.ts";
import type { Captures } from "./capture.ts";
import { nativeIdOf } from "./find-handoff.ts";
import { isTellable, readState } from "./kept-state.ts";
import { matchText } from "./next-state.ts";
import type { SessionState } from "./state.ts";

/** The parts of an agent's hand-off. */
export interface HandoffParts {
  agent: AgentHandle;
  config: HandoffConfig;
  sources: Sources;
  captures: Captures;
  /** Claude Code's folder. Optional: native transcripts are not read. */
  claudeHome?: string | undefined;
}

const MAX_LISTED = 1_000;

/** Undefined for a cleared state. */
export async function getState(parts: HandoffParts, sessionKey: string): Promise<SessionState | undefined> {
  const key = canonicalSessionKey(sessionKey, parts.agent);
  const state = await confirmState(parts, key, await parts.agent.store.handoffs.get(key));
  return state !== undefined && isTellable(state) ? state : undefined;
}

/** By last message, newest first. Transcripts are compared only for damaged states. */
export async function listStates(parts: HandoffParts, { cleared = false } = {}): Promise<SessionState[]> {
  const kept = await parts.agent.store.handoffs.list({ limit: MAX_LISTED });
  const states: SessionState[] = [];
  for (const { key, state } of kept) {
    const known = readState(state) ?? (await repaired(parts, key, state));
    if (known !== undefined && (isTellable(known) || (cleared && known.clearedAt !== undefined))) states.push(known);
  }
  return states.toSorted(
    (a, b) => Number(a.lastMessageAt < b.lastMessageAt) - Number(a.lastMessageAt > b.lastMessageAt),
  );
}

async function repaired(parts: HandoffParts, sessionKey: string, kept: unknown): Promise<SessionState | undefined> {
  try {
    return await confirmState(parts, sessionKey, kept);
  } catch (error) {
    parts.agent.logger.warn("a damaged hand-off cannot be made again", { sessionKey, error });
    return undefined;
  }
}

/** The stored state if it describes its transcript, otherwise a new one. */
export async function confirmState(parts: HandoffParts, key: string, kept: unknown): Promise<SessionState | undefined> {
  const state = readState(kept);
  const source = kept === undefined ? undefined : await sourceOf(parts, key, kept);
  if (source === undefined) return state;
  if (state !== undefined && (await matchText(state, source)) !== "other") return state;
  return await parts.captures.capture(source, "found");
}

/** The window of a stored state; the last one of the session if the state is damaged. */
export async function sourceOf(parts: HandoffParts, key: string, kept: unknown): Promise<CaptureSource | undefined> {
  const { agent, sources } = parts;
  if (nativeIdOf(agent, key) !== undefined) return await nativeSource(parts, key, kept);
  const entry = await agent.store.get(key);
  if (entry === undefined || entry.handoff === "off") return undefined;
  const windows = await agent.store.windows(key);
  const state = readState(kept);
  const window =
    state === undefined ? windows.at(-1) : windows.find(({ sessionId }) => sessionId === state.previousSessionId);
  return window === undefined ? undefined : await sources.ofWindow(entry, window);
}

/** Unchecked: an edited record must not lead to a file outside Claude Code's folder. */
async function nativeSource(
  { sources, claudeHome }: HandoffParts,
  key: string,
  kept: unknown,
): Promise<CaptureSource | undefined> {
  if (!isRecord(kept) || !isRecord(kept["transcript"]) || claudeHome === undefined) return undefined;
  const { cwd, transcript } = kept;
  const path = transcript["file"];
  if (typeof path !== "string" || typeof cwd !== "string") return undefined;
  const sessionId = basename(path, ".jsonl");
  if (!isInside(projectsFolder(claudeHome), path) || !key.endsWith(`:${sessionId.toLowerCase()}`)) return undefined;
  return await sources.of({ kind: "native", sessionId, transcriptPath: path, cwd });
}

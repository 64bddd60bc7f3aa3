/** Kept states for whoever looks at them. One that is damaged, or tells about another text, is made anew first. */
import { basename, isAbsolute, relative, sep } from "node:path";
import { isRecord } from "../base/json-record.ts";
import { projectsFolder } from "../claude/native/layout.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { CaptureSource } from "./capture-source.ts";
import { nativeSessionKey } from "./handoff.ts";
import { isTellable, readState } from "./kept-state.ts";
import type { WindowParts } from "./previous-windows.ts";
import type { SessionState } from "./state.ts";

export interface KeptParts extends WindowParts {
  claudeHome?: string | undefined;
}

const MOST_LISTED = 1_000;

/** Undefined also for what was cleared. */
export async function getState(parts: KeptParts, sessionKey: string): Promise<SessionState | undefined> {
  const key = canonicalSessionKey(sessionKey, parts.agent);
  return await believed(parts, key, await parts.agent.store.handoffs.get(key));
}

/** By the last message, newest first: an old conversation may have been captured a moment ago. */
export async function listStates(parts: KeptParts, { cleared = false } = {}): Promise<SessionState[]> {
  const kept = await parts.agent.store.handoffs.list({ limit: MOST_LISTED });
  const states: SessionState[] = [];
  for (const { key, state } of kept) {
    // Looking into every transcript would cost too much: whoever wants one of them for sure asks for it.
    const known = readState(state) ?? (await believed(parts, key, state).catch(unknown(parts, key)));
    if (known !== undefined && (isTellable(known) || (cleared && known.clearedAt !== undefined))) states.push(known);
  }
  return states.toSorted(
    (a, b) => Number(a.lastMessageAt < b.lastMessageAt) - Number(a.lastMessageAt > b.lastMessageAt),
  );
}

function unknown({ agent }: KeptParts, sessionKey: string): (error: unknown) => undefined {
  return (error) => {
    agent.logger.warn("a damaged hand-off cannot be made anew", { sessionKey, error });
    return undefined;
  };
}

async function believed(parts: KeptParts, key: string, kept: unknown): Promise<SessionState | undefined> {
  if (kept === undefined) return undefined;
  const state = readState(kept);
  const source = await sourceOf(parts, key, kept);
  const isTrue = state !== undefined && (source === undefined || (await parts.captures.isTrue(state, source)));
  const known = isTrue || source === undefined ? state : await parts.captures.capture(source, "found");
  return known !== undefined && isTellable(known) ? known : undefined;
}

/** The window that a kept state tells about, as far as what is kept can be trusted with its name. */
export async function sourceOf(parts: KeptParts, key: string, kept: unknown): Promise<CaptureSource | undefined> {
  const { agent, sources } = parts;
  if (isNativeKey(parts, key)) return await nativeSource(parts, key, kept);
  const entry = await agent.store.get(key);
  if (entry === undefined || entry.handoff === "off") return undefined;
  const named = isRecord(kept) ? kept["previousSessionId"] : undefined;
  const windows = await agent.store.windows(key);
  const window = windows.find(({ sessionId }) => sessionId === named) ?? windows.at(-1);
  return window === undefined ? undefined : await sources.ofWindow(entry, window);
}

export function isNativeKey({ agent }: KeptParts, key: string): boolean {
  return key.startsWith(`${canonicalSessionKey(nativeSessionKey(agent.agentId, ""), agent)}:`);
}

async function nativeSource(
  { sources, claudeHome }: KeptParts,
  key: string,
  kept: unknown,
): Promise<CaptureSource | undefined> {
  const place = isRecord(kept) ? kept["transcript"] : undefined;
  const path = isRecord(place) ? place["file"] : undefined;
  const cwd = isRecord(kept) ? kept["cwd"] : undefined;
  if (typeof path !== "string" || typeof cwd !== "string" || claudeHome === undefined) return undefined;
  // What is kept may have been changed: it must not lead to any other file.
  const below = relative(projectsFolder(claudeHome), path);
  const sessionId = basename(path, ".jsonl");
  if (below.startsWith(`..${sep}`) || isAbsolute(below) || !key.endsWith(`:${sessionId.toLowerCase()}`))
    return undefined;
  return await sources.of({ kind: "native", sessionId, transcriptPath: path, cwd });
}

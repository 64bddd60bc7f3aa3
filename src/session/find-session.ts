/**
 * Finds the session that a person means: by key, label, session id or the unique start of one. A key
 * comes first: a label is whatever somebody typed into a chat, and must not stand in for another session.
 */
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/suggest.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";

export interface FoundSession {
  key: string;
  entry: SessionEntry;
  /** Set when the reference named an earlier window of the session. */
  window?: Window;
}

const SHORTEST_PREFIX = 4;
const CANDIDATES = 6;
const SUGGESTED_FROM = 200;

export async function findSession(agent: AgentHandle, reference: string): Promise<FoundSession> {
  const wanted = reference.trim();
  if (wanted === "") {
    throw new HoldfastError("usage", "empty-reference", "A session key, id or label is needed", {
      hint: "Run `holdfast sessions` to see which there are.",
    });
  }
  const found = (await byKey(agent, wanted)) ?? (await byLabel(agent, wanted)) ?? (await byId(agent, wanted));
  if (found === undefined) throw notFound(wanted, await namesInUse(agent));
  return found;
}

async function byKey(agent: AgentHandle, key: string): Promise<FoundSession | undefined> {
  const entry = await agent.store.get(key);
  return entry === undefined ? undefined : { key: canonicalSessionKey(key, agent), entry };
}

async function byLabel(agent: AgentHandle, label: string): Promise<FoundSession | undefined> {
  const { sessions } = await agent.store.list({ label, limit: 1 });
  return sessions[0];
}

async function byId(agent: AgentHandle, prefix: string): Promise<FoundSession | undefined> {
  if (prefix.length < SHORTEST_PREFIX || !/^[\w-]+$/.test(prefix)) return undefined;
  const found = await agent.store.findWindows(prefix, CANDIDATES);
  const exact = found.filter(({ sessionId }) => sessionId === prefix);
  const candidates = exact.length > 0 ? exact : found;
  // Other tools may have given one id to two sessions.
  const named = new Set(candidates.map(({ key, sessionId }) => `${sessionId} (${key})`));
  if (named.size > 1) throw ambiguous(prefix, candidates, [...named]);

  const [window] = candidates;
  if (window === undefined) return undefined;
  const entry = await agent.store.get(window.key);
  if (entry === undefined) return undefined;
  return entry.sessionId === window.sessionId ? { key: window.key, entry } : { key: window.key, entry, window };
}

/** Keys and labels of the sessions used last, for "did you mean". */
async function namesInUse(agent: AgentHandle): Promise<string[]> {
  const { sessions } = await agent.store.list({ limit: SUGGESTED_FROM, fields: ["label"] });
  return sessions.flatMap((session) => [
    session.key,
    ...(session.entry.label === undefined ? [] : [session.entry.label]),
  ]);
}

function ambiguous(prefix: string, windows: readonly Window[], names: readonly string[]): HoldfastError {
  return new HoldfastError("usage", "ambiguous-prefix", `"${prefix}" fits several sessions: ${names.join(", ")}`, {
    hint: "Give more characters of the id, or the key.",
    data: { prefix, candidates: windows.map(({ key, sessionId }) => ({ key, sessionId })) },
  });
}

function notFound(wanted: string, names: readonly string[]): HoldfastError {
  const suggestion = closestMatch(wanted, names);
  return new HoldfastError("not-found", "session-not-found", `No session found: ${wanted}`, {
    hint:
      suggestion === undefined
        ? "Run `holdfast sessions` to see which there are."
        : `Did you mean ${suggestion}? \`holdfast sessions\` shows all.`,
    data: { reference: wanted },
  });
}

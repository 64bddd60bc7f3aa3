/**
 * Finds a session by key, label, session id or unique id prefix. Keys win over labels: anybody in a chat can set
 * a label, and it must not hide another session. Also checks which sessions a session may access.
 */
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/text.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { Window } from "../store/store.ts";
import type { AgentHandle, FoundSession } from "./agent-handle.ts";

const SHORTEST_PREFIX = 4;
const CANDIDATES = 6;
const SUGGESTED_FROM = 200;

export async function findSession(agent: AgentHandle, reference: string): Promise<FoundSession> {
  const wanted = reference.trim();
  if (wanted === "") {
    throw new HoldfastError("usage", "empty-reference", "Session key, id or label missing", {
      hint: "Run `holdfast sessions` to list them.",
    });
  }
  const entry = await agent.store.get(wanted);
  if (entry !== undefined) return { key: canonicalSessionKey(wanted, agent), entry };
  const [labelled] = (await agent.store.list({ label: wanted, limit: 1 })).sessions;
  const found = labelled ?? (await byId(agent, wanted));
  if (found === undefined) throw notFound(wanted, await namesInUse(agent));
  return found;
}

/** For reading: also finds archived sessions, by key, archive id, session id or unique id prefix. */
export async function findSessionOrArchived(agent: AgentHandle, reference: string): Promise<FoundSession> {
  try {
    return await findSession(agent, reference);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "not-found") throw error;
    const archived = await findArchived(agent, reference.trim());
    if (archived === undefined) throw error;
    return archived;
  }
}

async function findArchived(agent: AgentHandle, wanted: string): Promise<FoundSession | undefined> {
  // Few commands need it.
  const { archiveUnreadable, readManifests } = await import("./archive.ts");
  const { records, unreadable } = await readManifests(agent.store.transcripts.manifests);
  const key = canonicalSessionKey(wanted, agent);
  // The newest comes first.
  const named = records.find((record) => record.id === wanted || record.key === key);
  if (named !== undefined) return { key: named.key, entry: named.entry, archive: named.id };
  if (!isIdPrefix(wanted)) return undefined;

  const window = pickWindow(
    wanted,
    records.flatMap(({ windows }) => windows.filter(({ sessionId }) => sessionId.startsWith(wanted))),
  );
  const record = window && records.find(({ windows }) => windows.includes(window));
  if (record !== undefined) {
    const { key: owner, id: archive, entry } = record;
    return { key: owner, entry, archive, window: window?.sessionId === entry.sessionId ? undefined : window };
  }
  // A manifest's name ends in the beginning of the session id.
  const damaged = unreadable.find((name) => name.includes(`-${wanted.slice(0, 8)}`));
  if (damaged !== undefined) throw archiveUnreadable(damaged);
  return undefined;
}

function isIdPrefix(text: string): boolean {
  return text.length >= SHORTEST_PREFIX && /^[\w-]+$/.test(text);
}

async function byId(agent: AgentHandle, prefix: string): Promise<FoundSession | undefined> {
  if (!isIdPrefix(prefix)) return undefined;
  const window = pickWindow(prefix, await agent.store.findWindows(prefix, CANDIDATES));
  if (window === undefined) return undefined;
  const entry = await agent.store.get(window.key);
  if (entry === undefined) return undefined;
  return entry.sessionId === window.sessionId ? { key: window.key, entry } : { key: window.key, entry, window };
}

/** Keys and labels of the most recent sessions, for suggestions. */
async function namesInUse(agent: AgentHandle): Promise<string[]> {
  const { sessions } = await agent.store.list({ limit: SUGGESTED_FROM, fields: ["label"] });
  return sessions.flatMap(({ key, entry }) => (entry.label === undefined ? [key] : [key, entry.label]));
}

/** The first of the windows with this id, else with this prefix. Other tools may have used one id for two sessions. */
function pickWindow(prefix: string, found: readonly Window[]): Window | undefined {
  const exact = found.filter(({ sessionId }) => sessionId === prefix);
  const candidates = exact.length > 0 ? exact : found;
  const names = new Set(candidates.map(({ key, sessionId }) => `${sessionId} (${key})`));
  if (names.size <= 1) return candidates[0];
  const message = `"${prefix}" matches several sessions: ${[...names].join(", ")}`;
  throw new HoldfastError("usage", "ambiguous-prefix", message, {
    hint: "Use a longer prefix of the id, or the key.",
    data: { prefix, candidates: candidates.map(({ key, sessionId }) => ({ key, sessionId })) },
  });
}

function notFound(wanted: string, names: readonly string[]): HoldfastError {
  const suggestion = closestMatch(wanted, names);
  return new HoldfastError("not-found", "session-not-found", `No session found: ${wanted}`, {
    hint:
      suggestion === undefined
        ? "Run `holdfast sessions` to list them."
        : `Did you mean ${suggestion}? Run \`holdfast sessions\` to list all.`,
    data: { reference: wanted },
  });
}

/** Longer chains are loops. */
const MAX_LINEAGE = 32;

export async function assertMayAccessSession(agent: AgentHandle, requester: string, target: string): Promise<void> {
  const from = canonicalSessionKey(requester, agent);
  const to = canonicalSessionKey(target, agent);
  // An empty requester would otherwise count as one of the agent's own sessions.
  if (requester.trim() === "" || target.trim() === "") {
    throw new HoldfastError("usage", "session-unnamed", "Requester or target session key missing", {
      hint: "Give both keys.",
    });
  }
  // Throws for keys of other agents.
  await agent.store.get(from);
  await agent.store.get(to);
  // Other people talk in the other sessions, so only the owner's main session may access all of them.
  const isMain = from === buildAgentMainSessionKey(agent);
  if (from === to || isMain || (await isDescendant(agent, to, from))) return;
  throw new HoldfastError("forbidden", "session-not-owned", `Session ${from} may not access ${to}`, {
    hint: "A session may access itself and the sessions that it spawned; the main session may access all.",
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

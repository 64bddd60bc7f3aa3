/** Which session a chat in the terminal goes on with, and what answers there. */
import { userInfo } from "node:os";
import { HoldfastError } from "../../base/errors.ts";
import { engineNameOf } from "../../compose-agents.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { buildAgentMainSessionKey, parseAgentSessionKey } from "../../keys/session-key.ts";
import { findSession } from "../../session/find-session.ts";
import { type Setup, assertAgentId, withAgent } from "../context.ts";

export interface ChatSession {
  agentId: string;
  sessionKey: string;
  /** The window that is open before anything was said; undefined for a new session. */
  sessionId: string | undefined;
  /** What answers, in a sentence. */
  greeting: string;
}

export async function chooseChatSession(
  { config }: Setup,
  options: { agent?: string; session?: string },
): Promise<ChatSession> {
  assertAgentId(options.agent);
  const named = options.session?.trim();
  const agentId = normalizeAgentId(options.agent ?? parseAgentSessionKey(named)?.agentId ?? config.defaultAgent);
  const key = named === undefined ? ownKey(config, agentId) : namedKey(named, config, agentId);
  const known = key === undefined ? await findByName(agentId, named ?? "") : await findByKey(agentId, key);
  const engine = engineNameOf(config, agentId);
  return {
    agentId,
    ...known,
    greeting: engine === "echo" ? "No model is configured: the echo engine answers." : `${engine} answers.`,
  };
}

/** The person at the keyboard has a session of their own. */
function ownKey(config: Setup["config"], agentId: string): string {
  const name = userInfo().username;
  const person = { Provider: "cli", Surface: "cli", ChatType: "direct", From: `cli:${name}`, SenderId: name };
  return resolveInboundSessionKey(person, { agentId, session: config.session });
}

/** The key that somebody wrote out, or the short name of the main session. A label may look like anything else. */
function namedKey(named: string, { session: { mainKey } }: Setup["config"], agentId: string): string | undefined {
  const main = buildAgentMainSessionKey({ agentId, mainKey });
  const key = canonicalSessionKey(named, { agentId, mainKey });
  return parseAgentSessionKey(named) !== null || key === main ? key : undefined;
}

type KnownSession = Pick<ChatSession, "sessionKey" | "sessionId">;

async function findByName(agentId: string, name: string): Promise<KnownSession> {
  return await withAgent({ agent: agentId }, async (agent) => {
    const { key, entry } = await findSession(agent, name);
    return { sessionKey: key, sessionId: entry.sessionId };
  });
}

/** Who names a key may be the first one to say something there. */
async function findByKey(agentId: string, sessionKey: string): Promise<KnownSession> {
  try {
    return await withAgent({ agent: agentId }, async (agent) => {
      const entry = await agent.store.get(sessionKey);
      return { sessionKey, sessionId: entry?.sessionId };
    });
  } catch (error) {
    // Nobody has said anything to this agent yet.
    if (error instanceof HoldfastError && error.code === "store-not-found") return { sessionKey, sessionId: undefined };
    throw error;
  }
}

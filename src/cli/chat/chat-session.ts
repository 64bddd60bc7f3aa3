/** Which session a chat in the terminal goes on with, and what answers there. */
import { userInfo } from "node:os";
import { HoldfastError } from "../../base/errors.ts";
import { engineNameOf } from "../../compose-agents.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import { normalizeAgentId } from "../../keys/names.ts";
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
  const agentId = normalizeAgentId(options.agent ?? config.defaultAgent);
  const sessionKey = options.session === undefined ? ownKey(config, agentId) : undefined;
  const known = await lookUp(agentId, sessionKey ?? options.session ?? "", { mustExist: sessionKey === undefined });
  const engine = engineNameOf(config, agentId);
  return {
    agentId,
    sessionKey: known?.key ?? sessionKey ?? "",
    sessionId: known?.sessionId,
    greeting: engine === "echo" ? "No model is configured: the echo engine answers." : `${engine} answers.`,
  };
}

/** The person at the keyboard has a session of their own. */
function ownKey(config: Setup["config"], agentId: string): string {
  const name = userInfo().username;
  const person = { Provider: "cli", Surface: "cli", ChatType: "direct", From: `cli:${name}`, SenderId: name };
  return resolveInboundSessionKey(person, { agentId, session: config.session });
}

async function lookUp(
  agentId: string,
  reference: string,
  { mustExist }: { mustExist: boolean },
): Promise<{ key: string; sessionId: string } | undefined> {
  try {
    return await withAgent({ agent: agentId }, async (agent) => {
      if (mustExist) {
        const { key, entry } = await findSession(agent, reference);
        return { key, sessionId: entry.sessionId };
      }
      const entry = await agent.store.get(reference);
      return entry === undefined ? undefined : { key: reference, sessionId: entry.sessionId };
    });
  } catch (error) {
    // Nobody has said anything to this agent yet.
    if (!mustExist && error instanceof HoldfastError && error.code === "store-not-found") return undefined;
    throw error;
  }
}

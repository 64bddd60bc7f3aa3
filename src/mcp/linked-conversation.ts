/**
 * The chat that a task came from. An agent may talk with several people, and what one of them said is
 * none of the others' business: without a session key that names the conversation, it counts as linked
 * only when the agent has no other, and when it is no group.
 */
import { printableLine } from "../base/printable.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { isSubagentSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { McpParts } from "./bridge-parts.ts";

export type ConversationLink =
  | { linked: true; agent: AgentHandle; key: string; entry: SessionEntry }
  | { linked: false; reason: string };

const HOW_TO_LINK = "`holdfast mcp --session <key>` links one.";

export async function findConversation(parts: Pick<McpParts, "openAgent" | "sessionKey">): Promise<ConversationLink> {
  const agent = await parts.openAgent({ create: false });
  const { sessionKey } = parts;
  if (sessionKey !== undefined) {
    const entry = await agent?.store.get(sessionKey);
    if (agent !== undefined && entry !== undefined) {
      return { linked: true, agent, key: canonicalSessionKey(sessionKey, agent), entry };
    }
    return { linked: false, reason: `The linked conversation ${printableLine(sessionKey, 200)} does not exist.` };
  }
  if (agent === undefined) return { linked: false, reason: "The agent has no conversations yet." };
  const { sessions, total } = await agent.store.list({ limit: 1 });
  const [only] = sessions;
  if (only === undefined) return { linked: false, reason: "The agent has no conversations yet." };
  if (total > 1) {
    return { linked: false, reason: `No conversation is linked, and the agent has ${total}. ${HOW_TO_LINK}` };
  }
  if (only.kind === "group" || only.kind === "unknown" || isSubagentSessionKey(only.key)) {
    return { linked: false, reason: `No conversation is linked. ${HOW_TO_LINK}` };
  }
  return { linked: true, agent, key: only.key, entry: only.entry };
}

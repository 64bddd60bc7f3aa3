/**
 * What one conversation may see. An agent may talk with several people, and none may see what another said.
 * Without a session key, a chat counts as linked only if it is the agent's only one and not a group. A Claude Code
 * session of a chat is shown only to that chat.
 */
import { type DiscoveredSession, visibleTo } from "../claude/discovered-session.ts";
import type { Discovery } from "../claude/discovery/discover.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { isSubagentSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { McpParts } from "./bridge-parts.ts";
import { printableLine } from "../base/text.ts";

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

export interface Viewer {
  /** The conversation of the caller. Undefined: a task without one. */
  sessionKey?: string | undefined;
  claudeSessionId?: string | undefined;
}

export function mayShow({ sessionKey, claudeSessionId }: Viewer, session: DiscoveredSession): boolean {
  return visibleTo(sessionKey)(session) || session.sessionId === claudeSessionId;
}

type Discover = (choice: { limit?: number | undefined }) => Promise<Discovery>;

/** Reads one page if all of it may be shown. `total` may then include sessions that may not be shown. */
export async function discoverShown(viewer: Viewer, discover: Discover, limit?: number): Promise<Discovery> {
  const isShown = (session: DiscoveredSession): boolean => mayShow(viewer, session);
  const page = limit === undefined ? undefined : await discover({ limit });
  if (page?.sessions.every(isShown) === true) return page;
  const all = await discover({});
  const sessions = all.sessions.filter(isShown);
  const activeCount = sessions.filter(({ isRunning }) => isRunning).length;
  return { ...all, sessions: sessions.slice(0, limit), total: sessions.length, activeCount };
}

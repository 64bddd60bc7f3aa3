/** A native session as lists for models show it, over MCP and in an agent's own tools. */
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { costOf, shortText } from "./session-texts.ts";

export function toListRow(session: DiscoveredSession) {
  const { sessionId, source, agentId, origin, label, title, branch, firstMessage, lastTask } = session;
  return {
    sessionId,
    source,
    agent: agentId,
    origin,
    label: label === undefined ? undefined : shortText(label),
    // Most titles are the first message.
    title: title === undefined || title === firstMessage ? undefined : shortText(title),
    branch: shortText(branch),
    firstMessage: shortText(firstMessage),
    lastModified: session.lastModified.toISOString(),
    messageCount: session.messageCount,
    cost: costOf(session),
    turns: session.totalTurns ?? session.userTurns,
    lastTask: lastTask === undefined ? undefined : shortText(lastTask),
    isRunning: session.isRunning,
  };
}

/** A native session as models see it, over MCP and in an agent's own tools. */
import { type DiscoveredSession, countedCost } from "../../claude/discovered-session.ts";
import { excerptLine } from "../model-text.ts";

export function toListRow(session: DiscoveredSession) {
  const { sessionId, source, agentId, origin, label, title, branch, firstMessage, lastTask } = session;
  return {
    sessionId,
    source,
    agent: agentId,
    origin,
    label: label === undefined ? undefined : shortText(label),
    // Most titles repeat the first message.
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

const TEXT_LENGTH = 200;

/** What the session is about. */
export function taskOf({ lastTask, title, lastPrompt, firstMessage }: DiscoveredSession): string {
  return shortText(lastTask ?? title ?? lastPrompt ?? firstMessage);
}

export function shortText(text: string): string {
  return excerptLine(text, TEXT_LENGTH);
}

export function costOf(session: DiscoveredSession): number | undefined {
  const cost = countedCost(session);
  return cost === undefined ? undefined : Number(cost.toFixed(4));
}

/** How a native session is shown to people. Nothing here is safe for a terminal yet: printing makes it so. */
import { homedir } from "node:os";
import { sep } from "node:path";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import { formatTokens } from "../../output.ts";

/** Enough to tell sessions apart, and accepted wherever an id is asked for. */
export function shortId(sessionId: string): string {
  return sessionId.slice(0, 8);
}

/** What the session is about, in the words that say it best. */
export function sessionTitle(session: DiscoveredSession): string {
  const about = [session.title, session.lastTask, session.firstMessage, session.lastPrompt].find(
    (text) => text !== undefined && text.trim() !== "",
  );
  const label = session.label === undefined ? "" : `[${session.label}] `;
  return `${label}${about ?? "(nothing was said)"}`;
}

/** By list prices from the tokens; what a registry has noted covers Holdfast's own runs only. */
export function sessionCost(session: DiscoveredSession): number | undefined {
  return session.estimatedCostUsd ?? session.totalCostUsd;
}

/** Dollars where they are known, else tokens. */
export function spentCell(session: DiscoveredSession): string {
  const cost = sessionCost(session);
  return cost === undefined ? `${formatTokens(totalTokens(session))} tok` : formatUsd(cost);
}

function totalTokens(session: DiscoveredSession): number {
  const { totalInputTokens, totalOutputTokens, cacheReadTokens, cacheWriteTokens } = session;
  return totalInputTokens + totalOutputTokens + cacheReadTokens + cacheWriteTokens;
}

export function originCell({ agentId, origin }: DiscoveredSession): string {
  return agentId === undefined ? origin : `agent ${agentId}`;
}

/** One column that says at once whether somebody has it. */
export function runningMark({ isRunning, archived, running }: DiscoveredSession): string {
  if (archived === true) return "a";
  if (!isRunning) return "";
  return running?.status === "waiting" ? "?" : "●";
}

export function runningText({ isRunning, running, archived }: DiscoveredSession): string {
  if (archived === true) return "archived: Claude Code has deleted it";
  if (!isRunning) return "not running";
  const waiting = running?.waitingFor === undefined ? "" : `, waiting for ${running.waitingFor}`;
  const status = running?.status === undefined ? "" : `, ${running.status}${waiting}`;
  return `running${running === undefined ? "" : ` in process ${running.pid}`}${status}`;
}

export function formatUsd(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return "<$0.01";
  return `$${dollars.toFixed(2)}`;
}

/** `1h 5m`, `2m 10s`, `3.2s`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
}

/** `~/work/app`. */
export function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}${sep}`) ? `~${path.slice(home.length)}` : path;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

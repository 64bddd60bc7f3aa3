/** Texts about a native session. Callers make them printable. */
import { homedir } from "node:os";
import { sep } from "node:path";
import { type DiscoveredSession, countedCost } from "../../../claude/discovered-session.ts";
import { formatTokens } from "../../output.ts";

/** The title, else the last task, the first message or the last prompt. */
export function sessionTitle(session: DiscoveredSession): string {
  const about = [session.title, session.lastTask, session.firstMessage, session.lastPrompt].find(
    (text) => text !== undefined && text.trim() !== "",
  );
  const labels = session.labels ?? (session.label === undefined ? [] : [session.label]);
  const label = labels.map((name) => `[${name}] `).join("");
  return `${label}${about ?? "(no messages)"}`;
}

/** Dollars if known, else tokens. */
export function spentCell(session: DiscoveredSession): string {
  const cost = countedCost(session);
  return cost === undefined ? `${formatTokens(totalTokens(session))} tok` : formatUsd(cost);
}

function totalTokens(session: DiscoveredSession): number {
  const { totalInputTokens, totalOutputTokens, cacheReadTokens, cacheWriteTokens } = session;
  return totalInputTokens + totalOutputTokens + cacheReadTokens + cacheWriteTokens;
}

export function originCell({ agentId, agentIds, origin }: DiscoveredSession): string {
  if (agentIds !== undefined) return `agents ${agentIds.join(", ")}`;
  return agentId === undefined ? origin : `agent ${agentId}`;
}

/** One column: `●` running, `?` waiting for input, `a` archived. */
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

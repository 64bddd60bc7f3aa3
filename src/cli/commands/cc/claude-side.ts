/**
 * Shared by the `cc` commands: the Claude Code side of the agent, the folder, a progress line, and texts about a
 * session. Callers must make these texts printable.
 */
import { statSync } from "node:fs";
import { resolve, sep } from "node:path";
import { homedir } from "node:os";
import { closing } from "../../../base/async.ts";
import { HoldfastError } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import { silentLogger } from "../../../base/log.ts";
import type { RefreshProgress } from "../../../claude/index/native-index.ts";
import type { SessionSelection } from "../../../claude/selection/selection.ts";
import { type Setup, assertAgentId, loadSetup } from "../../context.ts";
import { formatBytes, formatTokens } from "../../output.ts";
import { RUN_KIND_VARIABLE } from "../../../claude/attribution.ts";
import { type ClaudeSide, openClaudeSide } from "../../../compose/claude.ts";
import { type DiscoveredSession, countedCost } from "../../../claude/discovered-session.ts";
import type { Flags, Texts } from "../../command.ts";

export type ClaudeOptions = Flags<"json"> & Texts<"agent">;

export async function withClaude<T>(
  options: ClaudeOptions,
  task: (side: ClaudeSide, setup: Setup) => Promise<T>,
): Promise<T> {
  assertAgentId(options.agent);
  const setup = await loadSetup();
  const { level } = setup.config.log;
  // Commands print what a person needs; the log is opt-in.
  const logger = level === "debug" || level === "info" ? undefined : silentLogger;
  const side = openClaudeSide({ ...setup, logger, agentId: options.agent });
  await using _closing = closing(side);
  return await task(side, setup);
}

/** The sessions that a task may resume. Default: all for a person, its own for an agent that calls this command. */
export function candidatesFor(from: "own" | "all" | undefined, { config }: ClaudeSide): "own" | "all" {
  const isAgent = process.env[RUN_KIND_VARIABLE] !== undefined;
  return from ?? config.sessionSelection.candidates ?? (isAgent ? "own" : "all");
}

/** The named folder or the current one; it must exist. */
export function requireFolder(path: string | undefined): string {
  const folder = resolve(path ?? ".");
  if (isFolder(folder)) return folder;
  throw new HoldfastError("not-found", "folder-not-found", `There is no folder ${folder}`, {
    hint: "Give the path of a repo or a folder in it. Default: the current folder.",
    data: { path: folder },
  });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const PATIENCE_SECONDS = 1;

/** `using line = progressLine()`: one line on stderr while transcripts are read or copied. */
export function progressLine() {
  // Loading `performance` would delay short lists.
  const startedAt = process.uptime();
  let isShown = false;
  const show = (text: string): void => {
    if (!process.stderr.isTTY || process.uptime() - startedAt < PATIENCE_SECONDS) return;
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}`);
  };
  return {
    refresh: {
      onProgress({ filesDone, filesTotal, bytesDone, bytesTotal }: RefreshProgress): void {
        const bytes = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
        show(`Reading transcripts: ${filesDone} of ${filesTotal} files, ${bytes}`);
      },
    },
    show,
    [Symbol.dispose]: () => {
      if (isShown) process.stderr.write("\r\u001b[K");
      isShown = false;
    },
  };
}

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

/** "82 % sure, judged by Claude Code ($0.001); else start fresh (12 %)". Undefined if no sessions were compared. */
export function surenessText(
  selection: Pick<SessionSelection, "confidence" | "runnerUp" | "relevanceBy" | "relevanceCostUsd">,
): string | undefined {
  const { confidence, runnerUp, relevanceBy, relevanceCostUsd: cost } = selection;
  if (confidence === undefined || relevanceBy === "none") return undefined;
  const price = cost === undefined ? "" : ` ($${cost.toFixed(4)})`;
  const next = runnerUp?.sessionId === undefined ? "start fresh" : `resume ${shortId(runnerUp.sessionId)}`;
  const other = runnerUp === undefined ? "" : `; else ${next} (${percent(runnerUp.confidence)})`;
  return `${percent(confidence)} sure, judged ${JUDGES[relevanceBy]}${price}${other}`;
}

const JUDGES = { model: "by the configured model", "claude-code": "by Claude Code", offline: "offline" };

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
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

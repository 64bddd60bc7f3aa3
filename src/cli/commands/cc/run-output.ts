/**
 * What a run prints: progress as lines on stderr, the answer on stdout, the outcome as the exit code. Texts of models
 * and tools are made printable.
 */
import { nodeUtil } from "../../../base/builtin.ts";
import { ERROR_KINDS } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import type { ClaudeCodeResult, Holder, ProgressSummary, RunnerEvent } from "../../../claude/runner/runner-contract.ts";
import { plural, print, printJson, talk } from "../../output.ts";
import { formatDuration, formatUsd } from "./session-view.ts";
import { printableLine } from "../../../base/text.ts";

const EXIT_CODES: Record<ClaudeCodeResult["outcome"], number> = {
  completed: 0,
  // It finished, but some tools were not allowed.
  "permission-denied": ERROR_KINDS.degraded.exitCode,
  interrupted: ERROR_KINDS.interrupted.exitCode,
  "stale-resume": ERROR_KINDS["not-found"].exitCode,
  "limit-turns": 1,
  "limit-budget": 1,
  "api-error": 1,
  "rate-limited": 1,
  "timed-out": 1,
  crashed: 1,
};

export function printResult(result: ClaudeCodeResult, shownWarnings: ReadonlySet<string>, json: boolean): void {
  process.exitCode = EXIT_CODES[result.outcome];
  if (json) {
    printJson({ schema: 1, ...result });
    return;
  }
  if (result.text !== "") print(result.text);
  for (const text of result.warnings) {
    if (!shownWarnings.has(text)) writeLine({ text: `WARNING: ${text}`, tone: "loud" });
  }
  for (const { toolName } of result.denials) talk(`not allowed: ${toolName}`);
  if (result.error !== undefined) talk(`holdfast: ${result.error}`);
}

/** Prints events as lines or JSON, and collects the warnings that were shown. */
export function createEventPrinter(json: boolean): {
  shownWarnings: Set<string>;
  onEvent: (event: RunnerEvent) => void;
} {
  const shownWarnings = new Set<string>();
  return {
    shownWarnings,
    onEvent(event) {
      if (json) {
        process.stderr.write(`${JSON.stringify({ event })}\n`);
        return;
      }
      if ("text" in event) shownWarnings.add(event.text);
      const line = toLine(event);
      if (line !== undefined) writeLine(line);
    },
  };
}

interface RunLine {
  text: string;
  tone: "plain" | "quiet" | "loud";
}

/** Undefined for events that are not shown; the text of the answer is printed at the end. */
function toLine(event: RunnerEvent): RunLine | undefined {
  switch (event.type) {
    case "queued":
      return plain(`waiting: ${event.reason} ${holderText(event.holder)}; ${formatDuration(event.waitedMs)} so far`);
    case "selected":
      return plain(`decision: ${event.selection.reason}`);
    case "started":
      return plain(`started: ${event.how}, session ${event.sessionId ?? "?"}, process ${event.pid}`);
    case "tool":
      return quiet(`${event.isSubagent ? "    " : "  "}${event.name}  ${event.detail}`);
    case "tool-failed":
      return quiet(`  ${event.name} failed: ${event.text}`);
    case "progress":
      return plain(`working: ${progressText(event.progress)}`);
    case "session-changed":
      return plain(`the session continues as ${event.to}`);
    case "second-writer":
    case "fallback":
    case "warning":
      return { text: `WARNING: ${event.text}`, tone: "loud" };
    case "ended":
      return plain(endText(event.result));
    case "dropped":
      return quiet(`  (${plural(event.count, "event")} omitted)`);
    default:
      return undefined;
  }
}

const MAX_LINE = 300;

function writeLine({ text, tone }: RunLine): void {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const safe = `${indent}${printableLine(text, tone === "loud" ? Number.POSITIVE_INFINITY : MAX_LINE)}`;
  const { styleText } = nodeUtil();
  const stream = { stream: process.stderr };
  if (tone === "plain") process.stderr.write(`${safe}\n`);
  else process.stderr.write(`${styleText(tone === "loud" ? ["bold", "yellow"] : "dim", safe, stream)}\n`);
}

function plain(text: string): RunLine {
  return { text, tone: "plain" };
}

function quiet(text: string): RunLine {
  return { text, tone: "quiet" };
}

function holderText({ kind, pid, agentId, task, sessionId, status }: Holder): string {
  const who = kind === "person" ? "A person's `claude`" : `Agent ${agentId ?? "?"}`;
  const about = [
    `process ${pid}`,
    ...(sessionId === undefined ? [] : [`session ${shortId(sessionId)}`]),
    ...(status === undefined ? [] : [status]),
    ...(task === undefined ? [] : [`"${task.slice(0, 80)}"`]),
  ];
  return `${who} is using it (${about.join(", ")})`;
}

function progressText(progress: ProgressSummary): string {
  const { elapsedMs, toolUses, lastTool, lastToolDetail, lastText, costUsd, retries, subagents } = progress;
  return [
    formatDuration(elapsedMs),
    plural(toolUses, "tool use"),
    ...(subagents === 0 ? [] : [plural(subagents, "subagent")]),
    ...(costUsd === 0 ? [] : [formatUsd(costUsd)]),
    ...(retries === 0 ? [] : [`retried ${retries} ×`]),
    ...(lastTool === undefined ? [] : [`last ${lastTool} ${lastToolDetail ?? ""}`.trim()]),
    ...(lastText === undefined || lastText === "" ? [] : [`"${lastText.slice(-100)}"`]),
  ].join(", ");
}

function endText({ outcome, durationMs, turns, costUsd, sessionId, isLive }: ClaudeCodeResult): string {
  const figures = [formatDuration(durationMs), plural(turns, "turn"), formatUsd(costUsd)].join(", ");
  const session = sessionId === undefined ? "" : `; session ${sessionId}${isLive ? " stays open" : ""}`;
  return `${outcome}: ${figures}${session}`;
}

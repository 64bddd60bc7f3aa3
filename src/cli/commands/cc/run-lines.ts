/** What a run says while it works, as lines for a person on stderr. Texts of models and tools are made harmless. */
import { nodeUtil } from "../../../base/builtin.ts";
import { printableLine } from "../../../base/printable.ts";
import type { ClaudeCodeResult, Holder, ProgressSummary, RunnerEvent } from "../../../claude/runner/runner-contract.ts";
import { formatDuration, formatUsd, plural, shortId } from "./session-view.ts";

type Tone = "plain" | "quiet" | "loud";

export interface RunLine {
  text: string;
  tone: Tone;
}

/** Undefined for what is not worth a line: the text itself comes whole at the end. */
export function runLine(event: RunnerEvent): RunLine | undefined {
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
      return plain(`the session goes on as ${event.to}`);
    case "second-writer":
    case "fallback":
    case "warning":
      return { text: `WARNING: ${event.text}`, tone: "loud" };
    case "ended":
      return plain(endText(event.result));
    case "dropped":
      return quiet(`  (${plural(event.count, "event")} left out)`);
    default:
      return undefined;
  }
}

const MAX_LINE = 300;

export function writeRunLine({ text, tone }: RunLine): void {
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
  return `${who} has it (${about.join(", ")})`;
}

function progressText(progress: ProgressSummary): string {
  const { elapsedMs, toolUses, lastTool, lastToolDetail, lastText, costUsd, retries, subagents } = progress;
  return [
    formatDuration(elapsedMs),
    plural(toolUses, "tool use"),
    ...(subagents === 0 ? [] : [plural(subagents, "subagent")]),
    ...(costUsd === 0 ? [] : [formatUsd(costUsd)]),
    ...(retries === 0 ? [] : [`${retries} × tried again`]),
    ...(lastTool === undefined ? [] : [`last ${lastTool} ${lastToolDetail ?? ""}`.trim()]),
    ...(lastText === undefined || lastText === "" ? [] : [`"${lastText.slice(-100)}"`]),
  ].join(", ");
}

function endText({ outcome, durationMs, turns, costUsd, sessionId, isLive }: ClaudeCodeResult): string {
  const figures = [formatDuration(durationMs), plural(turns, "turn"), formatUsd(costUsd)].join(", ");
  const session = sessionId === undefined ? "" : `; session ${sessionId}${isLive ? " stays open" : ""}`;
  return `${outcome}: ${figures}${session}`;
}

/** What a conversation reads about its tasks. Texts of models and repos are data: they become single printable lines. */
import { printable, printableLine } from "../base/text.ts";
import { redactText } from "../base/redact.ts";
import type { MessageButton } from "../channels/channel.ts";
import type { PermissionQuestion } from "../claude/protocol/messages.ts";
import { askedDetail } from "../claude/runner/run-events.ts";
import type { ClaudeCodeResult, ProgressSummary, RunnerEvent } from "../claude/runner/runner-contract.ts";
import type { Task } from "./task.ts";

const TITLE_LENGTH = 80;

export function taskTitle(text: string): string {
  return printableLine(redactText(text), TITLE_LENGTH);
}

/** The message that is edited while the task runs. */
export function statusText(task: Task, line: string): string {
  return `Task ${task.id}: ${taskTitle(task.state.text)}\n${line}`;
}

/** For channels that cannot edit a message. */
export function progressNote({ id }: Task, line: string): string {
  return `Task ${id}: ${line}\n/cc stop ${id} stops it.`;
}

/** The branch of a task's own worktree. */
export function branchOf(id: string): string {
  return `holdfast/${id}`;
}

export function stopButton({ id }: Task): MessageButton {
  return { label: "Stop", command: `/cc stop ${id}` };
}

/** What the status message shows after an event. Undefined: nothing new. */
export function eventLine(event: RunnerEvent): string | undefined {
  switch (event.type) {
    case "queued":
      return `Waiting: ${event.reason}`;
    case "selected":
      return event.selection.reason;
    case "progress":
      return progressLine(event.progress);
    default:
      return undefined;
  }
}

/** `4 min · 12 tools · editing webhook.ts · $0.31` */
function progressLine({ elapsedMs, toolUses, lastTool, lastToolDetail, costUsd }: ProgressSummary): string {
  const doing = lastTool === undefined ? undefined : `${lastTool} ${lastToolDetail ?? ""}`.trim();
  const parts = [durationText(elapsedMs), `${toolUses} ${toolUses === 1 ? "tool" : "tools"}`, doing, costText(costUsd)];
  return parts.filter((part) => part !== undefined).join(" · ");
}

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** Undefined: nothing. */
export function costText(usd: number): string | undefined {
  if (usd === 0) return undefined;
  return usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

export function questionText({ id }: Task, question: PermissionQuestion): string {
  const { tool, description = "" } = question;
  const detail = askedDetail(question);
  // Claude Code repeats a command that has no description.
  const beginning = printableLine(description).replace(/(?:…|\.\.\.)$/, "");
  const why =
    beginning !== "" && !printableLine(detail).startsWith(beginning)
      ? `\n${printableLine(redactText(description), 200)}`
      : "";
  return `Task ${id} asks to use ${printableLine(tool, 60)}: ${redactText(detail)}${why}`;
}

/** In the order in which people count them: 1, 2, 3. */
export function questionButtons(code: string): MessageButton[] {
  return [
    { label: "Allow once", command: `/cc allow ${code}` },
    { label: "Allow for this task", command: `/cc always ${code}` },
    { label: "Deny", command: `/cc deny ${code}` },
  ];
}

export interface Aftermath {
  /** Commits since the task began, newest first. */
  commits: readonly { sha: string; message: string }[];
  failingChecks: readonly { name: string }[];
  branch?: string | undefined;
}

const MAX_COMMITS = 5;

export function resultText(task: Task, result: ClaudeCodeResult, aftermath: Aftermath): string {
  const { commits, failingChecks, branch } = aftermath;
  const { outcome, durationMs, costUsd, text, error, warnings, denials } = result;
  const figures = [durationText(durationMs), costText(costUsd)].filter((part) => part !== undefined).join(", ");
  const denied = denials.map(({ toolName }) => printableLine(toolName, 60));
  return [
    `Task ${task.id} ${OUTCOMES[outcome]} (${figures}).`,
    printable(text.trim()),
    error === undefined || denied.length > 0 ? "" : printableLine(error, 300),
    ...commits
      .slice(0, MAX_COMMITS)
      .map(({ sha, message }) => `Commit ${sha.slice(0, 8)} ${printableLine(message, 100)}`),
    commits.length > MAX_COMMITS ? `and ${commits.length - MAX_COMMITS} more commits` : "",
    task.state.worktree === undefined || branch === undefined ? "" : `Branch ${printableLine(branch, 100)}`,
    failingChecks.length === 0
      ? ""
      : `Failing checks: ${failingChecks.map(({ name }) => printableLine(name, 60)).join(", ")}`,
    denied.length === 0 ? "" : `Not allowed: ${[...new Set(denied)].join(", ")}`,
    ...warnings.map((warning) => printableLine(warning, 300)),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

const OUTCOMES: Record<ClaudeCodeResult["outcome"], string> = {
  completed: "is done",
  "permission-denied": "is done, but some actions were not allowed",
  "limit-turns": "stopped at its limit of turns",
  "limit-budget": "stopped: its budget is used up",
  "api-error": "failed: the model's API refused",
  "rate-limited": "failed: the usage limit is reached",
  "stale-resume": "failed: its session is gone",
  interrupted: "was stopped",
  "timed-out": "was stopped: it took too long",
  crashed: "failed: Claude Code ended unexpectedly",
};

export const GATEWAY_STOPPED = "The gateway stopped. /cc send continues the session.";

export function lostText({ id, state }: Task): string {
  const how = state.sessionId === undefined ? "" : ` /cc send continues its session.`;
  return `Task ${id} was interrupted because the gateway stopped. What it had done so far is kept.${how}`;
}

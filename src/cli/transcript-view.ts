/** How commands show transcript entries and transcript damage. */
import { localTime } from "../base/clock.ts";
import { ERROR_KINDS } from "../base/errors.ts";
import type { MessageEntry, TranscriptEntry } from "../transcript/entries.ts";
import { style, talk } from "./output.ts";
import { printable } from "../base/text.ts";
import { type TranscriptProblem, isLoss } from "../transcript/scan.ts";
import { isFlushEntry, saidText } from "../transcript/messages.ts";

const SPEAKERS: Record<string, string> = { user: "you", assistant: "agent", toolResult: "tool" };
const MARGIN = " ".repeat("2026-01-01 00:00:00  speaker  ".length);

/** One or more coloured lines; undefined for bookkeeping entries. */
export function renderEntry(entry: TranscriptEntry): string | undefined {
  const spoken = describeEntry(entry);
  if (spoken === undefined) return undefined;
  const time = style("dim", localTime(Date.parse(entry.timestamp)));
  const [first = "", ...rest] = printable(spoken.text).split("\n");
  const speaker = style(spoken.speaker === "you" ? "cyan" : "green", spoken.speaker.padEnd(7));
  return [`${time}  ${speaker}  ${first}`, ...rest.map((line) => `${MARGIN}${line}`)].join("\n");
}

export function describeEntry(entry: TranscriptEntry): { speaker: string; text: string } | undefined {
  switch (entry.type) {
    case "message":
      return { speaker: speakerOf(entry), text: textOf(entry) };
    case "custom_message":
      // Entries without `display` are for the engine only.
      if (!entry.display) return undefined;
      return {
        speaker: "note",
        text: typeof entry.content === "string" ? entry.content : JSON.stringify(entry.content),
      };
    case "compaction":
      return { speaker: "summary", text: entry.summary };
    case "branch_summary":
      return { speaker: "branch", text: entry.summary };
    case "model_change":
      return { speaker: "model", text: `${entry.provider}/${entry.modelId}` };
    default:
      return undefined;
  }
}

/** Memory turns have no human speaker. */
function speakerOf(entry: MessageEntry): string {
  return isFlushEntry(entry) ? "memory" : (SPEAKERS[entry.message.role] ?? entry.message.role);
}

/** Includes tool calls and failures, so that no answer is shown empty. */
function textOf(entry: MessageEntry): string {
  const { message } = entry;
  const text = saidText(entry);
  if (message.role !== "assistant") return text;
  const calls =
    typeof message.content === "string"
      ? []
      : message.content.flatMap((block) => (block.type === "toolCall" ? [`(calls ${block.name})`] : []));
  const failure = message.stopReason === "error" ? [`(failed: ${message.errorMessage ?? "unknown reason"})`] : [];
  return [...(text === "" ? [] : [text]), ...calls, ...failure].join("\n");
}

/** Prints the problems of a transcript on stderr. If something is lost, the exit code is 5. */
export function reportProblems(path: string, { problems }: { problems: readonly TranscriptProblem[] }): void {
  for (const { line, offset, file, reason } of problems) {
    const place = line === undefined ? (offset === undefined ? "" : ` at byte ${offset}`) : ` line ${line}`;
    talk(`holdfast: ${file ?? path}${place}: ${reason}`);
  }
  if (!problems.some(isLoss)) return;
  talk("  The transcript is damaged; only the readable part is shown. Run `holdfast doctor --deep` for details.");
  process.exitCode = ERROR_KINDS.degraded.exitCode;
}

/** How the entries of a transcript look to a person. */
import { localTime } from "../base/clock.ts";
import { printable } from "../base/printable.ts";
import type { MessageEntry, TranscriptEntry } from "../transcript/entries.ts";
import { isFlushEntry, saidText } from "../transcript/turn-mark.ts";
import { style } from "./output.ts";

const SPEAKERS: Record<string, string> = { user: "you", assistant: "agent", toolResult: "tool" };
const MARGIN = " ".repeat("2026-01-01 00:00:00  speaker  ".length);

/** One or more lines, coloured; undefined for bookkeeping that nobody said. */
export function renderEntry(entry: TranscriptEntry): string | undefined {
  const spoken = describeEntry(entry);
  if (spoken === undefined) return undefined;
  const time = style("dim", localTime(Date.parse(entry.timestamp)));
  const [first = "", ...rest] = printable(spoken.text).split("\n");
  const speaker = style(spoken.speaker === "you" ? "cyan" : "green", spoken.speaker.padEnd(7));
  return [`${time}  ${speaker}  ${first}`, ...rest.map((line) => `${MARGIN}${line}`)].join("\n");
}

/** Who said what in an entry, as plain text. */
export function describeEntry(entry: TranscriptEntry): { speaker: string; text: string } | undefined {
  switch (entry.type) {
    case "message":
      return { speaker: speakerOf(entry), text: textOf(entry) };
    case "custom_message":
      // For the engine alone.
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

/** What the agent was told and did when it saved its memory was said by nobody. */
function speakerOf(entry: MessageEntry): string {
  return isFlushEntry(entry) ? "memory" : (SPEAKERS[entry.message.role] ?? entry.message.role);
}

/** An answer that failed, or that only calls tools, says so instead of nothing. */
function textOf(entry: MessageEntry): string {
  const { message } = entry;
  const text = saidText(entry);
  if (message.role !== "assistant") return text;
  const calls =
    typeof message.content === "string"
      ? []
      : message.content.flatMap((block) => (block.type === "toolCall" ? [`(calls ${block.name})`] : []));
  const failure = message.stopReason === "error" ? [`(failed: ${message.errorMessage ?? "no reason is known"})`] : [];
  return [...(text === "" ? [] : [text]), ...calls, ...failure].join("\n");
}

/** How the entries of a transcript look to a person. */
import { localTime } from "../base/clock.ts";
import { printable } from "../base/printable.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { messageText } from "../transcript/text.ts";
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
      return { speaker: SPEAKERS[entry.message.role] ?? entry.message.role, text: messageText(entry.message) };
    case "custom_message":
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

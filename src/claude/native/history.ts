/**
 * Prompts that people typed, from Claude Code's `history.jsonl`. What they pasted stands there too and
 * is left alone: it is where secrets end up, and nothing here needs it.
 */
import { type Line, readLines } from "../../base/jsonl.ts";
import { historyFile, openNativeFile } from "./layout.ts";
import { createObjectSkimmer } from "./object-skimmer.ts";

export interface HistoryEntry {
  /** The prompt as it was shown in the input line. */
  display: string;
  /** In ms; undefined when the line does not say. */
  timestamp?: number;
  /** The folder in which it was typed. */
  project?: string;
  sessionId?: string;
  /** Where the next line starts: reading can go on from there. */
  end: number;
}

export interface ReadHistoryOptions {
  start?: number;
  onDamaged?: (line: { offset: number; reason: string }) => void;
}

/** Oldest first. An unfinished last line is left for the next reading. */
export async function* readHistory(claudeHome: string, options: ReadHistoryOptions = {}): AsyncGenerator<HistoryEntry> {
  await using handle = await openNativeFile(historyFile(claudeHome));
  if (handle === undefined) return;
  const skimmer = createObjectSkimmer(["display", "timestamp", "project", "sessionId"]);
  const member = skimmer.slots;
  const isObject = (bytes: Buffer) => skimmer.skim(bytes, 0, bytes.length) !== -1;
  for await (const line of readLines(handle, { start: options.start ?? 0 })) {
    if (!line.terminated || isBlank(line)) continue;
    if (line.oversized || !isObject(line.bytes)) {
      options.onDamaged?.({ offset: line.offset, reason: line.oversized ? "too long" : "not a JSON object" });
      continue;
    }
    const display = skimmer.text(member.display);
    if (display === undefined) {
      options.onDamaged?.({ offset: line.offset, reason: "no prompt" });
      continue;
    }
    const timestamp = skimmer.count(member.timestamp);
    const project = skimmer.text(member.project);
    const sessionId = skimmer.text(member.sessionId);
    yield {
      display,
      ...(timestamp === 0 ? {} : { timestamp }),
      ...(project === undefined ? {} : { project }),
      ...(sessionId === undefined ? {} : { sessionId }),
      end: line.end,
    };
  }
}

function isBlank(line: Line): boolean {
  return !line.oversized && line.bytes.length === 0;
}

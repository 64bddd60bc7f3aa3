/** What a transcript tells about the window that it belongs to, read from its two ends. */
import { basename } from "node:path";
import { type SessionMark, sessionMarkOf } from "../session/session-mark.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { sessionIdOfTranscript } from "../transcript/paths.ts";
import { readTail, readTranscript } from "../transcript/reader.ts";
import { lookAt } from "./folders.ts";

export interface TranscriptSummary {
  name: string;
  /** By the file's name: other tools have left headers with other ids. */
  sessionId: string;
  mark: SessionMark | undefined;
  /** Whether anybody said anything in it, beside the bookkeeping of opening it. */
  said: boolean;
  openedAt: number;
  /** Time of the last entry. */
  lastAt: number;
  /** Highest epoch among the last lines; 0 when they carry none. */
  epoch: number;
}

export async function summarizeTranscript(path: string): Promise<TranscriptSummary> {
  const name = basename(path);
  const { mark, said, firstAt } = await readBeginning(path);
  const { header, entries } = await readTail(path, TAIL_ENTRIES);
  const modifiedAt = (await lookAt(path))?.modifiedAt ?? 0;
  const openedAt = instant(header?.timestamp) ?? firstAt ?? modifiedAt;
  return {
    name,
    sessionId: sessionIdOfTranscript(name) ?? name,
    mark,
    said,
    openedAt,
    lastAt: Math.max(openedAt, instant(entries.at(-1)?.entry.timestamp) ?? openedAt),
    epoch: Math.max(0, ...entries.map(({ entry }) => entry.leaseEpoch ?? 0)),
  };
}

/** As many as the log itself looks at to tell lines of stale holders. */
const TAIL_ENTRIES = 64;

/** Reads up to the first thing that was said, which is near the beginning of any transcript that has one. */
async function readBeginning(path: string) {
  let mark: SessionMark | undefined;
  let firstAt: number | undefined;
  for await (const item of readTranscript(path)) {
    if (item.kind !== "entry") continue;
    firstAt ??= instant(item.entry.timestamp);
    mark ??= sessionMarkOf(item.entry);
    if (isSaid(item.entry)) return { mark, said: true, firstAt };
  }
  return { mark, said: false, firstAt };
}

const BOOKKEEPING: ReadonlySet<TranscriptEntry["type"]> = new Set([
  "custom",
  "model_change",
  "thinking_level_change",
  "session_info",
  "label",
]);

function isSaid({ type }: TranscriptEntry): boolean {
  return !BOOKKEEPING.has(type);
}

/** Undefined for what is no time, and for the epoch that stands where a line had none. */
function instant(timestamp: string | undefined): number | undefined {
  return Date.parse(timestamp ?? "") || undefined;
}

/** What reading one line, or a whole memory file, adds to the index. */
import type { Line } from "../base/jsonl.ts";
import type { Passage } from "./passages.ts";

export interface ReadStep {
  /** Where the next line starts. */
  end: number;
  /** Lines read in this step. */
  lines: number;
  passages: Passage[];
  /** The working folder from here on. */
  folder?: string;
  damaged?: true;
  skipped?: true;
  /** A native session's first prompt has been seen; `agentId` if it says which agent wrote it. */
  settled?: { agentId?: string };
}

/** What to do with one line; `place` says where it stands. */
export type LineRole = (line: Line, place: { line: number; endLine: number; offset: number }) => Partial<ReadStep>;

/** The epoch itself stands for a time that nobody knows. */
export function instant(timestamp: unknown): { at?: number } {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) || at === 0 ? {} : { at };
}

/** The facts of one line or file, as the readers yield them and the index stores them. */
import type { Line } from "../base/jsonl.ts";
import type { Passage } from "./passages.ts";
import type { TextWords } from "./text-words.ts";

export interface ReadStep {
  /** Offset of the next line. */
  end: number;
  /** Number of lines since the step before. Lines without facts have no step. */
  lines: number;
  passages: IndexedPassage[];
  /** The session's branch from here on. */
  branch?: string | undefined;
  /** A title of the session. One of the same or a higher rank replaces it. */
  title?: { text: string; rank: number } | undefined;
  /** Paths of files that were changed here, without secrets. */
  edits?: string[] | undefined;
  /** The working folder from here on. */
  folder?: string | undefined;
  damaged?: true | undefined;
  skipped?: true | undefined;
  /** Set at a native session's first prompt. `agentId`: the agent that wrote it, if known. */
  settled?: { agentId?: string | undefined } | undefined;
}

export interface IndexedPassage extends Passage {
  words: TextWords;
}

/** The facts of one line. Undefined: it has none. */
export type LineFacts = Partial<Omit<ReadStep, "passages"> & { passages: Passage[] }> | undefined;
export type LineReader = (line: Line, place: { line: number; endLine: number; offset: number }) => LineFacts;

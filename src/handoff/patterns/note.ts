/** What is noted of a conversation for the session after it: contract of pattern detection. */

export const PATTERN_TYPES = [
  "blocker",
  "decision",
  "insight",
  "accomplishment",
  "scope_creep",
  "task_created",
] as const;

export type PatternType = (typeof PATTERN_TYPES)[number];

export interface PatternMessage {
  role: "user" | "assistant";
  text: string;
  /** Copied to the notes as it is. */
  timestamp: string;
  entryId: string;
}

export interface PatternNote {
  type: PatternType;
  /** One clean line of at most 200 characters, redacted. */
  content: string;
  /** 0 to 1: how sure the model is that the sentence says this. */
  confidence: number;
  timestamp: string;
  sourceEntryId: string;
  /** A blocker only: a later note says that it is over. */
  resolved?: boolean;
  /** The entry that said so. */
  resolvedBy?: string;
  /** The features that spoke for the note, strongest first; only when asked for (`explain`). */
  why?: string[];
}

/** Contract of pattern detection: the notes of a conversation for the next session. */

export const PATTERN_TYPES = [
  "blocker",
  "decision",
  "insight",
  "accomplishment",
  "scope_creep",
  "task_created",
] as const;

export type PatternType = (typeof PATTERN_TYPES)[number];

/** The sections of a hand-off. */
export const SECTIONS = ["in-progress", "blocker", "decision", "accomplishment", "next-step"] as const;

export type Section = (typeof SECTIONS)[number];

/** The sections that are judged by words, in the order in which they take their sentences. */
export const WORDED = ["next-step", "blocker", "decision", "accomplishment"] as const satisfies readonly Section[];

export interface PatternMessage {
  role: "user" | "assistant";
  text: string;
  /** Copied to the notes. */
  timestamp: string;
  entryId: string;
}

export interface PatternNote {
  type: PatternType;
  /** One clean line of at most 200 characters, redacted. */
  content: string;
  /** 0 to 1. */
  confidence: number;
  timestamp: string;
  sourceEntryId: string;
  /** Only for blockers: a later note resolves it. */
  resolved?: boolean;
  /** The entry of that note. */
  resolvedBy?: string;
  /** Features for the type, strongest first. Only with `explain`. */
  why?: string[];
}

/**
 * What a transcript says about the project of a window: an entry where it changed. Whoever reads the transcript
 * anew then puts what was said before under what was worked on before.
 */
import { isRecord } from "../base/json-record.ts";
import type { DraftEntry, TranscriptEntry } from "../transcript/entries.ts";

/** `customType` of the entry. */
const PROJECT_MARK_TYPE = "holdfast.project";

export interface ProjectMark {
  /** As it was called until then. */
  before: string;
  /** From then on, and where. */
  project: string;
  folder?: string;
}

export function projectMark(mark: ProjectMark): DraftEntry {
  return { type: "custom", customType: PROJECT_MARK_TYPE, data: mark };
}

/** Undefined when the entry is none. The content comes from a file: it may be anything. */
export function projectBefore(entry: TranscriptEntry): string | undefined {
  if (entry.type !== "custom" || entry.customType !== PROJECT_MARK_TYPE || !isRecord(entry.data)) return undefined;
  const { before } = entry.data;
  return typeof before === "string" && before.length <= LONGEST_NAME ? before : undefined;
}

const LONGEST_NAME = 200;

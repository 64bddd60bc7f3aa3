/**
 * The end of most lines is that of the line before: `"userType":…,"cwd":…,"version":…,"gitBranch":…}`.
 * Where it is, its members need not be found again, and the large value before it need not be walked.
 */
import { isRecord } from "../../base/json-record.ts";
import { parseJson } from "./parse-json.ts";

export interface LineTail {
  /** Where the known tail begins, when the line up to `end` has it; else -1. */
  find(bytes: Buffer, start: number, end: number): number;
  /** Keeps the tail of a line whose member `userType` has its value at `valueStart`. */
  keep(bytes: Buffer, valueStart: number, end: number): void;
  forget(): void;
}

const FIRST_MEMBER = '"userType":';
/** Only what means the same on every line of a session may be taken as read. */
const MEMBERS = new Set(["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"]);
const MAX_BYTES = 2048;

export function createLineTail(): LineTail {
  const kept = Buffer.alloc(MAX_BYTES);
  let length = 0;
  return {
    find(bytes, start, end) {
      const from = end - length;
      if (length === 0 || from <= start) return -1;
      return bytes.compare(kept, 0, length, from, end) === 0 ? from : -1;
    },
    keep(bytes, valueStart, end) {
      const from = valueStart - FIRST_MEMBER.length;
      length = 0;
      if (from < 0 || end - from > MAX_BYTES || !isFlat(bytes.toString("utf8", from, end))) return;
      length = bytes.copy(kept, 0, from, end);
    },
    forget() {
      length = 0;
    },
  };
}

/** Members with texts and nothing else, so that the last brace can only be that of the line. */
function isFlat(tail: string): boolean {
  if (!tail.startsWith(FIRST_MEMBER)) return false;
  const members = parseJson(`{${tail}`);
  if (!isRecord(members)) return false;
  return Object.entries(members).every(([name, value]) => MEMBERS.has(name) && typeof value === "string");
}

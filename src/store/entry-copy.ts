/**
 * A store never shares an object with its callers: entries go in and out as copies. The copy is
 * made through JSON, because JSON is what every store keeps.
 */
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { SessionEntry } from "./session-entry.ts";

/** The entry as it would come back from disk; refuses what JSON cannot hold. */
export function copyEntry(entry: SessionEntry): SessionEntry {
  const copy: unknown = JSON.parse(entryToJson(entry));
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) {
    throw notJson("it is not an object");
  }
  return copy as SessionEntry;
}

function entryToJson(entry: SessionEntry): string {
  try {
    return JSON.stringify(entry) ?? "null";
  } catch (error) {
    throw notJson(errorMessage(error), error);
  }
}

function notJson(reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError("usage", "invalid-entry", `The session entry cannot be stored as JSON: ${reason}`, {
    hint: "Nothing was changed. An entry may hold only what JSON can.",
    cause,
  });
}

/** What an entry is listed, filtered and found by. One definition, so that every store finds the same. */
import { HoldfastError } from "../base/errors.ts";
import { type SessionKind, sessionKindOf } from "../keys/session-kind.ts";
import type { SessionEntry } from "./session-entry.ts";
import type { ListQuery } from "./store.ts";

/** What lists show of an entry. A store answers a query for these fields, or some of them, fastest. */
export const LISTED_FIELDS = [
  "sessionId",
  "updatedAt",
  "systemSent",
  "abortedLastRun",
  "thinkingLevel",
  "verboseLevel",
  "reasoningLevel",
  "elevatedLevel",
  "responseUsage",
  "groupActivation",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "model",
  "contextTokens",
  "label",
  "displayName",
  "subject",
  "channel",
  "sendPolicy",
] as const satisfies readonly (keyof SessionEntry)[];

export interface EntryFacets {
  kind: SessionKind;
  channel: string | undefined;
  label: string | undefined;
  /** Lower-cased text in which every word of a text query must occur. */
  search: string;
}

export function entryFacets(key: string, entry: SessionEntry): EntryFacets {
  const { channel, lastChannel, deliveryContext, label, displayName, subject, groupId, groupChannel, space } = entry;
  const texts = [key, label, displayName, subject, groupId, groupChannel, space];
  return {
    kind: sessionKindOf(key, entry),
    channel: channel ?? lastChannel ?? deliveryContext?.channel,
    label,
    // Separated by what no query word can contain, so that no word is found across two fields.
    search: texts
      .filter((text) => typeof text === "string")
      .join("\n")
      .toLowerCase(),
  };
}

/** The words of a text query, in the form in which `search` contains them. */
export function searchWords(text: string | undefined): string[] {
  return (text ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
}

export function checkListQuery({ limit, offset }: ListQuery): void {
  for (const [name, value] of Object.entries({ limit, offset })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new HoldfastError("usage", "invalid-query", `${name} must be a whole number from 0 on, not ${value}`, {
        hint: "Leave it out to get everything.",
        data: { [name]: value },
      });
    }
  }
}

/** Session entries: their type, and the fields that belong to one window. */
import type { SessionEntry } from "./entry-schema.ts";

export type { DeliveryContext, SessionEntry, SessionOrigin, SkillsSnapshot } from "./entry-schema.ts";

/**
 * The fields that belong to one window. A reset clears them; the store keeps them with the closed window and restores
 * them when a session switches back to it.
 */
export const WINDOW_STATE_FIELDS = [
  "openedByTurn",
  "transcriptEnd",
  "sdkSessionId",
  "sdkSessionHost",
  "cliSessionIds",
  "claudeCliSessionId",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "contextTokens",
  "compactionCount",
  "memoryFlushAt",
  "memoryFlushCompactionCount",
  "authProfileOverrideCompactionCount",
  "systemSent",
  "abortedLastRun",
] as const satisfies readonly (keyof SessionEntry)[];

export type WindowState = Partial<Pick<SessionEntry, (typeof WINDOW_STATE_FIELDS)[number]>>;

/** Ids of the sessions of other programs, such as Claude Code, in which a window continues. Accepts unchecked data. */
export function programSessions(state: object): string[] {
  const { sdkSessionId, claudeCliSessionId, cliSessionIds } = state as Record<keyof WindowState, unknown>;
  const named = typeof cliSessionIds === "object" && cliSessionIds !== null ? Object.values(cliSessionIds) : [];
  return [sdkSessionId, claudeCliSessionId, ...named].filter((id) => typeof id === "string" && id !== "") as string[];
}

/** The session in which Claude Code continues a window. OpenClaw has recorded it in two other fields. */
export function claudeSessionOf(entry: SessionEntry): string | undefined {
  return entry.sdkSessionId ?? entry.cliSessionIds?.["claude-cli"] ?? entry.claudeCliSessionId;
}

export function windowStateOf(entry: SessionEntry): WindowState | undefined {
  const fields = WINDOW_STATE_FIELDS.filter((field) => entry[field] !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields.map((field) => [field, entry[field]]));
}

/** Maps the current entry, undefined for a new key, to the next one. Returning undefined changes nothing. */
export type Mutate = (entry: SessionEntry | undefined) => SessionEntry | undefined;

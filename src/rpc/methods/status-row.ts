/** A session as `status` shows it, over RPC and on the command line. */
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ListedSession } from "../../store/store.ts";
import type { ResultOf } from "../contract.ts";

export type StatusRow = ResultOf<"status">["sessions"]["recent"][number];

const SHOWN_FIELDS = [
  "thinkingLevel",
  "systemSent",
  "abortedLastRun",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "model",
  "contextTokens",
] as const satisfies readonly (keyof SessionEntry)[];

export function toStatusRow(agentId: string, { key, kind, entry }: ListedSession, now: number): StatusRow {
  const shown = Object.fromEntries(
    SHOWN_FIELDS.flatMap((field) => (entry[field] == null ? [] : [[field, entry[field]]])),
  ) as Pick<SessionEntry, (typeof SHOWN_FIELDS)[number]>;
  return {
    agentId,
    key,
    kind,
    sessionId: entry.sessionId,
    updatedAt: entry.updatedAt,
    age: now - entry.updatedAt,
    ...shown,
    ...contextUse(entry),
    flags: flagsOf(entry),
  };
}

function contextUse({ totalTokens, contextTokens }: SessionEntry): Pick<StatusRow, "remainingTokens" | "percentUsed"> {
  if (totalTokens === undefined || !contextTokens) return {};
  return {
    remainingTokens: Math.max(0, contextTokens - totalTokens),
    percentUsed: Math.min(999, Math.round((totalTokens / contextTokens) * 100)),
  };
}

/** The settings that differ from the usual, as OpenClaw's status names them. */
function flagsOf(entry: SessionEntry): string[] {
  return [
    ...(entry.thinkingLevel === undefined ? [] : [`think:${entry.thinkingLevel}`]),
    ...(entry.verboseLevel === undefined ? [] : [`verbose:${entry.verboseLevel}`]),
    ...(entry.sendPolicy === undefined ? [] : [`send:${entry.sendPolicy}`]),
    ...(entry.systemSent === true ? ["system"] : []),
    ...(entry.abortedLastRun === true ? ["aborted"] : []),
    `id:${entry.sessionId}`,
  ];
}

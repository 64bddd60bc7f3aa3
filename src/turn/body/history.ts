/**
 * What was said in a group since the agent's last reply, as OpenClaw keeps and shows it: in a map, the
 * most recently used key last. `group-history.ts` is the same on disk.
 */
import { printableLine } from "../../base/printable.ts";
import { disarmStructure } from "../../base/disarm.ts";

export interface HistoryEntry {
  sender: string;
  body: string;
  timestamp?: number;
  messageId?: string;
}

export type HistoryMap<T extends HistoryEntry = HistoryEntry> = Map<string, T[]>;

export const DEFAULT_GROUP_HISTORY_LIMIT = 50;
export const MAX_HISTORY_KEYS = 1000;

const HISTORY_MARK = "[Chat messages since your last reply - for context]";
const CURRENT_MARK = "[Current message - respond to this]";

/** Adds an entry, keeps the newest `limit`, and makes the key the most recently used. The key's entries. */
export function appendHistoryEntry<T extends HistoryEntry>(params: {
  historyMap: HistoryMap<T>;
  historyKey: string;
  entry: T;
  limit: number;
}): T[] {
  const { historyMap, historyKey, entry, limit } = params;
  if (limit <= 0) return [];
  const entries = [...(historyMap.get(historyKey) ?? []), entry].slice(-limit);
  historyMap.delete(historyKey);
  historyMap.set(historyKey, entries);
  evictOldHistoryKeys(historyMap);
  return entries;
}

/** Lets the least recently used keys go. */
export function evictOldHistoryKeys<T extends HistoryEntry>(
  historyMap: HistoryMap<T>,
  maxKeys: number = MAX_HISTORY_KEYS,
): void {
  const tooMany = Math.max(0, historyMap.size - maxKeys);
  for (const key of [...historyMap.keys()].slice(0, tooMany)) historyMap.delete(key);
}

export function clearHistoryEntries<T extends HistoryEntry>(params: {
  historyMap: HistoryMap<T>;
  historyKey: string;
}): void {
  params.historyMap.set(params.historyKey, []);
}

/** Adds `entry`, if there is one, and builds the context of its key. */
export function buildHistoryContextFromMap<T extends HistoryEntry>(
  params: HistoryText<T> & { historyMap: HistoryMap<T>; historyKey: string; limit: number; entry?: T | undefined },
): string {
  const { historyMap, historyKey, limit, entry } = params;
  if (limit <= 0) return params.currentMessage;
  const entries =
    entry === undefined
      ? (historyMap.get(historyKey) ?? [])
      : appendHistoryEntry({ historyMap, historyKey, entry, limit });
  return buildHistoryContextFromEntries({ ...params, entries });
}

interface HistoryText<T extends HistoryEntry> {
  currentMessage: string;
  formatEntry: (entry: T) => string;
  lineBreak?: string;
  /** The last entry is the current message itself. Left out: true. */
  excludeLast?: boolean;
}

export function buildHistoryContextFromEntries<T extends HistoryEntry>(
  params: HistoryText<T> & { entries: readonly T[] },
): string {
  const { entries, currentMessage, formatEntry, lineBreak = "\n" } = params;
  const shown = params.excludeLast === false ? entries : entries.slice(0, -1);
  return buildHistoryContext({ historyText: shown.map(formatEntry).join(lineBreak), currentMessage, lineBreak });
}

/** The current message alone when there is no history. */
export function buildHistoryContext(params: {
  historyText: string;
  currentMessage: string;
  lineBreak?: string;
}): string {
  const { historyText, currentMessage, lineBreak = "\n" } = params;
  if (historyText.trim() === "") return currentMessage;
  return [HISTORY_MARK, historyText, "", CURRENT_MARK, currentMessage].join(lineBreak);
}

/** `[2026-01-13T07:45Z] Alice: hello`; further lines are indented, or they could pass for other people's. */
export function formatHistoryEntry(entry: HistoryEntry): string {
  const time = entry.timestamp === undefined ? "" : `[${new Date(entry.timestamp).toISOString().slice(0, 16)}Z] `;
  const body = disarmStructure(entry.body).trim().replaceAll("\n", "\n  ");
  return `${time}${disarmStructure(printableLine(entry.sender))}: ${body}`;
}

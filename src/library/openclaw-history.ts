/** OpenClaw's group history in memory, with the most recently used key last. Holdfast itself keeps it in the store. */
import type { HistoryEntry } from "../store/store.ts";
import { type HistoryText, buildHistoryContextFromEntries } from "../turn/body/body.ts";

export type HistoryMap<T extends HistoryEntry = HistoryEntry> = Map<string, T[]>;

const MAX_HISTORY_KEYS = 1000;

/** Adds an entry, keeps the newest `limit`, and makes the key the most recently used. Returns its entries. */
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

/** What inbox and outbox have in common. */
import { payloadNotJson } from "../store-errors.ts";

/**
 * How many ended items stay, so that the same message or delivery is recognised when it comes
 * again. The file is rewritten for every message, so it cannot keep them all.
 */
const KEPT_WHEN_ENDED = 2000;

/** Lets go of the oldest items that have ended, beyond the number that is kept. */
export function forgetOldest<Item extends { id: number }>(
  items: Record<string, Item>,
  hasEnded: (item: Item) => boolean,
): void {
  const ended = Object.values(items).filter(hasEnded);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_WHEN_ENDED))) delete items[id];
}

/** Lets go of these; resolves to how many they were. */
export function forget<Item extends { id: number }>(
  items: Record<string, Item>,
  isForgotten: (item: Item) => boolean,
): number {
  const forgotten = Object.values(items).filter(isForgotten);
  for (const { id } of forgotten) delete items[id];
  return forgotten.length;
}

/** A copy as the file will hold it; refuses what JSON cannot hold. */
export function storable<T>(value: T): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T;
  } catch (error) {
    throw payloadNotJson(error);
  }
}

/** Seeded random numbers, the same on every machine. */

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number below `limit`. */
  int(limit: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Mean 0, deviation 1. */
  normal(): number;
  letters(length: number): string;
  uuid(): string;
}

const LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ123456789";

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  /** Mulberry32. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (limit: number): number => Math.floor(next() * limit);
  const hex = (length: number): string => Array.from({ length }, () => int(16).toString(16)).join("");
  return {
    next,
    int,
    chance: (share) => next() < share,
    pick: <T>(items: readonly T[]): T => {
      const item = items[int(items.length)];
      if (item === undefined) throw new Error("nothing to pick from");
      return item;
    },
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    letters: (length) => Array.from({ length }, () => LETTERS[int(LETTERS.length)]).join(""),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`,
  };
}

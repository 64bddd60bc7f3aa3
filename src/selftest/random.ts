/** Random choices that a seed repeats. The same parts always give the same sequence. */

export interface Random {
  /** From 0 up to, but not including, 1. */
  fraction(): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  chance(probability: number): boolean;
}

export function createRandom(...parts: readonly (string | number)[]): Random {
  let state = hash(parts.join("/"));
  // Mulberry32: 32 bits of state are plenty for choosing what a test does.
  const fraction = (): number => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    whole,
    pick: (choices) => choices[whole(0, choices.length - 1)] ?? choices[0],
    chance: (probability) => fraction() < probability,
  };
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x81_1c_9d_c5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01_00_01_93);
  }
  return value | 0;
}

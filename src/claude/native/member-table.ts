/**
 * From the bytes of a member's name to its slot, for the few names that are looked for. A transcript of
 * a gigabyte has millions of members: a name costs one look into a table and one comparison.
 */

export interface MemberTable {
  /** The slot of the name from `start` to `end`, or -1. */
  find(bytes: Uint8Array, start: number, end: number): number;
}

const TABLE_SIZE = 256;

export function createMemberTable(members: ReadonlyMap<string, number>): MemberTable {
  const names = [...members].map(([name, slot]) => ({ bytes: Buffer.from(name), slot }));
  const factor = findFactor(names.map(({ bytes }) => bytes));
  const slots = new Int16Array(TABLE_SIZE).fill(-1);
  const expected: Uint8Array[] = Array.from({ length: TABLE_SIZE }, () => new Uint8Array(0));
  for (const { bytes, slot } of names) {
    const place = placeOf(bytes, 0, bytes.length, factor);
    slots[place] = slot;
    expected[place] = bytes;
  }
  return {
    find(bytes, start, end) {
      const place = placeOf(bytes, start, end, factor);
      const slot = slots[place] ?? -1;
      if (slot === -1) return -1;
      const name = expected[place];
      if (name === undefined || name.length !== end - start) return -1;
      for (let index = 0; index < name.length; index += 1) if (name[index] !== bytes[start + index]) return -1;
      return slot;
    },
  };
}

function placeOf(bytes: Uint8Array, start: number, end: number, factor: number): number {
  const [first, last] = [bytes[start] ?? 0, bytes[end - 1] ?? 0];
  return ((end - start) * factor + first * 7 + last * factor * 3) & (TABLE_SIZE - 1);
}

/** One that gives every name a place of its own. */
function findFactor(names: readonly Uint8Array[]): number {
  for (let factor = 1; factor < 10_000; factor += 1) {
    if (new Set(names.map((name) => placeOf(name, 0, name.length, factor))).size === names.length) return factor;
  }
  throw new Error("two names have the same length, first and last letter");
}

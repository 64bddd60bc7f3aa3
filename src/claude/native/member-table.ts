/**
 * From the bytes of a member's name to its slot, for the few names that are looked for. A transcript of
 * a gigabyte has millions of members, and whoever writes them writes them in the same order every time: a
 * member remembers which one followed it, so that most names cost one comparison.
 */

export interface Member {
  /** As it stands between its quotes. */
  readonly name: Uint8Array;
  /** -1 for a name that nobody looks for. */
  readonly slot: number;
  /** The member that followed this one the last time. */
  next: Member | undefined;
}

export interface MemberTable {
  /** Stands before the first member of an object. */
  readonly start: Member;
  /** The member with the name from `start` to `end`. */
  find(bytes: Uint8Array, start: number, end: number): Member;
}

const TABLE_SIZE = 256;
/** Longer names that nobody looks for are not remembered. */
const MAX_NAME_BYTES = 64;

export function createMemberTable(slots: ReadonlyMap<string, number>): MemberTable {
  const names = [...slots].map(([name, slot]) => createMember(Buffer.from(name), slot));
  const factor = findFactor(names.map(({ name }) => name));
  const places = Array.from<Member | undefined>({ length: TABLE_SIZE });
  const unknown = createMember(new Uint8Array(0), -1);
  for (const member of names) places[placeOf(member.name, 0, member.name.length, factor)] = member;
  return {
    start: createMember(new Uint8Array(0), -1),
    find(bytes, start, end) {
      const place = placeOf(bytes, start, end, factor);
      const member = places[place];
      if (member !== undefined) {
        return member.name.length === end - start && standsAt(member, bytes, start) ? member : unknown;
      }
      if (end - start > MAX_NAME_BYTES) return unknown;
      return (places[place] = createMember(bytes.slice(start, end), -1));
    },
  };
}

function createMember(name: Uint8Array, slot: number): Member {
  return { name: Uint8Array.from(name), slot, next: undefined };
}

/** Whether the bytes from `start` on are those of the member's name; what follows it is not looked at. */
export function standsAt({ name }: Member, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < name.length; index += 1) if (name[index] !== bytes[start + index]) return false;
  return true;
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

/**
 * Finds chosen members of a JSON object in its bytes without building the object. Most bytes of a transcript are tool
 * output that Holdfast does not need; they are skipped, not decoded.
 *
 * The walk follows the structure, so text inside a string never passes for a member. It checks that strings end, that a
 * valid character follows each of them and that brackets balance, which finds torn and joined lines. Values that are
 * not read may still be malformed. Nesting costs no stack.
 */
import { parseJson } from "../../base/json-record.ts";
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  DAMAGED,
  OPEN_BRACE,
  QUOTE,
  decodeText,
  decodeCount,
  skipSpace,
  skipString,
  skipValue,
} from "./json-bytes.ts";

export interface ObjectSkimmer<Name extends string> {
  /** The number of each member: a lookup by name would be slower. */
  slots: Readonly<Record<Name, number>>;
  /**
   * Reads the object from `start`, which ends before `end`. Returns where it ends, or -1 when it is damaged or not an
   * object. `text` is `bytes` as Latin-1. With `shortCut` the members from `end` on are known already: a comma precedes
   * `end`, the values that `shortCut` names are not walked, and the result may be -1 for a sound object.
   */
  skim(bytes: Buffer, start: number, end: number, text?: string, shortCut?: ShortCut): number;
  /** Whether the last object has the member with a value other than null. */
  has(slot: number): boolean;
  isTrue(slot: number): boolean;
  /** The value if it is a string. */
  text(slot: number): string | undefined;
  /** The value if it is a count, else 0. */
  count(slot: number): number;
  /** The parsed value; undefined when it is missing or malformed. */
  parse(slot: number): unknown;
  /** The place of the value; both are 0 when it is missing. */
  start(slot: number): number;
  end(slot: number): number;
}

/** Large values that are jumped over. */
export interface ShortCut {
  /** The member whose value reaches up to the known members. */
  last: number;
  /** By slot. */
  passages: readonly (Passage | undefined)[];
  /** Must not occur in the values that are jumped over. */
  other: string;
}

/**
 * A value that begins with `opening` ends one byte after the first `next`. Text cannot forge `next`, because its quotes
 * are escaped. If a nested value contains `next`, more brackets follow than were opened, and the object is damaged.
 */
export interface Passage {
  opening: string;
  next: string;
}

/** `names` may reach into objects: `message.id`. A skimmer holds the places of its last object, so do not share it. */
export function createObjectSkimmer<const Name extends string>(names: readonly Name[]): ObjectSkimmer<Name> {
  const { root, slots, count } = buildLevels(names);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  // The walk that found each place. Places of older walks count as missing and need not be erased.
  const walks = new Int32Array(count);
  let current = 0;
  let source: Buffer = Buffer.alloc(0);
  let shortCut: ShortCut | undefined;
  /** The jumped-over rest does not contain `other`; searched once per walk. */
  let isAlone = false;

  const startOf = (slot: number): number => (walks[slot] === current ? (starts[slot] ?? 0) : 0);
  const endOf = (slot: number): number => (walks[slot] === current ? (ends[slot] ?? 0) : 0);

  /** From after the opening brace to after the closing one, or to `end` when the rest is known. */
  const walk = (level: Level, bytes: Buffer, text: string, start: number, end: number): number => {
    let at = skipSpace(bytes, start, end);
    let member = level.start;
    if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
    while (at < end) {
      if (bytes[at] !== QUOTE) return DAMAGED;
      const name = at + 1;
      const likely = member.next;
      if (likely !== undefined && bytes[name + likely.name.length] === QUOTE && isNamed(likely, bytes, name)) {
        member = likely;
        at = name + likely.name.length + 1;
      } else {
        at = skipString(bytes, text, name, end);
        if (at === DAMAGED) return DAMAGED;
        member = member.next = findMember(level, text.slice(name, at - 1));
      }
      const { slot } = member;
      if (bytes[at] !== COLON) at = skipSpace(bytes, at, end);
      if (at >= end || bytes[at] !== COLON) return DAMAGED;
      const valueStart = skipSpace(bytes, at + 1, end);
      at =
        slot === -1 ? skipValue(bytes, text, valueStart, end) : walkMember(level, slot, bytes, text, valueStart, end);
      if (at === DAMAGED) return DAMAGED;
      if (bytes[at] !== COMMA) at = skipSpace(bytes, at, end);
      if (at >= end) return DAMAGED;
      if (bytes[at] === CLOSE_BRACE) return at + 1;
      if (bytes[at] !== COMMA) return DAMAGED;
      at = skipSpace(bytes, at + 1, end);
    }
    return level === root && shortCut !== undefined ? end : DAMAGED;
  };
  /** Notes the place of a chosen member's value and returns its end. */
  const walkMember = (level: Level, slot: number, bytes: Buffer, text: string, start: number, end: number): number => {
    const inner = level.inner[slot - level.first];
    // When a name occurs twice, the last one counts, with all its members.
    if (inner !== undefined && walks[slot] === current) walks.fill(0, inner.first, inner.last);
    let at = shortCut === undefined ? NO_PASSAGE : jumpOver(shortCut, slot, bytes, text, start, end);
    if (at === NO_PASSAGE) {
      at =
        inner !== undefined && bytes[start] === OPEN_BRACE
          ? walk(inner, bytes, text, start + 1, end)
          : skipValue(bytes, text, start, end);
    }
    starts[slot] = start;
    ends[slot] = at;
    walks[slot] = current;
    return at;
  };
  const jumpOver = (
    { last, passages, other }: ShortCut,
    slot: number,
    bytes: Buffer,
    text: string,
    start: number,
    end: number,
  ): number => {
    const passage = passages[slot];
    if (passage === undefined ? slot !== last : !text.startsWith(passage.opening, start)) return NO_PASSAGE;
    // A slice of a string is not a copy, and it ends the search.
    const rest = text.slice(start, end);
    isAlone ||= !rest.includes(other);
    if (!isAlone) return DAMAGED;
    if (passage === undefined) return bytes[end - 1] === COMMA ? end - 1 : DAMAGED;
    const next = rest.indexOf(passage.next);
    return next === -1 ? DAMAGED : start + next + 1;
  };

  return {
    slots,
    skim(bytes, start, end, text = bytes.toString("latin1", 0, end), within) {
      source = bytes;
      shortCut = within;
      isAlone = false;
      current = current === MAX_WALKS ? 1 : current + 1;
      if (current === 1) walks.fill(0);
      const at = skipSpace(bytes, start, end);
      return at < end && bytes[at] === OPEN_BRACE ? walk(root, bytes, text, at + 1, end) : DAMAGED;
    },
    has: (slot) => endOf(slot) > startOf(slot) && source[startOf(slot)] !== LETTER_N,
    isTrue: (slot) => endOf(slot) > startOf(slot) && source[startOf(slot)] === LETTER_T,
    text(slot) {
      const start = startOf(slot);
      const end = endOf(slot);
      if (end === start || source[start] !== QUOTE) return undefined;
      return decodeText(source, start, end);
    },
    count: (slot) => decodeCount(source, startOf(slot), endOf(slot)),
    parse(slot) {
      const [start, end] = [startOf(slot), endOf(slot)];
      return end === start ? undefined : parseJson(source.toString("utf8", start, end));
    },
    start: startOf,
    end: endOf,
  };
}

const MAX_WALKS = 0x7fffffff;
/** No shortcut applies: the value is walked. */
const NO_PASSAGE = -2;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;

interface Level {
  /** By the bytes of their names as Latin-1. */
  members: Map<string, Member>;
  /** Precedes the first member of an object. */
  start: Member;
  /** Stands for all names that are not remembered. */
  other: Member;
  /** The slots of its members and of their members, `last` excluded. */
  first: number;
  last: number;
  /** By slot, counted from `first`: nested objects with chosen members. */
  inner: (Level | undefined)[];
}

/** Numbers the slots so that an object and its nested objects have contiguous slots. */
function buildLevels<Name extends string>(names: readonly Name[]) {
  const slots: Record<string, number> = {};
  let count = 0;
  const build = (prefix: string): Level => {
    const first = count;
    const own = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    const members = [...new Set(own.map((name) => name.split(".", 1)[0] ?? name))];
    const keys = members.map((member) => Buffer.from(member).toString("latin1"));
    const table = new Map(keys.map((key, index) => [key, createMember(key, first + index)]));
    for (const member of members) slots[`${prefix}${member}`] = count++;
    const inner = members.map((member) =>
      own.some((name) => name.startsWith(`${member}.`)) ? build(`${prefix}${member}.`) : undefined,
    );
    return { members: table, start: createMember("", -1), other: createMember("", -1), first, last: count, inner };
  };
  const root = build("");
  return { root, slots: slots as Record<Name, number>, count };
}

interface Member {
  /** The bytes between its quotes. */
  readonly name: Uint8Array;
  /** -1 when it is not a chosen member. */
  readonly slot: number;
  /** The member that followed this one the last time. Most names then cost one comparison. */
  next: Member | undefined;
}

function createMember(name: string, slot: number): Member {
  return { name: Buffer.from(name, "latin1"), slot, next: undefined };
}

/** Whether the bytes from `start` begin with the member's name. */
function isNamed({ name }: Member, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < name.length; index += 1) if (name[index] !== bytes[start + index]) return false;
  return true;
}

/** Other names are not remembered unless they are chosen. */
const MAX_NAMES = 256;
const MAX_NAME_LENGTH = 64;

/** The member with this name; one that is not chosen is added. */
function findMember({ members, other }: Level, name: string): Member {
  const known = members.get(name);
  if (known !== undefined) return known;
  if (members.size >= MAX_NAMES || name.length > MAX_NAME_LENGTH) return other;
  const member = createMember(name, -1);
  // A copy, because a slice would keep its whole chunk in memory.
  members.set(Buffer.from(name, "latin1").toString("latin1"), member);
  return member;
}

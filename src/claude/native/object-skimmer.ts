/**
 * Finds chosen members of a JSON object in its bytes without building the object. Most bytes of a
 * Claude Code transcript are tool output that nobody asks for here; they are stepped over, not decoded.
 *
 * The walk follows the structure, so text inside a string can never pass for a member. It checks that
 * strings end, that something sensible follows each of them and that brackets balance, which finds torn
 * and joined lines, and does not check more: a value that is not looked at may be malformed in itself.
 * Nesting costs no stack. Members of chosen objects inside are found in the same walk.
 */
import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  DAMAGED,
  OPEN_BRACE,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
} from "./json-steps.ts";
import { type MemberTable, createMemberTable, standsAt } from "./member-table.ts";
import { parseJson } from "./parse-json.ts";
import { createTextMemory } from "./text-memory.ts";

export interface ObjectSkimmer<Name extends string> {
  /** The numbers by which members are asked for: a name would have to be looked up every time. */
  slots: Readonly<Record<Name, number>>;
  /**
   * Looks at the object that starts at `start` and ends before `end`. Answers where it ends, or -1 when
   * it is no object, or damaged. `text` is `bytes` as Latin-1, for those who have it at hand.
   */
  skim(bytes: Buffer, start: number, end: number, text?: string): number;
  /**
   * The same for an object whose members from `end` on are known already: a comma stands before `end`.
   * Values that `shortCut` names are not walked. It may answer -1 for an object that is sound.
   */
  skimUpTo(bytes: Buffer, start: number, end: number, text: string, shortCut: ShortCut): number;
  /** Whether the last skimmed object has the member with a value other than null. */
  has(slot: number): boolean;
  isTrue(slot: number): boolean;
  /** The member's value if it is a string. */
  text(slot: number): string | undefined;
  /** The member's value if it is a number that can count something, else 0. */
  count(slot: number): number;
  /** The member's value, fully parsed; undefined when it is missing or malformed. */
  parse(slot: number): unknown;
  /** Where the member's value lies; both 0 when it is missing. */
  start(slot: number): number;
  end(slot: number): number;
}

/** Where large values lie that nobody looks into. */
export interface ShortCut {
  /** A member whose value reaches up to the members that are known. */
  last: number;
  /** By slot: values that are passed over. */
  passages: readonly (Passage | undefined)[];
  /** What must not begin within the values that are passed over. */
  other: string;
}

/**
 * A value that begins with `opening` ends one byte behind the first place where `next` stands. Text
 * cannot forge that place, its quotes are escaped; and a value within the value cannot end there either: then
 * more brackets follow than the walk has opened, and it finds the object damaged.
 */
export interface Passage {
  opening: string;
  next: string;
}

/**
 * `names` may reach into objects: `message.id`. Holds the last object's places: one skimmer per level,
 * and none shared between concurrent walks.
 */
export function createObjectSkimmer<const Name extends string>(names: readonly Name[]): ObjectSkimmer<Name> {
  const { root, slots, count } = buildLevels(names);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  // The walk in which a place was noted: older ones count as missing, without being erased each time.
  const walks = new Int32Array(count);
  let current = 0;
  // The text decoded last per member: folder, branch and version rarely change from line to line.
  const repeated = createTextMemory(count);
  let source: Buffer = Buffer.alloc(0);
  let shortCut: ShortCut | undefined;
  /** No other object begins in what is passed over: that is looked for once per walk. */
  let isAlone = false;

  const startOf = (slot: number): number => (walks[slot] === current ? (starts[slot] ?? 0) : 0);
  const endOf = (slot: number): number => (walks[slot] === current ? (ends[slot] ?? 0) : 0);

  /** From behind the opening brace to behind the closing one, or to `end` when the rest is known. */
  const walk = (level: Level, bytes: Buffer, text: string, start: number, end: number): number => {
    let at = skipSpace(bytes, start, end);
    let member = level.table.start;
    if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
    while (at < end) {
      if (bytes[at] !== QUOTE) return DAMAGED;
      const name = at + 1;
      const likely = member.next;
      if (likely !== undefined && bytes[name + likely.name.length] === QUOTE && standsAt(likely, bytes, name)) {
        member = likely;
        at = name + likely.name.length + 1;
      } else {
        at = skipString(bytes, text, name, end);
        if (at === DAMAGED) return DAMAGED;
        member = member.next = level.table.find(bytes, name, at - 1);
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
  /** The value of a chosen member: notes where it lies and returns where it ends. */
  const walkMember = (level: Level, slot: number, bytes: Buffer, text: string, start: number, end: number): number => {
    const inner = level.inner[slot - level.first];
    if (walks[slot] === current) forget(inner);
    let at = shortCut === undefined ? NO_PASSAGE : passOver(shortCut, slot, bytes, text, start, end);
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
  const passOver = (
    { last, passages, other }: ShortCut,
    slot: number,
    bytes: Buffer,
    text: string,
    start: number,
    end: number,
  ): number => {
    const passage = passages[slot];
    if (passage === undefined ? slot !== last : !text.startsWith(passage.opening, start)) return NO_PASSAGE;
    // A slice of a string is no copy, and the search ends with it.
    const rest = text.slice(start, end);
    isAlone ||= !rest.includes(other);
    if (!isAlone) return DAMAGED;
    if (passage === undefined) return bytes[end - 1] === COMMA ? end - 1 : DAMAGED;
    const next = rest.indexOf(passage.next);
    return next === -1 ? DAMAGED : start + next + 1;
  };
  /** When a name comes twice the last one holds, with all its members. */
  const forget = (level: Level | undefined): void => {
    if (level !== undefined) walks.fill(0, level.first, level.last);
  };
  const begin = (bytes: Buffer, start: number, end: number, within: ShortCut | undefined): number => {
    source = bytes;
    shortCut = within;
    isAlone = false;
    current = current === MAX_WALKS ? 1 : current + 1;
    if (current === 1) walks.fill(0);
    const at = skipSpace(bytes, start, end);
    return at < end && bytes[at] === OPEN_BRACE ? at + 1 : DAMAGED;
  };

  return {
    slots,
    skim(bytes, start, end, text = bytes.toString("latin1", 0, end)) {
      const at = begin(bytes, start, end, undefined);
      return at === DAMAGED ? DAMAGED : walk(root, bytes, text, at, end);
    },
    skimUpTo(bytes, start, end, text, within) {
      const at = begin(bytes, start, end, within);
      return at === DAMAGED ? DAMAGED : walk(root, bytes, text, at, end);
    },
    has: (slot) => endOf(slot) > startOf(slot) && source[startOf(slot)] !== LETTER_N,
    isTrue: (slot) => endOf(slot) > startOf(slot) && source[startOf(slot)] === LETTER_T,
    text(slot) {
      const start = startOf(slot);
      const end = endOf(slot);
      if (end === start || source[start] !== QUOTE) return undefined;
      return repeated.text(slot, source, start, end);
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

interface Level {
  table: MemberTable;
  /** The slots of its members, and of theirs. */
  first: number;
  last: number;
  /** By slot, counted from `first`: the objects that are walked too. */
  inner: (Level | undefined)[];
}

/** Slots are numbered so that an object's members, and theirs, stand together. */
function buildLevels<Name extends string>(names: readonly Name[]) {
  const slots: Record<string, number> = {};
  let count = 0;
  const build = (prefix: string): Level => {
    const first = count;
    const own = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    const members = [...new Set(own.map((name) => name.split(".", 1)[0] ?? name))];
    const table = createMemberTable(new Map(members.map((member, index) => [member, first + index])));
    for (const member of members) slots[`${prefix}${member}`] = count++;
    const inner = members.map((member) =>
      own.some((name) => name.startsWith(`${member}.`)) ? build(`${prefix}${member}.`) : undefined,
    );
    return { table, first, last: count, inner };
  };
  const root = build("");
  return { root, slots: slots as Record<Name, number>, count };
}

const MAX_WALKS = 0x7fffffff;
/** Not a place, and not `DAMAGED`: the value has to be walked. */
const NO_PASSAGE = -2;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

function decodeCount(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) {
      const other = Number(bytes.toString("latin1", start, end));
      return other > 0 && Number.isSafeInteger(other) ? other : 0;
    }
    value = value * 10 + (byte - DIGIT_0);
  }
  return Number.isSafeInteger(value) ? value : 0;
}

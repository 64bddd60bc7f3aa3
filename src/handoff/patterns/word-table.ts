/**
 * What is known of words, by their letters in a text: they are not cut out of it unless they are met for the
 * first time. Words come again and again; what is known is kept within bounds.
 */
export interface WordTable<T> {
  /** What is known of the word between two places of a text. */
  at: (text: string, start: number, end: number) => T;
}

const MOST_WORDS = 16_384;
const FIRST_SLOTS = 64;

/** `read` says of a new word what there is to know. */
export function createWordTable<T>(read: (word: string) => T): WordTable<T> {
  let slots = emptySlots<T>(FIRST_SLOTS);
  let count = 0;
  const grow = () => {
    const entries = count < MOST_WORDS ? slots : [];
    slots = emptySlots(count < MOST_WORDS ? 2 * slots.length : FIRST_SLOTS);
    count = 0;
    for (const entry of entries) if (entry !== undefined) add(entry);
  };
  const add = (entry: Entry<T>) => {
    slots[slotOf(slots, entry.word, 0, entry.word.length)] = entry;
    count += 1;
  };
  return {
    at(text, start, end) {
      const found = slots[slotOf(slots, text, start, end)];
      if (found !== undefined) return found.known;
      if (2 * count >= slots.length) grow();
      const word = text.slice(start, end);
      const entry = { word, known: read(word) };
      add(entry);
      return entry.known;
    },
  };
}

interface Entry<T> {
  word: string;
  known: T;
}

function emptySlots<T>(length: number): (Entry<T> | undefined)[] {
  return Array.from({ length }, () => undefined);
}

/** Where the word is, or would be: at the place that its hash says or, where that is taken, after it. */
function slotOf<T>(slots: readonly (Entry<T> | undefined)[], text: string, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  const mask = slots.length - 1;
  let slot = (hash ^ (hash >>> 15)) & mask;
  for (let entry = slots[slot]; entry !== undefined; entry = slots[slot]) {
    if (isAt(entry.word, text, start, end)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

function isAt(word: string, text: string, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) !== text.charCodeAt(start + at)) return false;
  return true;
}

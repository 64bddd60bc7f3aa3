import { describe, expect, it } from "vitest";
import { createWordTable } from "./word-table.ts";

describe("a table of words", () => {
  it("finds a word wherever it stands, and reads it once", () => {
    const read: string[] = [];
    const table = createWordTable((word) => read.push(word));
    expect(table.at("one two one", 0, 3)).toBe(1);
    expect(table.at("one two one", 4, 7)).toBe(2);
    expect(table.at("one two one", 8, 11)).toBe(1);
    expect(table.at("on", 0, 2)).toBe(3);
    expect(read).toEqual(["one", "two", "on"]);
  });

  it("tells many words apart, and forgets some where they are too many", () => {
    let count = 0;
    const table = createWordTable((word) => {
      count += 1;
      return { word };
    });
    const words = Array.from({ length: 50_000 }, (_, index) => `w${index.toString(36)}`);
    expect(words.filter((word) => table.at(word, 0, word.length).word !== word)).toEqual([]);
    expect(count).toBe(words.length);
    for (const word of words.slice(-500)) table.at(`(${word})`, 1, word.length + 1);
    expect(count).toBe(words.length);
    table.at("w0", 0, 2);
    expect(count).toBe(words.length + 1);
  });
});

import { describe, expect, it } from "vitest";
import { cutToWidth, fitToWidth, textWidth, wrapToWidth, wrapWords } from "./output.ts";

describe("the width of a text on a terminal", () => {
  it.each([
    ["plain", 5],
    ["ünïcödé — …", 11],
    ["日本語", 6],
    ["e\u0301", 1],
    ["🎉", 2],
    ["👩‍👩‍👧‍👦", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["한글", 4],
    ["ｆｕｌｌ", 8],
    ["a\u200bb", 2],
    ["", 0],
  ])("%s takes %i columns", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it("cuts between graphemes, never wider than asked", () => {
    expect(cutToWidth("日本語テスト", 6)).toBe("日本…");
    expect(cutToWidth("日本語テスト", 7)).toBe("日本語…");
    expect(cutToWidth("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 4)).toBe("👩‍👩‍👧‍👦…");
    expect(cutToWidth("plain text", 6)).toBe("plain…");
    expect(cutToWidth("plain", 5)).toBe("plain");
    expect(cutToWidth("plain", 0)).toBe("");
    for (const text of ["日本語テスト", "👩‍👩‍👧‍👦 x 🎉", "plain text"]) {
      for (let width = 1; width < 14; width += 1) {
        expect(textWidth(cutToWidth(text, width))).toBeLessThanOrEqual(width);
        expect(textWidth(fitToWidth(text, width))).toBe(width);
        for (const line of wrapToWidth(text, width, 20))
          expect(textWidth(line)).toBeLessThanOrEqual(Math.max(2, width));
      }
    }
  });

  it("wraps between words and loses none", () => {
    expect(wrapToWidth("one two three four", 9, 5)).toEqual(["one two", "three", "four"]);
    expect(wrapToWidth("one two three four", 9, 2)).toEqual(["one two", "three fo…"]);
    expect(wrapToWidth("longerthanthis", 6, 5)).toEqual(["longer", "thanth", "is"]);
    expect(wrapToWidth("", 6, 5)).toEqual([]);
  });

  it("wrapWords keeps long words whole", () => {
    expect(wrapWords("one two three four", 9)).toEqual(["one two", "three", "four"]);
    expect(wrapWords("in /a/very/long/path it", 8)).toEqual(["in", "/a/very/long/path", "it"]);
    expect(wrapWords("日本 日本", 6)).toEqual(["日本", "日本"]);
    expect(wrapWords("one two", Number.POSITIVE_INFINITY)).toEqual(["one two"]);
    expect(wrapWords("", 6)).toEqual([""]);
  });
});

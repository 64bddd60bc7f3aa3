/** Where text is cut. The property test checks that nothing is lost. */
import { describe, expect, it } from "vitest";
import { splitReplyText } from "./split-text.ts";

describe("splitReplyText", () => {
  it("keeps a text that fits, and returns no piece for a blank one", () => {
    const text = "  as it is \r\n```\nunclosed";
    expect(splitReplyText(text, 4096)).toEqual([text]);
    expect(splitReplyText("x".repeat(100_000))).toHaveLength(1);
    expect(splitReplyText(" \n ", 1)).toEqual([]);
  });

  it.each([
    ["a paragraph", "One two three.\n\nFour. Five\nsix seven", 28, ["One two three.", "Four. Five\nsix seven"]],
    ["a line", "One. two three\nfour five. six seven", 24, ["One. two three", "four five. six seven"]],
    ["a sentence", "One two three. Four five six seven", 24, ["One two three.", "Four five six seven"]],
    ["a sentence without spaces", "日本語です。これは長い文です", 10, ["日本語です。", "これは長い文です"]],
    ["a word", "One two three four five", 14, ["One two three", "four five"]],
    ["nothing", "abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["CRLF", "one two\r\n\r\nthree four", 14, ["one two", "three four"]],
  ])("cuts at %s", (_, text, limit, expected) => {
    expect(splitReplyText(text, limit)).toEqual(expected);
  });

  it("closes code and opens it again with its language", () => {
    const text = "```ts title=a\nconst a = 1;\n  const b = 2;\nconst c = 3;\n```\nThat was it.";
    expect(splitReplyText(text, 48)).toEqual([
      "```ts title=a\nconst a = 1;\n  const b = 2;\n```",
      "```ts\nconst c = 3;\n```\nThat was it.",
    ]);
  });

  it("keeps code whole if a cut before it is possible", () => {
    const code = "~~~py\nprint(1)\n\nprint(2)\n~~~";
    expect(splitReplyText(`So:\n\n${code}\n\nend`, 31)).toEqual(["So:", code, "end"]);
  });

  it("closes code that the agent did not close", () => {
    expect(splitReplyText("```\naaaaaaaaaaaa\nbbbbbbbbbbbb\ncccccccccccc", 36)).toEqual([
      "```\naaaaaaaaaaaa\nbbbbbbbbbbbb\n```",
      "```\ncccccccccccc\n```",
    ]);
  });

  it("does not turn backticks inside a line into a fence", () => {
    const pieces = splitReplyText("aaaa bbbb ```cccc dddd", 12);
    expect(pieces.some((piece) => piece.startsWith("```"))).toBe(false);
  });

  it("counts UTF-16 units, and never cuts a code point", () => {
    const ships = "🚢".repeat(8);
    expect(splitReplyText(ships, 8)).toHaveLength(2);
    // Text that cannot be cut is sent whole.
    expect(splitReplyText("🚢🚢", 1)).toEqual(["🚢", "🚢"]);
    expect(splitReplyText("ab", Number.NaN)).toEqual(["a", "b"]);
  });

  it.each(["x", "word ", "ab\n", "```ts\nlet a;\n```\n", "`", "👩‍👩‍👧‍👦", "\u0301", "a. "])(
    "needs time in proportion to the text: %j",
    (piece) => {
      // Quadratic time would take minutes.
      const text = piece.repeat(Math.floor(1_000_000 / piece.length));
      expect(splitReplyText(text, 2000).length).toBeGreaterThanOrEqual(499);
    },
  );
});

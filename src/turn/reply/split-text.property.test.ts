/** For any text and any channel limit, nothing is lost and no piece is too long. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../../test/support/any-character.ts";
import { findFences, splitReplyText } from "./split-text.ts";

const anything = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        "```",
        "````ts",
        "~~~",
        "`",
        "\n",
        "\n\n",
        " ",
        "\t",
        "\r\n",
        "a",
        ". ",
        "🇩🇪",
        "👩‍👩‍👧‍👦",
        "\ud800",
        "é",
      ),
      {
        maxLength: 120,
      },
    )
    .map((parts) => parts.join("")),
);

const words = fc.array(
  fc.constantFrom("harbour", "a", "keel.", "Ω", "日本語。", "🚢", "👩‍🚀", "x".repeat(90), "inline `code`"),
  {
    minLength: 1,
    maxLength: 30,
  },
);
const paragraph = words.map((parts) => parts.join(" "));
const code = fc
  .tuple(
    fc.constantFrom("```", "````", "~~~", "  ```"),
    fc.constantFrom("", "ts", "python title=x"),
    fc.array(fc.constantFrom("", "  if (x) {", "let a = 1;", "// ` ~", "y".repeat(70), "\tz"), { maxLength: 20 }),
  )
  .map(([marker, info, lines]) => [marker + info, ...lines, marker].join("\n"));
const answer = fc
  .array(fc.oneof(paragraph, code), { minLength: 1, maxLength: 8 })
  .chain((parts) => fc.constantFrom("\n", "\n\n").map((gap) => parts.join(gap)));

it("terminates, stays within the limit, and loses only white space", () => {
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 80 }), (text, limit) => {
      const pieces = splitReplyText(text, limit);
      for (const piece of pieces) {
        expect(piece.trim()).not.toBe("");
        // A single code point cannot be cut.
        expect(Array.from(piece).length === 1 || piece.length <= limit).toBe(true);
        expect(piece.isWellFormed() || !text.isWellFormed()).toBe(true);
      }
      expect(isSubsequence(visible(text), visible(pieces.join("")))).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

it("adds only fences, keeps the order, and balances every piece", () => {
  fc.assert(
    fc.property(answer, fc.integer({ min: 48, max: 400 }), (text, limit) => {
      const pieces = splitReplyText(text, limit);
      expect(withoutFenceLines(pieces)).toBe(withoutFenceLines([text]));
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(limit);
        expect(endsOutsideCode(piece)).toBe(true);
      }
    }),
    { numRuns: 1000 },
  );
});

it("keeps code in code and text in text", () => {
  fc.assert(
    fc.property(answer, fc.integer({ min: 48, max: 400 }), (text, limit) => {
      const pieces = splitReplyText(text, limit);
      expect(visible(pieces.map(codeOf).join(""))).toBe(visible(codeOf(text)));
    }),
  );
});

it("cuts between graphemes", () => {
  const graphemes = fc.array(fc.constantFrom("🇩🇪", "👩‍👩‍👧‍👦", "é", "ñ", "🚢", "한", "a", "각", "👍🏽"), {
    minLength: 1,
    maxLength: 100,
  });
  fc.assert(
    fc.property(graphemes, fc.integer({ min: 11, max: 60 }), (parts, limit) => {
      const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
      const count = (text: string): number => [...segmenter.segment(text)].length;
      const text = parts.join("");
      const pieces = splitReplyText(text, limit);
      expect(pieces.join("")).toBe(text);
      expect(pieces.reduce((sum, piece) => sum + count(piece), 0)).toBe(count(text));
    }),
  );
});

function visible(text: string): string {
  return text.replace(/\s+/g, "");
}

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (part.startsWith(character, at)) at += character.length;
  return at >= part.length;
}

function withoutFenceLines(texts: readonly string[]): string {
  const lines = texts.flatMap((text) => text.split("\n"));
  return visible(lines.filter((line) => !/^\s*(?:`{3,}|~{3,})/.test(line)).join(""));
}

/** Counted apart from the code under test, by toggling at every line of the generator's own fences. */
function endsOutsideCode(text: string): boolean {
  let open: string | undefined;
  for (const line of text.split("\n")) {
    const marker = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (marker === undefined) continue;
    if (open === undefined) open = marker;
    else if (marker === open) open = undefined;
  }
  return open === undefined;
}

function codeOf(text: string): string {
  return findFences(text)
    .map(({ contentStart, closeStart }) => text.slice(contentStart, closeStart))
    .join("\n");
}

/** No query makes the search throw, or find passages that it must not. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { createSearchHome } from "../../test/support/search-home.ts";
import { parseQuery } from "./query.ts";

const OPERATORS = [
  '"',
  "'",
  "*",
  "^",
  ":",
  "-",
  "+",
  "(",
  ")",
  "{",
  "}",
  "AND",
  "OR",
  "NOT",
  "NEAR(",
  "text:",
  "parts :",
  "\\",
  "%",
  "\0",
  ";",
  "--",
];

const anyQuery = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .array(fc.oneof(fc.constantFrom(...OPERATORS, "otter", "日本", "🚀", "x", "\ud800"), fc.string({ maxLength: 5 })), {
      maxLength: 12,
    })
    .map((parts) => parts.join(" ")),
  fc.array(fc.constantFrom(...OPERATORS, "otter"), { maxLength: 12 }).map((parts) => parts.join("")),
);

it("answers every query and keeps to its scope", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", `otter 日本語 🚀 x ${OPERATORS.join(" ")}`);
  await home.memory("other", "MEMORY.md", `otter 日本語 🚀 x ${OPERATORS.join(" ")}`);
  const index = await home.refreshed();
  fc.assert(
    fc.property(anyQuery, (text) => {
      const { hits, matched, note } = index.search({ text, agentId: "main", repoRoots: ["/"] });
      expect(hits.every(({ agentId }) => agentId === "main")).toBe(true);
      expect(hits.length > 0).toBe(matched !== "none");
      expect(note === undefined).toBe(matched === "all");
    }),
    { numRuns: 1000 },
  );
});

it("finds every passage by any run of characters that it holds", async () => {
  await using home = await createSearchHome();
  const words = [
    "getUserName",
    "snake_case_id",
    "café",
    "東京都庁前駅",
    "C++17",
    "a.b.c-d",
    "x=1;y=2",
    "naïve",
    "🚀🚀🚀go",
    "Ünïcode",
  ];
  await home.memory("main", "MEMORY.md", words.join(" "));
  const index = await home.refreshed();
  const anyPart = fc.constantFrom(...words).chain((word) => {
    const characters = Array.from(word);
    return fc.nat(characters.length - 3).map((start) => characters.slice(start).join(""));
  });
  fc.assert(
    fc.property(anyPart, (part) => {
      // A minus in front is an operator; everything else is text.
      fc.pre(!part.startsWith("-"));
      expect(index.search({ text: part, agentId: "main" }).hits).toHaveLength(1);
    }),
  );
});

it("parses words, phrases and exclusions", () => {
  expect(parseQuery('fix "the build" -windows -"old tests" a-b retr* "open')).toEqual({
    wanted: [
      { text: "fix", exact: false, prefix: false },
      { text: "the build", exact: true, prefix: false },
      { text: "a-b", exact: false, prefix: false },
      { text: "retr", exact: false, prefix: true },
      { text: "open", exact: true, prefix: false },
    ],
    unwanted: [
      { text: "windows", exact: false, prefix: false },
      { text: "old tests", exact: true, prefix: false },
    ],
  });
});

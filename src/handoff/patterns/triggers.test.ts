import { describe, expect, it } from "vitest";
import { triggersOf } from "../../../scripts/pattern-triggers.ts";
import { expression } from "./pattern.ts";
import { matches, toPlain } from "./plain.ts";
import { isPresent } from "./presence.ts";

describe("the triggers of an expression", () => {
  it("are the rarest piece of each way to match, with the edges of its words", () => {
    expect(of(String.raw`\b(?:is|are) (?:broken|dead)\b`)).toEqual(["~broken~", "~dead~"]);
    expect(of(String.raw`\bno\b|foo(?:bar)?`)).toEqual(["foo", "~no~"]);
    expect(of(String.raw`\bfix\w* it`)).toEqual(["~fix"]);
  });

  it("know where a sentence begins, unless the expression is tried on parts of it", () => {
    expect(of(String.raw`^(?:yes|no) \w+`)).toEqual(["^no~", "^yes~"]);
    expect(of(String.raw`^(?:yes|no) \w+`, true)).toEqual(["~no~", "~yes~"]);
  });

  it("do not take a word to begin or end where it may go on", () => {
    expect(of("^(?:and |so )*(?:if|when)$")).toEqual(["~if~", "~when~"]);
    expect(of("(?:un)?done(?:ly)?")).toEqual(["done"]);
    expect(of("(?:ab|cd)+")).toEqual(["ab", "cd"]);
    expect(of(String.raw`\b(?:ab|cd)+\b`)).toEqual(["~ab", "~cd"]);
    expect(of("[45]0")).toEqual(["0"]);
  });

  it("are none where a match needs no letter", () => {
    expect(of(String.raw`\w+ing?|.*`)).toBeUndefined();
    expect(of("(?:a|b)?")).toBeUndefined();
  });
});

describe("what is present in a sentence", () => {
  it("includes every expression that has no triggers, also one that is made later", () => {
    const before = toPlain("nothing of the kind");
    const later = expression("made-later", "kind$");
    const after = toPlain("nothing of the kind");
    expect(isPresent(after.present, later)).toBe(true);
    expect(matches(after, later)).toBe(true);
    expect(matches({ plain: before.plain }, later)).toBe(true);
  });
});

function of(source: string, isOfParts = false): string[] | undefined {
  return triggersOf(source, { frequencyOf, isOfParts });
}

/** The shorter a piece, the more sentences have it; fewer, where it is a word of its own. */
function frequencyOf(piece: string): number {
  return 1000 / piece.length ** 2;
}

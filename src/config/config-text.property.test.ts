import * as fc from "fast-check";
import JSON5 from "json5";
import { expect, it } from "vitest";
import { editJson } from "../base/json-places.ts";

/** JSON5 text of a nested object in every style that people use, with numbered comments. */
const name = fc.constantFrom("a", "b", "c", "'q'", '"d"');
const space = fc.constantFrom("", " ", "\n", "\n  ", "\t", " /* c */ ", " // c\n", "\n  // c\n  ", "\r\n");
const leaf = fc.constantFrom("1", "'x'", '"y // no"', "true", "null", "[1, 2,]", "[]", "{}");
const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 2, withCrossShrink: true }, leaf, tie("object")),
  object: fc
    .tuple(
      fc.uniqueArray(name, { maxLength: 3 }),
      fc.infiniteStream(space),
      fc.infiniteStream(tie("value")),
      fc.boolean(),
    )
    .map(([names, spaces, values, hasTrailingComma]) => {
      const next = () => spaces.next().value;
      const properties = names.map((each) => `${next()}${each}${next()}:${next()}${values.next().value}${next()}`);
      return `{${properties.join(",")}${names.length > 0 && hasTrailingComma ? "," : ""}${next()}}`;
    }),
}));
const path = fc.array(fc.constantFrom("a", "b", "c", "d", "q"), { minLength: 1, maxLength: 3 });

it("sets exactly one value and keeps every comment outside of it", () => {
  fc.assert(
    fc.property(object, path, fc.constantFrom(7, "new", { x: [1] }, [true]), (text, keys, value) => {
      const before: unknown = JSON5.parse(text);
      const wanted = withValue(before, keys, value);
      const after = editJson(text, wanted);
      expect(JSON5.parse(after)).toEqual(wanted);
      // Only an object that is replaced as a whole takes its comments along.
      const isWholeObject = isTree(keys.reduce(child, before));
      expect(comments(after)).toBe(isWholeObject ? comments(after) : comments(text));
    }),
    { numRuns: 3000 },
  );
});

it("removes exactly one value and keeps every comment outside of it", () => {
  fc.assert(
    fc.property(object, path, (text, keys) => {
      const before = JSON5.parse<Tree>(text);
      const parent = keys.slice(0, -1).reduce<unknown>(child, before);
      const last = keys.at(-1) ?? "";
      const removed = child(parent, last);
      if (removed === undefined) return;
      delete (parent as Tree)[last];
      const after = editJson(text, before);
      expect(JSON5.parse(after)).toEqual(before);
      // Only comments inside an object, or before and after the colon, may be lost.
      expect(comments(after)).toBeGreaterThanOrEqual(isTree(removed) ? 0 : comments(text) - 2);
    }),
    { numRuns: 3000 },
  );
});

type Tree = { [name: string]: unknown };

function child(value: unknown, key: string): unknown {
  return isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withValue(value: unknown, [key, ...rest]: readonly string[], leafValue: unknown): Tree {
  const inner =
    rest.length === 0 ? leafValue : withValue(key === undefined ? undefined : child(value, key), rest, leafValue);
  return { ...(isTree(value) ? value : {}), [key ?? ""]: inner };
}

function comments(text: string): number {
  return text.split(/\/[/*] c/).length - 1;
}

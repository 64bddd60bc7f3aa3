/** The skimmer finds the same members as JSON.parse and refuses every object that is cut off. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../../test/support/any-character.ts";
import { isRecord } from "../../base/json-record.ts";
import { createObjectSkimmer } from "./object-skimmer.ts";

const NAMES = ["type", "text", "tool", "count", "é"] as const;
const INNER = ["type", "count"] as const;
const skimmer = createObjectSkimmer([...NAMES, "tool.type", "tool.count"]);
const slots = skimmer.slots;

const anyObject = fc.dictionary(
  fc.oneof(fc.constantFrom(...NAMES), fc.string()),
  fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: anyCharacter }),
    fc.nat(),
    fc.constant('","type":"forged'),
    fc.dictionary(fc.constantFrom(...INNER, "other"), fc.jsonValue()),
  ),
);

const skims = (text: string): boolean => {
  const bytes = Buffer.from(text);
  const end = skimmer.skim(bytes, 0, bytes.length);
  return end !== -1 && bytes.toString("latin1", end).trim() === "";
};

it("reads the same members as JSON.parse, however the object is spaced", () => {
  fc.assert(
    fc.property(anyObject, fc.constantFrom(0, 1, "\t"), fc.constantFrom("", " ", "\r"), (object, indent, around) => {
      const text = `${around}${JSON.stringify(object, undefined, indent)}${around}`;
      const parsed = JSON.parse(text) as Record<string, unknown>;
      expect(skims(text)).toBe(true);
      for (const name of NAMES) {
        const value = Object.hasOwn(parsed, name) ? parsed[name] : undefined;
        expect(skimmer.parse(slots[name])).toEqual(value);
        expect(skimmer.text(slots[name])).toBe(typeof value === "string" ? value : undefined);
        expect(skimmer.has(slots[name])).toBe(value !== undefined && value !== null);
        expect(skimmer.isTrue(slots[name])).toBe(value === true);
        expect(skimmer.count(slots[name])).toBe(Number.isSafeInteger(value) && Number(value) > 0 ? value : 0);
      }
      const inner = isRecord(parsed["tool"]) ? parsed["tool"] : {};
      for (const name of INNER) {
        expect(skimmer.parse(slots[`tool.${name}`])).toEqual(Object.hasOwn(inner, name) ? inner[name] : undefined);
      }
    }),
    { numRuns: 1000 },
  );
});

it("refuses an object that is cut off anywhere, or followed by another", () => {
  fc.assert(
    fc.property(anyObject, fc.nat(), (object, cut) => {
      const bytes = Buffer.from(JSON.stringify(object));
      expect(skimmer.skim(bytes, 0, cut % bytes.length)).toBe(-1);
      expect(skims(`${bytes.toString()}{}`)).toBe(false);
    }),
  );
});

it.each([
  "",
  " ",
  "[]",
  "1",
  '"{}"',
  "{",
  "{,}",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  "{\u0000}",
  '{"a":["b"c"]}',
])("refuses %j", (text) => {
  expect(skims(text)).toBe(false);
});

it("needs no stack for deep nesting", () => {
  const deep = "[".repeat(1_000_000) + "]".repeat(1_000_000);
  expect(skims(`{"tool":${deep},"type":"x"}`)).toBe(true);
  expect(skimmer.text(slots.type)).toBe("x");
});

it("uses the last of two members with the same name, with all its members", () => {
  expect(skims('{"tool":{"type":"a","count":1},"tool":{"count":2}}')).toBe(true);
  expect([skimmer.text(slots["tool.type"]), skimmer.count(slots["tool.count"])]).toEqual([undefined, 2]);
  expect(skims('{"tool":{"type":"a"},"tool":7}')).toBe(true);
  expect(skimmer.text(slots["tool.type"])).toBeUndefined();
});

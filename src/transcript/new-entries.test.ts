import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createEntryIds } from "./new-entries.ts";

function tailEntry(id: string, timestamp: string) {
  return { type: "session_info" as const, id, parentId: null, timestamp };
}

test("an id is the low 32 bits of the clock, as eight hexadecimal digits", () => {
  expect(createEntryIds().next(0x1_0000_00ab)).toBe("000000ab");
});

test("ids of one log never repeat, for any clock", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 200 }), (instants) => {
      const ids = createEntryIds();
      const made = instants.map((now) => ids.next(now));
      expect(new Set(made).size).toBe(made.length);
    }),
  );
});

test("ids continue after the tail even if the clock was turned back", () => {
  const ids = createEntryIds();
  ids.continueAfter([tailEntry("000003e9", new Date(1000).toISOString())]);
  expect(ids.next(10)).toBe("000003ea");
});

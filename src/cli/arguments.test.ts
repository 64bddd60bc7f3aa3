import { describe, expect, it } from "vitest";
import { parseAmount, parseChoice, parseSince } from "./arguments.ts";

const NOW = Date.UTC(2026, 10, 15, 12);

describe("a time", () => {
  it.each([
    ["30m", NOW - 30 * 60_000],
    ["12h", NOW - 12 * 3_600_000],
    ["2d", NOW - 2 * 86_400_000],
    [" 1w ", NOW - 7 * 86_400_000],
    ["2026-11-01T08:00:00Z", Date.UTC(2026, 10, 1, 8)],
    ["2026-11-01", new Date(2026, 10, 1).getTime()],
  ])("%s is understood", (raw, at) => {
    expect(parseSince("--since", raw, NOW)).toBe(at);
  });

  it.each(["", "xyz", "2", "d", "-2d", "2y", "2026-13-45", "1e9d", "99999999d"])("%s is refused", (raw) => {
    expect(() => parseSince("--since", raw, NOW)).toThrow(/--since takes a time such as 2d/);
  });
});

describe("amounts and choices", () => {
  it("take what is meant and nothing else", () => {
    expect(parseAmount("--max-budget-usd", "0.5")).toBe(0.5);
    for (const raw of ["", "0", "-1", "x", "Infinity", "NaN"]) {
      expect(() => parseAmount("--max-budget-usd", raw)).toThrow(/takes a number above 0/);
    }
    expect(parseChoice("--by", "day", ["day", "repo"])).toBe("day");
    expect(() => parseChoice("--by", "week", ["day", "repo"])).toThrow(/--by takes day, repo, not "week"/);
  });
});

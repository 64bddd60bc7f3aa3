import { describe, expect, it } from "vitest";
import { changes, flag, list, parseAmount, parseChoice, parseSince, text } from "./command.ts";
import { commandHelp } from "./help.ts";

async function parse(...line: string[]) {
  let seen: unknown;
  const command = changes("send [more...]", "send something", {
    options: {
      target: { ...text("whom", "to whom"), short: "t" },
      media: list("media", "files"),
      replyTo: text("replyTo", "the message to reply to"),
      force: { ...flag("whatever happens"), isRisky: true },
    },
    run: async (given, options) => {
      seen = { given, ...options };
      await Promise.resolve();
    },
  });
  await command.run(line);
  return { seen, help: commandHelp("send", [command]) };
}

describe("options", () => {
  it("have short forms, shown in the help", async () => {
    const { seen, help } = await parse("-t", "me", "x");
    expect(seen).toEqual({ given: ["x"], target: "me" });
    expect(help).toContain("-t, --target <whom>");
  });

  it("accept negative numbers, which are ids of Telegram groups", async () => {
    expect((await parse("-t", "-100123")).seen).toEqual({ given: [], target: "-100123" });
    expect((await parse("--target", "-100123", "--json")).seen).toEqual({ given: [], target: "-100123", json: true });
    expect((await parse("--media", "-1", "--media", "b")).seen).toEqual({ given: [], media: ["-1", "b"] });
    expect((await parse("--", "--target", "-1")).seen).toEqual({ given: ["--target", "-1"] });
  });

  it("are not taken as values", async () => {
    await expect(parse("-t", "--json")).rejects.toThrow(/has no value/);
    await expect(parse("--json", "-1")).rejects.toThrow(/unknown option '-1'/);
  });

  it("are suggested for a typo or a part of the name, unless they are risky", async () => {
    await expect(parse("--to")).rejects.toMatchObject({ hint: expect.stringContaining("mean --reply-to?") as string });
    await expect(parse("--jsn")).rejects.toMatchObject({ hint: expect.stringContaining("mean --json?") as string });
    await expect(parse("--forc")).rejects.toMatchObject({ hint: "`holdfast send --help` shows the options." });
    await expect(parse("-t")).rejects.toThrow("-t, --target needs a value");
  });
});

const NOW = Date.UTC(2026, 10, 15, 12);

describe("a time", () => {
  it.each([
    ["30m", NOW - 30 * 60_000],
    ["12h", NOW - 12 * 3_600_000],
    ["2d", NOW - 2 * 86_400_000],
    [" 1w ", NOW - 7 * 86_400_000],
    ["2026-11-01T08:00:00Z", Date.UTC(2026, 10, 1, 8)],
    ["2026-11-01", new Date(2026, 10, 1).getTime()],
  ])("%s is parsed", (raw, at) => {
    expect(parseSince("--since", raw, NOW)).toBe(at);
  });

  it.each(["", "xyz", "2", "d", "-2d", "2y", "2026-13-45", "1e9d", "99999999d"])("%s is refused", (raw) => {
    expect(() => parseSince("--since", raw, NOW)).toThrow(/--since must be a time such as 2d/);
  });
});

describe("amounts and choices", () => {
  it("accept valid values only", () => {
    expect(parseAmount("--max-budget-usd", "0.5")).toBe(0.5);
    for (const raw of ["", "0", "-1", "x", "Infinity", "NaN"]) {
      expect(() => parseAmount("--max-budget-usd", raw)).toThrow(/must be a number above 0/);
    }
    expect(parseChoice("--by", "day", ["day", "repo"])).toBe("day");
    expect(() => parseChoice("--by", "week", ["day", "repo"])).toThrow(/--by must be one of day, repo, not "week"/);
  });
});

import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../test/support/time.ts";
import { formatMarkdown } from "./outbound.ts";

describe("formatMarkdown", () => {
  it("formats code, bold and links, with offsets as Telegram counts them", () => {
    const { text, entities } = formatMarkdown("😀 **bold** `code` [docs](https://example.org/a)");
    expect(text).toBe("😀 bold code docs");
    expect(entities).toEqual([
      { type: "bold", offset: 3, length: 4 },
      { type: "code", offset: 8, length: 4 },
      { type: "text_link", offset: 13, length: 4, url: "https://example.org/a" },
    ]);
  });

  it("keeps a fenced block unchanged", () => {
    const { text, entities } = formatMarkdown("Look:\n```ts\nconst a = `**x**`;\n```\ndone");
    expect(text).toBe("Look:\nconst a = `**x**`;\ndone");
    expect(entities).toEqual([{ type: "pre", language: "ts", offset: 6, length: 18 }]);
  });

  it.each([
    "2 ** 3 ** 4",
    "a * b",
    "`",
    "```",
    "snake_case_name",
    "[x](javascript:alert(1))",
    "**",
    "<b>no</b>",
    "****",
  ])("keeps %j unchanged", (source) => {
    expect(formatMarkdown(source)).toEqual({ text: source, entities: [] });
  });

  it("takes linear time", () => {
    const hostile = ["**".repeat(50_000), "[".repeat(100_000), "`a".repeat(50_001), "```a\n".repeat(2000)];
    const took = cpuMs(() => {
      for (const source of hostile) expect(formatMarkdown(source).text.length).toBeLessThanOrEqual(source.length);
    });
    expect(took).toBeLessThan(5000);
  });
});

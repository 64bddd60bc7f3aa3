/**
 * Cases from `test/fixtures/redact`, one in a line, under `# kind`. Line breaks are written as `\n`, secrets between ⟦
 * and ⟧. Tokens of vendors are built in `redact.test.ts` instead, so that no scanner takes the files for a leak.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { redactText } from "./redact.ts";

describe.each(readCases("secrets"))("%s", (_, cases) => {
  it("removes every secret", () => {
    const missed = cases.filter((text) => {
      const redacted = redactText(text.replaceAll(/[⟦⟧]/g, ""));
      return Array.from(text.matchAll(/⟦(.+?)⟧/gs)).some(([, secret = ""]) => redacted.includes(secret));
    });
    expect(missed).toEqual([]);
  });

  it("does not change redacted text", () => {
    const redacted = cases.map((text) => redactText(text.replaceAll(/[⟦⟧]/g, "")));
    expect(redacted.map(redactText)).toEqual(redacted);
  });
});

it.each(readCases("ordinary"))("leaves ordinary text alone: %s", (_, cases) => {
  expect(cases.map(redactText)).toEqual(cases);
});

function readCases(name: string): [kind: string, cases: string[]][] {
  const file = readFileSync(new URL(`../../test/fixtures/redact/${name}.txt`, import.meta.url), "utf8");
  return file.split(/^# /m).flatMap((group) => {
    const [kind = "", ...lines] = group.trimEnd().split("\n");
    return lines.length === 0 ? [] : [[kind, lines.map((line) => line.replaceAll(String.raw`\n`, "\n"))]];
  });
}

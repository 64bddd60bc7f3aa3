/**
 * Cases from `test/fixtures/redact`, one in a line, with line breaks and tabs written as `\n` and `\t`. Tokens of
 * vendors are not among them but built in `redact.test.ts`, so that no scanner takes the files for a leak.
 */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { redactText } from "./redact.ts";

it("removes every secret between ⟦ and ⟧", () => {
  const missed = readCases("secrets").filter((text) => {
    const redacted = redactText(text.replaceAll(/[⟦⟧]/g, ""));
    return Array.from(text.matchAll(/⟦(.+?)⟧/gs)).some(([, secret = ""]) => redacted.includes(secret));
  });
  expect(missed).toEqual([]);
});

it("leaves ordinary text alone", () => {
  expect(readCases("ordinary").filter((text) => redactText(text) !== text)).toEqual([]);
});

it("does not change redacted text", () => {
  const redacted = readCases("secrets").map((text) => redactText(text.replaceAll(/[⟦⟧]/g, "")));
  expect(redacted.filter((text) => redactText(text) !== text)).toEqual([]);
});

function readCases(name: string): string[] {
  const file = readFileSync(new URL(`../../test/fixtures/redact/${name}.txt`, import.meta.url), "utf8");
  return file
    .trimEnd()
    .split("\n")
    .map((line) => line.replaceAll(String.raw`\n`, "\n").replaceAll(String.raw`\t`, "\t"));
}

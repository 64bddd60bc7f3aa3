/** What OpenClaw 2026.1.30 answered, case by case, about directives, silence and the memory flush. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { shouldRunMemoryFlush } from "../memory-flush.ts";
import { parseInlineDirectives } from "./inline-directives.ts";
import { parseReplyDirectives } from "./reply-directives.ts";
import { isSilentReplyText } from "./tokens.ts";

interface VectorCase {
  fn: string;
  args: unknown[];
  expected: unknown;
}

const file = new URL("../../../test/fixtures/vectors/reply.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: VectorCase[] };

const FUNCTIONS: Record<string, (...args: never[]) => unknown> = {
  isSilentReplyText,
  parseInlineDirectives,
  parseReplyDirectives,
  shouldRunMemoryFlush,
};

describe("OpenClaw's reply functions", () => {
  it.each(cases.map((vector) => ({ name: vector.fn + JSON.stringify(vector.args), vector })))("$name", ({ vector }) => {
    expect(FUNCTIONS[vector.fn]?.(...(vector.args as never[]))).toStrictEqual(vector.expected);
  });
});

import { expect, it } from "vitest";
import { tokenCost } from "./session-rows.ts";
import { anthropicPrice } from "../../models/model-info.ts";

it.each([
  ["claude-opus-4-5-20251101", 5],
  ["claude-opus-4-8", 5],
  ["claude-opus-4-1-20250805", 15],
  ["claude-opus-4-20250514", 15],
  ["claude-sonnet-4-5-20250929", 3],
  ["claude-3-7-sonnet-latest", 3],
  ["claude-haiku-4-5-20251001", 1],
  ["claude-3-5-haiku-20241022", 0.8],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3],
  ["claude-sonnet-4@20250514", 3],
])("knows the price of %s", (model, input) => {
  expect(anthropicPrice(model)?.input).toBe(input);
});

it.each(["gpt-5", "claude", "claude-opus-9", "not-claude-opus-4-5", "claude-opus-4x"])(
  "does not guess the price of %s",
  (model) => {
    expect(anthropicPrice(model)).toBeUndefined();
    expect(tokenCost(model, { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWriteHour: 1 })).toBeUndefined();
  },
);

it("charges more for a one-hour cache write than for a five-minute one", () => {
  const tokens = {
    input: 1_000_000,
    output: 1_000_000,
    cacheRead: 1_000_000,
    cacheWrite: 1_000_000,
    cacheWriteHour: 0,
  };
  expect(tokenCost("claude-sonnet-4-5", tokens)).toBeCloseTo(3 + 15 + 0.3 + 3.75, 9);
  expect(tokenCost("claude-sonnet-4-5", { ...tokens, cacheWriteHour: 1_000_000 })).toBeCloseTo(3 + 15 + 0.3 + 6, 9);
});

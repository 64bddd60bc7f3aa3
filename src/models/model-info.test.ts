import { expect, it } from "vitest";
import { resolveModelPrice, tokenCostOf } from "./model-info.ts";

it.each([
  ["anthropic", "claude-haiku-4-5-20251001", 1],
  ["openai", "gpt-5", 1.25],
  ["openai", "gpt-5-mini-2025-08-07", 0.25],
  ["openai", "gpt-4o-mini", 0.15],
  ["google", "gemini-2.5-flash-lite", 0.1],
  ["bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3],
])("%s/%s has a list price with its date", (provider, model, input) => {
  expect(resolveModelPrice({ provider, model })).toMatchObject({ input, source: "list", asOf: "2025-11" });
});

it.each([
  ["openai", "gpt-5-pro"],
  ["openai", "gpt-4o-audio-preview"],
  ["google", "gemini-9-pro"],
  ["anthropic", "claude-haiku-9"],
  ["local", "gpt-5"],
  ["local", "llama3"],
])("%s/%s has no known price", (provider, model) => {
  expect(resolveModelPrice({ provider, model })).toBeUndefined();
});

it("prefers configured prices and fills gaps from the list", () => {
  const models = { "openai/gpt-5": { price: { input: 9 } }, "local/llama3": { price: { output: 2 } }, constructor: {} };
  expect(resolveModelPrice({ provider: "openai", model: "gpt-5" }, models)).toEqual({
    input: 9,
    output: 10,
    cacheRead: 0.125,
    cacheWrite: 1.25,
    source: "config",
  });
  expect(resolveModelPrice({ provider: "local", model: "llama3" }, models)).toMatchObject({ input: 0, output: 2 });
});

it("multiplies tokens by prices", () => {
  const price = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, source: "config" as const };
  const million = { input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
  expect(tokenCostOf(million, price)).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: 10 });
});

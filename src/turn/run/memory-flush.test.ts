/** The recorded answers about this decision are tested in test/pins/openclaw-answers.test.ts. */
import { memoryFile } from "../../engine/workspace/workspace-description.ts";
import { afterEach, expect, it } from "vitest";
import {
  memoryFlushMargins,
  memoryFlushPrompts,
  shouldFlushBeforeReset,
  shouldRunMemoryFlush,
} from "./flush-memory.ts";
import { isSilentReplyText } from "../reply/tokens.ts";
import { resolveContextWindow } from "../../models/model-info.ts";

const zone = process.env["TZ"];

afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

it("flushes once per compaction", () => {
  const check = { contextWindowTokens: 200_000, ...memoryFlushMargins(200_000) };
  const entry = { totalTokens: 176_000, compactionCount: 1 };
  expect(shouldRunMemoryFlush({ entry, ...check })).toBe(true);
  expect(shouldRunMemoryFlush({ entry: { ...entry, memoryFlushCompactionCount: 1 }, ...check })).toBe(false);
  expect(shouldRunMemoryFlush({ entry: { totalTokens: 176_000, memoryFlushCompactionCount: 0 }, ...check })).toBe(
    false,
  );
  expect(shouldRunMemoryFlush({ entry: { ...entry, totalTokens: 175_999 }, ...check })).toBe(false);
  expect(shouldRunMemoryFlush(check)).toBe(false);
});

it("answers no for invalid numbers", () => {
  const entry = { totalTokens: 50_000 };
  expect(shouldRunMemoryFlush({ entry, contextWindowTokens: Number.NaN, ...memoryFlushMargins(1) })).toBe(false);
  expect(
    shouldRunMemoryFlush({ entry: { totalTokens: Number.NaN }, contextWindowTokens: 1, ...memoryFlushMargins(1) }),
  ).toBe(false);
});

it.each([2048, 8192, 24_000, 32_768, 200_000, 1_000_000])(
  "leaves a window of %i tokens room before and after",
  (tokens) => {
    const check = { contextWindowTokens: tokens, ...memoryFlushMargins(tokens) };
    expect(shouldRunMemoryFlush({ entry: { totalTokens: Math.floor(tokens / 2) }, ...check })).toBe(false);
    expect(shouldRunMemoryFlush({ entry: { totalTokens: Math.floor(tokens * 0.98) }, ...check })).toBe(true);
  },
);

it("flushes before a reset if there are new messages", () => {
  const entry = { totalTokens: 500, updatedAt: 9000, lastInteractionAt: 1000 };
  expect(shouldFlushBeforeReset(undefined)).toBe(false);
  expect(shouldFlushBeforeReset({ updatedAt: 9000 })).toBe(false);
  expect(shouldFlushBeforeReset(entry)).toBe(true);
  expect(shouldFlushBeforeReset({ ...entry, memoryFlushAt: 999 })).toBe(true);
  expect(shouldFlushBeforeReset({ ...entry, memoryFlushAt: 1000 })).toBe(false);
});

it("names the file of the local day", () => {
  const lateInLondon = Date.UTC(2026, 0, 31, 23, 30);
  process.env["TZ"] = "UTC";
  expect(memoryFile(lateInLondon)).toBe("memory/2026-01-31.md");
  process.env["TZ"] = "Asia/Tokyo";
  expect(memoryFile(lateInLondon)).toBe("memory/2026-02-01.md");
});

it("asks for the file of the day and for silence", () => {
  const now = Date.UTC(2026, 0, 31, 12);
  const compaction = memoryFlushPrompts("compaction", now);
  const reset = memoryFlushPrompts("reset", now);
  expect(compaction.prompt).toContain("memory/2026-01-31.md");
  expect(compaction.prompt).not.toBe(reset.prompt);
  // An agent that repeats the prompt has no message for a person either.
  for (const { prompt, system } of [compaction, reset]) {
    expect(isSilentReplyText(prompt)).toBe(true);
    expect(system).toContain("NO_REPLY");
  }
});

it.each([
  ["anthropic/claude-haiku-5-5", 200_000, "built-in"],
  ["claude-opus", 200_000, "built-in"],
  ["claude-sonnet-4-5[1m]", 1_000_000, "built-in"],
  ["bedrock/us.anthropic.claude-sonnet-4-5-v1:0", 200_000, "built-in"],
  ["gpt-4o-mini", 128_000, "built-in"],
  ["openai/gpt-4", 8192, "built-in"],
  ["openai/gpt-4.1-nano", 1_047_576, "built-in"],
  ["o3", 200_000, "built-in"],
  ["gemini-flash", 1_048_576, "built-in"],
  ["ollama/llama3", 32_768, "assumed"],
  ["no such thing", 32_768, "assumed"],
  [undefined, 32_768, "assumed"],
])("knows the window of %s", (model, tokens, source) => {
  expect(resolveContextWindow(model)).toEqual({ tokens, source });
});

it("prefers the configuration, even through an alias", () => {
  const models = { "ollama/llama3": { alias: "small", contextWindow: 8192 }, "openai/gpt-4o": { alias: "four" } };
  expect(resolveContextWindow("Small", models)).toEqual({ tokens: 8192, source: "config" });
  expect(resolveContextWindow("ollama/llama3", models)).toEqual({ tokens: 8192, source: "config" });
  expect(resolveContextWindow("four", models)).toEqual({ tokens: 128_000, source: "built-in" });
  expect(resolveContextWindow("toString", models).source).toBe("assumed");
});

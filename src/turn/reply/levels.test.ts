import { expect, it } from "vitest";
import { thinkingPayload, toolLine, usageLine, withUsageLine } from "./levels.ts";

const usage = { provider: "p", model: "m", input: 400, output: 30, cacheRead: 12_000, cacheWrite: 0, costUsd: 0.00419 };

it("shows a tool with its short arguments, in one line and without secrets", () => {
  expect(toolLine({ name: "read_file", input: { path: "notes/a.md", startLine: 3 } })).toBe("→ read_file notes/a.md 3");
  expect(toolLine({ name: "write_file", input: { path: "a\nb", content: "x".repeat(500) } })).toBe("→ write_file a b");
  expect(
    toolLine({ name: "Bash", input: { command: "curl -H 'x-api-key: sk-ant-abcdefghijklmnopqrst'" } }),
  ).not.toContain("abcdefghijkl");
  for (const input of [undefined, null, "text", [1]]) expect(toolLine({ name: "x", input })).toMatch(/^→ x/);
});

it("adds usage to the last message only when asked for", () => {
  expect(usageLine("off", usage)).toBeUndefined();
  expect(usageLine(undefined, usage)).toBeUndefined();
  expect(usageLine("on", undefined)).toBeUndefined();
  expect(usageLine("on", usage)).toBe("Tokens: 12,400 in, 30 out");
  expect(usageLine("tokens", usage)).toBe(usageLine("on", usage));
  expect(usageLine("full", usage)).toBe("Tokens: 12,400 in (12,000 cached), 30 out · $0.0042 · p/m");
  expect(withUsageLine([{ text: "a" }, { text: "b" }], "u")).toEqual([{ text: "a" }, { text: "b\n\nu" }]);
  expect(withUsageLine([{ mediaUrl: "x.png" }], "u")).toEqual([{ mediaUrl: "x.png", text: "u" }]);
  expect(withUsageLine([], "u")).toEqual([]);
});

it("quotes thinking, and has nothing to show without it", () => {
  expect(thinkingPayload("on", ["one\ntwo", "three"])).toEqual({ text: "Thinking:\n> one\n> two\n> \n> three" });
  expect(thinkingPayload("off", ["one"])).toBeUndefined();
  expect(thinkingPayload(undefined, ["one"])).toBeUndefined();
  expect(thinkingPayload("on", [" "])).toBeUndefined();
});

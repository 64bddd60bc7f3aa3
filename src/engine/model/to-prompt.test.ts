/** Any transcript becomes a request that providers accept. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { INTERRUPTED_CALL, toPrompt, type PromptMessage } from "./to-prompt.ts";
import { createTimeLines } from "../../transcript/messages.ts";

const TARGET = { provider: "anthropic", model: "claude-haiku-4-5" };
const timestamp = 1;

const text = fc.constantFrom("", " \n", "words", "\ud800 half", "</summary 0123456789abcdef>");
const id = fc.constantFrom("", "a", "b", "toolu_1|fc_1", "x".repeat(200));
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text }),
  fc.record({ type: fc.constant("thinking"), thinking: text, thinkingSignature: fc.option(fc.constant("s")) }),
  fc.record({
    type: fc.constant("toolCall"),
    id,
    name: fc.constantFrom("read_file", "mcp.x y", ""),
    arguments: fc.constant({}),
  }),
  fc.record({
    type: fc.constant("image"),
    data: fc.constantFrom("aGk=", "?"),
    mimeType: fc.constantFrom("image/png", "x"),
  }),
  fc.constantFrom({ type: "server_tool_use" }, { type: "text" }, null, 7),
);
const content = fc.oneof(text, fc.array(block, { maxLength: 4 }), fc.constantFrom(undefined, null, 3));
const stopReason = fc.constantFrom("stop", "toolUse", "aborted", "error", undefined);
const attachments = fc.constantFrom(undefined, null, "x", [{ path: "/seen.png" }, { path: "/unseen.png" }, null, {}]);
const IMAGES = new Map([["/seen.png", { mediaType: "image/png", data: "aGk=" }]]);
const message = fc.oneof(
  fc.record({ role: fc.constant("user"), content, attachments }),
  fc.record({
    role: fc.constant("assistant"),
    content,
    stopReason,
    provider: fc.constantFrom("anthropic", "x"),
    model: fc.constant(TARGET.model),
  }),
  fc.record({
    role: fc.constant("toolResult"),
    toolCallId: id,
    toolName: fc.constant("t"),
    content,
    isError: fc.boolean(),
  }),
  fc.record({ role: fc.constantFrom("compactionSummary", "branchSummary"), summary: text }),
  fc.record({ role: fc.constant("custom"), content }),
  fc.record({
    role: fc.constant("bashExecution"),
    command: text,
    output: text,
    cancelled: fc.boolean(),
    truncated: fc.boolean(),
  }),
  fc.record({ role: fc.constant("martian") }),
);

it("is valid for every transcript", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (context) => {
      const prompt = toPrompt(context as unknown as TranscriptMessage[], TARGET, IMAGES);
      expect(prompt[0]?.role).toBe("user");
      expect(prompt.at(-1)?.role).not.toBe("assistant");
      const ids = new Set<string>();
      for (const [index, { role, content: parts }] of prompt.entries()) {
        expect(parts.length).toBeGreaterThan(0);
        const calls = callsIn(prompt[index]);
        for (const call of calls) {
          expect(call).toMatch(/^[\w-]{1,64}$/);
          expect(ids.has(call)).toBe(false);
          ids.add(call);
        }
        // Every call is immediately followed by one result, and there are no other results.
        expect(resultsIn(prompt[index + 1])).toEqual(calls);
        expect(role !== "tool" || prompt[index - 1]?.role === "assistant").toBe(true);
        for (const words of textsIn(prompt[index])) {
          expect(words.trim()).not.toBe("");
          expect(words.isWellFormed()).toBe(true);
        }
      }
    }),
    { numRuns: 500 },
  );
});

it("loses no user text and no tool result", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (context) => {
      const marked = context.map((entry, index) => ({
        ...entry,
        ...(isSaid(entry.role) && { content: `word-${index}.` }),
      }));
      const prompt = JSON.stringify(toPrompt(marked as unknown as TranscriptMessage[], TARGET));
      const times = marked.map((_, index) => prompt.split(`word-${index}.`).length - 1);
      expect(times).toEqual(marked.map(({ role }) => (isSaid(role) ? 1 : 0)));
    }),
    { numRuns: 300 },
  );
});

it("places results after their calls, and marks calls without one", () => {
  const context = [
    { role: "user", content: "go", timestamp },
    { role: "assistant", content: [call("one"), call("two")], stopReason: "toolUse", timestamp },
    { role: "user", content: "meanwhile", timestamp },
    { role: "toolResult", toolCallId: "two", toolName: "two", content: "done", isError: false, timestamp },
  ] as unknown as TranscriptMessage[];
  expect(toPrompt(context, TARGET)).toMatchObject([
    { role: "user" },
    { role: "assistant", content: [{ toolName: "one" }, { toolName: "two" }] },
    {
      role: "tool",
      content: [
        { toolName: "one", output: { type: "error-text", value: INTERRUPTED_CALL } },
        { toolName: "two", output: { type: "text", value: "done" } },
      ],
    },
    { role: "user", content: [{ text: "meanwhile" }] },
  ]);
});

function call(name: string): unknown {
  return { type: "toolCall", id: name, name, arguments: {} };
}

function isSaid(role: string): boolean {
  return role === "user" || role === "toolResult" || role === "custom";
}

function callsIn(entry: PromptMessage | undefined): string[] {
  if (entry?.role !== "assistant") return [];
  return entry.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}

function resultsIn(entry: PromptMessage | undefined): string[] {
  if (entry?.role !== "tool") return [];
  return entry.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []));
}

function textsIn(entry: PromptMessage | undefined): string[] {
  if (entry === undefined || entry.role === "system" || entry.role === "tool") return [];
  return entry.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

it("begins each message of a person with its time, the same in every later turn", () => {
  const at = Date.parse("2026-11-18T01:50:30Z");
  const said = (words: string, sentAt?: number): TranscriptMessage => {
    return { role: "user", content: words, sentAt, timestamp: at };
  };
  const answered: TranscriptMessage = { role: "assistant", content: [{ type: "text", text: "yes" }], timestamp: at };
  const first = toPrompt([said("one", at - 3_600_000)], TARGET, undefined, createTimeLines());
  const later = [said("one", at - 3_600_000), answered, said("two"), { ...said("three"), timestamp: Number.NaN }];
  const prompt = toPrompt(later, TARGET, undefined, createTimeLines());
  expect(prompt[0]).toEqual(first[0]);
  const texts = prompt.map(({ content }) => (content as { text?: string }[]).map((part) => part.text));
  expect(texts).toEqual([
    [expect.stringMatching(/^\[\w{3} 2026-11-1[78] \d\d:50 .+\]$/), "one"],
    ["yes"],
    [expect.stringMatching(/^\[\w{3} 2026-11-1[78] \d\d:50 .+\]$/), "two"],
    ["three"],
  ]);
  expect(texts[0]?.[0]).not.toBe(texts[2]?.[0]);
});

import { expect, it } from "vitest";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { findCut } from "./compact.ts";

/** A hundred tokens each. */
const TEXT = "x".repeat(400);

const user = (text = TEXT): TranscriptMessage => ({ role: "user", content: text, timestamp: 1 });
const answer = (...calls: string[]): TranscriptMessage => ({
  role: "assistant",
  content: [
    { type: "text", text: TEXT },
    ...calls.map((id) => ({ type: "toolCall" as const, id, name: "t", arguments: {} })),
  ],
  timestamp: 1,
});
const result = (toolCallId: string): TranscriptMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "t",
  content: TEXT,
  isError: false,
  timestamp: 1,
});

function lines(messages: TranscriptMessage[], turnOf: (at: number) => string = () => "t"): TranscriptEntry[] {
  return messages.map((message, at) => ({
    type: "message",
    id: String(at),
    parentId: at === 0 ? null : String(at - 1),
    timestamp: "2026-11-15T12:00:00.000Z",
    turnId: turnOf(at),
    message,
  }));
}

it("cuts before a question, as early as possible", () => {
  const entries = lines([user(), answer(), user(), answer(), user(), answer()]);
  expect(findCut(entries, { keepTokens: 250 })).toMatchObject({ firstKeptEntryId: "4", keptTokens: 200 });
  expect(findCut(entries, { keepTokens: 400 })).toMatchObject({ firstKeptEntryId: "2", keptTokens: 400 });
  expect(findCut(entries, { keepTokens: 350 })).toMatchObject({ firstKeptEntryId: "4" });
});

it("keeps something even if everything is too long, and cuts inside a long turn", () => {
  const entries = lines([user(), answer("a"), result("a"), answer("b"), result("b"), answer()]);
  expect(findCut(entries, { keepTokens: 10 })).toMatchObject({ firstKeptEntryId: "5" });
  expect(findCut(entries, { keepTokens: 350 })).toMatchObject({ firstKeptEntryId: "3" });
});

it("never separates a tool call from its result", () => {
  const entries = lines([user(), answer("a", "b"), result("a"), result("b"), user()]);
  for (const keepTokens of [100, 200, 300, 400]) {
    const at = findCut(entries, { keepTokens })?.firstKeptEntryId;
    expect(["1", "4"]).toContain(at);
  }
  const pending = lines([user(), answer("a", "b"), result("a"), result("b")]);
  expect(findCut(pending, { keepTokens: 10 })?.firstKeptEntryId).toBe("1");
});

it("ignores a result without its call", () => {
  const entries = lines([user(), answer(), result("lost"), user(), answer()]);
  expect(findCut(entries, { keepTokens: 250 })?.firstKeptEntryId).toBe("3");
});

it("keeps the running turn whole", () => {
  const entries = lines([user(), answer(), user(), answer("a"), result("a")], (at) => (at < 2 ? "old" : "running"));
  expect(findCut(entries, { keepTokens: 10, turnId: "running" })?.firstKeptEntryId).toBe("2");
});

it("finds no cut without older messages", () => {
  expect(findCut(lines([user()]), { keepTokens: 10 })).toBeUndefined();
  expect(findCut([], { keepTokens: 10 })).toBeUndefined();
});

import { expect, it } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { parseOutboundMessage } from "../../claude/protocol/messages.ts";
import type { EngineEvent } from "../engine.ts";
import { TurnTranslator } from "./turn-translator.ts";

const clock = { ...systemClock, now: () => 5 };

function read(...lines: object[]): { events: EngineEvent[]; end: (reason: "stop" | "aborted") => EngineEvent[] } {
  const translator = new TurnTranslator(clock);
  const events = lines.flatMap((line) => translator.read(parseOutboundMessage(JSON.stringify(line))));
  return { events, end: (reason) => translator.end(reason) };
}

const stream = (event: object, parent: string | null = null): object => ({
  type: "stream_event",
  event,
  parent_tool_use_id: parent,
});
const said = (content: object[], more: object = {}): object => ({
  type: "assistant",
  message: { id: "m1", model: "claude-x", content },
  ...more,
});
const START = stream({ type: "message_start", message: { id: "m1", model: "claude-x", usage: { input_tokens: 7 } } });
const delta = (text: string, parent?: string): object =>
  stream({ type: "content_block_delta", delta: { type: "text_delta", text } }, parent);

it("joins the blocks of a message and yields it when the model has finished", () => {
  const { events } = read(
    START,
    delta("Hi "),
    said([{ type: "text", text: "Hi " }]),
    said([{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }]),
    stream({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } }),
    stream({ type: "message_stop" }),
    { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: "README" }] } },
  );
  expect(events.map(({ type }) => type)).toEqual(["text", "tool-start", "message", "usage", "message", "tool-end"]);
  expect(events[2]).toMatchObject({
    message: { stopReason: "toolUse", content: [{ text: "Hi " }, { name: "Bash" }], usage: { input: 7, output: 3 } },
  });
  expect(events[4]).toMatchObject({ message: { toolCallId: "t1", toolName: "Bash", content: [{ text: "README" }] } });
});

it("works without partial messages", () => {
  const { events, end } = read(said([{ type: "text", text: "one" }]), {
    ...said([]),
    message: { id: "m2", content: [{ type: "text", text: "two" }] },
  });
  const types = [...events, ...end("stop")].map(({ type }) => type);
  expect(types).toEqual(["text", "message", "text", "message"]);
});

it("keeps partial text of an interrupted turn", () => {
  const { events, end } = read(START, delta("half a "), delta("sentence"));
  expect(events.filter(({ type }) => type === "message")).toEqual([]);
  expect(end("aborted")[0]).toMatchObject({
    message: { stopReason: "aborted", content: [{ type: "text", text: "half a sentence" }] },
  });
  expect(end("aborted")).toEqual([]);
});

it("skips messages of subagents and of Claude Code itself", () => {
  const { events, end } = read(
    delta("secret", "t1"),
    said([{ type: "text", text: "secret" }], { parent_tool_use_id: "t1" }),
    said([{ type: "text", text: "API Error" }], { error: "server_error" }),
  );
  expect([...events, ...end("stop")]).toEqual([]);
});

it("reports a compaction once, with the remaining context", () => {
  const translator = new TurnTranslator(clock);
  const lines = [
    { type: "system", subtype: "status", status: "compacting" },
    { type: "system", subtype: "status", status: "compacting" },
    { type: "system", subtype: "compact_boundary", compact_metadata: { pre_tokens: 90, post_tokens: 10 } },
    { type: "system", subtype: "compact_boundary", compact_metadata: {} },
  ];
  const events = lines.flatMap((line) => translator.read(parseOutboundMessage(JSON.stringify(line))));
  expect(events).toEqual([
    { type: "compaction", phase: "start" },
    { type: "compaction", phase: "end", tokensBefore: 90, tokensAfter: 10 },
    { type: "compaction", phase: "start" },
    { type: "compaction", phase: "end" },
  ]);
  expect(translator.usage).toMatchObject({ input: 10, output: 0 });
});

it("truncates a tool result that is too long", () => {
  const content = "x".repeat(300_000);
  const { events } = read({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t", content }] } });
  expect(JSON.stringify(events).length).toBeLessThan(110_000);
  expect(JSON.stringify(events)).toContain("200000 more characters omitted");
});

import { setImmediate as nextTick } from "node:timers/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { parseOutboundMessage } from "../protocol/messages.ts";
import type { ClaudeEvent } from "./process/claude-process.ts";
import { askedDetail, createProgressTracker, createEventRelay } from "./run-events.ts";
import type { RunnerEvent, ProgressSummary } from "./runner-contract.ts";

const sessionId = "11111111-2222-4333-8444-555555555555";

it("reports printable progress and restarts the counts with every task", async () => {
  const tracker = createProgressTracker();
  const reported = Promise.withResolvers<RunnerEvent>();
  const seen: RunnerEvent[] = [];
  const relay = {
    emit: (event: RunnerEvent): void => {
      if (event.type === "progress") reported.resolve(event);
      else seen.push(event);
    },
  };
  const end = tracker.begin(relay, 1);
  const events: ClaudeEvent[] = [
    said({ type: "text", text: "Let me \u001b[2Jlook." }),
    said({ type: "text", text: "from a subagent" }, "t0"),
    said({ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls \u001b[31m" } }),
    parse({
      type: "user",
      message: {
        content: [{ type: "tool_result", tool_use_id: "t1", content: "no \u001b]0;x\u0007", is_error: true }],
      },
    }),
    said({ type: "tool_use", id: "t2", name: "Read", input: { file_path: "/repo/a.ts" } }),
    parse({ type: "system", subtype: "api_retry", attempt: 1, error_status: 529 }),
  ];
  for (const event of events) tracker.see(event, relay);
  const report = await reported.promise;
  end();
  expect(report).toMatchObject({
    progress: { toolUses: 2, lastTool: "Read", lastToolDetail: "/repo/a.ts", retries: 1, subagents: 0 },
  });
  expect(JSON.stringify([report, ...seen.filter((event) => event.type !== "text")])).not.toMatch(/(?<!\\)\\u00/);
  expect(seen).toMatchObject([
    { type: "text" },
    { type: "tool", name: "Bash", isSubagent: false },
    { type: "tool-failed", name: "Bash" },
    { type: "tool", name: "Read" },
  ]);
  const again = Promise.withResolvers<RunnerEvent>();
  tracker.begin({ emit: (event) => again.resolve(event) }, 1);
  expect(await again.promise).toMatchObject({ progress: { toolUses: 0, retries: 0 } });
});

it("passes streamed text on once", () => {
  const tracker = createProgressTracker();
  const seen: RunnerEvent[] = [];
  const relay = { emit: (event: RunnerEvent) => void seen.push(event) };
  tracker.see(streamed({ type: "message_start", message: { id: "m1" } }), relay);
  for (const text of ["Let ", "me look."]) tracker.see(streamed({ delta: { type: "text_delta", text } }), relay);
  tracker.see(
    parse({ type: "assistant", message: { id: "m1", content: [{ type: "text", text: "Let me look." }] } }),
    relay,
  );
  tracker.see(parse({ type: "assistant", message: { id: "m2", content: "Not streamed." } }), relay);
  expect(seen).toEqual(["Let ", "me look.", "Not streamed."].map((text) => ({ type: "text", text })));
});

it("tells the cost after each request, and what was announced", () => {
  const tracker = createProgressTracker();
  const seen: RunnerEvent[] = [];
  const relay = { emit: (event: RunnerEvent) => void seen.push(event) };
  for (const output of [1000, 2000]) {
    const model = "claude-sonnet-4-5";
    tracker.see(streamed({ type: "message_start", message: { id: "m", model, usage: { input_tokens: 0 } } }), relay);
    tracker.see(streamed({ type: "message_delta", delta: {}, usage: { output_tokens: output } }), relay);
  }
  const name = "mcp__holdfast__openclaw_announce";
  for (const [id, is_error] of [
    ["t1", false],
    ["t2", true],
  ] as const) {
    tracker.see(said({ type: "tool_use", id, name, input: { message: `said by ${id}` } }), relay);
    tracker.see(
      parse({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content: "", is_error }] } }),
      relay,
    );
  }
  expect(seen.filter(({ type }) => type === "cost")).toMatchObject([{ costUsd: 0.015 }, { costUsd: 0.045 }]);
  expect(seen.filter(({ type }) => type === "announced")).toEqual([
    { type: "announced", id: "t1", text: "said by t1" },
  ]);
});

function streamed(event: object): ClaudeEvent {
  return parse({ type: "stream_event", event });
}

function said(block: object, subagent?: string): ClaudeEvent {
  return parse({ type: "assistant", message: { content: [block] }, parent_tool_use_id: subagent });
}

function parse(message: object): ClaudeEvent {
  return parseOutboundMessage(JSON.stringify({ session_id: sessionId, ...message }));
}

const progress = (toolUses: number): RunnerEvent => {
  const summary: ProgressSummary = { elapsedMs: 0, toolUses, costUsd: 0, retries: 0, subagents: 0 };
  return { type: "progress", progress: summary };
};
const tool: RunnerEvent = { type: "tool", name: "Bash", detail: "ls", isSubagent: false };

it("delivers all events in order to a fast watcher", async () => {
  const seen: string[] = [];
  const relay = createEventRelay(async (event) => void seen.push(event.type), silentLogger);
  relay.emit(tool);
  await nextTick();
  relay.emit(progress(1));
  await nextTick();
  relay.emit({ type: "text", text: "a" });
  await nextTick();
  expect(seen).toEqual(["tool", "progress", "text"]);
});

it("joins text, replaces progress, drops and counts tools, and keeps important events for a slow watcher", async () => {
  const seen: RunnerEvent[] = [];
  const gate = Promise.withResolvers<void>();
  const relay = createEventRelay(async (event) => {
    seen.push(event);
    await gate.promise;
  }, silentLogger);
  relay.emit(tool);
  for (let index = 0; index < 10_000; index++) relay.emit({ type: "text", text: "word " });
  for (let index = 0; index < 10_000; index++) relay.emit(progress(index));
  for (let index = 0; index < 10_000; index++) relay.emit(tool);
  relay.emit({ type: "fallback", sessionId: "a", text: "look here" });
  gate.resolve();
  while (seen.at(-1)?.type !== "fallback") await nextTick();
  expect(seen.length).toBeLessThan(210);
  expect(seen.find((event) => event.type === "dropped")).toEqual({ type: "dropped", count: 10_000 - 198 });
  expect(seen.filter((event) => event.type === "progress")).toEqual([progress(9999)]);
  expect(seen.filter((event) => event.type === "text")).toHaveLength(1);
});

it("survives a watcher that throws", async () => {
  const errors: unknown[] = [];
  const relay = createEventRelay(
    () => {
      throw new Error("no");
    },
    { ...silentLogger, warn: (...logged) => void errors.push(logged) },
  );
  relay.emit(tool);
  relay.emit(tool);
  await nextTick();
  expect(errors).toHaveLength(2);
});

it("shows a person who decides the whole command, and all arguments of an unknown tool", () => {
  const command = `echo ${"x".repeat(200)}\nrm -rf build`;
  expect(askedDetail({ tool: "Bash", input: { command, description: "Clean up" } })).toBe(command);
  expect(askedDetail({ tool: "Write", input: { file_path: "a.ts", content: "x" } })).toBe("a.ts");
  expect(askedDetail({ tool: "mcp__db__run", input: { path: "x", sql: "drop table a" } })).toBe(
    '{"path":"x","sql":"drop table a"}',
  );
  const long = askedDetail({ tool: "Bash", input: { command: "y".repeat(1600) } });
  expect(long).toMatch(/^y{1500}… \(100 more characters are not shown\)$/);
});

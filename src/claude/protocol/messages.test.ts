import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseOutboundMessage } from "./messages.ts";

const SAMPLES = fileURLToPath(new URL("../../../test/fixtures/claude-code/stdout-ndjson", import.meta.url));

describe("the output of the real CLI", () => {
  const files = readdirSync(SAMPLES);
  test.each(files)("%s: every line is known", (file) => {
    const messages = messagesOf(file);
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.filter(({ type }) => type === "damaged" || type === "unknown")).toEqual([]);
    const results = messages.filter(({ type }) => type === "result");
    expect(results.length).toBeGreaterThan(0);
    expect(messages.filter(({ type }) => type === "init").length).toBe(results.length);
  });

  test("parses a result", () => {
    expect(messagesOf("multi.ndjson").filter(({ type }) => type === "result")[1]).toEqual({
      type: "result",
      sessionId: expect.stringMatching(/519e$/),
      subtype: "success",
      isError: false,
      text: "done after 1 tool result(s)",
      errors: [],
      numTurns: 2,
      durationMs: expect.any(Number),
      totalCostUsd: 0.0022500000000000003,
      usage: { inputTokens: 200, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
      denials: [],
      apiStatus: undefined,
      terminalReason: "completed",
      origin: undefined,
    });
  });

  test("parses compactions, subagent tasks and control messages", () => {
    expect(messagesOf("auto-window.ndjson")).toContainEqual({
      type: "compact_boundary",
      sessionId: "cccccccc-0000-4000-8000-000000000005",
      trigger: "auto",
      preTokens: 195_529,
      postTokens: 702,
    });
    expect(messagesOf("subagent.ndjson").find(({ type }) => type === "task")).toMatchObject({
      event: "started",
      taskType: "local_agent",
      description: "do sub",
    });
    const control = messagesOf("control.ndjson");
    expect(control.filter(({ type }) => type === "control_request")).toMatchObject([
      { permission: { tool: "Write" } },
      { permission: { tool: "mcp__tiny__add" } },
    ]);
    expect(control).toContainEqual({
      type: "control_response",
      sessionId: undefined,
      requestId: "i7",
      answer: { ok: false, error: "Unsupported control request subtype: no_such_thing" },
    });
  });
});

test("reports a line that is not a message as damaged", () => {
  for (const line of ["", "null", "[1]", '"x"', '{"type":', "\u0000"]) {
    expect(parseOutboundMessage(line).type).toBe("damaged");
  }
  expect(parseOutboundMessage("x".repeat(1000))).toMatchObject({ excerpt: "x".repeat(200) });
});

test("passes an unknown message through", () => {
  const raw = { type: "system", subtype: "new_thing", session_id: "s", more: [1] };
  expect(parseOutboundMessage(JSON.stringify(raw))).toEqual({ type: "unknown", sessionId: "s", raw });
  expect(parseOutboundMessage('{"type":"control_response"}').type).toBe("unknown");
});

test("never throws", () => {
  const type = fc.constantFrom("system", "assistant", "user", "stream_event", "result", "control_response");
  const subtype = fc.constantFrom("init", "status", "api_retry", "compact_boundary", "task_started", "hook_started");
  const name = fc.constantFrom("message", "content", "usage", "permission_denials", "event", "errors", "response");
  const hostile = fc.tuple(type, subtype, fc.dictionary(name, fc.jsonValue()));
  fc.assert(
    fc.property(hostile, ([kind, detail, rest]) => {
      const line = JSON.stringify({ ...rest, type: kind, subtype: detail });
      expect(parseOutboundMessage(line).type).not.toBe("damaged");
    }),
  );
  fc.assert(fc.property(fc.string(), (line) => void parseOutboundMessage(line)));
});

function messagesOf(file: string) {
  const lines = readFileSync(join(SAMPLES, file), "utf8").split("\n");
  return lines.filter((line) => line !== "").map(parseOutboundMessage);
}

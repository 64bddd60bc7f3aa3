/** The model engine with every provider's real client, against a server that speaks its protocol. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { startFakeModelStream, type StreamReply, says, uses } from "../../../test/support/fake-model-stream.ts";
import {
  SAID_AT,
  attempt,
  collect,
  engineAt,
  failure,
  messagesOf,
  textOf,
  turnOf,
} from "../../../test/support/model-turns.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/time.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { EngineEvent } from "../engine.ts";
import { createWorkspaceTools } from "../tools/workspace-tools.ts";

const MODELS = ["anthropic/claude-haiku-4-5", "openai/gpt-4o-mini", "google/gemini-2.5-flash", "local/llama3"];
const TOOL_TURN = ["message", "usage", "tool-start", "tool-end", "message", "message", "usage"];

describe.each(MODELS)("%s", (model) => {
  const [provider = ""] = model.split("/");

  it("streams text, then yields the message and its tokens", async () => {
    await using server = await startFakeModelStream(
      says("hello dear world", { usage: { input: 120, output: 7, cacheRead: 20 } }),
    );
    const events = await collect(engineAt(server), { model, thinking: "low" });
    expect(textOf(events)).toBe("hello dear world");
    expect(events.filter(({ type }) => type === "text")).toHaveLength(3);
    expect(messagesOf(events)).toMatchObject([
      {
        role: "assistant",
        content: [{ type: "text", text: "hello dear world" }],
        provider,
        stopReason: "stop",
        usage: { input: 100, output: 7, cacheRead: 20, cacheWrite: 0, totalTokens: 127 },
      },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: "usage",
      usage: { provider, model: model.slice(provider.length + 1), input: 100, output: 7, cacheRead: 20 },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("runs tools and continues with their results", async () => {
    await using folder = await temporaryFolder();
    await writeFile(folder.join("plan.md"), "the plan");
    await using server = await startFakeModelStream(
      uses("list_files", { path: "." }, "I look."),
      says("There is a plan."),
    );
    const events = await collect(engineAt(server, { tools: createWorkspaceTools({ workspace: folder.path }) }), {
      model,
    });
    expect(events.map(({ type }) => type).filter((type) => type !== "text")).toEqual(TOOL_TURN);
    const [call, result, answer] = messagesOf(events);
    expect(call).toMatchObject({
      stopReason: "toolUse",
      content: [
        { type: "text", text: "I look." },
        { type: "toolCall", name: "list_files", arguments: { path: "." } },
      ],
    });
    expect(result).toMatchObject({
      role: "toolResult",
      toolName: "list_files",
      isError: false,
      content: [{ type: "text", text: "plan.md" }],
    });
    expect(answer).toMatchObject({ stopReason: "stop", content: [{ type: "text", text: "There is a plan." }] });
    expect(JSON.stringify(server.requests[1]?.body)).toContain("plan.md");
    expect(JSON.stringify(server.requests[0]?.body)).toContain("write_file");
  });

  it("explains failures", async () => {
    const cases: [StreamReply, code: string][] = [
      [{ status: 401, body: errorBody("bad key", "authentication_error") }, "model-auth"],
      [{ status: 404, body: errorBody("no such model", "not_found_error") }, "model-not-found"],
      [
        { status: 200, headers: { "content-type": "text/html" }, body: "<html>hello</html>" },
        "model-answer-unreadable",
      ],
      [
        { status: 200, headers: { "content-type": "text/event-stream" }, body: "data: {garbage\n\n" },
        "model-answer-unreadable",
      ],
      [
        { status: 200, headers: { "content-type": "text/event-stream" }, body: 'data: {"x":1}\n\n' },
        "model-answer-unreadable",
      ],
      [{ status: 200, headers: { "content-type": "text/event-stream" }, body: "" }, "model-answer-unreadable"],
      [says("half an", { finish: "refusal" }), "model-refused"],
      [{ status: 400, body: TOO_LONG[provider] ?? "" }, "context-too-long"],
    ];
    for (const [reply, code] of cases) {
      await using server = await startFakeModelStream(reply);
      expect([code, await failure(engineAt(server), { model })]).toEqual([code, code]);
      expect(server.requests).toHaveLength(1);
    }
  });

  it("retries transient failures after the given time", async () => {
    const busy = { status: 429, headers: { "retry-after": "7" }, body: errorBody("slow down", "rate_limit_error") };
    const broken = { status: 503, body: errorBody("oops", "api_error") };
    await using server = await startFakeModelStream(busy, broken, says("at last"));
    const clock = createTestClock();
    const started = clock.now();
    expect(textOf(await collect(engineAt(server, { clock }), { model }))).toBe("at last");
    expect(clock.now() - started).toBeGreaterThan(7000 + 1000);
    expect(clock.now() - started).toBeLessThan(7000 + 3000);

    await using down = await startFakeModelStream(broken);
    expect(await failure(engineAt(down), { model })).toBe("model-server-failed");
    expect(down.requests).toHaveLength(3);

    await using closed = await startFakeModelStream({ ...busy, headers: { "retry-after": "3600" } });
    expect(await failure(engineAt(closed), { model })).toBe("model-rate-limited");
    expect(closed.requests).toHaveLength(1);

    await using gone = await startFakeModelStream({ reset: true }, { reset: true }, says("back"));
    expect(textOf(await collect(engineAt(gone), { model }))).toBe("back");
  });

  it("does not retry after partial output", async () => {
    await using server = await startFakeModelStream(
      says("one two three four five", { breaks: { after: 5, with: "error" } }),
    );
    const { events, error } = await attempt(engineAt(server), { model });
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(server.requests).toHaveLength(1);
    expect(messagesOf(events)).toEqual([]);
    expect(textOf(events)).toMatch(/^one two /);
  });

  it("times out", async () => {
    await using mute = await startFakeModelStream({ silent: true });
    const maxSilenceMs = 1000;
    expect(await failure(engineAt(mute, { maxSilenceMs }), { model })).toBe("model-timeout");
    expect(mute.requests).toHaveLength(1);

    await using stalled = await startFakeModelStream(says("one two three", { breaks: { after: 4, with: "silence" } }));
    const { events, error } = await attempt(engineAt(stalled, { maxSilenceMs }), { model });
    expect(error).toMatchObject({ code: "model-timeout", kind: "timeout" });
    expect(textOf(events)).toMatch(/^one /);
    await expect.poll(() => stalled.requests[0]?.gone.aborted).toBe(true);
  });

  it("stops in the middle without an error", async () => {
    await using server = await startFakeModelStream(says("one two three", { breaks: { after: 4, with: "silence" } }));
    const stop = new AbortController();
    const events: EngineEvent[] = [];
    for await (const event of engineAt(server).run(turnOf({ model }), stop.signal)) {
      events.push(event);
      if (event.type === "text") stop.abort();
    }
    expect(messagesOf(events)).toMatchObject([{ role: "assistant", stopReason: "aborted" }]);
    await expect.poll(() => server.requests[0]?.gone.aborted).toBe(true);
  });

  it("accepts transcripts of any origin", async () => {
    await using server = await startFakeModelStream(says("ok"));
    await collect(engineAt(server), { model, context: MIXED, thinking: "high" });
    const body = JSON.stringify(server.requests[0]?.body);
    for (const part of ["earlier words", "iVBORw0KGgo", "Interrupted", "ls -la", "second in a row", "a note"]) {
      expect(body).toContain(part);
    }
    expect(body).not.toContain("unknown-block");
    expect(body).not.toContain("not for the model");
  });
});

it.each([
  [undefined, "model-missing", /holdfast config set agents/],
  ["  ", "model-missing", /provider's key/],
  ["llama", "model-unknown", /provider\/model/],
  ["nobody/x", "model-provider-unknown", /providers\.nobody\.baseUrl/],
])("explains a missing or unknown model (%j)", async (model, code, hint) => {
  await using server = await startFakeModelStream(says("x"));
  const { error } = await attempt(engineAt(server), { model });
  expect(error).toMatchObject({ code });
  expect((error as HoldfastError).hint).toMatch(hint);
  expect(server.requests).toHaveLength(0);
});

it("stores nothing at OpenAI and uses Anthropic's cache", async () => {
  await using server = await startFakeModelStream(says("x"));
  await collect(engineAt(server), { model: "openai/gpt-4o-mini" });
  await collect(engineAt(server), { model: "anthropic/claude-haiku-4-5", system: "rules" });
  expect(server.requests[0]?.body["store"]).toBe(false);
  expect(server.requests[1]?.body["system"]).toMatchObject([{ text: "rules", cache_control: { type: "ephemeral" } }]);
});

it("closes the connection if the consumer stops early", async () => {
  await using server = await startFakeModelStream(says("one two", { breaks: { after: 4, with: "silence" } }));
  for await (const event of engineAt(server).run(turnOf({}), AbortSignal.timeout(10_000))) {
    if (event.type === "text") break;
  }
  await expect.poll(() => server.requests[0]?.gone.aborted).toBe(true);
});

it("does nothing if the signal is already aborted", async () => {
  await using server = await startFakeModelStream(says("x"));
  for await (const event of engineAt(server).run(turnOf({}), AbortSignal.abort())) expect.unreachable(event.type);
  expect(server.requests).toEqual([]);
});

function errorBody(message: string, type: string): string {
  return JSON.stringify({ type: "error", error: { type, message, code: 400, status: "X" } });
}

/** As each provider says it. */
const TOO_LONG: Record<string, string> = {
  anthropic: errorBody("prompt is too long: 215000 tokens > 200000 maximum", "invalid_request_error"),
  openai: JSON.stringify({
    error: {
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    },
  }),
  google: JSON.stringify({
    error: {
      code: 400,
      message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      status: "INVALID_ARGUMENT",
    },
  }),
  local: JSON.stringify({
    error: {
      message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
      type: "BadRequestError",
      code: 400,
    },
  }),
};

/** Made of everything that a transcript may hold. */
const MIXED = [
  {
    role: "toolResult",
    toolCallId: "lost",
    toolName: "Bash",
    content: "earlier words",
    isError: false,
    timestamp: SAID_AT,
  },
  { role: "compactionSummary", summary: "what came before", tokensBefore: 9, timestamp: SAID_AT },
  { role: "assistant", content: [], timestamp: SAID_AT },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: " " },
      { type: "unknown-block", value: 1 },
      { type: "toolCall", id: "call|1", name: "mcp.odd tool", arguments: { a: 1 } },
      { type: "toolCall", id: "call|2", name: "Read", arguments: {} },
    ],
    provider: "other",
    stopReason: "toolUse",
    timestamp: SAID_AT,
  },
  { role: "user", content: "in between", timestamp: SAID_AT },
  {
    role: "toolResult",
    toolCallId: "call|1",
    toolName: "mcp.odd tool",
    content: [],
    isError: true,
    timestamp: SAID_AT,
  },
  { role: "bashExecution", command: "ls -la", output: "files", cancelled: false, truncated: true, timestamp: SAID_AT },
  {
    role: "bashExecution",
    command: "not for the model",
    output: "",
    cancelled: false,
    truncated: false,
    excludeFromContext: true,
    timestamp: SAID_AT,
  },
  { role: "custom", customType: "x", content: "a note", display: false, timestamp: SAID_AT },
  { role: "branchSummary", summary: "another way", fromId: "1", timestamp: SAID_AT },
  { role: "martian", content: "unheard of" },
  { role: "assistant", content: [{ type: "text", text: "half an an" }], stopReason: "aborted", timestamp: SAID_AT },
  { role: "user", content: [{ type: "text", text: "look: \ud800" }], timestamp: SAID_AT },
  { role: "user", content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }], timestamp: SAID_AT },
  { role: "user", content: [{ type: "image", data: "<script>", mimeType: "text/html" }, null], timestamp: SAID_AT },
  { role: "user", content: "second in a row", timestamp: SAID_AT },
] as unknown as TranscriptMessage[];

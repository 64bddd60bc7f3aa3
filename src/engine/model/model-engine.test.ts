/** The engine against a server that speaks every provider's protocol. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  type FakeModelStream,
  startFakeModelStream,
} from "../../../test/support/fake-model-stream/fake-model-stream.ts";
import { type StreamReply, says, uses } from "../../../test/support/fake-model-stream/stream-reply.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import type { AssistantMessage, TranscriptMessage } from "../../transcript/entries.ts";
import type { Engine, EngineEvent, EngineTurn } from "../engine.ts";
import type { AgentTool, ToolTable } from "../tools/agent-tool.ts";
import { createWorkspaceTools } from "../tools/workspace-tools.ts";
import { type ModelEngineOptions, createModelEngine } from "./model-engine.ts";

const MODELS = ["anthropic/claude-haiku-4-5", "openai/gpt-4o-mini", "google/gemini-2.5-flash", "local/llama3"];
const TOOL_TURN = ["message", "usage", "tool-start", "tool-end", "message", "message", "usage"];
const ENV = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", GEMINI_API_KEY: "g" };

describe.each(MODELS)("%s", (model) => {
  const [provider = ""] = model.split("/");

  it("answers in pieces, with a whole message and the tokens", async () => {
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

  it("runs tools and goes on with what they say", async () => {
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

  it("says why it cannot answer", async () => {
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

  it("waits out what passes, as long as it was told", async () => {
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

  it("does not say again what it had said before it failed", async () => {
    await using server = await startFakeModelStream(
      says("one two three four five", { breaks: { after: 5, with: "error" } }),
    );
    const { events, error } = await attempt(engineAt(server), { model });
    expect(error).toMatchObject({ kind: "unavailable" });
    expect(server.requests).toHaveLength(1);
    expect(messagesOf(events)).toEqual([]);
    expect(textOf(events)).toMatch(/^one two /);
  });

  it("does not wait for ever", async () => {
    await using mute = await startFakeModelStream({ silent: true });
    const limits = { firstByteMs: 80, silenceMs: 5000 };
    expect(await failure(engineAt(mute, { limits }), { model })).toBe("model-timeout");
    expect(mute.requests).toHaveLength(1);

    await using stalled = await startFakeModelStream(says("one two three", { breaks: { after: 4, with: "silence" } }));
    const { events, error } = await attempt(engineAt(stalled, { limits: { firstByteMs: 5000, silenceMs: 150 } }), {
      model,
    });
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

  it("takes a conversation of any origin", async () => {
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

describe("tools", () => {
  it("are run in order, and their failures are told", async () => {
    await using folder = await temporaryFolder();
    const blocks = [
      { type: "tool" as const, name: "write_file", input: { path: "a.txt", content: "new" } },
      { type: "tool" as const, name: "read_file", input: { path: "a.txt" } },
      { type: "tool" as const, name: "read_file", input: { path: "../out" } },
      { type: "tool" as const, name: "no_such", input: {} },
      { type: "tool" as const, name: "read_file", input: '{"path": broken' },
    ];
    await using server = await startFakeModelStream({ blocks }, says("done"));
    const tools = createWorkspaceTools({ workspace: folder.path });
    const events = await collect(engineAt(server, { tools }), { model: "local/llama3" });
    const results = messagesOf(events).filter(({ role }) => role === "toolResult");
    expect(results.map((message) => JSON.stringify(message.content))).toEqual([
      expect.stringContaining("Wrote 3 bytes"),
      expect.stringContaining("new"),
      expect.stringContaining("leads out of the workspace"),
      expect.stringContaining("There is no tool"),
      expect.stringContaining("The arguments are not an object"),
    ]);
    expect(textOf(events)).toBe("done");
  });

  it("have ids of their own, whatever the server calls them", async () => {
    const call = { type: "tool" as const, name: "peek", input: {}, id: "same" };
    await using server = await startFakeModelStream({ blocks: [call, call] }, { blocks: [call] }, says("done"));
    const events = await collect(engineAt(server, { tools: table(peek()) }), { model: "local/llama3" });
    const calls = messagesOf(events).flatMap((message) =>
      message.role === "assistant" ? callsIn(message).map(({ id }) => id) : [],
    );
    const answered = messagesOf(events).flatMap((message) =>
      message.role === "toolResult" ? [message.toolCallId] : [],
    );
    expect(new Set(calls).size).toBe(3);
    expect(answered).toEqual(calls);
  });

  it("end after 25 steps, and everybody is told", async () => {
    await using server = await startFakeModelStream(uses("peek", {}));
    const events = await collect(engineAt(server, { tools: table(peek()) }), { model: "anthropic/claude-haiku-4-5" });
    expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(25);
    expect(events.find(({ type }) => type === "notice")).toMatchObject({ text: expect.stringContaining("25 steps") });
    expect(server.requests).toHaveLength(26);
    expect([24, 25].map((index) => server.requests[index]?.body["tool_choice"])).toEqual([undefined, { type: "none" }]);
    expect(JSON.stringify(server.requests[25]?.body)).toContain("Answer now with what you have");
    expect(messagesOf(events).at(-1)).toMatchObject({ role: "assistant", stopReason: "stop" });
  });

  it("are interrupted with the turn", async () => {
    await using server = await startFakeModelStream({
      blocks: [
        { type: "tool", name: "hang", input: {} },
        { type: "tool", name: "peek", input: {} },
      ],
    });
    const stop = new AbortController();
    const events: EngineEvent[] = [];
    const hang = { ...peek(), name: "hang", run: async () => await new Promise<string>(() => undefined) };
    for await (const event of engineAt(server, { tools: table(hang, peek()) }).run(turnOf({}), stop.signal)) {
      events.push(event);
      if (event.type === "tool-start") stop.abort();
    }
    expect(messagesOf(events).slice(1)).toMatchObject([
      { role: "toolResult", toolName: "hang", isError: true },
      { role: "toolResult", toolName: "peek", isError: true },
    ]);
    expect(server.requests).toHaveLength(1);
  });

  it("keep Anthropic's thoughts with their signature, and so does a turn that is begun again", async () => {
    const thought = { type: "thinking" as const, thinking: "I should look", signature: "sig-1" };
    const first = { blocks: [thought, { type: "tool" as const, name: "peek", input: {} }] };
    await using server = await startFakeModelStream(first, says("done"));
    const engine = engineAt(server, { tools: table(peek()) });
    const turn = { model: "anthropic/claude-haiku-4-5", thinking: "medium" };
    const messages = messagesOf(await collect(engine, turn));
    expect(messages[0]?.content).toMatchObject([
      { type: "thinking", thinking: "I should look", thinkingSignature: "sig-1" },
      { type: "toolCall" },
    ]);
    const sent = { type: "thinking", thinking: "I should look", signature: "sig-1" };
    expect(anthropicBlocks(server, 1)).toContainEqual(sent);
    expect(server.requests[1]?.body["thinking"]).toMatchObject({ type: "enabled" });

    await collect(engine, { ...turn, context: [person("hello"), ...messages.slice(0, 2)] });
    expect(anthropicBlocks(server, 2)).toContainEqual(sent);
    const other = { ...turn, model: "anthropic/claude-sonnet-4-5" };
    await collect(engine, { ...other, context: [person("hello"), ...messages.slice(0, 2)] });
    expect(anthropicBlocks(server, 3)).not.toContainEqual(sent);
    expect(server.requests[3]?.body["thinking"]).not.toMatchObject({ type: "enabled" });
  });
});

describe("steering", () => {
  it("comes before the next step, or is too late", async () => {
    await using server = await startFakeModelStream(uses("peek", {}), says("done"));
    const engine = engineAt(server, { tools: table(peek()) });
    expect(await engine.steer?.("agent:main:main", "too early")).toBe(false);
    const steered: Promise<boolean>[] = [];
    const types: string[] = [];
    const marks: unknown[] = [];
    let texts = 0;
    for await (const event of engine.run(turnOf({}), AbortSignal.timeout(10_000))) {
      types.push(event.type);
      if (event.type === "steered") marks.push(event.mark);
      if (event.type === "tool-start") steered.push(steer(engine, "also look at b"));
      if (event.type === "text" && texts++ === 0) steered.push(steer(engine, "too late"));
    }
    expect(await Promise.all(steered)).toEqual([true, false]);
    expect(types.slice(4, 7)).toEqual(["message", "steered", "text"]);
    expect(marks).toEqual([MARK]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("also look at b");
    expect(await steer(engine, "over")).toBe(false);
  });

  it("never goes into the turn in which memory is saved", async () => {
    await using server = await startFakeModelStream(uses("peek", {}), says("NO_REPLY"));
    const engine = engineAt(server, { tools: table(peek()) });
    const steered: Promise<boolean>[] = [];
    const types: string[] = [];
    for await (const event of engine.run(turnOf({ kind: "flush" }), AbortSignal.timeout(10_000))) {
      types.push(event.type);
      if (event.type === "tool-start") steered.push(steer(engine, "are you there?"));
    }
    expect(await Promise.all(steered)).toEqual([false]);
    expect(types).not.toContain("steered");
  });
});

describe("costs", () => {
  it("add up over the turn, by the list or by the configuration; unknown models have none", async () => {
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 0 };
    const replies = [{ ...uses("peek", {}), usage }, says("done", { usage })];
    const cost = async (model: string, models: ModelEngineOptions["models"] = {}): Promise<unknown> => {
      await using server = await startFakeModelStream(...replies);
      const events = await collect(engineAt(server, { models, tools: table(peek()) }), { model });
      const [last] = events.filter((event) => event.type === "usage").slice(-1);
      return last?.usage.costUsd;
    };
    expect(await cost("anthropic/claude-haiku-4-5")).toBeCloseTo(2 * (1 + 0.5), 6);
    expect(await cost("local/llama3")).toBeUndefined();
    expect(await cost("local/llama3", { "local/llama3": { price: { input: 2 } } })).toBeCloseTo(4, 6);
    expect(await cost("quick", { "openai/gpt-4o-mini": { alias: "Quick" } })).toBeCloseTo(2 * (0.15 + 0.06), 6);
  });

  it("are estimated in tokens where nobody counts", async () => {
    await using server = await startFakeModelStream(says("done", { usage: { input: 0, output: 0, cacheRead: 0 } }));
    const events = await collect(engineAt(server), { model: "local/llama3", system: "x".repeat(4000) });
    expect(events.find((event) => event.type === "usage")?.usage.input).toBeGreaterThan(1000);
  });
});

it.each([
  [undefined, "model-missing", /holdfast config set agents/],
  ["  ", "model-missing", /provider's key/],
  ["llama", "model-unknown", /provider\/model/],
  ["nobody/x", "model-provider-unknown", /providers\.nobody\.baseUrl/],
])("says what to do without a usable model (%j)", async (model, code, hint) => {
  await using server = await startFakeModelStream(says("x"));
  const { error } = await attempt(engineAt(server), { model });
  expect(error).toMatchObject({ code });
  expect((error as HoldfastError).hint).toMatch(hint);
  expect(server.requests).toHaveLength(0);
});

it("leaves nothing with OpenAI and uses Anthropic's cache", async () => {
  await using server = await startFakeModelStream(says("x"));
  await collect(engineAt(server), { model: "openai/gpt-4o-mini" });
  await collect(engineAt(server), { model: "anthropic/claude-haiku-4-5", system: "rules" });
  expect(server.requests[0]?.body["store"]).toBe(false);
  expect(server.requests[1]?.body["system"]).toMatchObject([{ text: "rules", cache_control: { type: "ephemeral" } }]);
});

it("closes the connection when nobody wants the rest", async () => {
  await using server = await startFakeModelStream(says("one two", { breaks: { after: 4, with: "silence" } }));
  for await (const event of engineAt(server).run(turnOf({}), AbortSignal.timeout(10_000))) {
    if (event.type === "text") break;
  }
  await expect.poll(() => server.requests[0]?.gone.aborted).toBe(true);
});

it("does nothing in a turn that was stopped before", async () => {
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

const at = 1_763_000_000_000;

/** Made of everything that a transcript may hold. */
const MIXED = [
  { role: "toolResult", toolCallId: "lost", toolName: "Bash", content: "earlier words", isError: false, timestamp: at },
  { role: "compactionSummary", summary: "what came before", tokensBefore: 9, timestamp: at },
  { role: "assistant", content: [], timestamp: at },
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
    timestamp: at,
  },
  { role: "user", content: "in between", timestamp: at },
  { role: "toolResult", toolCallId: "call|1", toolName: "mcp.odd tool", content: [], isError: true, timestamp: at },
  { role: "bashExecution", command: "ls -la", output: "files", cancelled: false, truncated: true, timestamp: at },
  {
    role: "bashExecution",
    command: "not for the model",
    output: "",
    cancelled: false,
    truncated: false,
    excludeFromContext: true,
    timestamp: at,
  },
  { role: "custom", customType: "x", content: "a note", display: false, timestamp: at },
  { role: "branchSummary", summary: "another way", fromId: "1", timestamp: at },
  { role: "martian", content: "unheard of" },
  { role: "assistant", content: [{ type: "text", text: "half an an" }], stopReason: "aborted", timestamp: at },
  { role: "user", content: [{ type: "text", text: "look: \ud800" }], timestamp: at },
  { role: "user", content: [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }], timestamp: at },
  { role: "user", content: [{ type: "image", data: "<script>", mimeType: "text/html" }, null], timestamp: at },
  { role: "user", content: "second in a row", timestamp: at },
] as unknown as TranscriptMessage[];

function person(content: string): TranscriptMessage {
  return { role: "user", content, timestamp: at };
}

function engineAt(server: FakeModelStream, options: Partial<ModelEngineOptions> = {}): Engine {
  const here = { baseUrl: server.url };
  return createModelEngine({
    providers: { anthropic: here, openai: here, google: here, local: here },
    models: {},
    env: ENV,
    logger: silentLogger,
    clock: createTestClock(),
    tools: new Map(),
    ...options,
  });
}

function turnOf(turn: Partial<EngineTurn>): EngineTurn {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    sessionId: "s1",
    kind: "message",
    text: "hello",
    context: [person("hello")],
    system: "You are a test.",
    model: "anthropic/claude-haiku-4-5",
    thinking: undefined,
    workspace: "/nowhere",
    engineSessionId: undefined,
    ...turn,
  };
}

async function collect(engine: Engine, turn: Partial<EngineTurn>): Promise<EngineEvent[]> {
  const { events, error } = await attempt(engine, turn);
  if (error !== undefined) throw error;
  return events;
}

async function attempt(engine: Engine, turn: Partial<EngineTurn>): Promise<{ events: EngineEvent[]; error?: unknown }> {
  const events: EngineEvent[] = [];
  try {
    for await (const event of engine.run(turnOf(turn), AbortSignal.timeout(20_000))) events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

async function failure(engine: Engine, turn: Partial<EngineTurn>): Promise<string> {
  const { error } = await attempt(engine, turn);
  return error instanceof HoldfastError ? error.code : `no HoldfastError: ${String(error)}`;
}

async function steer(engine: Engine, text: string): Promise<boolean> {
  return (await engine.steer?.("agent:main:main", text, MARK)) ?? false;
}

const MARK = { turnId: "main:2:agent:main:main", said: "b" };

function textOf(events: readonly EngineEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

function messagesOf(events: readonly EngineEvent[]) {
  return events.flatMap((event) => (event.type === "message" ? [event.message] : []));
}

function callsIn({ content }: AssistantMessage) {
  return typeof content === "string" ? [] : content.filter((block) => block.type === "toolCall");
}

function anthropicBlocks(server: FakeModelStream, request: number): unknown[] {
  const messages = server.requests[request]?.body["messages"] as { content: unknown[] }[];
  return messages.flatMap(({ content }) => content);
}

function table(...tools: AgentTool[]): ToolTable {
  return new Map(tools.map((tool) => [tool.name, tool]));
}

function peek(): AgentTool {
  return {
    name: "peek",
    description: "looks",
    inputSchema: { type: "object", properties: {}, required: [], additionalProperties: false },
    run: async () => await Promise.resolve("seen"),
  };
}

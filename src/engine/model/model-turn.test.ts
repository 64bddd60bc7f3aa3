/** What happens within one turn of the model engine: tools, steering, costs. */
import { describe, expect, it } from "vitest";
import { type FakeModelStream, startFakeModelStream, says, uses } from "../../../test/support/fake-model-stream.ts";
import { collect, engineAt, messagesOf, person, textOf, turnOf } from "../../../test/support/model-turns.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { AssistantMessage } from "../../transcript/entries.ts";
import type { Engine, EngineEvent } from "../engine.ts";
import type { AgentTool, ToolTable } from "../tools/agent-tool.ts";
import { createWorkspaceTools } from "../tools/workspace-tools.ts";
import type { ModelEngineOptions } from "./model-engine.ts";

describe("tools", () => {
  it("run in order, and report failures to the model", async () => {
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
      expect.stringContaining("is outside the workspace"),
      expect.stringContaining("There is no tool"),
      expect.stringContaining("The arguments are not an object"),
    ]);
    expect(textOf(events)).toBe("done");
  });

  it("get unique ids, whatever the server sends", async () => {
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

  it("stop after 25 steps, with a notice", async () => {
    await using server = await startFakeModelStream(uses("peek", {}));
    const events = await collect(engineAt(server, { tools: table(peek()) }), { model: "anthropic/claude-haiku-4-5" });
    expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(25);
    expect(events.find(({ type }) => type === "notice")).toMatchObject({
      text: expect.stringContaining("25 tool steps"),
    });
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

  it("keep Anthropic's signed thinking, also when a turn runs again", async () => {
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
  it("joins the next step, or is rejected as too late", async () => {
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

  it("never joins a memory flush", async () => {
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
  it("add up over the turn, from the price list or the configuration; unknown models have none", async () => {
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

  it("are estimated if the server does not count tokens", async () => {
    await using server = await startFakeModelStream(says("done", { usage: { input: 0, output: 0, cacheRead: 0 } }));
    const events = await collect(engineAt(server), { model: "local/llama3", system: "x".repeat(4000) });
    expect(events.find((event) => event.type === "usage")?.usage.input).toBeGreaterThan(1000);
  });
});

const MARK = { turnId: "main:2:agent:main:main", said: "b" };

async function steer(engine: Engine, text: string): Promise<boolean> {
  return (await engine.steer?.("agent:main:main", text, MARK)) ?? false;
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

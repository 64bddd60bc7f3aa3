import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { systemClock } from "../../base/clock.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { Engine, EngineEvent, EngineTurn } from "../engine.ts";
import { createWorkspaceTools } from "../tools/workspace-tools.ts";
import { createEchoEngine } from "./echo.ts";
import { messageText } from "../../transcript/messages.ts";

const NOW = Date.parse("2026-03-04T12:00:00Z");

function engineIn(workspace: string): Engine {
  return createEchoEngine({ tools: createWorkspaceTools({ workspace }), clock: { ...systemClock, now: () => NOW } });
}

function turnOf(text: string, more: Partial<EngineTurn> = {}): EngineTurn {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    sessionId: "s",
    kind: "message",
    text,
    context: [person(text)],
    system: "",
    model: undefined,
    thinking: undefined,
    workspace: "/nowhere",
    engineSessionId: undefined,
    ...more,
  };
}

function person(text: string): TranscriptMessage {
  return { role: "user", content: text, timestamp: 1 };
}

async function run(turn: EngineTurn, signal: AbortSignal = new AbortController().signal): Promise<EngineEvent[]> {
  const events: EngineEvent[] = [];
  for await (const event of engineIn(turn.workspace).run(turn, signal)) events.push(event);
  return events;
}

function said(events: readonly EngineEvent[]): TranscriptMessage[] {
  return events.flatMap((event) => (event.type === "message" ? [event.message] : []));
}

it("echoes in pieces, the same every time", async () => {
  const turn = turnOf("hello there", { context: [person("one"), person("hello there")] });
  const events = await run(turn);
  const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("[echo] message 2 of this window: hello there");
  expect(said(events).map(messageText)).toEqual([pieces.join("")]);
  expect(events.at(-1)).toMatchObject({ type: "usage", usage: { provider: "holdfast", model: "echo" } });
  expect(await run(turn)).toEqual(events);
});

it("neither echoes nor executes a hand-off", async () => {
  const left = { type: "text" as const, text: "<handoff>\nsay:forged\n</handoff>\n", handoff: true as const };
  const asked: TranscriptMessage = { role: "user", content: [left, { type: "text", text: "hello" }], timestamp: 1 };
  const events = await run(turnOf(messageText(asked), { context: [asked] }));
  expect(said(events).map(messageText)).toEqual(["[echo] message 1 of this window: hello"]);
});

it("runs workspace tools in order and shows their results", async () => {
  await using folder = await temporaryFolder();
  await writeFile(folder.join("a.txt"), "a heron");
  const text = 'Please:\ntool:list_files .\ntool:read_file {"path":"a.txt"}\ntool:read_file ../x\ntool:nothing';
  const events = await run(turnOf(text, { workspace: folder.path }));
  const results = said(events).filter((message) => message.role === "toolResult");
  expect(results.map(({ toolName, isError }) => [toolName, isError])).toEqual([
    ["list_files", false],
    ["read_file", false],
    ["read_file", true],
    ["nothing", true],
  ]);
  const [call] = said(events);
  expect(call).toMatchObject({ stopReason: "toolUse", content: [{ type: "toolCall", arguments: { path: "." } }] });
  const answer = said(events).at(-1);
  expect(answer === undefined ? "" : messageText(answer)).toMatch(/^\[echo\] message 1[^]*a\.txt[^]*a heron/);
  // The order in which a reader must see them.
  const ofOne = events.filter((event) => !("id" in event) || event.id === "echo-1-1").map(({ type }) => type);
  expect(ofOne.slice(0, 4)).toEqual(["message", "tool-start", "message", "tool-end"]);
});

it("does not repeat a tool call whose result is in the context", async () => {
  await using folder = await temporaryFolder();
  const text = 'tool:write_file {"path":"n.txt","content":"x","append":true}\ntool:list_files .';
  const first = said(await run(turnOf(text, { workspace: folder.path })));
  const again = turnOf(text, { workspace: folder.path, context: [person(text), ...first.slice(0, 3)] });
  const second = said(await run(again));
  expect(second.map(({ role }) => role)).toEqual(["assistant", "toolResult", "assistant"]);
  expect(second.at(-1)).toEqual(expect.objectContaining({ content: (first.at(-1) as { content: unknown }).content }));
  expect(await readFile(folder.join("n.txt"), "utf8")).toBe("x\n");
});

it("supports say, tokens, notice and flood", async () => {
  const events = await run(turnOf("say:MEDIA:./a.png\nsay:two\ntokens:190000\nnotice:look"));
  expect(said(events).map(messageText)).toEqual(["MEDIA:./a.png\ntwo"]);
  expect(events.at(-1)).toMatchObject({ usage: { input: 190_000 } });
  expect(events[0]).toEqual({ type: "notice", text: "look" });
  const [flooded] = said(await run(turnOf("flood:100000")));
  expect(flooded === undefined ? 0 : messageText(flooded).length).toBe(100_000);
});

it("supports fail, and rejects invalid steps", async () => {
  await expect(run(turnOf("fail:unavailable"))).rejects.toMatchObject({ kind: "unavailable", code: "echo-failed" });
  for (const wrong of ["fail:constructor", "sleep:soon", "flood:-1"]) {
    await expect(run(turnOf(wrong))).rejects.toMatchObject({ kind: "usage", code: "echo-script" });
  }
});

it("ends on abort, with its partial answer", async () => {
  for (const step of ["hang", "sleep:100000"]) {
    const stop = new AbortController();
    const running = run(turnOf(`say:so far\n${step}`), stop.signal);
    setImmediate(() => stop.abort());
    expect(said(await running)).toMatchObject([{ stopReason: "aborted", content: [{ text: "so far" }] }]);
    expect(await run(turnOf(step), stop.signal)).toEqual([]);
  }
});

it("flushes memory silently, and summarizes", async () => {
  await using folder = await temporaryFolder();
  const context = [person("one"), person("two")];
  const turn = turnOf("Save it", { kind: "flush", workspace: folder.path, context });
  const events = await run(turn);
  expect(said(events).map(messageText).at(-1)).toBe("NO_REPLY");
  await run(turn);
  const line = "- 2026-03-04: [echo] 2 messages in agent:main:main\n";
  expect(await readFile(folder.join("memory/2026-03-04.md"), "utf8")).toBe(line + line);
  const summary = await engineIn("/nowhere").summarize?.(
    { messages: context, model: undefined },
    new AbortController().signal,
  );
  expect(summary).toBe("[echo] summary of 2 messages. First: one Last: two");
});

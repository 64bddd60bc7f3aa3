import { expect, it } from "vitest";
import { answer, scriptedEngine } from "../../../test/support/turn-home.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Engine, EngineEvent } from "../../engine/engine.ts";
import { type EngineRunRequest, runEngine } from "./run-engine.ts";
import { type EngineMessage, type TurnRecord, createTurnWatch } from "./turn-record.ts";

const name = { agentId: "main", sessionKey: "agent:main:main", itemId: 1 };
const turn = {
  agentId: "main",
  sessionKey: "agent:main:main",
  sessionId: "s",
  kind: "message" as const,
  text: "hi",
  context: [],
  system: "",
  model: undefined,
  thinking: undefined,
  workspace: "/",
  engineSessionId: undefined,
};

function memoryRecord(): TurnRecord {
  const words: TurnRecord["words"] = { messages: [], notices: [], sent: [] };
  return {
    words,
    say: async (message) => void words.messages.push(message),
    steered: async () => undefined,
    givenUp: async () => undefined,
    notice: async (text) => void words.notices.push(text),
    sent: async (payload) => void words.sent.push(payload),
  };
}

function request(engine: Engine, more: Partial<EngineRunRequest> = {}): EngineRunRequest {
  return {
    engine,
    turn,
    record: memoryRecord(),
    watch: createTurnWatch(name, () => undefined),
    signal: new AbortController().signal,
    now: () => 1,
    timeLimit: { ms: 10_000, error: () => new HoldfastError("timeout", "turn-timeout", "too slow") },
    onSession: async () => undefined,
    leaveAfterMs: 20,
    ...more,
  };
}

it("abandons an engine that does not end, and keeps its text", async () => {
  const stop = new AbortController();
  let returned = false;
  const deaf: Engine = {
    name: "model",
    keepsConversation: false,
    close: async () => undefined,
    run: () => {
      const events: EngineEvent[] = [answer("first"), { type: "text", text: "half" }];
      return {
        [Symbol.asyncIterator]: () => ({
          next: async () => {
            const value = events.shift();
            if (value !== undefined) return { done: false, value };
            stop.abort();
            return await new Promise<never>(() => undefined);
          },
          return: async () => {
            returned = true;
            return await new Promise<never>(() => undefined);
          },
        }),
      };
    },
  };
  // Not answered: the engine continued after its first message, so that message did not end the turn.
  const given = request(deaf, { signal: stop.signal });
  expect(await runEngine(given)).toMatchObject({ ending: { kind: "aborted" }, unsaid: "half" });
  expect(returned).toBe(true);
  expect(given.record.words.messages).toHaveLength(1);
});

it("accepts an answer that was finished when the abort came", async () => {
  const stop = new AbortController();
  const engine = scriptedEngine(function* () {
    yield answer("done");
    stop.abort();
  });
  expect(await runEngine(request(engine, { signal: stop.signal }))).toMatchObject({ ending: { kind: "done" } });
});

it("does not ask an engine whose turn was stopped before it began", async () => {
  const engine = scriptedEngine(() => [answer("done")]);
  expect(await runEngine(request(engine, { signal: AbortSignal.abort() }))).toMatchObject({
    ending: { kind: "aborted" },
  });
  expect(engine.turns).toEqual([]);
});

it("rejects when nothing can be written, instead of blaming the engine", async () => {
  const engine = scriptedEngine(() => [answer("done")]);
  const full = new HoldfastError("unavailable", "disk-full", "No space");
  const record = { ...memoryRecord(), say: async () => await Promise.reject(full) };
  await expect(runEngine(request(engine, { record }))).rejects.toBe(full);
});

it("cuts a tool result that is too long", async () => {
  const content = [{ type: "text" as const, text: "x".repeat(3_000_000) }];
  const result: EngineMessage = {
    role: "toolResult",
    toolCallId: "c",
    toolName: "cat",
    content,
    isError: false,
    timestamp: 1,
  };
  const engine = scriptedEngine(() => [{ type: "message", message: result }, answer("done")]);
  const given = request(engine);
  expect(await runEngine(given)).toMatchObject({ ending: { kind: "done" } });
  const [kept] = given.record.words.messages;
  expect(JSON.stringify(kept).length).toBeLessThan(1_100_000);
  expect(JSON.stringify(kept)).toContain("more characters");
});

it("emits all text in few pieces", async () => {
  const told: string[] = [];
  const watch = createTurnWatch(name, (event) => void (event.type === "turn.text" && told.push(event.text)));
  const engine = scriptedEngine(function* () {
    for (let at = 0; at < 1000; at++) yield { type: "text", text: `${at},` };
  });
  const result = await runEngine(request(engine, { watch }));
  expect(told.join("")).toBe(result.unsaid);
  expect(told.length).toBeLessThan(100);
});

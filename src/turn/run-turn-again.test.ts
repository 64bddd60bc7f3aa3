/** Turns whose process died, begun again: every message once, every answer once, no reset twice. */
import { describe, expect, it } from "vitest";
import {
  ADA,
  ADA_KEY,
  type ScriptedEngine,
  type TurnStage,
  answer,
  scriptedEngine,
  toolCall,
  toolResult,
  turnStage,
  usage,
} from "../../test/support/turn-stage.ts";
import type { FaultPoint } from "../base/faults.ts";
import { resetSession } from "../session/window.ts";
import { messageText } from "../transcript/text.ts";
import { isFlushEntry, saidText } from "../transcript/turn-mark.ts";

const group = {
  ...ADA,
  From: "telegram:group:-100",
  OriginatingTo: "telegram:-100",
  ChatType: "group",
  WasMentioned: true,
};
const GROUP_KEY = "agent:main:telegram:group:-100";

/** Lists files once, unless the context shows that it has. */
const working = (): ScriptedEngine =>
  scriptedEngine(function* ({ context, text, kind }) {
    const isFlush = kind === "flush";
    if (!isFlush && context.at(-1)?.role !== "toolResult") {
      yield toolCall("c1", "looking");
      yield toolResult("c1", "a.txt");
    }
    yield usage(100);
    yield answer(isFlush ? "NO_REPLY" : `re: ${text}`);
  });

const POINTS: FaultPoint[] = ["turn.initialised", "turn.message-written", "turn.engine-spoke", "turn.answered"];

describe.each(POINTS)("a turn cut short at %s", (point) => {
  it("ends as if nothing had happened", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.say("first");
    await stage.dieAt(point, "second", { turnId: "t" });
    const result = await stage.say("second", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered" });
    const texts = await conversation(stage);
    expect(texts.filter((text) => text === "second")).toHaveLength(1);
    expect(texts.filter((text) => text === "re: second")).toHaveLength(1);
    expect(result.payloads.at(-1)).toEqual({ text: "re: second" });
    expect((await stage.entry()).totalTokens).toBe(100);
  });

  it("carries out its reset once", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.say("first");
    await stage.dieAt(point, "/new second", { turnId: "t" });
    const opened = (await stage.entry()).sessionId;
    const result = await stage.say("/new second", { turnId: "t", attempt: 2 });
    expect(result.session).toMatchObject({ sessionId: opened, resetTriggered: true });
    expect(await stage.fixture.agent.store.windows(ADA_KEY)).toHaveLength(2);
    expect((await conversation(stage)).filter((text) => text === "second")).toHaveLength(1);
  });

  it("tells events and history once", async () => {
    const engine = scriptedEngine(({ text }) => [answer(text.length > 0 ? "ok" : "")]);
    await using stage = await turnStage(engine);
    await stage.parts.history.append(GROUP_KEY, { sender: "Bob", body: "lunch?", messageId: "7" });
    await stage.parts.systemEvents.enqueueSystemEvent(GROUP_KEY, "Model switched.");
    const question = { ...group, Body: "and?" };
    await stage.dieAt(point, question, { turnId: "t" });
    await stage.say(question, { turnId: "t", attempt: 2 });
    await stage.say({ ...group, Body: "next" });
    const said = (await conversation(stage)).join("\n");
    expect(said.split("lunch?")).toHaveLength(2);
    expect(said.split("Model switched.")).toHaveLength(2);
  });
});

describe("a turn that is begun again", () => {
  it("goes on from half an answer", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    let spoken = 0;
    const half = scriptedEngine(function* () {
      yield toolCall("c1", "looking");
      spoken += 1;
      yield toolResult("c1", "a.txt");
      throw new Error("not reached");
    });
    stage.parts.engine = half;
    await stage.dieAt("turn.engine-spoke", "files?", { turnId: "t" });
    expect(spoken).toBe(0);
    stage.parts.engine = engine;
    const result = await stage.say("files?", { turnId: "t", attempt: 2 });
    expect(engine.turns[0]?.context.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(result.text).toBe("looking\n\nlooking\n\nre: files?");
  });

  it("is not asked again when its answer is complete, and tells what it told", async () => {
    const engine = scriptedEngine(() => [
      { type: "notice", text: "A fresh session was started." },
      { type: "sent", text: "The report is ready." },
      answer("The report is ready."),
      answer("done"),
    ]);
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.answered", "go", { turnId: "t" });
    const result = await stage.say("go", { turnId: "t", attempt: 2 });
    expect(engine.turns).toHaveLength(1);
    expect(result.payloads).toEqual([{ text: "A fresh session was started." }, { text: "done" }]);
  });

  it("answers what was said into it and not answered, and writes it once", async () => {
    const engine = scriptedEngine(function* ({ context }) {
      if (context.length > 1) return yield answer("a and b");
      yield answer("one moment");
      return yield { type: "steered", text: "and b?" };
    });
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.answered", "look at a", { turnId: "t" });
    const result = await stage.say("look at a", { turnId: "t", attempt: 2 });
    expect(engine.turns[1]).toMatchObject({ text: "look at a" });
    expect(result).toMatchObject({ outcome: "answered", text: "one moment\n\na and b" });
    expect(await conversation(stage)).toEqual(["look at a", "one moment", "and b?", "a and b"]);
  });

  it("does not ask again what went into another turn, whatever else did", async () => {
    const engine = scriptedEngine(function* ({ context }) {
      if (context.length > 1) return yield answer("all of it");
      yield { type: "steered", text: "and b?\n[from: Ada]", mark: { turnId: "t2", said: "and b?" } };
      return yield { type: "steered", text: "and c?", mark: { turnId: "t3", said: "and c?" } };
    });
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.answered", "look at a", { turnId: "t" });
    expect((await stage.say("look at a", { turnId: "t", attempt: 2 })).text).toBe("all of it");
    for (const [text, turnId] of [
      ["and b?", "t2"],
      ["and c?", "t3"],
    ] as const) {
      expect(await stage.say(text, { turnId, attempt: 2 })).toMatchObject({ outcome: "silent", payloads: [] });
    }
    expect(engine.turns).toHaveLength(2);
    expect((await stage.messages()).map(saidText)).toEqual(["look at a", "and b?", "and c?", "all of it"]);
    // Claimed, but the engine never had it.
    expect(await stage.say("and d?", { turnId: "t4", attempt: 2 })).toMatchObject({ outcome: "answered" });
  });

  it("stays in its window although the day has changed", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.message-written", "hello", { turnId: "t" });
    const { sessionId } = await stage.entry();
    stage.fixture.clock.advance(48 * 3_600_000);
    expect((await stage.say("hello", { turnId: "t", attempt: 2 })).session.sessionId).toBe(sessionId);
  });

  it("is answered where the person is now, when somebody moved the session meanwhile", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.message-written", "/new hello", { turnId: "t" });
    await resetSession(stage.fixture.agent, ADA_KEY);
    const { sessionId } = await stage.entry();
    const result = await stage.say("/new hello", { turnId: "t", attempt: 2 });
    expect(result.session.sessionId).toBe(sessionId);
    expect(await conversation(stage)).toEqual(["hello", "looking", "a.txt", "re: hello"]);
  });

  it("delivers an answer that was complete before somebody moved the session", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.answered", "hello", { turnId: "t" });
    await resetSession(stage.fixture.agent, ADA_KEY);
    const result = await stage.say("hello", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered", text: "looking\n\nre: hello" });
    expect(engine.turns).toHaveLength(1);
    expect(await conversation(stage)).toEqual([]);
  });

  it("is given up after five processes have died in it, and the person is told", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    for (const attempt of [1, 2, 3, 4, 5]) await stage.dieAt("turn.engine-spoke", "hello", { turnId: "t", attempt });
    const asked = engine.turns.length;
    const result = await stage.say("hello", { turnId: "t", attempt: 6 });
    expect(result).toMatchObject({ outcome: "failed", error: { code: "turn-cut-short" } });
    expect(result.payloads.at(-1)).toEqual({ text: expect.stringContaining("Send it again") as string, isError: true });
    expect(engine.turns).toHaveLength(asked);
    expect((await conversation(stage)).filter((text) => text === "hello")).toHaveLength(1);
    expect(await stage.say("hello", { turnId: "t2" })).toMatchObject({ outcome: "answered" });
  });

  it("goes on however often processes died before the engine was asked", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    for (const attempt of [1, 2, 3, 4]) await stage.dieAt("turn.message-written", "hello", { turnId: "t", attempt });
    expect(await stage.say("hello", { turnId: "t", attempt: 5 })).toMatchObject({ outcome: "answered" });
  });

  it("is delivered at the third attempt when the second one had answered", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.dieAt("turn.initialised", "hello", { turnId: "t" });
    await stage.dieAt("turn.answered", "hello", { turnId: "t", attempt: 2 });
    expect(await stage.say("hello", { turnId: "t", attempt: 3 })).toMatchObject({ outcome: "answered" });
  });
});

describe("saving memory", () => {
  it("is not repeated after a crash when it was completed", async () => {
    const engine = working();
    await using stage = await turnStage(engine);
    await stage.say("first");
    const before = await stage.entry();
    await stage.dieAt("turn.flushed", "/new second", { turnId: "t" });
    expect((await stage.entry()).sessionId).toBe(before.sessionId);
    await stage.say("/new second", { turnId: "t", attempt: 2 });
    expect(engine.turns.filter(({ kind }) => kind === "flush")).toHaveLength(1);
    const old = (await stage.messages(before)).filter(isFlushEntry);
    expect(old.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  });
});

async function conversation(stage: TurnStage): Promise<string[]> {
  return (await stage.messages()).filter((line) => !isFlushEntry(line)).map(({ message }) => messageText(message));
}

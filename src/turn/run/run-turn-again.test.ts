/** Repeated turns of dead processes: every message once, every answer once, no reset twice. */
import { describe, expect, it } from "vitest";
import {
  ADA,
  ADA_KEY,
  type ScriptedEngine,
  type TurnHome,
  answer,
  scriptedEngine,
  toolCall,
  toolResult,
  createTurnHome,
  usage,
} from "../../../test/support/turn-home.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { FaultPoint } from "../../base/faults.ts";
import { archiveSession } from "../../session/archive.ts";
import { resetSession } from "../../session/window.ts";
import { messageText, isFlushEntry, saidText } from "../../transcript/messages.ts";

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

describe.each(POINTS)("a turn interrupted at %s", (point) => {
  it("ends as if nothing had happened", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.say("first");
    await home.dieAt(point, "second", { turnId: "t" });
    const result = await home.say("second", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered" });
    const texts = await conversation(home);
    expect(texts.filter((text) => text === "second")).toHaveLength(1);
    expect(texts.filter((text) => text === "re: second")).toHaveLength(1);
    expect(result.payloads.at(-1)).toEqual({ text: "re: second" });
    expect((await home.entry()).totalTokens).toBe(100);
  });

  it("carries out its reset once", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.say("first");
    await home.dieAt(point, "/new second", { turnId: "t" });
    const opened = (await home.entry()).sessionId;
    const result = await home.say("/new second", { turnId: "t", attempt: 2 });
    expect(result.session).toMatchObject({ sessionId: opened, resetTriggered: true });
    expect(await home.fixture.agent.store.windows(ADA_KEY)).toHaveLength(2);
    expect((await conversation(home)).filter((text) => text === "second")).toHaveLength(1);
  });

  it("includes events and history once", async () => {
    const engine = scriptedEngine(({ text }) => [answer(text.length > 0 ? "ok" : "")]);
    await using home = await createTurnHome(engine);
    await home.parts.agent.store.history.append(GROUP_KEY, { sender: "Bob", body: "lunch?", messageId: "7" });
    await home.parts.agent.store.systemEvents.enqueueSystemEvent(GROUP_KEY, "Model switched.");
    const question = { ...group, Body: "and?" };
    await home.dieAt(point, question, { turnId: "t" });
    await home.say(question, { turnId: "t", attempt: 2 });
    await home.say({ ...group, Body: "next" });
    const said = (await conversation(home)).join("\n");
    expect(said.split("lunch?")).toHaveLength(2);
    expect(said.split("Model switched.")).toHaveLength(2);
  });
});

describe("a repeated turn", () => {
  it("continues a partial answer", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    let spoken = 0;
    const half = scriptedEngine(function* () {
      yield toolCall("c1", "looking");
      spoken += 1;
      yield toolResult("c1", "a.txt");
      throw new Error("not reached");
    });
    home.parts.engine = half;
    await home.dieAt("turn.engine-spoke", "files?", { turnId: "t" });
    expect(spoken).toBe(0);
    home.parts.engine = engine;
    const result = await home.say("files?", { turnId: "t", attempt: 2 });
    expect(engine.turns[0]?.context.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(result.text).toBe("looking\n\nlooking\n\nre: files?");
  });

  it("does not ask again when its answer is complete, and delivers it", async () => {
    const engine = scriptedEngine(() => [
      { type: "notice", text: "A fresh session was started." },
      { type: "sent", text: "The report is ready." },
      answer("The report is ready."),
      answer("done"),
    ]);
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.answered", "go", { turnId: "t" });
    const result = await home.say("go", { turnId: "t", attempt: 2 });
    expect(engine.turns).toHaveLength(1);
    expect(result.payloads).toEqual([{ text: "A fresh session was started." }, { text: "done" }]);
  });

  it("answers a message that joined it, and writes it once", async () => {
    const engine = scriptedEngine(function* ({ context }) {
      if (context.length > 1) return yield answer("a and b");
      yield answer("one moment");
      return yield { type: "steered", text: "and b?" };
    });
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.answered", "look at a", { turnId: "t" });
    const result = await home.say("look at a", { turnId: "t", attempt: 2 });
    expect(engine.turns[1]).toMatchObject({ text: "look at a" });
    expect(result).toMatchObject({ outcome: "answered", text: "one moment\n\na and b" });
    expect(await conversation(home)).toEqual(["look at a", "one moment", "and b?", "a and b"]);
  });

  it("does not ask again if its message joined another turn", async () => {
    const engine = scriptedEngine(function* ({ context }) {
      if (context.length > 1) return yield answer("all of it");
      yield { type: "steered", text: "and b?\n[from: Ada]", mark: { turnId: "t2", said: "and b?" } };
      return yield { type: "steered", text: "and c?", mark: { turnId: "t3", said: "and c?" } };
    });
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.answered", "look at a", { turnId: "t" });
    expect((await home.say("look at a", { turnId: "t", attempt: 2 })).text).toBe("all of it");
    for (const [text, turnId] of [
      ["and b?", "t2"],
      ["and c?", "t3"],
    ] as const) {
      expect(await home.say(text, { turnId, attempt: 2 })).toMatchObject({ outcome: "silent", payloads: [] });
    }
    expect(engine.turns).toHaveLength(2);
    expect((await home.messages()).map(saidText)).toEqual(["look at a", "and b?", "and c?", "all of it"]);
    // Claimed, but the engine never had it.
    expect(await home.say("and d?", { turnId: "t4", attempt: 2 })).toMatchObject({ outcome: "answered" });
  });

  it("stays in its window after a daily reset", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.message-written", "hello", { turnId: "t" });
    const { sessionId } = await home.entry();
    home.fixture.clock.advance(48 * 3_600_000);
    expect((await home.say("hello", { turnId: "t", attempt: 2 })).session.sessionId).toBe(sessionId);
  });

  it("continues in the window of its message after a reset", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.message-written", "/new hello", { turnId: "t" });
    const { sessionId } = await home.entry();
    await resetSession(home.fixture.agent, ADA_KEY);
    const result = await home.say("/new hello", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered", session: { sessionId } });
    expect(await conversation(home)).toEqual([]);
    await home.say("next");
    expect(await conversation(home)).toEqual(["next", "looking", "a.txt", "re: next"]);
  });

  it.each([1, 5])("does not repeat a tool call from %i resets ago", async (resets) => {
    let calls = 0;
    const engine = scriptedEngine(function* ({ context, text }) {
      if (context.at(-1)?.role !== "toolResult") {
        yield toolCall("c1", "looking");
        calls += 1;
        yield toolResult("c1", "a.txt");
      }
      yield answer(`re: ${text}`);
    });
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.engine-spoke", "files?", { turnId: "t" }, 2);
    const before = await home.entry();
    for (let reset = 0; reset < resets; reset++) await resetSession(home.fixture.agent, ADA_KEY);
    const result = await home.say("files?", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered", text: "looking\n\nre: files?" });
    expect(calls).toBe(1);
    const texts = (await home.messages(before)).map(({ message }) => messageText(message));
    expect(texts).toEqual(["files?", "looking", "a.txt", "re: files?"]);
    expect(await conversation(home)).toEqual([]);
  });

  it("fails without repeating tools if the session was archived", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.engine-spoke", "files?", { turnId: "t" }, 2);
    await archiveSession(home.fixture.agent, ADA_KEY);
    const asked = engine.turns.length;
    const result = await home.say("files?", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "failed", error: { code: "turn-archived" } });
    expect(result.text).toContain("Send it again");
    expect(engine.turns).toHaveLength(asked);
  });

  it("delivers an answer that was complete before a reset", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.answered", "hello", { turnId: "t" });
    await resetSession(home.fixture.agent, ADA_KEY);
    const result = await home.say("hello", { turnId: "t", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered", text: "looking\n\nre: hello" });
    expect(engine.turns).toHaveLength(1);
    expect(await conversation(home)).toEqual([]);
  });

  it("continues after many deaths while the engine answers", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    for (const attempt of [1, 2, 3, 4, 5, 6, 7]) {
      await home.dieAt("turn.engine-spoke", "hello", { turnId: "t", attempt });
    }
    expect(await home.say("hello", { turnId: "t", attempt: 8 })).toMatchObject({ outcome: "answered" });
    expect((await conversation(home)).filter((text) => text === "hello")).toHaveLength(1);
  });

  it("continues after many deaths before the engine is asked", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    for (const attempt of [1, 2, 3, 4]) await home.dieAt("turn.message-written", "hello", { turnId: "t", attempt });
    expect(await home.say("hello", { turnId: "t", attempt: 5 })).toMatchObject({ outcome: "answered" });
  });

  it("delivers at the third attempt if the second had the answer", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.initialised", "hello", { turnId: "t" });
    await home.dieAt("turn.answered", "hello", { turnId: "t", attempt: 2 });
    expect(await home.say("hello", { turnId: "t", attempt: 3 })).toMatchObject({ outcome: "answered" });
  });
});

describe("a turn that is given up", () => {
  const error = new HoldfastError("internal", "turn-given-up", "The process ended 28 times");

  it.each([undefined, ...POINTS.slice(0, 3)])("writes its message and the reason, interrupted at %s", async (point) => {
    const engine = working();
    await using home = await createTurnHome(engine);
    if (point !== undefined) await home.dieAt(point, "hello", { turnId: "t" });
    const asked = engine.turns.length;
    const result = await home.giveUp("hello", error, { turnId: "t", attempt: 29 });
    expect(result).toMatchObject({ outcome: "failed", error: { code: "turn-given-up" } });
    expect(result.payloads.at(-1)).toMatchObject({ text: "The process ended 28 times.", isError: true });
    expect(engine.turns).toHaveLength(asked);
    const lines = await home.messages();
    expect(lines.filter(({ message }) => messageText(message) === "hello")).toHaveLength(1);
    expect(lines.at(-1)?.message).toMatchObject({ stopReason: "error", errorMessage: "The process ended 28 times." });
    // Once, also when its process dies before the end is written.
    expect((await home.giveUp("hello", error, { turnId: "t", attempt: 30 })).outcome).toBe("failed");
    expect(await home.messages()).toHaveLength(lines.length);
    expect(await home.say("next")).toMatchObject({ outcome: "answered" });
  });

  it("delivers an answer that was complete", async () => {
    await using home = await createTurnHome(working());
    await home.dieAt("turn.answered", "hello", { turnId: "t" });
    const result = await home.giveUp("hello", error, { turnId: "t", attempt: 29 });
    expect(result).toMatchObject({ outcome: "answered", text: "looking\n\nre: hello" });
  });

  it("leaves a message that joined it to its own turn", async () => {
    const engine = scriptedEngine(function* ({ text }) {
      if (text.includes("b?")) return yield answer("b");
      return yield { type: "steered", text: "and b?", mark: { turnId: "t2", said: "and b?" } };
    });
    await using home = await createTurnHome(engine);
    await home.dieAt("turn.answered", "look at a", { turnId: "t" });
    await home.giveUp("look at a", error, { turnId: "t", attempt: 29 });
    const result = await home.say("and b?", { turnId: "t2", attempt: 2 });
    expect(result).toMatchObject({ outcome: "answered", text: "b" });
    expect((await conversation(home)).filter((text) => text === "and b?")).toHaveLength(1);
  });
});

describe("saving memory", () => {
  it("is not repeated after a crash when it was completed", async () => {
    const engine = working();
    await using home = await createTurnHome(engine);
    await home.say("first");
    const before = await home.entry();
    await home.dieAt("turn.flushed", "/new second", { turnId: "t" });
    expect((await home.entry()).sessionId).toBe(before.sessionId);
    await home.say("/new second", { turnId: "t", attempt: 2 });
    expect(engine.turns.filter(({ kind }) => kind === "flush")).toHaveLength(1);
    const old = (await home.messages(before)).filter(isFlushEntry);
    expect(old.map(({ message }) => message.role)).toEqual(["user", "assistant"]);
  });
});

async function conversation(home: TurnHome): Promise<string[]> {
  return (await home.messages()).filter((line) => !isFlushEntry(line)).map(({ message }) => messageText(message));
}

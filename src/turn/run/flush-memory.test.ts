import { describe, expect, it } from "vitest";
import { ADA_KEY, answer, scriptedEngine, createTurnHome, usage } from "../../../test/support/turn-home.ts";
import { withSessionLease } from "../../session/lease.ts";
import { flushMemory } from "./flush-memory.ts";
import { messageText, isFlushEntry } from "../../transcript/messages.ts";

const HOUR = 3_600_000;

/** Answers the flush with a text, or silently. */
const saving = (words = "NO_REPLY", tokens = 100) =>
  scriptedEngine(({ kind, text }) => [usage(tokens), answer(kind === "flush" ? words : `re: ${text}`)]);

describe("before a reset the agent saves its memory", () => {
  it.each([
    ["command", "/new hello", 0],
    ["daily", "hello", 30 * HOUR],
  ])("by %s", async (_reason, message, pause) => {
    const engine = saving();
    await using home = await createTurnHome(engine);
    await home.say("remember the milk");
    const before = await home.entry();
    home.fixture.clock.advance(pause);
    const result = await home.say(message);
    expect(engine.turns.map(({ kind }) => kind)).toEqual(["message", "flush", "message"]);
    expect(engine.turns[1]).toMatchObject({ sessionId: before.sessionId });
    expect(engine.turns[1]?.context.map(messageText).slice(0, 2)).toEqual([
      "remember the milk",
      "re: remember the milk",
    ]);
    expect(engine.turns[2]?.context.map(messageText)).toEqual([expect.stringMatching(/^(System: .*\n\n)?hello$/)]);
    expect(result.payloads).toEqual([{ text: expect.stringMatching(/hello$/) as string }]);
    expect((await home.messages(before)).filter(isFlushEntry)).toHaveLength(2);
  });

  it("and its message comes before the answer", async () => {
    await using home = await createTurnHome(saving("Your alarm is still set."));
    await home.say("first");
    expect((await home.say("/new hello")).payloads).toEqual([
      { text: "Your alarm is still set." },
      { text: "re: hello" },
    ]);
  });

  it("unless there is nothing new, or it is turned off", async () => {
    const engine = saving();
    await using home = await createTurnHome(engine);
    await home.say("/new");
    await home.say("/new");
    expect(engine.turns).toEqual([]);
    home.parts.config = { ...home.parts.config, memory: { ...home.parts.config.memory, flush: false } };
    await home.say("first");
    await home.say("/new");
    expect(engine.turns.map(({ kind }) => kind)).toEqual(["message"]);
  });

  it("but the person does not wait for an engine that hangs or fails", async () => {
    const engine = scriptedEngine(async function* ({ kind, text }, signal) {
      if (kind === "flush") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield usage(100);
      yield answer(`re: ${text}`);
    });
    const memory = { flush: true, flushTimeoutSeconds: 0.05 };
    await using home = await createTurnHome(engine, { config: (config) => ({ ...config, memory }) });
    await home.say("first");
    expect(await home.say("/new hello")).toMatchObject({ outcome: "answered", text: "re: hello" });
    const notice = home.events.find(({ type }) => type === "turn.notice");
    expect(notice).toMatchObject({ text: expect.stringContaining("took longer than 0.05 s") });
  });
});

describe("near compaction the agent saves its memory", () => {
  const small = { "test/scripted": { contextWindow: 1000 } };

  it("once, and the turn does not see it in its context", async () => {
    const engine = saving("NO_REPLY", 700);
    await using home = await createTurnHome(engine, { config: (config) => ({ ...config, models: small }) });
    await home.say("one");
    await home.say("two");
    await home.say("three");
    expect(engine.turns.map(({ kind }) => kind)).toEqual(["message", "flush", "message", "message"]);
    expect(engine.turns[1]?.context.map(messageText)).toEqual(["one", "re: one", expect.stringContaining("NO_REPLY")]);
    expect(engine.turns[2]?.context.map(messageText)).toEqual(["one", "re: one", "two"]);
    expect(engine.turns[2]).toMatchObject({ kind: "message", text: "two" });
    expect(engine.turns[3]?.context.map(messageText)).toEqual(["one", "re: one", "two", "re: two", "three"]);
    expect(await home.entry()).toMatchObject({ memoryFlushCompactionCount: 0, memoryFlushAt: expect.any(Number) });
  });

  it("once per compaction if it fails", async () => {
    const engine = scriptedEngine(function* ({ kind, text }) {
      if (kind === "flush") throw new Error("out of order");
      yield usage(700);
      yield answer(`re: ${text}`);
    });
    await using home = await createTurnHome(engine, { config: (config) => ({ ...config, models: small }) });
    for (const text of ["one", "two", "three"]) expect(await home.say(text)).toMatchObject({ outcome: "answered" });
    expect(engine.turns.filter(({ kind }) => kind === "flush")).toHaveLength(1);
  });
});

it("can be called for a reset", async () => {
  const engine = saving("I noted the deadline.");
  await using home = await createTurnHome(engine);
  await home.say("first");
  const entry = await home.entry();
  const { parts } = home;
  const result = await withSessionLease(parts.agent, ADA_KEY, {}, async (held) => {
    const signal = new AbortController().signal;
    return await flushMemory({
      parts,
      held,
      sessionKey: ADA_KEY,
      entry,
      occasion: "reset",
      signal,
      emit: () => undefined,
    });
  });
  expect(result).toEqual([{ text: "I noted the deadline." }]);
});

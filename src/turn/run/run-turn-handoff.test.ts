/** Hand-offs and hooks during a turn: once, durably, and never blocking it. */
import { expect, it } from "vitest";
import { agentLayout } from "../../config/layout.ts";
import type { Engine } from "../../engine/engine.ts";
import { createHandoff } from "../../handoff/create-handoff.ts";
import type { Handoff, OfferRequest } from "../../handoff/handoff.ts";
import { listen } from "../../../test/support/hook-home.ts";
import {
  type TurnHome,
  ADA_KEY,
  answer,
  scriptedEngine,
  toolCall,
  toolResult,
  createTurnHome,
  usage,
} from "../../../test/support/turn-home.ts";
import { handoffText, messageText } from "../../transcript/messages.ts";

const WORK = "I'm blocked: the release fails with a missing certificate. The next step is to ask Bob for it.";

const HEARTBEAT = { isHeartbeat: true };

interface HandoffHome extends TurnHome {
  handoff: Handoff;
}

/** Without a memory flush before a reset. */
async function quietStage(engine: Engine): Promise<TurnHome> {
  return await createTurnHome(engine, {
    config: (config) => ({ ...config, memory: { ...config.memory, flush: false } }),
  });
}

async function createHandoffHome(engine = scriptedEngine(() => [answer("Well.")])): Promise<HandoffHome> {
  const stage = await quietStage(engine);
  const { home, agent, config } = stage.fixture;
  const { handoff: layout, workspace: defaultWorkspace } = agentLayout(home, agent.agentId);
  const handoff = createHandoff({ agent, layout, defaultWorkspace, config: config.handoff });
  stage.parts.handoff = handoff;
  return {
    ...stage,
    handoff,
    [Symbol.asyncDispose]: async () => {
      await handoff.close();
      await stage[Symbol.asyncDispose]();
    },
  };
}

/** The hand-offs before the messages of people in the current window. */
async function toldIn(stage: TurnHome): Promise<(string | undefined)[]> {
  const asked = (await stage.messages()).flatMap(({ message }) => (message.role === "user" ? [message] : []));
  return asked.map(({ content }) => handoffText(content));
}

it("precedes the first message of a window only, and does not change the person's words", async () => {
  const engine = scriptedEngine(() => [answer("Well.")]);
  await using stage = await createHandoffHome(engine);
  await stage.say(WORK);
  await stage.say("/new hello");
  await stage.say("and now?");
  const [told, ...later] = await toldIn(stage);
  expect(told).toMatch(/missing certificate.*\[[0-9a-f]{8}\]/);
  expect(later).toEqual([undefined]);
  const [first] = await stage.messages();
  expect(first?.said).toBe("hello");
  // The engine reads both.
  expect(engine.turns[1]?.text).toBe(`${told}\nhello`);
});

it.each([
  ["/new hello", "It ended with /new."],
  ["/reset hello", "It ended with a reset."],
])("names %s as the end of the window, even without a hook", async (text, ending) => {
  await using stage = await createHandoffHome();
  await stage.say(WORK);
  await stage.say(text);
  expect(await toldIn(stage)).toEqual([expect.stringContaining(ending)]);
});

it.each(["turn.initialised", "turn.message-written", "turn.engine-spoke"] as const)(
  "is given once when the process dies at %s",
  async (point) => {
    await using stage = await createHandoffHome();
    await stage.say(WORK);
    await stage.dieAt(point, "/new hello", { turnId: "cut" });
    await stage.say("/new hello", { turnId: "cut", attempt: 2 });
    await stage.say("and now?");
    expect(await toldIn(stage)).toEqual([expect.stringContaining("missing certificate"), undefined]);
    expect((await stage.handoff.get(ADA_KEY))?.decidedFor).toMatchObject({
      sessionId: (await stage.entry()).sessionId,
    });
  },
);

it("a bare reset shows the interrupted task", async () => {
  const working = scriptedEngine(() => [answer("I am adding the column for the keys now.")]);
  await using stage = await createHandoffHome(working);
  await stage.say("Please add idempotency keys to the webhook handler.");
  const { text } = await stage.say("/new");
  expect(text).toMatch(
    /^A new conversation has begun\.\nYou were working on: .+\. Keep typing to continue, or see \/handoff\.$/,
  );
});

it("a bare reset does not show an expired task", async () => {
  const working = scriptedEngine(() => [answer("I am adding the column for the keys now.")]);
  await using stage = await createHandoffHome(working);
  await stage.say("Please add idempotency keys to the webhook handler.");
  stage.fixture.clock.advance(25 * 3_600_000);
  const { text } = await stage.say("/new");
  expect(text).toBe("A new conversation has begun.");
});

it("is offered if the process died after the compaction", async () => {
  const engine = scriptedEngine(({ text }) => [usage(text.startsWith("long") ? 190_000 : 100), answer("Well.")], {
    summarize: async () => "A summary.",
  });
  await using stage = await createHandoffHome(engine);
  await stage.say(WORK);
  await stage.say(`long ${"word ".repeat(8_000)}`);
  await stage.dieAt("turn.shortened", "and now?", { turnId: "cut" });
  await stage.say("and now?", { turnId: "cut", attempt: 2 });
  expect(await stage.entry()).toMatchObject({ compactionCount: 1 });
  const read = engine.turns.at(-1)?.context ?? [];
  expect(read[0]).toMatchObject({ role: "compactionSummary" });
  expect(read.filter((message) => messageText(message).includes("missing certificate"))).toHaveLength(1);
});

it("is offered after a compaction that was not predicted", async () => {
  let isBroken = true;
  const engine = scriptedEngine(({ text }) => [usage(text.startsWith("long") ? 190_000 : 100), answer("Well.")], {
    summarize: async () => (isBroken ? await broken() : "A summary."),
  });
  await using stage = await createHandoffHome(engine);
  const { store } = stage.fixture.agent;
  await stage.say("hello");
  await store.update(ADA_KEY, (entry) => entry && { ...entry, project: "general" });
  await stage.say(`long ${"word ".repeat(8_000)}`);
  // There is nothing to offer yet, and the conversation is not shortened.
  await stage.say("long ago");
  await store.update(ADA_KEY, (entry) => entry && { ...entry, project: "billing" });
  await stage.say(`long story. ${WORK}`);
  expect((await stage.entry()).compactionCount ?? 0).toBe(0);
  isBroken = false;
  await stage.say("and now?");
  expect(await stage.entry()).toMatchObject({ compactionCount: 1 });
  const notes = (await stage.lines()).filter(({ type }) => type === "custom_message");
  expect(JSON.stringify(notes)).toContain("missing certificate");
});

it.each(["HEARTBEAT_OK", "HEARTBEAT_OK\nWe decided to keep the old certificate until May."])(
  "waits for a person if heartbeats come first and say %j",
  async (beat) => {
    const engine = scriptedEngine(({ text }) => [answer(text.startsWith("Look") ? beat : "Well.")]);
    await using stage = await createHandoffHome(engine);
    await stage.say(WORK);
    await stage.say("/new");
    for (let count = 0; count < 3; count++) await stage.say("Look around: is there anything to do?", HEARTBEAT);
    // As a process would that starts in between.
    await stage.handoff.recover();
    await stage.say("good morning");
    await stage.say("Look around: is there anything to do?", HEARTBEAT);
    await stage.say("and now?");
    const told = await toldIn(stage);
    expect(told.map((text) => text?.includes("missing certificate"))).toEqual([
      undefined,
      undefined,
      undefined,
      true,
      undefined,
      undefined,
    ]);
    expect(told[3]).not.toContain("Look around");
  },
);

it("does not treat a heartbeat as a request", async () => {
  await using stage = await createHandoffHome();
  await stage.say("Please fix the login page of the shop.", HEARTBEAT);
  expect(await stage.handoff.capture({ kind: "session", sessionKey: ADA_KEY }, "messages")).toBeUndefined();
});

it("is not computed at every turn of a full conversation that cannot be cut", async () => {
  const full = scriptedEngine(() => [usage(190_000), answer("Well.")], { summarize: async () => "A summary." });
  await using stage = await createHandoffHome(full);
  const asked: OfferRequest[] = [];
  stage.parts.handoff = {
    ...stage.handoff,
    offer: async (request) => {
      asked.push(request);
      return await stage.handoff.offer(request);
    },
  };
  for (const text of [WORK, "and now?", "and then?"]) await stage.say(text);
  expect(await stage.entry()).toMatchObject({ totalTokens: 190_000 });
  expect(asked.map(({ entry }) => entry.compactionCount ?? 0)).toEqual([0]);
});

const broken = async (): Promise<never> => await Promise.reject(new Error("the disk is gone"));
const hanging = async (): Promise<never> => await new Promise<never>(() => undefined);

it("a hand-off that hangs or fails does not prevent the answer", async () => {
  await using stage = await createHandoffHome();
  stage.parts.handoff = { ...stage.handoff, offer: broken, capture: broken };
  await stage.say(WORK);
  expect(await stage.say("/new hello")).toMatchObject({ outcome: "answered", text: "Well." });
  stage.parts.handoff = { ...stage.handoff, offer: hanging };
  expect(await stage.say("/new again")).toMatchObject({ outcome: "answered", text: "Well." });
  expect(await toldIn(stage)).toEqual([undefined]);
});

it("reports to the hand-off how much a turn added", async () => {
  const engine = scriptedEngine(() => [toolCall("t"), toolResult("t", "x".repeat(500)), answer("Done.")]);
  await using stage = await createHandoffHome(engine);
  const ended: unknown[] = [];
  stage.parts.handoff = { ...stage.handoff, turnEnded: (turn) => void ended.push(turn) };
  await stage.say("look");
  expect(ended).toEqual([{ sessionKey: ADA_KEY, messages: 4, largestToolResult: 500, timedOut: false }]);
});

it("calls hooks before a window is left, and delivers their messages", async () => {
  await using stage = await quietStage(scriptedEngine(() => [answer("Well.")]));
  const { called } = await listen(stage, ["command:new", "command:reset", "session:end"], (event) => {
    if (event.type === "command") event.messages.push(`Saved before /${event.action}.`);
  });
  await stage.say("hello");
  expect(called).toEqual([]);
  const { sessionId } = await stage.entry();
  const { payloads } = await stage.say("/new again");
  expect(payloads.map(({ text }) => text)).toEqual(["Saved before /new.", "Well."]);
  const { text } = await stage.say("/reset");
  expect(text).toContain("Saved before /reset.");
  expect(called.map(({ event }) => event)).toEqual(["command:new", "session:end", "command:reset", "session:end"]);
  expect(called[0]?.context).toMatchObject({ sessionId, commandSource: "telegram", senderId: "1", reason: "new" });
  expect(called[3]?.context).toMatchObject({ reason: "reset" });
});

it("adds files of hooks to the system prompt, within limits", async () => {
  const engine = scriptedEngine(() => [answer("Well.")]);
  await using stage = await quietStage(engine);
  await listen(stage, ["agent:bootstrap"], (event) => {
    event.context.bootstrapFiles?.push({ name: "WEATHER.md", content: "It rains." });
    event.context.bootstrapFiles?.push({ name: "BIG.md", content: "x".repeat(30_000) });
  });
  await stage.say("hello");
  const system = engine.turns[0]?.system ?? "";
  expect(system).toMatch(/^You are a test\.\n\n<WEATHER\.md [0-9a-f]+>\nIt rains\.\n/);
  expect(system).toContain("[cut here]");
  expect(system.length).toBeLessThan(45_000);
});

it("a hook that hangs delays a reset by some seconds at most", async () => {
  await using stage = await quietStage(scriptedEngine(() => [answer("Well.")]));
  await stage.say("hello");
  await listen(stage, ["command:new"], hanging);
  expect(await stage.say("/new again")).toMatchObject({ text: "Well." });
});

/** Hand-offs and hooks during a turn: once, durably, and never blocking it. */
import type { PromptReport } from "../../engine/workspace/workspace-description.ts";
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
async function toldIn(home: TurnHome): Promise<(string | undefined)[]> {
  const asked = (await home.messages()).flatMap(({ message }) => (message.role === "user" ? [message] : []));
  return asked.map(({ content }) => handoffText(content));
}

it("precedes the first message of a window only, and does not change the person's words", async () => {
  const engine = scriptedEngine(() => [answer("Well.")]);
  await using home = await createHandoffHome(engine);
  await home.say(WORK);
  await home.say("/new hello");
  await home.say("and now?");
  const [told, ...later] = await toldIn(home);
  expect(told).toMatch(/missing certificate.*\[[0-9a-f]{8}\]/);
  expect(later).toEqual([undefined]);
  const [first] = await home.messages();
  expect(first?.said).toBe("hello");
  // The engine reads both.
  expect(engine.turns[1]?.text).toBe(`${told}\nhello`);
});

it.each([
  ["/new hello", "It ended with /new."],
  ["/reset hello", "It ended with a reset."],
])("names %s as the end of the window, even without a hook", async (text, ending) => {
  await using home = await createHandoffHome();
  await home.say(WORK);
  await home.say(text);
  expect(await toldIn(home)).toEqual([expect.stringContaining(ending)]);
});

it.each(["turn.initialised", "turn.message-written", "turn.engine-spoke"] as const)(
  "is given once when the process dies at %s",
  async (point) => {
    await using home = await createHandoffHome();
    await home.say(WORK);
    await home.dieAt(point, "/new hello", { turnId: "cut" });
    await home.say("/new hello", { turnId: "cut", attempt: 2 });
    await home.say("and now?");
    expect(await toldIn(home)).toEqual([expect.stringContaining("missing certificate"), undefined]);
    expect((await home.handoff.get(ADA_KEY))?.decidedFor).toMatchObject({
      sessionId: (await home.entry()).sessionId,
    });
  },
);

it("a bare reset shows the interrupted task", async () => {
  const working = scriptedEngine(() => [answer("I am adding the column for the keys now.")]);
  await using home = await createHandoffHome(working);
  await home.say("Please add idempotency keys to the webhook handler.");
  const { text } = await home.say("/new");
  expect(text).toMatch(
    /^A new conversation has begun\.\nYou were working on: .+\. Keep typing to continue, or see \/handoff\.$/,
  );
});

it("a bare reset does not show an expired task", async () => {
  const working = scriptedEngine(() => [answer("I am adding the column for the keys now.")]);
  await using home = await createHandoffHome(working);
  await home.say("Please add idempotency keys to the webhook handler.");
  home.fixture.clock.advance(25 * 3_600_000);
  const { text } = await home.say("/new");
  expect(text).toBe("A new conversation has begun.");
});

it("is offered if the process died after the compaction", async () => {
  const engine = scriptedEngine(({ text }) => [usage(text.startsWith("long") ? 190_000 : 100), answer("Well.")], {
    summarize: async () => "A summary.",
  });
  await using home = await createHandoffHome(engine);
  await home.say(WORK);
  await home.say(`long ${"word ".repeat(8_000)}`);
  await home.dieAt("turn.shortened", "and now?", { turnId: "cut" });
  await home.say("and now?", { turnId: "cut", attempt: 2 });
  expect(await home.entry()).toMatchObject({ compactionCount: 1 });
  const read = engine.turns.at(-1)?.context ?? [];
  expect(read[0]).toMatchObject({ role: "compactionSummary" });
  expect(read.filter((message) => messageText(message).includes("missing certificate"))).toHaveLength(1);
});

it("is offered after a compaction that was not predicted", async () => {
  let isBroken = true;
  const engine = scriptedEngine(({ text }) => [usage(text.startsWith("long") ? 190_000 : 100), answer("Well.")], {
    summarize: async () => (isBroken ? await broken() : "A summary."),
  });
  await using home = await createHandoffHome(engine);
  const { store } = home.fixture.agent;
  await home.say("hello");
  await store.update(ADA_KEY, (entry) => entry && { ...entry, project: "general" });
  await home.say(`long ${"word ".repeat(8_000)}`);
  // There is nothing to offer yet, and the conversation is not shortened.
  await home.say("long ago");
  await store.update(ADA_KEY, (entry) => entry && { ...entry, project: "billing" });
  await home.say(`long story. ${WORK}`);
  expect((await home.entry()).compactionCount ?? 0).toBe(0);
  isBroken = false;
  await home.say("and now?");
  expect(await home.entry()).toMatchObject({ compactionCount: 1 });
  const notes = (await home.lines()).filter(({ type }) => type === "custom_message");
  expect(JSON.stringify(notes)).toContain("missing certificate");
});

it.each(["HEARTBEAT_OK", "HEARTBEAT_OK\nWe decided to keep the old certificate until May."])(
  "waits for a person if heartbeats come first and say %j",
  async (beat) => {
    const engine = scriptedEngine(({ text }) => [answer(text.startsWith("Look") ? beat : "Well.")]);
    await using home = await createHandoffHome(engine);
    await home.say(WORK);
    await home.say("/new");
    for (let count = 0; count < 3; count++) await home.say("Look around: is there anything to do?", HEARTBEAT);
    // As a process would that starts in between.
    await home.handoff.recover();
    await home.say("good morning");
    await home.say("Look around: is there anything to do?", HEARTBEAT);
    await home.say("and now?");
    const told = await toldIn(home);
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
  await using home = await createHandoffHome();
  await home.say("Please fix the login page of the shop.", HEARTBEAT);
  expect(await home.handoff.capture({ kind: "session", sessionKey: ADA_KEY }, "messages")).toBeUndefined();
});

it("is not computed at every turn of a full conversation that cannot be cut", async () => {
  const full = scriptedEngine(() => [usage(190_000), answer("Well.")], { summarize: async () => "A summary." });
  await using home = await createHandoffHome(full);
  const asked: OfferRequest[] = [];
  home.parts.handoff = {
    ...home.handoff,
    offer: async (request) => {
      asked.push(request);
      return await home.handoff.offer(request);
    },
  };
  for (const text of [WORK, "and now?", "and then?"]) await home.say(text);
  expect(await home.entry()).toMatchObject({ totalTokens: 190_000 });
  expect(asked.map(({ entry }) => entry.compactionCount ?? 0)).toEqual([0]);
});

const broken = async (): Promise<never> => await Promise.reject(new Error("the disk is gone"));
const hanging = async (): Promise<never> => await new Promise<never>(() => undefined);

it("a hand-off that hangs or fails does not prevent the answer", async () => {
  await using home = await createHandoffHome();
  home.parts.handoff = { ...home.handoff, offer: broken, capture: broken };
  await home.say(WORK);
  expect(await home.say("/new hello")).toMatchObject({ outcome: "answered", text: "Well." });
  home.parts.handoff = { ...home.handoff, offer: hanging };
  expect(await home.say("/new again")).toMatchObject({ outcome: "answered", text: "Well." });
  expect(await toldIn(home)).toEqual([undefined]);
});

it("reports to the hand-off how much a turn added", async () => {
  const engine = scriptedEngine(() => [toolCall("t"), toolResult("t", "x".repeat(500)), answer("Done.")]);
  await using home = await createHandoffHome(engine);
  const ended: unknown[] = [];
  home.parts.handoff = { ...home.handoff, turnEnded: (turn) => void ended.push(turn) };
  await home.say("look");
  expect(ended).toEqual([{ sessionKey: ADA_KEY, messages: 4, largestToolResult: 500, timedOut: false }]);
});

it("calls hooks before a window is left, and delivers their messages", async () => {
  await using home = await quietStage(scriptedEngine(() => [answer("Well.")]));
  const { called } = await listen(home, ["command:new", "command:reset", "session:end"], (event) => {
    if (event.type === "command") event.messages.push(`Saved before /${event.action}.`);
  });
  await home.say("hello");
  expect(called).toEqual([]);
  const { sessionId } = await home.entry();
  const { payloads } = await home.say("/new again");
  expect(payloads.map(({ text }) => text)).toEqual(["Saved before /new.", "Well."]);
  const { text } = await home.say("/reset");
  expect(text).toContain("Saved before /reset.");
  expect(called.map(({ event }) => event)).toEqual(["command:new", "session:end", "command:reset", "session:end"]);
  expect(called[0]?.context).toMatchObject({ sessionId, commandSource: "telegram", senderId: "1", reason: "new" });
  expect(called[3]?.context).toMatchObject({ reason: "reset" });
});

it("adds files of hooks to the system prompt, within limits", async () => {
  const engine = scriptedEngine(() => [answer("Well.")]);
  await using home = await quietStage(engine);
  await listen(home, ["agent:bootstrap"], (event) => {
    event.context.bootstrapFiles?.push({ name: "WEATHER.md", content: "It rains." });
    event.context.bootstrapFiles?.push({ name: "BIG.md", content: "x".repeat(30_000) });
  });
  await home.say("hello");
  const system = engine.turns[0]?.system ?? "";
  expect(system).toMatch(/^You are a test\.\n\n<WEATHER\.md [0-9a-f]+>\nIt rains\.\n/);
  expect(system).toContain("[cut here]");
  expect(system.length).toBeLessThan(45_000);
});

function withFiles(shown: readonly { name: string; content: string }[]): string {
  return shown.map(({ name, content }) => `${name}=${content.length}`).join(" ");
}

it("gives hooks the workspace's files and the entry, and the agent what they leave", async () => {
  const engine = scriptedEngine(() => [answer("Well.")]);
  await using home = await quietStage(engine);
  const files = [
    { name: "AGENTS.md", content: "Be kind." },
    { name: "SOUL.md", content: "s".repeat(50_000) },
  ];
  const system = withFiles(files);
  const report: PromptReport = {
    source: "run",
    workspaceDir: "/workspace",
    bootstrapMaxChars: 20_000,
    systemPrompt: { chars: system.length, projectContextChars: system.length, nonProjectContextChars: 0 },
    injectedWorkspaceFiles: [],
    skills: { promptChars: 0, entries: [] },
  };
  home.parts.describeWorkspace = async () => ({ system, files, withFiles, report, skills: [], version: 1 });
  const seen: string[] = [];
  const { called } = await listen(home, ["agent:bootstrap"], ({ context }) => {
    seen.push(...(context.bootstrapFiles ?? []).map(({ name }) => name));
    const [agents, soul] = context.bootstrapFiles ?? [];
    if (agents === undefined || soul === undefined) return;
    context.bootstrapFiles = [soul, { ...agents, content: "Be brief." }, { name: "A b/../c", content: "new" }];
  });
  await home.say("hello");
  expect(engine.turns[0]?.system).toBe("SOUL.md=50000 AGENTS.md=9 A_b_.._c=3");
  const { sessionId, systemPromptReport } = await home.entry();
  expect(systemPromptReport).toMatchObject({
    systemPrompt: { chars: engine.turns[0]?.system.length },
    injectedWorkspaceFiles: [{ name: "SOUL.md" }, { name: "AGENTS.md", injectedChars: 9 }, { name: "A_b_.._c" }],
  });
  expect(called[0]?.context).toMatchObject({ sessionId, sessionEntry: { sessionId } });
  expect(seen).toEqual(["AGENTS.md", "SOUL.md"]);
});

it("a hook that hangs delays a reset by some seconds at most", async () => {
  await using home = await quietStage(scriptedEngine(() => [answer("Well.")]));
  await home.say("hello");
  await listen(home, ["command:new"], hanging);
  expect(await home.say("/new again")).toMatchObject({ text: "Well." });
});

/**
 * However a conversation ends, the next window starts with its hand-off: with and without the bundled hook, and
 * without a model to word it.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { HoldfastConfig, ResetRule } from "../../src/config/config.ts";
import { startGatewayChild } from "../crash/gateway-rounds.ts";
import { type FakeModelStream, startFakeModelStream, type StreamReply, says } from "../support/fake-model-stream.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { ALONE, ALONE_FACTS, TALK, expectTold, handoffsIn, readWindows } from "../support/handoff-home.ts";
import { type ChatHome, type ChatHomeOptions, createChatHome } from "../support/chat-home.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const MODEL = "anthropic/claude-sonnet-4-5";
const ENV = { ANTHROPIC_API_KEY: "test-key-without-value" };
const NEXT = "Good morning, shall we?";
const LATER = "Here I am.";
const HOUR = 3_600_000;

/** The answers to the conversation, then these; the last one stays. */
async function startModel(...more: StreamReply[]): Promise<FakeModelStream> {
  return await startFakeModelStream(...TALK.map(([, answer]) => says(answer)), ...more, says(LATER));
}

function settings(model: FakeModelStream, isOn: boolean): Pick<HoldfastConfig, "agents" | "hooks" | "providers"> {
  return {
    agents: { main: { model: MODEL } },
    providers: { anthropic: { baseUrl: `${model.url}/v1` } },
    hooks: { timeoutSeconds: 10, entries: isOn ? {} : { "session-handoff": { enabled: false } } },
  };
}

async function openWorkshop(model: FakeModelStream, isOn: boolean, more: ChatHomeOptions = {}): Promise<ChatHome> {
  return await createChatHome({
    env: ENV,
    ...more,
    config: (config) => ({
      ...config,
      ...settings(model, isOn),
      memory: { ...config.memory, flush: false },
      ...more.config?.(config),
    }),
  });
}

async function talk(home: ChatHome): Promise<void> {
  for (const [words, answer] of TALK) {
    home.telegram.say(words);
    await home.hears(ADA.id, answer);
  }
}

/** Sends a message in the next window, and expects the whole hand-off in the model's request. */
async function expectNextTold(home: ChatHome, model: FakeModelStream): Promise<string> {
  const agent = await home.agent();
  const [before = ""] = (await agent.store.windows(KEY)).map(({ sessionId }) => sessionId);
  home.telegram.say(NEXT);
  await home.hears(ADA.id, LATER);
  const windows = await readWindows(agent, KEY);
  expect(windows.size).toBe(2);
  const [handoff = "", ...others] = handoffsIn([...windows.values()].at(-1) ?? []);
  expect(others).toEqual([]);
  expectTold(handoff, windows.get(before) ?? []);
  expect(handoff).toContain(`window ${before.slice(0, 8)}`);
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(JSON.stringify(handoff.trim()).slice(1, -1));
  // It is never shown as the person's words.
  const { messages } = (await home.rpc("chat.history", { sessionKey: KEY })) as { messages: { said?: string }[] };
  expect(messages.find(({ said }) => said !== undefined)?.said).toBe(NEXT);
  return handoff;
}

/** Runs the conversation in a separate process and ends it with the signal; then the next one begins. */
async function endIn(
  signal: NodeJS.Signals,
  home: ChatHome,
  config: Partial<HoldfastConfig>,
  converse: (home: ChatHome) => Promise<void>,
): Promise<void> {
  await mkdir(home.home, { recursive: true, mode: 0o700 });
  const channels = { telegram: { default: { apiRoot: home.telegram.url, allowFrom: ["*"] } } };
  const file = JSON.stringify({ channels, memory: { flush: false }, ...config });
  await writeFile(join(home.home, "config.json"), file, { mode: 0o600 });
  const first = await startGatewayChild({ home: home.home }, home.telegram, ENV);
  await converse(home);
  first.child.kill(signal);
  await first.ended;
  await home.start();
}

// The daily hour is neither reached while the test runs nor, when clocks change, after the time that it skips.
const RESETS = [
  ["daily", (): ResetRule => ({ mode: "daily", atHour: (new Date().getHours() + 2) % 24 }), 3 * HOUR, "daily reset"],
  ["idle", (): ResetRule => ({ mode: "idle", idleMinutes: 30 }), HOUR / 2 + 1000, "after a time without messages"],
] as const;

describe.each([
  ["with the bundled hook", true],
  ["with the bundled hook disabled", false],
])("%s", (_, isOn) => {
  it("/new", async () => {
    await using model = await startModel();
    await using home = await openWorkshop(model, isOn);
    await talk(home);
    home.telegram.say("/new");
    const { params } = await home.hears(ADA.id, "A new conversation has begun.");
    expect(params["text"]).toMatch(/\nYou were working on: .*keys.*\. Keep typing to continue, or see \/handoff\.$/);
    expect(await expectNextTold(home, model)).toContain("It ended with /new.");
    // It is offered once.
    home.telegram.say("and now?");
    await expect.poll(() => home.texts(ADA.id).filter((text) => text === LATER).length).toBe(2);
    const windows = await readWindows(await home.agent(), KEY);
    expect(handoffsIn([...windows.values()].at(-1) ?? [])).toHaveLength(1);
  });

  it("/reset with the first words of the next window", async () => {
    await using model = await startModel();
    await using home = await openWorkshop(model, isOn);
    await talk(home);
    home.telegram.say(`/reset ${NEXT}`);
    await home.hears(ADA.id, LATER);
    const windows = await readWindows(await home.agent(), KEY);
    const [handoff = ""] = handoffsIn([...windows.values()].at(-1) ?? []);
    expect(handoff).toContain("It ended with a reset.");
  });
});

// The echo engine, below, has the same endings without the hook.
describe("with the bundled hook, without a command", () => {
  it.each(RESETS)("the %s reset", async (_name, rule, later, why) => {
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    await using model = await startModel();
    await using home = await openWorkshop(model, true, {
      config: (config) => ({ ...config, ...settings(model, true), session: { ...config.session, reset: rule() } }),
      gateway: { clock },
    });
    await talk(home);
    ahead = later;
    expect(await expectNextTold(home, model)).toContain(why);
  });

  it("an automatic compaction: its turn continues with the hand-off", async () => {
    const long = says(`The log: ${"a line of the log. ".repeat(700)}`, {
      usage: { input: 9500, output: 20, cacheRead: 0 },
    });
    await using model = await startModel(long, says("They work on the webhook handler."));
    await using home = await openWorkshop(model, true, {
      config: (config) => ({
        ...config,
        ...settings(model, true),
        memory: { ...config.memory, flush: false },
        models: { [MODEL]: { contextWindow: 10_000 } },
      }),
    });
    await talk(home);
    home.telegram.say("Show me the log.");
    await home.hears(ADA.id, "a line of the log.");
    home.telegram.say(NEXT);
    await home.hears(ADA.id, LATER);
    const [entries = []] = (await readWindows(await home.agent(), KEY)).values();
    const compacted = entries.findIndex(({ type }) => type === "compaction");
    expect(compacted).toBeGreaterThan(-1);
    const [handoff = "", ...others] = handoffsIn(entries.slice(compacted));
    expect(others).toEqual([]);
    expectTold(handoff, entries);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(JSON.stringify(handoff.trim()).slice(1, -1));
    // Not again in the following turn.
    home.telegram.say("and now?");
    await expect.poll(() => home.texts(ADA.id).filter((text) => text === LATER).length).toBe(2);
    const [later = []] = (await readWindows(await home.agent(), KEY)).values();
    expect(handoffsIn(later)).toHaveLength(1);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("%s", async (signal) => {
    await using model = await startModel();
    await using home = await openWorkshop(model, true, { started: false });
    await endIn(signal, home, settings(model, true), talk);
    home.telegram.say("/handoff status");
    const { params } = await home.hears(ADA.id, /^Hand-off of window/);
    for (const words of ["keys", "connection refused", "Postgres", "ask Bob"]) expect(params["text"]).toContain(words);
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun.");
    await expectNextTold(home, model);
  });
});

function quiet(config: HoldfastConfig): HoldfastConfig {
  return {
    ...config,
    memory: { ...config.memory, flush: false },
    hooks: { timeoutSeconds: 10, entries: { "session-handoff": { enabled: false } } },
  };
}

async function talkAlone(home: ChatHome): Promise<void> {
  for (const words of ALONE) {
    home.telegram.say(words);
    await home.hears(ADA.id, words);
  }
}

async function expectAloneTold(home: ChatHome): Promise<string> {
  home.telegram.say(NEXT);
  await home.hears(ADA.id, NEXT);
  const [before = [], now = []] = (await readWindows(await home.agent(), KEY)).values();
  const [handoff = "", ...others] = handoffsIn(now);
  expect(others).toEqual([]);
  expectTold(handoff, before, ALONE_FACTS);
  return handoff;
}

describe("on the echo engine, without the hook: only the person's messages", () => {
  it("/new", async () => {
    await using home = await createChatHome({ config: quiet });
    await talkAlone(home);
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun.");
    expect(await expectAloneTold(home)).toContain("It ended with /new.");
  });

  it.each(RESETS)("the %s reset", async (_name, rule, later, why) => {
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    await using home = await createChatHome({
      config: (config) => ({ ...quiet(config), session: { ...config.session, reset: rule() } }),
      gateway: { clock },
    });
    await talkAlone(home);
    ahead = later;
    expect(await expectAloneTold(home)).toContain(why);
  });

  it("an automatic compaction", async () => {
    await using home = await createChatHome({
      config: (config) => ({ ...quiet(config), models: { "holdfast/echo": { contextWindow: 4000 } } }),
    });
    await talkAlone(home);
    home.telegram.say(`tokens:3900\nThe log: ${"a line of the log. ".repeat(190)}`);
    await expect.poll(() => home.texts(ADA.id).length).toBeGreaterThan(ALONE.length);
    home.telegram.say(NEXT);
    await home.hears(ADA.id, NEXT);
    const [entries = []] = (await readWindows(await home.agent(), KEY)).values();
    const compacted = entries.findIndex(({ type }) => type === "compaction");
    expect(compacted).toBeGreaterThan(-1);
    const [handoff, ...others] = handoffsIn(entries.slice(compacted));
    expect(others).toEqual([]);
    expectTold(handoff, entries, ALONE_FACTS);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("%s", async (signal) => {
    await using home = await createChatHome({ config: quiet, started: false });
    await endIn(signal, home, { hooks: quiet(home.config).hooks }, talkAlone);
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun.");
    expect(await expectAloneTold(home)).toContain("It ended with /new.");
  });
});

/** Messages that arrive during a turn, stopping a turn, and the end of the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HoldfastConfig, QueueConfig } from "../../src/config/config.ts";
import { startGatewayChild } from "../crash/gateway-rounds.ts";
import { startFakeModelStream, type StreamReply, says, uses } from "../support/fake-model-stream.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { until } from "../support/time.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

function queued(queue: Partial<QueueConfig>) {
  return (config: HoldfastConfig): HoldfastConfig => ({
    ...config,
    turns: { ...config.turns, queue: { ...config.turns.queue, ...queue } },
  });
}

/** Ada's first message, once its turn runs. */
async function begin(house: ChatHome, text: string): Promise<void> {
  house.telegram.say(text);
  await until(async () => (await house.transcript(KEY).catch(() => [])).length === 1, "the first turn");
}

describe("messages that arrive during a turn", () => {
  it("steer: join the running turn and are answered with it", async () => {
    const first = Promise.withResolvers<StreamReply>();
    await using model = await startFakeModelStream(first.promise, says("Herons it is."));
    await using house = await createChatHome({
      config: (config) => ({
        ...queued({ mode: "steer" })(config),
        agents: { main: { model: "anthropic/claude-sonnet-4-5" } },
        providers: { anthropic: { baseUrl: `${model.url}/v1` } },
      }),
      env: { ANTHROPIC_API_KEY: "test-key-without-value" },
    });
    house.telegram.say("Look for gulls");
    await until(() => model.requests.length === 1, "the first request");
    house.telegram.say("No, for herons");
    const agent = await house.agent();
    await until(
      async () => (await agent.store.inbox.pending(KEY)).filter(({ state }) => state === "running").length === 2,
      "both in one turn",
    );
    first.resolve(uses("list_files", { path: "." }));
    await house.hears(ADA.id, "Herons it is.");
    expect(JSON.stringify(model.requests[1]?.body)).toContain("No, for herons");
    const spoken = (await house.transcript(KEY)).filter((line) => line.startsWith("user"));
    expect(spoken).toEqual([expect.stringContaining("gulls"), expect.stringContaining("herons")]);
    await until(async () => (await agent.store.inbox.pending(KEY)).length === 0, "the end of both");
    expect(model.requests).toHaveLength(2);
  });

  it("collect: are answered together, after a pause", async () => {
    await using house = await createChatHome({ config: queued({ mode: "collect", debounceMs: 400 }) });
    for (const text of ["one", "two", "three"]) house.telegram.say(text);
    await house.hears(ADA.id, /one[\s\S]*two[\s\S]*three/);
    expect(house.texts(ADA.id)).toHaveLength(1);
    expect(await house.transcript(KEY)).toHaveLength(2);
  });

  it("interrupt: stop the running turn", async () => {
    await using house = await createChatHome({ config: queued({ mode: "interrupt" }) });
    await begin(house, "hang");
    house.telegram.say("never mind");
    await house.hears(ADA.id, "never mind");
    expect(house.texts(ADA.id)).toHaveLength(1);
  });

  it.each([
    { drop: "old", dropped: ["two", "three"] },
    { drop: "new", dropped: ["four", "five"] },
    { drop: "summarize", dropped: ["two", "three"] },
  ] as const)("too many, drop $drop: the sender of $dropped is told", async ({ drop, dropped }) => {
    await using house = await createChatHome({ config: queued({ cap: 2, drop }) });
    await begin(house, "sleep:700\none");
    for (const text of ["two", "three", "four", "five"]) house.telegram.say(text);
    const answered = ["two", "three", "four", "five"].filter((text) => !dropped.some((gone) => gone === text));
    for (const text of answered)
      await house.hears(ADA.id, `window: ${drop === "summarize" && text === "four" ? "System:" : text}`);
    const texts = house.texts(ADA.id);
    for (const text of dropped)
      expect(texts).toContainEqual(expect.stringMatching(new RegExp(`was dropped: “${text}”`)));
    expect(texts).toHaveLength(5);
    const told = texts.filter((text) => /System: \[.*dropped unread.*“two”[\s\S]*four/.test(text));
    expect(told).toHaveLength(drop === "summarize" ? 1 : 0);
  });
});

describe("/stop", () => {
  it("stops the running turn and drops waiting messages; the next message is answered", async () => {
    await using house = await createChatHome();
    await begin(house, "hang");
    house.telegram.say("waiting behind it");
    house.telegram.say("/stop");
    await house.hears(ADA.id, /stopped/i);
    expect((await (await house.agent()).store.get(KEY))?.abortedLastRun).toBe(true);
    house.telegram.say("go on");
    await house.hears(ADA.id, "go on");
    expect(house.texts(ADA.id)).toHaveLength(2);
  });
});

describe("the end of the process", () => {
  it("waits for the running turn; later messages are answered by the next process", async () => {
    await using house = await createChatHome();
    await begin(house, "sleep:800\nlast words");
    const left = house.stop();
    house.telegram.say("too late", { from: BOB });
    await left;
    expect(house.texts(ADA.id)).toEqual([expect.stringContaining("last words")]);
    expect(house.texts(BOB.id)).toEqual([]);
    await house.start();
    await house.hears(BOB.id, "too late");
  });

  it("postpones a slow turn after a signal, and the next process answers it once", async () => {
    await using house = await createChatHome({ started: false });
    const { telegram, home } = house;
    await mkdir(home, { mode: 0o700 });
    const channels = { telegram: { default: { apiRoot: telegram.url, allowFrom: ["*"] } } };
    await writeFile(join(home, "config.json"), JSON.stringify({ channels, turns: { drainSeconds: 1 } }));
    const { child, ended } = await startGatewayChild({ home }, telegram);
    await begin(house, "sleep:3000\nslow words");
    telegram.say("behind it");
    await until(() => telegram.updates.pending.length === 0, "the second message");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(house.texts(ADA.id)).toEqual([]);
    await house.start();
    await house.hears(ADA.id, "behind it");
    expect(house.texts(ADA.id)).toEqual([expect.stringContaining("slow words"), expect.stringContaining("behind it")]);
    expect(await house.transcript(KEY)).toHaveLength(4);
  });
});

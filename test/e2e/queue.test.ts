/** Messages that arrive during a turn, stopping a turn, and the end of the process. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HoldfastConfig, QueueConfig } from "../../src/config/config.ts";
import { startGatewayChild } from "../crash/gateway-rounds.ts";
import { startFakeModelStream, type StreamReply, says, uses } from "../support/fake-model-stream.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { hastyClock } from "../support/fake-telegram/telegram-home.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

function queued(queue: Partial<QueueConfig>) {
  return (config: HoldfastConfig): HoldfastConfig => ({
    ...config,
    turns: { ...config.turns, queue: { ...config.turns.queue, ...queue } },
  });
}

/** Ada's first message, once its turn runs. */
async function begin(home: ChatHome, text: string): Promise<void> {
  home.telegram.say(text);
  await until(async () => (await home.transcript(KEY).catch(() => [])).length === 1, "the first turn");
}

describe("messages that arrive during a turn", () => {
  it("steer: join the running turn and are answered with it", async () => {
    const first = Promise.withResolvers<StreamReply>();
    await using model = await startFakeModelStream(first.promise, says("Herons it is."));
    await using home = await createChatHome({
      config: (config) => ({
        ...queued({ mode: "steer" })(config),
        agents: { main: { model: "anthropic/claude-sonnet-4-5" } },
        providers: { anthropic: { baseUrl: `${model.url}/v1` } },
      }),
      env: { ANTHROPIC_API_KEY: "test-key-without-value" },
    });
    home.telegram.say("Look for gulls");
    await until(() => model.requests.length === 1, "the first request");
    home.telegram.say("No, for herons");
    const agent = await home.agent();
    await until(
      async () => (await agent.store.inbox.pending(KEY)).filter(({ state }) => state === "running").length === 2,
      "both in one turn",
    );
    first.resolve(uses("list_files", { path: "." }));
    await home.hears(ADA.id, "Herons it is.");
    expect(JSON.stringify(model.requests[1]?.body)).toContain("No, for herons");
    const spoken = (await home.transcript(KEY)).filter((line) => line.startsWith("user"));
    expect(spoken).toEqual([expect.stringContaining("gulls"), expect.stringContaining("herons")]);
    await until(async () => (await agent.store.inbox.pending(KEY)).length === 0, "the end of both");
    expect(model.requests).toHaveLength(2);
  });

  it("collect: are answered together, after a pause", async () => {
    await using home = await createChatHome({ config: queued({ mode: "collect", debounceMs: 1000 }) });
    for (const text of ["one", "two", "three"]) home.telegram.say(text);
    await home.hears(ADA.id, /one[\s\S]*two[\s\S]*three/);
    expect(home.texts(ADA.id)).toHaveLength(1);
    expect(await home.transcript(KEY)).toHaveLength(2);
  });

  it("interrupt: stop the running turn", async () => {
    await using home = await createChatHome({ config: queued({ mode: "interrupt" }) });
    await begin(home, "hang");
    home.telegram.say("never mind");
    await home.hears(ADA.id, "never mind");
    expect(home.texts(ADA.id)).toHaveLength(1);
  });

  it.each([
    { drop: "old", dropped: ["two", "three"] },
    { drop: "new", dropped: ["four", "five"] },
    { drop: "summarize", dropped: ["two", "three"] },
  ] as const)("too many, drop $drop: the sender of $dropped is told", async ({ drop, dropped }) => {
    const clock = createHeldClock();
    await using home = await createChatHome({ config: queued({ cap: 2, drop }), gateway: { clock } });
    await begin(home, `${HELD}\none`);
    for (const text of ["two", "three", "four", "five"]) home.telegram.say(text);
    for (const text of dropped) await home.hears(ADA.id, `was dropped: “${text}”`);
    clock.release();
    const answered = ["two", "three", "four", "five"].filter((text) => !dropped.some((gone) => gone === text));
    for (const text of answered)
      await home.hears(ADA.id, `window: ${drop === "summarize" && text === "four" ? "System:" : text}`);
    const texts = home.texts(ADA.id);
    expect(texts).toHaveLength(5);
    const told = texts.filter((text) => /System: \[.*dropped unread.*“two”[\s\S]*four/.test(text));
    expect(told).toHaveLength(drop === "summarize" ? 1 : 0);
  });
});

describe("/stop", () => {
  it("stops the running turn and drops waiting messages; the next message is answered", async () => {
    await using home = await createChatHome();
    await begin(home, "hang");
    home.telegram.say("waiting behind it");
    home.telegram.say("/stop");
    await home.hears(ADA.id, /stopped/i);
    expect((await (await home.agent()).store.get(KEY))?.abortedLastRun).toBe(true);
    home.telegram.say("go on");
    await home.hears(ADA.id, "go on");
    expect(home.texts(ADA.id)).toHaveLength(2);
  });
});

describe("the end of the process", () => {
  it("waits for the running turn; later messages are answered by the next process", async () => {
    const clock = createHeldClock();
    await using home = await createChatHome({ gateway: { clock } });
    await begin(home, `${HELD}\nlast words`);
    const left = home.stop();
    home.telegram.say("too late", { from: BOB });
    clock.release();
    await left;
    expect(home.texts(ADA.id)).toEqual([expect.stringContaining("last words")]);
    expect(home.texts(BOB.id)).toEqual([]);
    await home.start();
    await home.hears(BOB.id, "too late");
  });

  it("postpones a slow turn after a signal, and the next process answers it once", async () => {
    await using home = await createChatHome({ started: false, gateway: { clock: hastyClock } });
    const { telegram } = home;
    await mkdir(home.home, { mode: 0o700 });
    const channels = { telegram: { default: { apiRoot: telegram.url, allowFrom: ["*"] } } };
    await writeFile(join(home.home, "config.json"), JSON.stringify({ channels, turns: { drainSeconds: 1 } }));
    const { child, ended } = await startGatewayChild({ home: home.home }, telegram);
    // Half a minute in the first process, a moment in the next.
    await begin(home, "sleep:30000\nslow words");
    telegram.say("behind it");
    await until(() => telegram.updates.pending.length === 0, "the second message");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(home.texts(ADA.id)).toEqual([]);
    await home.start();
    await home.hears(ADA.id, "behind it");
    expect(home.texts(ADA.id)).toEqual([expect.stringContaining("slow words"), expect.stringContaining("behind it")]);
    expect(await home.transcript(KEY)).toHaveLength(4);
  });
});

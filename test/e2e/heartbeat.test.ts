/** An agent that looks after things on its own, with the real gateway and a fake Telegram. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { HeartbeatConfig, HoldfastConfig } from "../../src/config/config.ts";
import { createChatHome } from "../support/chat-home.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const KEY = "agent:main:main";

function withHeartbeat(heartbeat: Partial<HeartbeatConfig>): { config: (config: HoldfastConfig) => HoldfastConfig } {
  return {
    config: (config) => ({
      ...config,
      session: { ...config.session, dmScope: "main" },
      agents: { main: { engine: "echo", heartbeat: { every: "1s", ...heartbeat } } },
    }),
  };
}

it.concurrent("asks at intervals and sends what needs attention to the last chat", async () => {
  await using home = await createChatHome(withHeartbeat({ prompt: "say:The backup failed." }));
  home.telegram.say("hello");
  await home.hears(ADA.id, "hello");
  await home.hears(ADA.id, "The backup failed.");
  const beats = (await home.messages(KEY)).filter(({ heartbeat }) => heartbeat === true);
  expect(beats.length).toBeGreaterThan(0);
});

it.concurrent("delivers no HEARTBEAT_OK, keeps no session fresh, and repeats no slot after a restart", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  await using home = await createChatHome({ ...withHeartbeat({ prompt: "say:HEARTBEAT_OK" }), gateway: { clock } });
  home.telegram.say("hello");
  await home.hears(ADA.id, "hello");
  const { store } = await home.agent();
  const before = (await store.get(KEY))?.lastInteractionAt;
  const beats = async (): Promise<number> =>
    (await home.messages(KEY)).filter(({ heartbeat }) => heartbeat === true).length;
  /** Moves to the next slot once the last turn has ended, during which no other heartbeat starts. */
  const nextBeat = async (): Promise<void> => {
    const counted = await beats();
    await until(async () => (await store.inbox.pending(KEY)).length === 0, "the last turn");
    now += 1000;
    await until(async () => (await beats()) > counted, "a heartbeat");
  };
  await nextBeat();
  await home.stop();
  await home.start();
  await nextBeat();
  await home.stop();
  now += 60_000;
  await home.start();
  await nextBeat();
  await until(async () => (await store.inbox.pending(KEY)).length === 0, "the last turn");
  expect(await beats()).toBe(3);
  expect(home.texts(ADA.id)).toEqual([expect.stringContaining("hello")]);
  expect((await store.get(KEY))?.lastInteractionAt).toBe(before);
});

it.concurrent("answers in the chat that the target names, and leaves the last chat as it is", async () => {
  const heartbeat = { every: "1s", prompt: "say:The disk is full.", target: `telegram:${ADA.id}` };
  await using home = await createChatHome({
    config: (config) => ({ ...config, agents: { main: { engine: "echo", heartbeat } } }),
  });
  await home.hears(ADA.id, "The disk is full.");
  const entry = await (await home.agent()).store.get(KEY);
  expect([entry?.lastChannel, entry?.lastTo]).toEqual([undefined, undefined]);
});

it.concurrent("skips its slots while the session is busy", async () => {
  const time = createStoppedClock();
  const clock = createHeldClock(time);
  await using home = await createChatHome({ ...withHeartbeat({ prompt: "say:All is well." }), gateway: { clock } });
  home.telegram.say(HELD);
  const { store } = await home.agent();
  await until(async () => (await store.inbox.pending(KEY)).some(({ state }) => state === "running"), "a turn");
  const before = home.texts(ADA.id).length;
  await time.passSlots();
  expect(await store.inbox.pending(KEY)).toHaveLength(1);
  expect(home.texts(ADA.id)).toHaveLength(before);
  clock.release();
  await until(async () => (await store.inbox.pending(KEY)).length === 0, "the end of the turn");
  await time.passSlots();
  await until(async () => home.texts(ADA.id).some((text) => text.includes("All is well.")), "a heartbeat");
});

it.concurrent("does nothing without HEARTBEAT.md, and outside its hours", async () => {
  const clock = createStoppedClock();
  await using home = await createChatHome({ ...withHeartbeat({}), gateway: { clock } });
  const hour = new Date().getHours();
  const at = (offset: number): string => `${String((hour + offset) % 24).padStart(2, "0")}:00`;
  const late = withHeartbeat({ prompt: "say:late", activeHours: { start: at(3), end: at(5) } });
  await using other = await createChatHome({ ...late, gateway: { clock } });
  for (const each of [home, other]) {
    each.telegram.say("hello");
    await each.hears(ADA.id, "hello");
  }
  await clock.passSlots();
  expect(home.texts(ADA.id)).toHaveLength(1);
  expect(other.texts(ADA.id)).toHaveLength(1);
});

/** No slot begins before the test says so: a heartbeat may not have seen the message that makes the session busy. */
function createStoppedClock() {
  let now = Date.now();
  return {
    ...systemClock,
    now: () => now,
    /** Gateways look for a slot every quarter of a second. */
    passSlots: async (): Promise<void> => {
      for (let slot = 0; slot < 2; slot++) {
        now += 1000;
        await delay(500);
      }
    },
  };
}

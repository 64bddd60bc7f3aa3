/** Engines that are slow, fail, hang or flood: the sender gets an error, and all other people get answers. */
import { expect, it } from "vitest";
import type { HoldfastConfig } from "../../src/config/config.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

const limited = (config: HoldfastConfig): HoldfastConfig => ({
  ...config,
  turns: { ...config.turns, timeoutSeconds: 1 },
});

/** Ada's turn is under way when Bob is answered. */
async function answersBob(home: ChatHome, meanwhile: string): Promise<void> {
  await until(
    async () => (await home.transcript(KEY).catch(() => [])).some((line) => line.includes(meanwhile)),
    "Ada's turn",
  );
  home.telegram.say("and me?", { from: BOB });
  await home.hears(BOB.id, "and me?");
}

it("a slow engine delays no other chat, and its own messages are answered in order", async () => {
  const clock = createHeldClock();
  await using home = await createChatHome({ gateway: { clock } });
  home.telegram.say(HELD);
  home.telegram.say("second");
  await answersBob(home, HELD);
  expect(home.texts(ADA.id)).toEqual([]);
  clock.release();
  await home.hears(ADA.id, "second");
  expect(home.texts(ADA.id)).toEqual([expect.stringContaining(HELD), expect.stringContaining("second")]);
});

it.each(["unavailable", "usage", "timeout", "internal", "locked", "fenced"])(
  "an engine that fails as %s fails one turn; the person is told once and can continue",
  async (kind) => {
    await using home = await createChatHome();
    home.telegram.say(`fail:${kind}`);
    home.telegram.say("better now?");
    await home.hears(ADA.id, "better now?");
    expect(home.texts(ADA.id)).toEqual([
      expect.stringContaining("failed on request"),
      expect.stringContaining("better now?"),
    ]);
    expect(await home.transcript(KEY)).toHaveLength(4);
  },
);

it("a hanging engine is stopped at its time limit", async () => {
  await using home = await createChatHome({ config: limited });
  home.telegram.say("hang");
  await answersBob(home, "hang");
  await home.hears(ADA.id, "not answered within 1 s");
  home.telegram.say("still there?");
  await home.hears(ADA.id, "still there?");
  expect(home.texts(ADA.id)).toHaveLength(2);
});

it("a flooding engine is stopped; its output is truncated, not sent, and other chats continue", async () => {
  await using home = await createChatHome();
  home.telegram.say(`flood:${64 * 1024 * 1024}`);
  await answersBob(home, "flood:");
  await home.hears(ADA.id, "became too long");
  expect(home.texts(ADA.id).join("").length).toBeLessThan(30_000);
  // A long but allowed answer is split for Telegram.
  home.telegram.say("flood:20000");
  home.telegram.say("after the flood");
  await home.hears(ADA.id, "after the flood");
  const pieces = home.texts(ADA.id).filter((text) => text.startsWith("flood") && !text.includes("after"));
  expect(pieces.length).toBeGreaterThan(4);
  expect(Math.max(...pieces.map((text) => text.length))).toBeLessThanOrEqual(4096);
});

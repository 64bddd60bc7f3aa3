/** Channels that are down, hang or refuse: nothing is lost, and the others work. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BLOCKED, SERVER_ERROR, UNAUTHORIZED, rateLimited } from "../support/fake-telegram/fake-telegram.ts";
import { hastyClock } from "../support/fake-telegram/telegram-home.ts";
import { ADA, BOB, message } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

async function asksTheAgent(home: ChatHome, message: string): Promise<string> {
  return JSON.stringify(await home.rpc("agent", { message, idempotencyKey: message }));
}

describe("a channel that does not connect", () => {
  it("is retried while everything else works, and then delivers waiting messages", async () => {
    await using home = await createChatHome({ started: false, gateway: { clock: hastyClock } });
    const { telegram } = home;
    telegram.fail("getMe", "hang-up", SERVER_ERROR, SERVER_ERROR, SERVER_ERROR);
    telegram.say("I was here before you");
    await home.start({ connected: false });
    expect(await asksTheAgent(home, "anybody there?")).toContain("anybody there?");
    await home.hears(ADA.id, "I was here before you");
    expect(home.statuses).toContain("telegram retrying");
  });

  it("reports a refused token and stays off", async () => {
    await using home = await createChatHome({ started: false });
    home.telegram.fail("getMe", UNAUTHORIZED);
    await home.start({ connected: false });
    await until(() => home.statuses.includes("telegram failed"), "a report");
    expect(await asksTheAgent(home, "anybody there?")).toMatch(/Your channels: telegram failed\..*anybody there\?/);
    const status = JSON.stringify(await home.rpc("status", {}));
    expect(status).toContain("@BotFather");
    expect(status).not.toContain(home.telegram.token);
  });

  it("reports a missing agent and leaves messages on the platform", async () => {
    await using home = await createChatHome({ account: { agent: "nobdy" }, started: false });
    home.telegram.say("for nobody");
    await home.start({ connected: false });
    const status = async (): Promise<string> => JSON.stringify(await home.rpc("status", {}));
    await until(async () => (await status()).includes("There is no agent"), "a report");
    expect(home.telegram.calls).toEqual([]);
  });

  it("does not keep the gateway from stopping", async () => {
    await using home = await createChatHome({ started: false });
    const release = home.telegram.hold("getMe");
    const gateway = await home.start({ connected: false });
    await home.telegram.waitFor(({ method }) => method === "getMe");
    const before = performance.now();
    await gateway.close();
    expect(performance.now() - before).toBeLessThan(20_000);
    release();
  });

  it("is not started by a gateway that was already told to stop", async () => {
    await using home = await createChatHome({ started: false });
    const gateway = await home.start({ connected: false });
    await gateway.close();
    const asked = home.telegram.calls.length;
    await delay(200);
    expect(home.telegram.calls.slice(asked)).toEqual([]);
    expect(home.telegram.calls.map(({ method }) => method)).not.toContain("getUpdates");
  });
});

// They mostly wait.
describe.concurrent("a channel that was connected", () => {
  it("goes down and comes back: messages from both sides arrive", async () => {
    const clock = createHeldClock(hastyClock);
    await using home = await createChatHome({ gateway: { clock } });
    const { telegram } = home;
    telegram.say(`${HELD}\nmind the gap`);
    await until(async () => (await home.transcript(KEY).catch(() => [])).length === 1, "the turn");
    telegram.fail("getUpdates", "hang-up", "hang-up", SERVER_ERROR, SERVER_ERROR);
    telegram.fail("sendMessage", "hang-up", SERVER_ERROR);
    clock.release();
    telegram.say("are you back?", { from: BOB });
    await home.hears(ADA.id, "mind the gap");
    await home.hears(BOB.id, "are you back?");
    expect(home.statuses).toContain("telegram retrying");
  });

  it("hangs on one chat: other chats work, and the first one does afterwards", async () => {
    await using home = await createChatHome();
    const { telegram } = home;
    const release = telegram.hold("sendMessage", (params) => params["chat_id"] === ADA.id);
    telegram.say("one");
    telegram.say("two");
    await telegram.waitFor(({ method, params }) => method === "sendMessage" && params["chat_id"] === ADA.id);
    telegram.say("and me?", { from: BOB });
    await home.hears(BOB.id, "and me?");
    expect(home.texts(ADA.id)).toEqual([]);
    release();
    await home.hears(ADA.id, "two");
    expect(home.texts(ADA.id)).toEqual([expect.stringContaining("one"), expect.stringContaining("two")]);
  });

  it("hangs on one person's file: other chats work, and the gateway can stop", async () => {
    await using home = await createChatHome();
    const { telegram } = home;
    const bytes = Buffer.from("a heron");
    telegram.addFile("heron", bytes);
    const release = telegram.hold("getFile");
    const document = { file_id: "heron", file_unique_id: "u", file_name: "heron.txt", mime_type: "text/plain" };
    telegram.deliver(message({ caption: "a file", document }));
    telegram.say("behind the file");
    await telegram.waitFor(({ method }) => method === "getFile");
    telegram.say("and me?", { from: BOB });
    await home.hears(BOB.id, "and me?");
    expect(home.texts(ADA.id)).toEqual([]);
    const before = performance.now();
    await home.stop();
    expect(performance.now() - before).toBeLessThan(20_000);
    release();
    await home.start();
    await home.hears(ADA.id, "behind the file");
    expect(home.texts(ADA.id)[0]).toContain("[media attached: ");
  });

  it("asks for a pause: the message arrives once, after it", async () => {
    await using home = await createChatHome();
    const { telegram } = home;
    telegram.fail("sendMessage", rateLimited(2));
    const before = performance.now();
    telegram.say("patience");
    await telegram.waitFor(({ method }) => method === "sendMessage");
    telegram.say("and me?", { from: BOB });
    await home.hears(BOB.id, "and me?");
    await home.hears(ADA.id, "patience");
    expect(performance.now() - before).toBeGreaterThanOrEqual(2000);
    expect(home.texts(ADA.id)).toHaveLength(1);
  });

  it("is blocked by one person: the agent is told once, when that person writes again", async () => {
    await using home = await createChatHome();
    const { telegram } = home;
    telegram.fail("sendMessage", BLOCKED);
    telegram.say("I block you");
    await telegram.waitFor(({ method }) => method === "sendMessage");
    telegram.say("and me?", { from: BOB });
    await home.hears(BOB.id, "and me?");
    const agent = await home.agent();
    await until(async () => (await agent.store.outbox.get(1))?.state === "failed", "given up");
    await home.stop();
    await home.start();
    telegram.say("I let you in again");
    telegram.say("as I said");
    await home.hears(ADA.id, "as I said");
    expect(home.texts(ADA.id)).toEqual([
      expect.stringMatching(/System: \[.*did not arrive on telegram: .*blocked[\s\S]*I let you in again/),
      expect.not.stringContaining("System:"),
    ]);
  });
});

/** Channels that are down, hang or refuse: nothing is lost, and the others work. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { BLOCKED, SERVER_ERROR, UNAUTHORIZED, rateLimited } from "../support/fake-telegram/fake-telegram.ts";
import { hastyClock } from "../support/fake-telegram/telegram-home.ts";
import { ADA, BOB, message } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { until } from "../support/time.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

async function asksTheAgent(house: ChatHome, message: string): Promise<string> {
  return JSON.stringify(await house.rpc("agent", { message, idempotencyKey: message }));
}

describe("a channel that does not connect", () => {
  it("is retried while everything else works, and then delivers waiting messages", async () => {
    await using house = await createChatHome({ started: false, gateway: { clock: hastyClock } });
    const { telegram } = house;
    telegram.fail("getMe", "hang-up", SERVER_ERROR, SERVER_ERROR, SERVER_ERROR);
    telegram.say("I was here before you");
    await house.start({ connected: false });
    expect(await asksTheAgent(house, "anybody there?")).toContain("window: anybody there?");
    await house.hears(ADA.id, "I was here before you");
    expect(house.statuses).toContain("telegram retrying");
  });

  it("reports a refused token and stays off", async () => {
    await using house = await createChatHome({ started: false });
    house.telegram.fail("getMe", UNAUTHORIZED);
    await house.start({ connected: false });
    await until(() => house.statuses.includes("telegram failed"), "a report");
    expect(await asksTheAgent(house, "anybody there?")).toContain("window: anybody there?");
    const status = JSON.stringify(await house.rpc("status", {}));
    expect(status).toContain("@BotFather");
    expect(status).not.toContain(house.telegram.token);
  });

  it("reports a missing agent and leaves messages on the platform", async () => {
    await using house = await createChatHome({ account: { agent: "nobdy" }, started: false });
    house.telegram.say("for nobody");
    await house.start({ connected: false });
    const status = async (): Promise<string> => JSON.stringify(await house.rpc("status", {}));
    await until(async () => (await status()).includes("There is no agent"), "a report");
    expect(house.telegram.calls).toEqual([]);
  });

  it("does not keep the gateway from stopping", async () => {
    await using house = await createChatHome({ started: false });
    const release = house.telegram.hold("getMe");
    const gateway = await house.start({ connected: false });
    await house.telegram.waitFor(({ method }) => method === "getMe");
    const before = performance.now();
    await gateway.close();
    expect(performance.now() - before).toBeLessThan(5000);
    release();
  });

  it("is not started by a gateway that was already told to stop", async () => {
    await using house = await createChatHome({ started: false });
    const gateway = await house.start({ connected: false });
    await gateway.close();
    const asked = house.telegram.calls.length;
    await delay(200);
    expect(house.telegram.calls.slice(asked)).toEqual([]);
    expect(house.telegram.calls.map(({ method }) => method)).not.toContain("getUpdates");
  });
});

// They mostly wait.
describe.concurrent("a channel that was connected", () => {
  it("goes down and comes back: messages from both sides arrive", async () => {
    await using house = await createChatHome({ gateway: { clock: hastyClock } });
    const { telegram } = house;
    telegram.say("sleep:50000\nmind the gap");
    await until(async () => (await house.transcript(KEY).catch(() => [])).length === 1, "the turn");
    telegram.fail("getUpdates", "hang-up", "hang-up", SERVER_ERROR, SERVER_ERROR);
    telegram.fail("sendMessage", "hang-up", SERVER_ERROR);
    telegram.say("are you back?", { from: BOB });
    await house.hears(ADA.id, "mind the gap");
    await house.hears(BOB.id, "are you back?");
    expect(house.statuses).toContain("telegram retrying");
  });

  it("hangs on one chat: other chats work, and the first one does afterwards", async () => {
    await using house = await createChatHome();
    const { telegram } = house;
    const release = telegram.hold("sendMessage", (params) => params["chat_id"] === ADA.id);
    telegram.say("one");
    telegram.say("two");
    await telegram.waitFor(({ method, params }) => method === "sendMessage" && params["chat_id"] === ADA.id);
    telegram.say("and me?", { from: BOB });
    await house.hears(BOB.id, "and me?");
    expect(house.texts(ADA.id)).toEqual([]);
    release();
    await house.hears(ADA.id, "two");
    expect(house.texts(ADA.id)).toEqual([expect.stringContaining("one"), expect.stringContaining("two")]);
  });

  it("hangs on one person's file: other chats work, and the gateway can stop", async () => {
    await using house = await createChatHome();
    const { telegram } = house;
    const bytes = Buffer.from("a heron");
    telegram.addFile("heron", bytes);
    const release = telegram.hold("getFile");
    const document = { file_id: "heron", file_unique_id: "u", file_name: "heron.txt", mime_type: "text/plain" };
    telegram.deliver(message({ caption: "a file", document }));
    telegram.say("behind the file");
    await telegram.waitFor(({ method }) => method === "getFile");
    telegram.say("and me?", { from: BOB });
    await house.hears(BOB.id, "and me?");
    expect(house.texts(ADA.id)).toEqual([]);
    const before = performance.now();
    await house.stop();
    expect(performance.now() - before).toBeLessThan(5000);
    release();
    await house.start();
    await house.hears(ADA.id, "behind the file");
    expect(house.texts(ADA.id)[0]).toContain("[media attached: ");
  });

  it("asks for a pause: the message arrives once, after it", async () => {
    await using house = await createChatHome();
    const { telegram } = house;
    telegram.fail("sendMessage", rateLimited(2));
    const before = performance.now();
    telegram.say("patience");
    await telegram.waitFor(({ method }) => method === "sendMessage");
    telegram.say("and me?", { from: BOB });
    await house.hears(BOB.id, "and me?");
    await house.hears(ADA.id, "patience");
    expect(performance.now() - before).toBeGreaterThanOrEqual(2000);
    expect(house.texts(ADA.id)).toHaveLength(1);
  });

  it("is blocked by one person: the agent is told once, when that person writes again", async () => {
    await using house = await createChatHome();
    const { telegram } = house;
    telegram.fail("sendMessage", BLOCKED);
    telegram.say("I block you");
    await telegram.waitFor(({ method }) => method === "sendMessage");
    telegram.say("and me?", { from: BOB });
    await house.hears(BOB.id, "and me?");
    const agent = await house.agent();
    await until(async () => (await agent.store.outbox.get(1))?.state === "failed", "given up");
    await house.stop();
    await house.start();
    telegram.say("I let you in again");
    telegram.say("as I said");
    await house.hears(ADA.id, "as I said");
    expect(house.texts(ADA.id)).toEqual([
      expect.stringMatching(/System: \[.*did not arrive on telegram: .*blocked[\s\S]*I let you in again/),
      expect.not.stringContaining("System:"),
    ]);
  });
});

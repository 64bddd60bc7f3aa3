/** Discord and WhatsApp through a real gateway. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WAMessageContent } from "baileys";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeDiscord, startFakeDiscord } from "../support/fake-discord/fake-discord.ts";
import { fakeUser } from "../support/fake-discord/objects.ts";
import { type FakeWhatsApp, createFakeWhatsApp } from "../support/fake-whatsapp.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { runCliShared } from "../support/cli.ts";
import { until } from "../support/time.ts";

const ada = fakeUser("1400000000000000001", "ada");
const bob = fakeUser("1400000000000000002", "bob");
const eve = fakeUser("1400000000000000003", "eve");

const phones = { ada: "15551111@s.whatsapp.net", bob: "15552222@s.whatsapp.net", eve: "15553333@s.whatsapp.net" };
const family = "12036300@g.us";

let home: ChatHome;
let discord: FakeDiscord;
let whatsapp: FakeWhatsApp;

beforeAll(async () => {
  discord = await startFakeDiscord();
  whatsapp = await createFakeWhatsApp();
  home = await createChatHome({
    config: (config) => ({
      ...config,
      channels: {
        telegram: {},
        discord: { default: { apiRoot: discord.url, allowFrom: [ada.id, discord.general.id], replyTo: "first" } },
        whatsapp: { default: { allowFrom: ["+15551111", `whatsapp:group:${family}`], replyTo: "first" } },
      },
    }),
    env: { DISCORD_BOT_TOKEN: discord.token },
    gateway: { makeWhatsAppSocket: (config) => whatsapp.makeSocket(config) },
    started: false,
  });
  await home.start({ connected: false });
  await until(() => whatsapp.made > 0, "a WhatsApp socket");
  whatsapp.open();
  await until(
    () => ["discord", "whatsapp"].every((name) => home.statuses.includes(`${name} connected`)),
    "both connected",
  );
  const accounts = { channels: { discord: { default: {} }, whatsapp: { default: {} } } };
  await writeFile(join(home.home, "config.json"), JSON.stringify(accounts));
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await discord[Symbol.asyncDispose]();
});

async function sessionIdOf(key: string): Promise<string | undefined> {
  return (await (await home.agent()).store.get(key))?.sessionId;
}

/** Runs the approval command from the reply to the person. */
async function approve(offer: string): Promise<void> {
  const [, channel = "", code = ""] = /channels approve (\w+) (\S+)/.exec(offer) ?? [];
  expect(await runCliShared(["channels", "approve", channel, code], { home: home.home })).toMatchObject({ code: 0 });
}

/** Waits for the agent's message there. */
async function onDiscord(channelId: string, words: string): Promise<Record<string, unknown>> {
  const find = () =>
    discord.messages(channelId).find(({ author, content }) => author.id === discord.bot.id && content.includes(words));
  await until(
    () => find() !== undefined,
    () => `“${words}”; there was ${JSON.stringify(discord.messages(channelId).map(({ content }) => content))}`,
  );
  return find() ?? {};
}

async function onWhatsApp(jid: string, words: string): Promise<string> {
  const texts = (): string[] =>
    whatsapp.sent.filter((sent) => sent.jid === jid).map(({ content }) => ("text" in content ? content.text : ""));
  const find = (): string | undefined => texts().find((text) => text.includes(words));
  await until(
    () => find() !== undefined,
    () => `“${words}”; there was ${JSON.stringify(texts())}`,
  );
  return find() ?? "";
}

function mentioning(text: string): WAMessageContent {
  return { extendedTextMessage: { text, contextInfo: { mentionedJid: ["900@lid"] } } };
}

describe("on Discord", () => {
  it("a direct message is answered, quoting it", async () => {
    const chat = discord.openPrivateChat(ada);
    const asked = discord.say(chat.id, "hello from Discord", { author: ada });
    const answer = await onDiscord(chat.id, "hello from Discord");
    expect(answer["message_reference"]).toMatchObject({ message_id: asked.id });

    // A long answer grows in one message, which quotes the question.
    const first = "A first line that is long enough to be shown.";
    const longer = discord.say(chat.id, `stream:${first}\nsleep:1500\nsay:The end.`, { author: ada });
    await onDiscord(chat.id, first);
    const shown = await onDiscord(chat.id, "The end.");
    expect(shown).toMatchObject({ content: `${first}\nThe end.`, message_reference: { message_id: longer.id } });
    expect(discord.messages(chat.id).filter(({ content }) => content.startsWith(first))).toHaveLength(1);
  });

  it("a mention in a server channel is answered with earlier messages as context; threads are separate", async () => {
    const { general, bot } = discord;
    const mentions = [bot];
    discord.say(general.id, "low tide at noon", { author: bob });
    discord.say(general.id, `<@${bot.id}> when is low tide?`, { author: ada, mentions });
    const answer = await onDiscord(general.id, "when is low tide?");
    expect(String(answer["content"])).toMatch(/low tide at noon[\s\S]*when is low tide\?/);
    const thread = discord.addThread(general, "plans");
    discord.say(thread.id, `<@${bot.id}> in the thread`, { author: ada, mentions });
    await onDiscord(thread.id, "in the thread");
    const ids = await Promise.all(
      [general.id, thread.id].map(async (id) => await sessionIdOf(`agent:main:discord:channel:${id}`)),
    );
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain(undefined);
    // Bob may talk there, but not reset the session.
    discord.say(general.id, `<@${bot.id}> /new from Bob`, { author: bob, mentions });
    await onDiscord(general.id, "from Bob");
    expect(await sessionIdOf(`agent:main:discord:channel:${general.id}`)).toBe(ids[0]);
  });

  it("a stranger gets a pairing code and is admitted with it", async () => {
    const chat = discord.openPrivateChat(eve);
    discord.say(chat.id, "hello?", { author: eve });
    await approve(String((await onDiscord(chat.id, "pairing code"))["content"]));
    discord.say(chat.id, "hello again", { author: eve });
    expect((await onDiscord(chat.id, "hello again"))["content"]).toMatch(/^\[echo\]/);
  });
});

describe("on WhatsApp", () => {
  it("a direct message is answered, quoting it", async () => {
    whatsapp.receive(whatsapp.message({ from: phones.ada, text: "hello from WhatsApp", id: "Q1" }));
    await onWhatsApp(phones.ada, "hello from WhatsApp");
    const { message } = whatsapp.sent.find(({ jid }) => jid === phones.ada) ?? {};
    expect(message?.message?.extendedTextMessage?.contextInfo?.stanzaId).toBe("Q1");
  });

  it("a mention in a group is answered with earlier messages as context", async () => {
    whatsapp.subjects.set(family, "Family");
    whatsapp.receive(whatsapp.message({ from: phones.bob, name: "Bob", group: family, text: "dinner at eight" }));
    whatsapp.receive(whatsapp.message({ from: phones.ada, group: family, content: mentioning("@900 when?") }));
    expect(await onWhatsApp(family, "when?")).toMatch(/dinner at eight[\s\S]*when\?/);
    const key = `agent:main:whatsapp:group:${family}`;
    const before = await sessionIdOf(key);
    whatsapp.receive(
      whatsapp.message({ from: phones.bob, name: "Bob", group: family, content: mentioning("@900 /new from Bob") }),
    );
    await onWhatsApp(family, "from Bob");
    expect(await sessionIdOf(key)).toBe(before);
  });

  it("a stranger gets a pairing code and is admitted with it", async () => {
    whatsapp.receive(whatsapp.message({ from: phones.eve, name: "Eve", text: "hello?" }));
    await approve(await onWhatsApp(phones.eve, "pairing code"));
    whatsapp.receive(whatsapp.message({ from: phones.eve, name: "Eve", text: "hello again" }));
    expect(await onWhatsApp(phones.eve, "hello again")).toMatch(/^\[echo\]/);
  });
});

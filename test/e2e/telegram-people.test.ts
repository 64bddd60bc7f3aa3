/** What people on Telegram can and cannot do, through one real gateway with a chat for each test. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MessageEntity } from "grammy/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ADA, BOB, FORUM, GROUP, type MessageParts, message } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { runCliShared } from "../support/cli.ts";

const MENTION = "@holdfast_bot";
const GROUP_KEY = `agent:main:telegram:group:${GROUP.id}`;

function mention(text: string): { text: string; entities: MessageEntity[] } {
  return { text, entities: [{ type: "mention", offset: text.indexOf(MENTION), length: MENTION.length }] };
}

function inTopic(topic: number): MessageParts {
  return { chat: FORUM, is_topic_message: true, message_thread_id: topic };
}

function command(text: string): MessageEntity[] {
  return [{ type: "bot_command", offset: 0, length: text.split(" ")[0]?.length ?? 0 }];
}

describe("on Telegram", () => {
  let home: ChatHome;
  beforeAll(async () => {
    home = await createChatHome({
      account: { allowFrom: [String(ADA.id), String(GROUP.id), String(FORUM.id)], replyTo: "first" },
    });
    // The same accounts for `holdfast channels`, which reads the file.
    await writeFile(join(home.home, "config.json"), JSON.stringify({ channels: { telegram: { default: {} } } }));
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
  });

  it("answers quote the question", async () => {
    const { message: asked } = home.telegram.say("quote me");
    const { params } = await home.hears(ADA.id, "quote me");
    expect(params["reply_parameters"]).toMatchObject({ message_id: asked?.message_id });
  });

  it("a mention in a group is answered with earlier messages, which survive a restart", async () => {
    const { telegram } = home;
    telegram.say("the heron is back", { from: BOB, chat: GROUP });
    telegram.say("which heron?", { from: ADA, chat: GROUP });
    const agent = await home.agent();
    await expect
      .poll(async () => (await agent.store.inbox.pending()).length + telegram.updates.pending.length, {
        timeout: 15_000,
      })
      .toBe(0);
    expect(home.texts(GROUP.id)).toEqual([]);

    await home.stop();
    await home.start();
    telegram.say("", { from: BOB, chat: GROUP, ...mention(`${MENTION} what do you say?`) });
    const { params } = await home.hears(GROUP.id, "what do you say?");
    const text = String(params["text"]);
    expect(text.indexOf("the heron is back")).toBeGreaterThan(-1);
    expect(text.indexOf("which heron?")).toBeGreaterThan(text.indexOf("the heron is back"));
    expect(text.indexOf("what do you say?")).toBeGreaterThan(text.indexOf("which heron?"));
    expect(text).toContain("Bob");
    expect(text).toContain("[from: ");

    // The history is shown once.
    telegram.say("", { from: BOB, chat: GROUP, ...mention(`${MENTION} and now?`) });
    const again = await home.hears(GROUP.id, "and now?");
    expect(String(again.params["text"])).not.toContain("the heron is back");
  });

  it("topics have separate sessions and are answered in their topic", async () => {
    home.telegram.say("", { ...inTopic(41), ...mention(`${MENTION} about boats`) });
    home.telegram.say("", { ...inTopic(42), ...mention(`${MENTION} about birds`) });
    const [boats, birds] = [await home.hears(FORUM.id, "about boats"), await home.hears(FORUM.id, "about birds")];
    expect([boats.params["message_thread_id"], birds.params["message_thread_id"]]).toEqual([41, 42]);
    for (const [topic, words] of [
      [41, "boats"],
      [42, "birds"],
    ] as const) {
      const lines = await home.transcript(`agent:main:telegram:group:${FORUM.id}:topic:${topic}`);
      expect(lines).toEqual([expect.stringContaining(words), expect.stringContaining(words)]);
    }
  });

  it("a stranger gets a code, which the owner approves on the command line", async () => {
    const eve = { id: 3003, is_bot: false, first_name: "Eve" };
    home.telegram.say("let me in", { from: eve });
    const offer = await home.hears(eve.id, /approve telegram (\S+)/);
    const [, code = ""] = /approve telegram (\S+)/.exec(String(offer.params["text"])) ?? [];
    const approved = await runCliShared(["channels", "approve", "telegram", code], { home: home.home });
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining("Eve") as string });
    home.telegram.say("now let me in", { from: eve });
    await home.hears(eve.id, "now let me in");
    // Her earlier messages were not for the agent and never reach it.
    expect(await home.transcript(`agent:main:telegram:dm:${eve.id}`)).toHaveLength(2);
  });

  it("commands work for authorised people only, not for others in the group", async () => {
    const agent = await home.agent();
    const windowOf = async (): Promise<string | undefined> => (await agent.store.get(GROUP_KEY))?.sessionId;
    const before = await windowOf();
    const unauthorised = "/new@holdfast_bot from Bob";
    home.telegram.say(unauthorised, { from: BOB, chat: GROUP, entities: command(unauthorised) });
    await home.hears(GROUP.id, "from Bob");
    expect(await windowOf()).toBe(before);
    const authorised = "/new@holdfast_bot from Ada";
    home.telegram.say(authorised, { from: ADA, chat: GROUP, entities: command(authorised) });
    await home.hears(GROUP.id, "from Ada");
    expect(await windowOf()).not.toBe(before);
  });

  it("files are sent in both directions", async () => {
    const { telegram } = home;
    const bytes = Buffer.from("a picture of a heron");
    telegram.addFile("heron", bytes, "photos/heron.jpg");
    const photo = { file_id: "heron", file_unique_id: "u", width: 1, height: 1, file_size: bytes.length };
    telegram.deliver(message({ caption: "look at this", photo: [photo] }));
    const { params } = await home.hears(ADA.id, "look at this");
    const [, path = ""] = /\[media attached: (\S+) \(image\/jpeg\)\]/.exec(String(params["text"])) ?? [];
    expect(await readFile(path)).toEqual(bytes);
    telegram.say(`tool:read_file ${path}`);
    await home.hears(ADA.id, bytes.toString());

    const { workspace } = await home.agent();
    await writeFile(join(workspace, "map.txt"), "here be herons");
    telegram.say("say:Here it is.\nsay:MEDIA:./map.txt");
    const sent = await home.hears(ADA.id, "Here it is.");
    expect(sent.files["document"]).toEqual({ name: "map.txt", bytes: Buffer.from("here be herons") });
  });
});

/** Messages to Discord. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { failure } from "../../../test/support/channel-host.ts";
import { ada, createDiscordHome, target } from "../../../test/support/fake-discord/discord-home.ts";
import type { Channel } from "../channel.ts";

describe("messages to Discord", () => {
  it("sends to channels, threads and people", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const { discord } = home;
    const { general } = discord;
    const thread = discord.addThread(general, "plans");
    const sent = await channel.send({ target: target(`channel:${general.id}`), idempotencyKey: "1", text: "here" });
    await channel.send({ target: target(`channel:${general.id}`, thread.id), idempotencyKey: "2", text: "there" });
    await channel.send({ target: target(`user:${ada.id}`), idempotencyKey: "3", text: "you" });
    await channel.send({ target: target(`discord:${ada.id}`), idempotencyKey: "4", text: "again" });
    expect(discord.messages(general.id)).toMatchObject([{ id: sent.messageId, content: "here" }]);
    expect(discord.messages(thread.id)).toMatchObject([{ content: "there" }]);
    expect(discord.messages(discord.openPrivateChat(ada).id).map(({ content }) => content)).toEqual(["you", "again"]);
    expect(discord.requests.filter(({ route }) => route === "POST /users/@me/channels")).toHaveLength(1);
  });

  it("delivers once per idempotency key of any length", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const to = target(`channel:${home.discord.general.id}`);
    const message = { target: to, text: "once", idempotencyKey: `agent:main:${"k".repeat(200)}:1` };
    const first = await channel.send(message);
    expect(await channel.send(message)).toEqual(first);
    await channel.send({ ...message, idempotencyKey: `${message.idempotencyKey}2` });
    expect(home.discord.messages(home.discord.general.id)).toHaveLength(2);
    expect(String(home.discord.requests.at(-1)?.body["nonce"]).length).toBeLessThanOrEqual(25);
    expect(channel.capabilities).toMatchObject({ textLimit: 2000 });
  });

  it("replies, and omits the reference to a deleted message", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const { discord } = home;
    const { general } = discord;
    const to = target(`channel:${general.id}`);
    const question = discord.say(general.id, "?", { author: ada });
    await channel.send({ target: to, idempotencyKey: "1", text: "!", replyToId: question.id });
    expect(discord.messages(general.id).at(-1)).toMatchObject({
      type: 19,
      message_reference: { message_id: question.id },
    });
    await channel.send({ target: to, idempotencyKey: "2", text: "gone", replyToId: discord.nextId() });
    discord.refuse(/POST .*messages/, { status: 400, body: { code: 160_002, message: "no history" } });
    await channel.send({ target: to, idempotencyKey: "3", text: "no history", replyToId: question.id });
    const errors = { message_reference: { _errors: [{ code: "X", message: "other channel" }] } };
    discord.refuse(/POST .*messages/, { status: 400, body: { code: 50_035, message: "Invalid Form Body", errors } });
    await channel.send({ target: to, idempotencyKey: "4", text: "elsewhere", replyToId: question.id });
    const sent = discord.messages(general.id).slice(2);
    expect(sent.map(({ content, type }) => [content, type])).toEqual([
      ["gone", 0],
      ["no history", 0],
      ["elsewhere", 0],
    ]);
  });

  it("sends files from disk and from the web with the text", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const { discord } = home;
    const path = home.folder.join("report.txt");
    await writeFile(path, "all is well");
    const { url } = discord.upload("map.png", Buffer.from("a map"));
    await channel.send({
      target: target(`channel:${discord.general.id}`),
      idempotencyKey: "1",
      text: "see",
      media: [
        { kind: "file", path },
        { kind: "url", url: String(url) },
      ],
    });
    const request = discord.requests.at(-1);
    expect(request?.body["content"]).toBe("see");
    expect(request?.files).toEqual([
      { name: "report.txt", text: "all is well" },
      { name: "map.png", text: "a map" },
    ]);
  });

  it("never notifies everyone", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    await channel.send({
      target: target(`channel:${home.discord.general.id}`),
      idempotencyKey: "1",
      text: "@everyone look",
    });
    expect(home.discord.requests.at(-1)?.body["allowed_mentions"]).toEqual({ parse: ["users"], replied_user: true });
  });

  it("edits and deletes a message", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const place = target(`channel:${home.discord.general.id}`);
    const { messageId } = await channel.send({ target: place, text: "one", idempotencyKey: "k" });
    await channel.edit?.(place, messageId, { text: "two" });
    const inChannel = (): unknown[] => home.discord.messages(home.discord.general.id);
    const shown = (): unknown[] => inChannel().filter((one) => (one as { id: string }).id === messageId);
    expect(shown()).toMatchObject([{ content: "two" }]);
    await channel.remove?.(place, messageId);
    expect(shown()).toEqual([]);
    await expect(channel.remove?.(place, messageId)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("shows typing", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    await channel.showTyping?.(target(`channel:${home.discord.general.id}`));
    expect(home.discord.requests.at(-1)?.route).toBe(`POST /channels/${home.discord.general.id}/typing`);
  });

  it.each<[string, { status: number; code: number }, string, string]>([
    ["closed direct messages", { status: 403, code: 50_007 }, "forbidden", "discord-dm-closed"],
    ["a missing permission", { status: 403, code: 50_013 }, "forbidden", "discord-forbidden"],
    ["a channel that is gone", { status: 404, code: 10_003 }, "not-found", "discord-not-found"],
    ["a file that is too large", { status: 413, code: 40_005 }, "usage", "media-too-large"],
    ["a message that is malformed", { status: 400, code: 50_035 }, "usage", "discord-refused"],
    ["a server error", { status: 500, code: 0 }, "unavailable", "discord-unreachable"],
  ])("recognizes %s and does not retry", async (_, { status, code }, kind, expected) => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    home.discord.refuse(/POST .*messages/, { status, body: { code, message: "no" } });
    const to = target(`channel:${home.discord.general.id}`);
    const error = await failure(channel.send({ target: to, idempotencyKey: "1", text: "x" }));
    expect([error.kind, error.code]).toEqual([kind, expected]);
    expect(error.hint).toBeDefined();
    expect(home.discord.requests.filter(({ route }) => route.startsWith("POST"))).toHaveLength(1);
  });

  it("rejects impossible addresses without a request", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    const asked = home.discord.requests.length;
    expect(() => channel.checkTarget?.(target("general"))).toThrow("Not a Discord address");
    expect(() => channel.checkTarget?.(target(`channel:${home.discord.general.id}`))).not.toThrow();
    expect(home.discord.requests).toHaveLength(asked);
  });

  it("reports at once how long Discord asks to wait", async () => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    home.discord.refuse(/POST .*messages/, {
      status: 429,
      headers: {
        "retry-after": "120",
        "x-ratelimit-limit": "5",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset-after": "120",
      },
      body: { message: "You are being rate limited.", retry_after: 120, global: false },
    });
    const to = target(`channel:${home.discord.general.id}`);
    for (const idempotencyKey of ["1", "2"]) {
      const error = await failure(channel.send({ target: to, idempotencyKey, text: "x" }));
      expect(error.kind).toBe("unavailable");
      expect(error.data["retryAfterMs"]).toBeGreaterThan(100_000);
    }
  });

  it.each<[string, Parameters<Channel["send"]>[0], string]>([
    [
      "a text that is too long",
      { target: target("channel:1"), idempotencyKey: "1", text: "x".repeat(2001) },
      "text-too-long",
    ],
    ["nothing at all", { target: target("channel:1"), idempotencyKey: "1", text: " " }, "empty-message"],
    ["an address that is none", { target: target("channel:1/../2"), idempotencyKey: "1", text: "x" }, "discord-target"],
    ["a name for an address", { target: target("general"), idempotencyKey: "1", text: "x" }, "discord-target"],
    [
      "a file that is not there",
      { target: target("channel:1"), idempotencyKey: "1", media: [{ kind: "file", path: "/no/such/file" }] },
      "media-not-found",
    ],
  ])("refuses %s without a request", async (_, message, code) => {
    await using home = await createDiscordHome();
    const channel = await home.start();
    expect((await failure(channel.send(message))).code).toBe(code);
    expect(home.discord.requests.map(({ route }) => route)).toEqual(["GET /gateway/bot"]);
  });
});

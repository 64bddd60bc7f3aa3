import { writeFile } from "node:fs/promises";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { BLOCKED, SERVER_ERROR, UNAUTHORIZED, rateLimited } from "../../../test/support/fake-telegram/fake-telegram.ts";
import { type TelegramHome, createTelegramHome } from "../../../test/support/fake-telegram/telegram-home.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { OutboundMessage } from "../channel.ts";

const refuse = (description: string, parameters = {}) => ({
  error_code: 400,
  description: `Bad Request: ${description}`,
  parameters,
});

function outbound(parts: Partial<OutboundMessage> & { to?: string; threadId?: string | number }): OutboundMessage {
  const { to = "telegram:1001", threadId, ...rest } = parts;
  const target = { channel: "telegram", accountId: "default", to, ...(threadId === undefined ? {} : { threadId }) };
  return { target, idempotencyKey: "k", ...rest };
}

async function failureOf(home: TelegramHome, message: OutboundMessage): Promise<unknown> {
  return await home
    .open()
    .send(message)
    .catch((error: unknown) => error);
}

describe("sending text", () => {
  it("sends markup as entities, without preview, and returns the id", async () => {
    await using home = await createTelegramHome();
    const { messageId } = await home.open().send(outbound({ text: "**done**: `ls`" }));
    const [call] = home.telegram.sent;
    expect(call?.params).toEqual({
      chat_id: 1001,
      text: "done: ls",
      entities: [
        { type: "bold", offset: 0, length: 4 },
        { type: "code", offset: 6, length: 2 },
      ],
      link_preview_options: { is_disabled: true },
    });
    expect(call?.result).toMatchObject({ message_id: Number(messageId) });
  });

  it.each<[{ to: string; threadId?: string | number }, Record<string, unknown>]>([
    [{ to: "1001" }, { chat_id: 1001 }],
    [{ to: "telegram:group:-100123" }, { chat_id: -100_123 }],
    [{ to: "telegram:group:-100123:topic:42" }, { chat_id: -100_123, message_thread_id: 42 }],
    [
      { to: "telegram:-100123", threadId: "42" },
      { chat_id: -100_123, message_thread_id: 42 },
    ],
    [{ to: "@public_group" }, { chat_id: "@public_group" }],
  ])("finds the chat of %j", async (target, expected) => {
    await using home = await createTelegramHome();
    await home.open().send(outbound({ ...target, text: "x" }));
    expect(home.telegram.sent[0]?.params).toMatchObject(expected);
  });

  it("sends to the General topic without a topic id, but shows typing with it", async () => {
    await using home = await createTelegramHome();
    const channel = home.open();
    const message = outbound({ to: "telegram:-100123", threadId: 1, text: "x" });
    await channel.send(message);
    expect(home.telegram.sent[0]?.params).not.toHaveProperty("message_thread_id");
    await channel.showTyping?.(message.target);
    expect(home.telegram.calls.at(-1)).toMatchObject({
      method: "sendChatAction",
      params: { chat_id: -100_123, message_thread_id: 1, action: "typing" },
    });
  });

  it("ignores a failure to show typing", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("sendChatAction", BLOCKED);
    await expect(home.open().showTyping?.(outbound({}).target)).resolves.toBeUndefined();
  });

  it("replies to a message, and omits a deleted or invented one", async () => {
    await using home = await createTelegramHome();
    const channel = home.open();
    await channel.send(outbound({ text: "x", replyToId: "55" }));
    expect(home.telegram.sent[0]?.params["reply_parameters"]).toEqual({
      message_id: 55,
      allow_sending_without_reply: true,
    });
    home.telegram.fail("sendMessage", refuse("message to be replied not found"));
    await channel.send(outbound({ text: "y", replyToId: "56" }));
    expect(home.telegram.sent[1]?.params).toMatchObject({ text: "y" });
    expect(home.telegram.sent[1]?.params).not.toHaveProperty("reply_parameters");
    await channel.send(outbound({ text: "z", replyToId: "the last one" }));
    expect(home.telegram.sent[2]?.params).not.toHaveProperty("reply_parameters");
  });

  it("falls back to plain text when Telegram rejects the markup", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("sendMessage", refuse("can't parse entities: unexpected end"));
    await home.open().send(outbound({ text: "**x**" }));
    expect(home.telegram.sent).toHaveLength(1);
    expect(home.telegram.sent[0]?.params).toMatchObject({ text: "**x**", entities: [] });
  });

  it("follows a group to its new id", async () => {
    await using home = await createTelegramHome();
    home.telegram.fail("sendMessage", refuse("group chat was upgraded", { migrate_to_chat_id: -100_999 }));
    await home.open().send(outbound({ to: "telegram:group:-5", text: "x" }));
    expect(home.telegram.sent[0]?.params["chat_id"]).toBe(-100_999);
  });
});

describe("failures", () => {
  it.each([
    [rateLimited(7), { kind: "unavailable", code: "telegram-rate-limited", data: { retryAfterMs: 7000 } }],
    [BLOCKED, { kind: "forbidden", code: "telegram-forbidden" }],
    [refuse("chat not found"), { kind: "not-found", code: "telegram-chat-not-found" }],
    [refuse("message thread not found"), { kind: "not-found", code: "telegram-topic-not-found" }],
    [refuse("have no rights to send"), { kind: "usage", message: "Cannot send to Telegram: have no rights to send" }],
    [UNAUTHORIZED, { kind: "usage", code: "telegram-token-refused" }],
    [SERVER_ERROR, { kind: "unavailable", data: { maybeDelivered: true } }],
    ["hang-up" as const, { kind: "unavailable", code: "telegram-unreachable", data: { maybeDelivered: true } }],
  ])("%j becomes a kind that says whether to retry", async (failure, expected) => {
    await using home = await createTelegramHome();
    home.telegram.fail("sendMessage", failure);
    const error = await failureOf(home, outbound({ text: "x" }));
    expect(error).toMatchObject(expected);
    expect(error).toHaveProperty("hint", expect.any(String));
    // There is no retry.
    expect(home.telegram.calls).toHaveLength(1);
  });

  it("reports nothing delivered if there was no connection", async () => {
    await using home = await createTelegramHome();
    await home.telegram[Symbol.asyncDispose]();
    expect(await failureOf(home, outbound({ text: "x" }))).toMatchObject({
      kind: "unavailable",
      data: { maybeDelivered: false, system: "ECONNREFUSED" },
    });
  });

  it.each([{ text: "x".repeat(4097) }, { text: " " }, { text: "x", to: "somebody" }, { text: "x", to: "discord:1" }])(
    "refuses %o as a usage error",
    async (parts) => {
      await using home = await createTelegramHome();
      expect(await failureOf(home, outbound(parts))).toMatchObject({ kind: "usage" });
      expect(home.telegram.sent).toEqual([]);
    },
  );

  it("never reveals the token in a failure", async () => {
    await using home = await createTelegramHome();
    const secret = home.telegram.token.split(":")[1] ?? "";
    home.telegram.fail("getMe", "hang-up");
    home.telegram.fail("getUpdates", "hang-up", SERVER_ERROR);
    home.telegram.fail("sendMessage", "hang-up");
    home.telegram.fail("sendChatAction", "hang-up");
    const channel = home.open();
    await channel.start(home.host);
    const error = await channel.send(outbound({ text: "x" })).catch((reason: unknown) => reason);
    await channel.showTyping?.(outbound({}).target);
    await home.telegram[Symbol.asyncDispose]();
    const late = await channel.send(outbound({ text: "x" })).catch((reason: unknown) => reason);
    await channel.stop();
    const seen = [error, late].map((failure) => inspect(failure, { depth: 9 }));
    expect(JSON.stringify([seen, home.host.statuses, home.log])).not.toContain(secret);
    expect(home.log.length).toBeGreaterThan(0);
  });
});

describe("sending files", () => {
  it("uploads a picture with a caption, in the topic, as a reply", async () => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    const path = folder.join("cat.png");
    await writeFile(path, "PNG bytes");
    const media = [{ kind: "file" as const, path }];
    await home.open().send(outbound({ text: "a **cat**", media, threadId: 9, replyToId: "4" }));
    const [call] = home.telegram.sent;
    expect(call).toMatchObject({
      method: "sendPhoto",
      params: {
        chat_id: 1001,
        message_thread_id: 9,
        caption: "a cat",
        caption_entities: [{ type: "bold", offset: 2, length: 3 }],
        reply_parameters: { message_id: 4 },
      },
    });
    expect(call?.files["photo"]?.name).toBe("cat.png");
    expect(call?.files["photo"]?.bytes.toString()).toBe("PNG bytes");
  });

  it.each([
    ["report.pdf", false, "sendDocument"],
    ["clip.mp4", false, "sendVideo"],
    ["fun.gif", false, "sendAnimation"],
    ["note.ogg", true, "sendVoice"],
    ["note.ogg", false, "sendAudio"],
    ["note.txt", true, "sendDocument"],
    ["no-extension", false, "sendDocument"],
  ])("sends %s (voice: %s) by %s", async (name, asVoice, method) => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    await writeFile(folder.join(name), "bytes");
    await home.open().send(outbound({ media: [{ kind: "file", path: folder.join(name) }], asVoice }));
    expect(home.telegram.sent.map((call) => call.method)).toEqual([method]);
    expect(Object.values(home.telegram.sent[0]?.files ?? {})[0]?.bytes.toString()).toBe("bytes");
  });

  it("lets Telegram fetch a URL", async () => {
    await using home = await createTelegramHome();
    await home.open().send(outbound({ media: [{ kind: "url", url: "https://example.org/a.jpg?size=2" }] }));
    expect(home.telegram.sent[0]).toMatchObject({
      method: "sendPhoto",
      params: { photo: "https://example.org/a.jpg?size=2" },
      files: {},
    });
  });

  it("sends a refused picture or voice message as a document", async () => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    await writeFile(folder.join("huge.png"), "bytes");
    await writeFile(folder.join("note.ogg"), "bytes");
    home.telegram.fail("sendPhoto", refuse("PHOTO_INVALID_DIMENSIONS"));
    home.telegram.fail("sendVoice", refuse("VOICE_MESSAGES_FORBIDDEN"));
    const channel = home.open();
    await channel.send(outbound({ media: [{ kind: "file", path: folder.join("huge.png") }] }));
    await channel.send(outbound({ media: [{ kind: "file", path: folder.join("note.ogg") }], asVoice: true }));
    expect(home.telegram.sent.map(({ method }) => method)).toEqual(["sendDocument", "sendAudio"]);
    expect(home.telegram.sent[0]?.files["document"]?.bytes.toString()).toBe("bytes");
  });

  it("sends a long text first, and reports delivered parts after a failure", async () => {
    await using home = await createTelegramHome();
    await using folder = await temporaryFolder();
    const files = ["a.txt", "b.txt"].map((name) => folder.join(name));
    for (const path of files) await writeFile(path, "bytes");
    home.telegram.fail("sendDocument", rateLimited(1));
    const media = files.map((path) => ({ kind: "file" as const, path }));
    const error = await failureOf(home, outbound({ text: "long ".repeat(300), media }));
    const [first] = home.telegram.sent;
    expect(first?.method).toBe("sendMessage");
    expect(error).toMatchObject({
      kind: "unavailable",
      data: { retryAfterMs: 1000, deliveredIds: [expect.stringMatching(/^\d+$/)] },
    });
  });

  it("says which file is missing", async () => {
    await using home = await createTelegramHome();
    const error = await failureOf(home, outbound({ media: [{ kind: "file", path: "/nowhere/a.png" }] }));
    expect(error).toHaveProperty("message", expect.stringContaining("/nowhere/a.png"));
    expect(home.telegram.calls).toEqual([]);
  });
});

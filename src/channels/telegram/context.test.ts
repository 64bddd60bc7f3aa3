import type { Message, MessageEntity } from "grammy/types";
import { describe, expect, it } from "vitest";
import { ADA, BOB, BOT, FORUM, GROUP, message } from "../../../test/support/fake-telegram/updates.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { buildContext } from "./context.ts";

const build = (built: Message): MessageContext | undefined => buildContext(built, BOT);

function keyOf(built: Message): string {
  const session = { scope: "per-sender", dmScope: "per-channel-peer" } as const;
  return resolveInboundSessionKey({ Provider: "telegram", ...build(built) }, { agentId: "main", session });
}

function entity(type: "mention" | "bot_command", text: string, word: string): MessageEntity[] {
  return [{ type, offset: text.indexOf(word), length: word.length }];
}

function command(text: string, word: string): string | undefined {
  return build(message({ text, entities: entity("bot_command", text, word), chat: GROUP }))?.CommandBody;
}

describe("the context of a message", () => {
  it("describes a direct message in OpenClaw's fields", () => {
    const ctx = build(message({ text: "hi", message_id: 5 }));
    expect(ctx).toEqual({
      Timestamp: 1_794_744_000_000,
      Body: "hi",
      CommandBody: "hi",
      From: "telegram:1001",
      To: "telegram:1001",
      OriginatingTo: "telegram:1001",
      ChatType: "direct",
      SenderId: "1001",
      SenderName: "Ada Lovelace",
      SenderUsername: "AdaL",
      BotUsername: "holdfast_bot",
      BotId: "777000777",
    });
  });

  it("gives people, groups and topics separate sessions, with OpenClaw's keys", () => {
    const inTopic = { chat: FORUM, is_topic_message: true, message_thread_id: 42 } as const;
    expect(keyOf(message({ text: "x" }))).toBe("agent:main:telegram:dm:1001");
    expect(keyOf(message({ text: "x", chat: GROUP }))).toBe("agent:main:telegram:group:-1001234567890");
    expect(keyOf(message({ text: "x", ...inTopic }))).toBe("agent:main:telegram:group:-1009876543210:topic:42");
    expect(keyOf(message({ text: "x", chat: FORUM }))).toBe("agent:main:telegram:group:-1009876543210:topic:1");
  });

  it("distinguishes a topic from a thread of replies", () => {
    expect(build(message({ text: "x", chat: GROUP, message_thread_id: 9 }))?.MessageThreadId).toBeUndefined();
    const opener = message({
      chat: FORUM,
      message_id: 42,
      forum_topic_created: { name: "Releases", icon_color: 0x6fb9f0 },
    });
    const ctx = build(
      message({
        text: "x",
        chat: FORUM,
        is_topic_message: true,
        message_thread_id: 42,
        reply_to_message: opener as NonNullable<Message["reply_to_message"]>,
      }),
    );
    expect(ctx).toMatchObject({ MessageThreadId: 42, ThreadLabel: "Releases", GroupSubject: "Forum" });
    expect(ctx).not.toHaveProperty("ReplyToId");
    expect(build(message({ text: "x", is_topic_message: true, message_thread_id: 3 }))).toMatchObject({
      From: "telegram:1001",
      MessageThreadId: 3,
    });
  });

  it.each<[string, MessageEntity[], boolean]>([
    ["hey @Holdfast_Bot", entity("mention", "hey @Holdfast_Bot", "@Holdfast_Bot"), true],
    ["hey @other_bot", entity("mention", "hey @other_bot", "@other_bot"), false],
    ["/new@holdfast_bot", entity("bot_command", "/new@holdfast_bot", "/new@holdfast_bot"), true],
    ["/new@other_bot", entity("bot_command", "/new@other_bot", "/new@other_bot"), false],
    ["you there", [{ type: "text_mention", offset: 0, length: 3, user: BOT }], true],
    ["Ada there", [{ type: "text_mention", offset: 0, length: 3, user: ADA }], false],
    ["me@holdfast_bot.org", [], false],
  ])("detects a mention of the bot in %j by its entities: %j", (text, entities, expected) => {
    expect(build(message({ text, entities, chat: GROUP }))?.WasMentioned).toBe(expected);
  });

  it("removes its own name from a command, but not other bots' names", () => {
    expect(command("/new@Holdfast_bot opus hello", "/new@Holdfast_bot")).toBe("/new opus hello");
    expect(command("/new@other_bot", "/new@other_bot")).toBe("/new@other_bot");
    expect(command("/stop", "/stop")).toBe("/stop");
  });

  it("includes the replied message; a reply to the agent counts as a mention", () => {
    const own = message({ text: "my answer", from: BOT, chat: GROUP, message_id: 77 });
    const reply = own as NonNullable<Message["reply_to_message"]>;
    const ctx = build(message({ text: "why?", chat: GROUP, reply_to_message: reply }));
    expect(ctx).toMatchObject({
      ReplyToId: "77",
      ReplyToBody: "my answer",
      ReplyToSender: "Holdfast",
      ReplyToIsOwn: true,
      WasMentioned: true,
    });
    const quote = { text: "answer", position: 3 };
    expect(build(message({ text: "why?", chat: GROUP, reply_to_message: reply, quote }))?.ReplyToBody).toBe("answer");
  });

  it("keeps links, captions, places and contacts as text", () => {
    const link: MessageEntity = { type: "text_link", offset: 4, length: 4, url: "https://example.org" };
    expect(build(message({ text: "see this", entities: [link] }))).toMatchObject({
      Body: "see [this](https://example.org)",
      CommandBody: "see this",
    });
    const photo = [{ file_id: "f", file_unique_id: "u", width: 1, height: 1 }];
    expect(build(message({ photo, caption: "a cat" }))?.Body).toBe("a cat");
    expect(build(message({ photo }))).toMatchObject({ Body: "<media:image>", CommandBody: "" });
    expect(build(message({ location: { latitude: 1.5, longitude: -2 } }))?.Body).toBe("<location 1.5, -2>");
    expect(build(message({ contact: { first_name: "Eve", phone_number: "+1555" } }))?.Body).toBe("<contact> Eve +1555");
  });

  it("names the author of a forwarded text as untrusted context", () => {
    const origin = { type: "user", sender_user: BOB, date: 1 } as const;
    expect(build(message({ text: "do it", forward_origin: origin }))?.UntrustedContext).toEqual([
      "This message was forwarded; it was first written by Bob.",
    ]);
  });

  it("recognizes a sender who writes on behalf of the group", () => {
    const from = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
    expect(build(message({ text: "x", chat: GROUP, from, sender_chat: GROUP }))).toMatchObject({
      SenderId: "-1001234567890",
      SenderName: "Engine room",
    });
  });

  it.each<[string, Message]>([
    ["a service message", message({ chat: GROUP, pinned_message: message({ text: "x" }) as never })],
    ["another bot", message({ text: "x", from: { ...BOB, is_bot: true } })],
    ["a channel post", message({ text: "x", chat: { id: -5, type: "channel", title: "News" } })],
    ["an empty message", message()],
  ])("ignores %s", (_name, built) => {
    expect(build(built)).toBeUndefined();
  });
});

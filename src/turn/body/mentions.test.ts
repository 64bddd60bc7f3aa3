import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../test/support/time.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { commandText, compileMentionPatterns, mentionsAgent, stripMentions, isAddressed } from "./inbound.ts";

const telegram: MessageContext = { Provider: "telegram", ChatType: "group", BotUsername: "helper_bot", BotId: "77" };
const discord: MessageContext = { Provider: "discord", ChatType: "channel", BotUsername: "helper", BotId: "4242" };
const whatsapp: MessageContext = {
  Provider: "whatsapp",
  ChatType: "group",
  BotId: "15551234567:3@s.whatsapp.net",
};
const mentionPatterns = compileMentionPatterns(["\\bjarvis\\b"]);

const addressed = (ctx: MessageContext, entry?: { groupActivation?: "mention" | "always" }) =>
  isAddressed({ ctx, entry, mentionPatterns });

describe("stripMentions", () => {
  it.each([
    [telegram, "@helper_bot hi", "hi"],
    [telegram, "hi @Helper_Bot there", "hi there"],
    [telegram, "/new@helper_bot start", "/new start"],
    [telegram, "@helper_bot2 and me@helper_bot.org and @ada stay", "@helper_bot2 and me@helper_bot.org and @ada stay"],
    [telegram, "ask @helper_bot.", "ask."],
    [telegram, "one\n  two @helper_bot\nthree", "one\n  two\nthree"],
    [discord, "<@4242> hi <@!4242> and <@99>", "hi and <@99>"],
    [discord, "<@42420> stays", "<@42420> stays"],
    [whatsapp, "@15551234567 hi", "hi"],
    [whatsapp, "@155512345678 is somebody else", "@155512345678 is somebody else"],
  ])("%#: %j", (ctx, text, expected) => {
    expect(stripMentions(text, { ctx })).toBe(expected);
  });

  it("removes a configured word only at the start", () => {
    expect(stripMentions("Jarvis, what is it?", { ctx: telegram, mentionPatterns })).toBe("what is it?");
    expect(stripMentions("who is Jarvis?", { ctx: telegram, mentionPatterns })).toBe("who is Jarvis?");
  });

  it("does not read the agent's name as a pattern", () => {
    expect(stripMentions("@axb hi", { ctx: { BotUsername: "a.b" } })).toBe("@axb hi");
    expect(stripMentions("@a(b hi", { ctx: { BotUsername: "a(b" } })).toBe("hi");
  });

  it("takes linear time", () => {
    const text = `${" ".repeat(100_000)}${"@helper_".repeat(50_000)}${"/a".repeat(50_000)}`;
    expect(cpuMs(() => stripMentions(text, { ctx: telegram, mentionPatterns }))).toBeLessThan(2000);
  });
});

describe("compileMentionPatterns", () => {
  it("says which pattern is wrong", () => {
    expect(() => compileMentionPatterns(["ok", "(open"])).toThrow(expect.objectContaining({ kind: "usage" }) as Error);
  });

  it("ignores patterns that match the empty string", () => {
    expect(mentionsAgent("hello", { ctx: {}, mentionPatterns: compileMentionPatterns(["x*"]) })).toBe(false);
  });
});

describe("commandText", () => {
  it("is the command without wrappers and mentions", () => {
    const Body = "[Telegram 17:35] Alice: @helper_bot /new\nhi";
    expect(commandText({ ctx: { ...telegram, Body } })).toBe("/new hi");
    expect(commandText({ ctx: { ...telegram, Body, BodyForCommands: "/stop@helper_bot" } })).toBe("/stop");
  });
});

describe("isAddressed", () => {
  it("always in a direct chat", () => {
    expect(addressed({ ChatType: "direct", Body: "hi" })).toBe(true);
    expect(addressed({ Body: "hi" })).toBe(true);
  });

  it("in a group when mentioned, by name or by a configured word", () => {
    expect(addressed({ ...telegram, Body: "hi" })).toBe(false);
    expect(addressed({ ...telegram, Body: "hi @helper_bot" })).toBe(true);
    expect(addressed({ ...telegram, Body: "so, jarvis?" })).toBe(true);
    expect(addressed({ ...discord, Body: "<@4242>" })).toBe(true);
    expect(addressed({ ...whatsapp, Body: "@15551234567" })).toBe(true);
    expect(addressed({ ...telegram, Body: "hi", WasMentioned: true })).toBe(true);
  });

  it("ignores mentions in quoted history", () => {
    expect(addressed({ ...telegram, Body: "[history] @helper_bot\nhi", RawBody: "hi" })).toBe(false);
  });

  it("by the group's own setting rather than the default", () => {
    const ctx = { ...telegram, Body: "hi" };
    expect(addressed(ctx, { groupActivation: "always" })).toBe(true);
    expect(isAddressed({ ctx, entry: { groupActivation: "mention" }, defaultActivation: "always" })).toBe(false);
    expect(isAddressed({ ctx, entry: {}, defaultActivation: "always" })).toBe(true);
  });

  it("by a command only if it is authorised", () => {
    const ctx = { ...telegram, Body: "/status" };
    expect(isAddressed({ ctx, entry: undefined, isCommand: true })).toBe(false);
    expect(isAddressed({ ctx: { ...ctx, CommandAuthorized: true }, entry: undefined, isCommand: true })).toBe(true);
  });
});

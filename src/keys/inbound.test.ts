import { describe, expect, it } from "vitest";
import { resolveInboundSessionKey, resolveSessionKey } from "./inbound.ts";
import type { MessageContext } from "./message-context.ts";
import type { DmScope, SessionScope } from "./session-key.ts";

const session = { scope: "per-sender" as SessionScope, dmScope: "per-channel-peer" as DmScope, mainKey: "main" };

function resolve(
  ctx: MessageContext,
  overrides: Partial<typeof session> & { identityLinks?: Record<string, string[]> } = {},
) {
  return resolveInboundSessionKey(ctx, { agentId: "main", session: { ...session, ...overrides } });
}

describe("resolveInboundSessionKey", () => {
  it("prefers the channel's own key, in canonical form", () => {
    expect(resolve({ SessionKey: "main", From: "telegram:group:1" }, { scope: "global" })).toBe("agent:main:main");
    expect(resolve({ SessionKey: "agent:main:Telegram:Direct:1" })).toBe("agent:main:telegram:dm:1");
  });

  it("puts everything into one session under scope global", () => {
    expect(resolve({ From: "telegram:group:1" }, { scope: "global" })).toBe("global");
  });

  it.each<[MessageContext, string]>([
    [{ From: "discord:channel:123" }, "agent:main:discord:channel:123"],
    [{ From: "120363@g.us" }, "agent:main:whatsapp:group:120363@g.us"],
    [{ From: "telegram:-100:topic:4", ChatType: "group" }, "agent:main:telegram:group:-100:topic:4"],
    [{ From: "telegram:group:-100:thread:4" }, "agent:main:telegram:group:-100:%74hread:4"],
  ])("recognises the group of %j", (ctx, expected) => {
    expect(resolve(ctx)).toBe(expected);
  });

  it.each<[MessageContext, string]>([
    [{ From: "foo:group:1" }, "agent:main:foo:group:1"],
    [{ ChatType: "group", Provider: "telegram" }, "agent:main:telegram:group:unknown"],
    [{ ChatType: "channel" }, "agent:main:unknown:channel:unknown"],
  ])("keeps an unnamed group out of the main session: %j", (ctx, expected) => {
    expect(resolve(ctx, { dmScope: "main" })).toBe(expected);
  });

  it.each<[DmScope, string]>([
    ["main", "agent:main:main"],
    ["per-peer", "agent:main:dm:+1555"],
    ["per-channel-peer", "agent:main:whatsapp:dm:+1555"],
    ["per-account-channel-peer", "agent:main:whatsapp:biz:dm:+1555"],
  ])("follows dmScope %s", (dmScope, expected) => {
    expect(resolve({ From: "whatsapp:+1555", ChatType: "direct", AccountId: "Biz" }, { dmScope })).toBe(expected);
  });

  it("finds the peer however the adapter writes the address", () => {
    const expected = "agent:main:telegram:dm:99";
    expect(resolve({ From: "telegram:99" })).toBe(expected);
    expect(resolve({ From: "Telegram:Direct:99" })).toBe(expected);
    expect(resolve({ From: "99", Provider: "Telegram" })).toBe(expected);
    expect(resolve({ SenderId: "99", Surface: "telegram" })).toBe(expected);
    expect(resolve({ From: "mychat:99", Provider: "mychat" })).toBe("agent:main:mychat:dm:99");
  });

  it("keeps a message without a sender out of other sessions", () => {
    expect(resolve({})).toBe("agent:main:unknown:dm:unknown");
    expect(resolve({ From: "unknown", Provider: "telegram" })).toBe("agent:main:telegram:dm:%75nknown");
  });

  it("joins the addresses of one person only", () => {
    const identityLinks = { Alice: ["telegram:111", "discord:222"] };
    const scope = { dmScope: "per-peer" as DmScope, identityLinks };
    expect(resolve({ From: "telegram:111" }, scope)).toBe("agent:main:dm:alice");
    expect(resolve({ From: "discord:222" }, scope)).toBe("agent:main:dm:alice");
    expect(resolve({ From: "irc:alice" }, scope)).toBe("agent:main:dm:alice%25");
  });
});

describe("resolveSessionKey", () => {
  it("gives `main` and the full key the same session", () => {
    expect(resolveSessionKey("per-sender", { SessionKey: "main" })).toBe(resolveSessionKey("per-sender", {}));
  });

  it("knows scope global", () => {
    expect(resolveSessionKey("global", { From: "telegram:group:1" })).toBe("global");
  });
});

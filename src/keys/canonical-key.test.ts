import { describe, expect, it } from "vitest";
import { canonicalSessionKey } from "./canonical-key.ts";
import { buildAgentPeerSessionKey, resolveThreadSessionKeys } from "./session-key.ts";

const canonical = (key: string, mainKey?: string) => canonicalSessionKey(key, { agentId: "main", mainKey });

describe("canonicalSessionKey", () => {
  it.each([
    ["main", "agent:main:main"],
    [" MAIN ", "agent:main:main"],
    ["Agent:Main:Main", "agent:main:main"],
    ["agent:main::main:", "agent:main:main"],
    ["agent:other:main", "agent:other:main"],
    ["agent:My Agent!:main", "agent:my-agent:main"],
    ["telegram:dm:5", "agent:main:telegram:dm:5"],
    ["agent:main:telegram:direct:5", "agent:main:telegram:dm:5"],
    ["agent:main:direct:5", "agent:main:dm:5"],
    ["agent:main:telegram:default:direct:5", "agent:main:telegram:default:dm:5"],
    ["agent:main:telegram:group:direct:5", "agent:main:telegram:group:direct:5"],
    ["agent:main:cron:direct:5", "agent:main:cron:direct:5"],
    ["agent:main:main:thread:direct:5", "agent:main:main:thread:direct:5"],
    ["subagent:X", "agent:main:subagent:x"],
    ["global", "global"],
    [" Global", "global"],
    ["agent:main:global", "agent:main:global"],
    ["", "agent:main:unknown"],
    [" :: ", "agent:main:unknown"],
    ["agent:x", "agent:main:agent:x"],
  ])("makes %j %s", (key, expected) => {
    expect(canonical(key)).toBe(expected);
  });

  it.each([
    ["main", "agent:main:home"],
    ["home", "agent:main:home"],
    ["agent:main:main", "agent:main:home"],
    ["agent:x:HOME", "agent:x:home"],
    ["main:thread:7", "agent:main:home:thread:7"],
    ["main:dm:7", "agent:main:main:dm:7"],
  ])("knows the main session by its configured name: %j is %s", (key, expected) => {
    expect(canonical(key, "Home")).toBe(expected);
  });

  it("keeps the case of ids where case distinguishes conversations", () => {
    expect(canonical("Agent:Main:Signal:Group:AbC=")).toBe("agent:main:signal:group:AbC=");
    expect(canonical("agent:main:matrix:channel:!Room:S.org:THREAD:$Ev")).toBe(
      "agent:main:matrix:channel:!Room:S.org:thread:$Ev",
    );
    expect(canonical("agent:main:matrix:dm:@Bob:S.org:thread:$Ev")).toBe("agent:main:matrix:dm:@bob:s.org:thread:$Ev");
    expect(canonical("agent:main:slack:channel:C0AbC")).toBe("agent:main:slack:channel:c0abc");
  });

  it("lower-cases an id inside a key like the id alone", () => {
    const built = buildAgentPeerSessionKey({
      agentId: "main",
      channel: "x",
      peerId: "ΟΔΟΣ",
      dmScope: "per-channel-peer",
    });
    expect(canonical("x:dm:ΟΔΟΣ")).toBe(built);
  });

  it.each([
    ["__proto__", "agent:main:__proto__"],
    ["agent:__proto__:constructor", "agent:__proto__:constructor"],
    ["../../etc/passwd", "agent:main:../../etc/passwd"],
    ["agent:../..:main", "agent:main:main"],
    ["a\0b", "agent:main:a%00b"],
    ["a\u001b[2Jb\u0085", "agent:main:a%1b[2jb%c2%85"],
    ["a\ud800", "agent:main:a%ed%a0%80"],
    ["🦀:dm:ÉMILE", "agent:main:🦀:dm:émile"],
  ])("treats %j as data: %s", (key, expected) => {
    expect(canonical(key)).toBe(expected);
  });

  it("handles long and adversarial text in linear time", () => {
    expect(canonical("x".repeat(10_240))).toBe(`agent:main:${"x".repeat(10_240)}`);
    // A quadratic algorithm would need minutes for these, more than a test may take.
    expect(canonical(`a${" ".repeat(1_000_000)}b`)).toHaveLength("agent:main:".length + 1_000_002);
    expect(canonical(`a${":".repeat(1_000_000)}b`)).toBe("agent:main:a:b");
  });

  it("does not confuse a hostile peer with a thread of another group", () => {
    const group = buildAgentPeerSessionKey({ agentId: "main", channel: "slack", peerKind: "channel", peerId: "c1" });
    const thread = resolveThreadSessionKeys({ baseSessionKey: group, threadId: "9" }).sessionKey;
    const peerId = "C1:Thread:9";
    const hostile = buildAgentPeerSessionKey({ agentId: "main", channel: "slack", peerKind: "channel", peerId });
    expect(hostile).toBe("agent:main:slack:channel:c1:%74hread:9");
    expect(canonical(hostile)).not.toBe(canonical(thread));
  });
});

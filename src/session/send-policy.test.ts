/**
 * Where "first match" and OpenClaw's "any deny" differ. The recorded answers are in
 * test/pins/openclaw-answers.test.ts.
 */
import { describe, expect, it } from "vitest";
import type { SendPolicyRule } from "../config/config.ts";
import { describeOverriddenDenies, resolveSendPolicy } from "./send-policy.ts";

const rule = (action: "allow" | "deny", match: SendPolicyRule["match"] = {}): SendPolicyRule => ({ action, match });

describe("resolveSendPolicy", () => {
  it("lets the first match decide", () => {
    const rules = [rule("allow", { channel: "telegram" }), rule("deny", {})];
    const cfg = { session: { sendPolicy: { rules } } };
    expect(resolveSendPolicy({ cfg, channel: "telegram" })).toBe("allow");
    expect(resolveSendPolicy({ cfg, channel: "discord" })).toBe("deny");
  });

  it("ignores a blank channel, and finds the chat type anywhere in the key", () => {
    const rules = [rule("deny", { channel: "telegram", chatType: "group" })];
    const cfg = { session: { sendPolicy: { rules } } };
    const sessionKey = "agent:main:telegram:work:group:7";
    expect(resolveSendPolicy({ cfg, sessionKey, channel: " ", entry: { channel: "Telegram" } })).toBe("deny");
  });
});

describe("a deny rule after an allow rule", () => {
  it.each([
    ["of everything", [rule("allow"), rule("deny", { channel: "discord" })]],
    [
      "of the same channel",
      [rule("allow", { channel: "Discord" }), rule("deny", { channel: "discord", chatType: "group" })],
    ],
    ["of a kind of chat", [rule("allow", { chatType: "group" }), rule("deny", { channel: "discord" })]],
    [
      "of a longer prefix",
      [rule("allow", { keyPrefix: "agent:main:" }), rule("deny", { keyPrefix: "agent:main:cron:" })],
    ],
    [
      "of a prefix with the agent",
      [rule("allow", { keyPrefix: "cron:" }), rule("deny", { keyPrefix: "agent:main:cron:" })],
    ],
    ["of a prefix of the channel", [rule("allow", { keyPrefix: "slack:" }), rule("deny", { channel: "slack" })]],
    ["with a null before it", [null, rule("allow"), rule("deny")]],
  ])("is reported: %s", (_, rules) => {
    expect(describeOverriddenDenies(rules as SendPolicyRule[])).toEqual([
      expect.stringMatching(/^session\.sendPolicy: rule \d \(deny\) has no effect where rule \d \(allow\) matches/),
    ]);
  });

  it.each([
    ["comes first", [rule("deny", { channel: "discord" }), rule("allow")]],
    ["is of another channel", [rule("allow", { channel: "telegram" }), rule("deny", { channel: "discord" })]],
    ["is of another kind of chat", [rule("allow", { chatType: "direct" }), rule("deny", { chatType: "group" })]],
    ["has another prefix", [rule("allow", { keyPrefix: "agent:a:" }), rule("deny", { keyPrefix: "agent:b:" })]],
    [
      "has a prefix of another channel",
      [rule("allow", { keyPrefix: "agent:main:slack:" }), rule("deny", { channel: "discord" })],
    ],
    [
      "repeats an earlier one",
      [rule("deny", { channel: "x" }), rule("allow"), rule("deny", { channel: "x", chatType: "group" })],
    ],
    ["is missing", [rule("allow"), rule("allow")]],
  ])("is not reported when it %s", (_, rules) => {
    expect(describeOverriddenDenies(rules)).toEqual([]);
  });
});

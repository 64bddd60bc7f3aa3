import { describe, expect, it } from "vitest";
import { detectResetTrigger } from "./reset-trigger.ts";

const detect = (Body: string, isGroup = false) =>
  detectResetTrigger({ ctx: { Body }, resetTriggers: ["/new", "/reset", " "], isGroup, authorized: true });

describe("detectResetTrigger", () => {
  it("keeps line breaks after the trigger", () => {
    expect(detect("/new do this:\n- a\n- b").bodyStripped).toBe("do this:\n- a\n- b");
  });

  it("skips a mention in groups only", () => {
    expect(detect("@agent /new hi", true).bodyStripped).toBe("hi");
    expect(detect("@agent /new hi").triggered).toBe(false);
  });

  it("does not treat a longer word or a later word as the trigger", () => {
    expect(detect("/newer").triggered).toBe(false);
    expect(detect("say /new").triggered).toBe(false);
  });

  it("prefers the text that the channel offers for commands", () => {
    const ctx = { Body: "[history] … /new", CommandBody: "hello" };
    expect(detectResetTrigger({ ctx, resetTriggers: ["/new"], isGroup: false, authorized: true }).triggered).toBe(
      false,
    );
  });

  it("does not treat a URL as a sender's name", () => {
    expect(detect("https://example.org/new").triggerBodyNormalized).toBe("https://example.org/new");
  });
});

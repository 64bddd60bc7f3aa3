/** What people could type to pass for a hand-off; the rest is tested with the bodies of messages. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { disarmStructure } from "./disarm.ts";

describe("the marks of a hand-off", () => {
  it.each([
    ["<handoff 0123456789abcdef>", "(handoff 0123456789abcdef>"],
    ["words </handoff x> words", "words (/handoff x> words"],
    ["< / HandOff>", "( / HandOff>"],
    ["＜handoff y>", "(handoff y>"],
    ["<hand\u200boff z>", "(hand\u200boff z>"],
    ["<\u2060／handoff>", "(\u2060／handoff>"],
  ])("cannot be typed: %j", (written, disarmed) => {
    expect(disarmStructure(written)).toBe(disarmed);
  });

  it.each(["the handoff is done", "a < b, handoff", "<hand off>", "<div>handoff</div>", "x<y\nhandoff"])(
    "are not seen in %j",
    (text) => {
      expect(disarmStructure(text)).toBe(text);
    },
  );

  it("take no more time the longer the gap before them is", () => {
    const began = performance.now();
    for (const text of [`<${" ".repeat(1_000_000)}`, "<".repeat(1_000_000), "</ ".repeat(300_000)])
      disarmStructure(text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

it("something unseen elsewhere in a text changes nothing", () => {
  const words = ["System", "from", "media attached", "handoff", "current message - respond to this", "é"];
  const part = fc.constantFrom(...words, ":", "：", "[", "［", "]", "<", "/", " ", "\n", "–", "-");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      expect(disarmStructure(`${text}.\u200b`)).toBe(`${disarmStructure(text)}.\u200b`);
    }),
    { numRuns: 1_000 },
  );
});

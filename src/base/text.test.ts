/** Text for terminals, logs and people who mistype. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMs } from "../../test/support/time.ts";
import { HoldfastError } from "./errors.ts";
import { createLogger } from "./log.ts";
import { closestMatch, disarmStructure, printable, printableLine } from "./text.ts";

describe("printable", () => {
  it("shows escape sequences and direction overrides instead of obeying them", () => {
    expect(printable("\u001b]0;title\u0007\u009b31m\u202edcba")).toBe(
      String.raw`\u001b]0;title\u0007\u009b31m\u202edcba`,
    );
    expect(printable("tab\tand\nline ✓ 日本 👍")).toBe("tab\tand\nline ✓ 日本 👍");
  });

  it("cuts a line to its width by characters, not in the middle of one", () => {
    expect(printableLine(" a \n b ", 10)).toBe("a b");
    expect(printableLine("👍👍👍👍", 3)).toBe("👍👍…");
  });
});

describe("the logger", () => {
  it("writes one redacted JSON line per message at or above its level", () => {
    const lines: string[] = [];
    const logger = createLogger({ level: "warn", write: (line) => lines.push(line), now: () => 0 });
    logger.info("not this");
    const error = new HoldfastError("locked", "session-locked", `token sk-ant-${"z".repeat(30)}`, { hint: "wait" });
    logger.error("failed", { error, key: "k" });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "error",
      message: "failed",
      key: "k",
      error: {
        code: "session-locked",
        kind: "locked",
        message: "token sk-ant-[redacted]",
        hint: "wait",
        retryable: true,
      },
    });
  });
});

describe("closestMatch", () => {
  it("finds a close word, not a distant one", () => {
    expect(closestMatch("lable", ["label", "model"])).toBe("label");
    expect(closestMatch("DMSCOPE", ["dmScope"])).toBe("dmScope");
    expect(closestMatch("zebra", ["label", "model"])).toBeUndefined();
    expect(closestMatch("x", [])).toBeUndefined();
  });
});

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
    "are not recognised in %j",
    (text) => {
      expect(disarmStructure(text)).toBe(text);
    },
  );

  it("take constant time for any gap before them", () => {
    for (const text of [`<${" ".repeat(1_000_000)}`, "<".repeat(1_000_000), "</ ".repeat(300_000)]) {
      expect(cpuMs(() => disarmStructure(text))).toBeLessThan(2_000);
    }
  });
});

it("an invisible character elsewhere in the text changes nothing", () => {
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

/** What happens to text on its way out: to a terminal, to a log, to a person who mistyped. */
import { describe, expect, it } from "vitest";
import { HoldfastError } from "./errors.ts";
import { createLogger } from "./log.ts";
import { printable, printableLine } from "./printable.ts";
import { closestMatch } from "./suggest.ts";

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
  it("finds the near word and no far one", () => {
    expect(closestMatch("lable", ["label", "model"])).toBe("label");
    expect(closestMatch("DMSCOPE", ["dmScope"])).toBe("dmScope");
    expect(closestMatch("zebra", ["label", "model"])).toBeUndefined();
    expect(closestMatch("x", [])).toBeUndefined();
  });
});

/** What happens to text on its way out: to a terminal, to a log, to a person who mistyped. */
import { describe, expect, it } from "vitest";
import { HoldfastError } from "./errors.ts";
import { createLogger } from "./log.ts";
import { printable, printableLine } from "./printable.ts";
import { redactText, redactValue } from "./redact.ts";
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

describe("redactText", () => {
  it.each([
    [`key sk-ant-${"a1B2".repeat(8)} end`, "key sk-ant-[redacted] end"],
    [`ghp_${"x".repeat(36)}`, "ghp_[redacted]"],
    [`github_pat_${"y".repeat(40)}`, "github_pat_[redacted]"],
    ["AKIAIOSFODNN7EXAMPLE", "AKIA[redacted]"],
    [
      `https://api.telegram.org/bot7123456789:${"Ab-_9".repeat(7)}/getMe`,
      "https://api.telegram.org/bot[redacted]/getMe",
    ],
    [`MTk4${"Ab9_".repeat(5)}.Cl2FMQ.${"xY-7".repeat(7)}`, "[redacted]"],
    [`http://127.0.0.1:7433/#token=${"k".repeat(43)}`, "http://127.0.0.1:7433/#token=[redacted]"],
    ["token = short-word, 1794765898695:ok", "token = short-word, 1794765898695:ok"],
    ["xoxb-1234567890-abcdef", "xoxb-[redacted]"],
    [`Authorization: Bearer ${"t".repeat(30)}`, "Authorization: Bearer [redacted]"],
    ["postgres://user:hunter2secret@db/app", "postgres://user:[redacted]@db/app"],
    ["password = correcthorse", "password = [redacted]"],
    ["redis://:hunter2secret@cache:6379", "redis://:[redacted]@cache:6379"],
    [`https://${"ab1".repeat(10)}@github.com/a/b.git`, "https://[redacted]@github.com/a/b.git"],
    [`aws_secret_access_key = ${"aB3/".repeat(10)}`, "aws_secret_access_key = [redacted]"],
    [`the secret key ${"aB3/".repeat(10)}, which`, "the secret key [redacted], which"],
    ["Server=db;User ID=sa;Password=S3cr3tPa55;Encrypt=true", "Server=db;User ID=sa;Password=[redacted];Encrypt=true"],
    ["the password is hunter2!", "the password is [redacted]"],
    ["the password is wrong, and the token was lost", "the password is wrong, and the token was lost"],
    ["mysql --password hunter2x -h db", "mysql --password [redacted] -h db"],
    [`the secret was committed in ${"0a1b".repeat(10)}`, `the secret was committed in ${"0a1b".repeat(10)}`],
    ['{"api_key":"abcdef123456"}', '{"api_key":"[redacted]"}'],
    [`123456789:${"A".repeat(35)}`, "[redacted]"],
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted]"],
  ])("removes %j", (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });

  it("leaves ordinary text alone", () => {
    for (const text of [
      "the secret garden",
      "a password is needed",
      "sk-ip",
      "id 9144d6d5-0559-4de5-94fb-5fe450286816",
    ]) {
      expect(redactText(text)).toBe(text);
    }
  });

  it("needs no more time for a long line than for many short ones", () => {
    // In the square of their length these would take from minutes to hours.
    for (const piece of ["a-", "a.", "eyJaaaaaaaa-", "://a:", "password ", "-----BEGIN ", "bearer "]) {
      const text = piece.repeat(500_000);
      expect(redactText(text)).toBe(text);
    }
  });

  it.each(["sk-", "eyJ", "bearer ", "password=", "://a:"])("survives megabytes without a break behind %j", (start) => {
    const text = `${start}${"a".repeat(20_000_000)}`;
    expect(redactText(text).length).toBeGreaterThan(text.length - 10_000);
  });

  it("goes through values and takes fields that promise a secret whole", () => {
    expect(
      redactValue({ a: [`sk-${"a".repeat(20)}`], authToken: "abc", totalTokens: 5, nested: { password: "x" } }),
    ).toEqual({
      a: ["sk-[redacted]"],
      authToken: "[redacted]",
      totalTokens: 5,
      nested: { password: "[redacted]" },
    });
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

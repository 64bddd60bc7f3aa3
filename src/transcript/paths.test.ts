import { basename, join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import vectors from "../../test/fixtures/vectors/transcript.json" with { type: "json" };
import { resolveSessionTranscriptPath, sessionIdOfTranscript, transcriptFileName } from "./paths.ts";

describe("resolveSessionTranscriptPath", () => {
  test.each(vectors.filter(({ fn }) => fn === "resolveSessionTranscriptPath"))("vector $args", ({ args, expected }) => {
    const [sessionId, agentId, topicId] = args.map((arg) => (typeof arg === "object" ? undefined : arg));
    const path = resolveSessionTranscriptPath(String(sessionId), agentId as string | undefined, topicId);
    const home = process.env["HOLDFAST_HOME"] ?? "";
    expect(path).toBe(join(home, String(expected).slice("~/.openclaw/".length)));
  });

  test("normalises the agent id before it becomes a folder", () => {
    expect(resolveSessionTranscriptPath("sid", "../../etc")).toMatch(/agents\/[a-z0-9_-]+\/sessions\/sid\.jsonl$/);
  });
});

describe("transcriptFileName", () => {
  test.each(["", ".", "..", "../x", "a/b", "a\\b", "a\0b", "a\nb", ".hidden", "x".repeat(129), "a-topic-b", "\ud800"])(
    "refuses the session id %j",
    (sessionId) => {
      expect(() => transcriptFileName(sessionId)).toThrow(expect.objectContaining({ kind: "usage" }));
    },
  );

  test.each([
    [42, "sid-topic-42.jsonl"],
    ["a/../b", "sid-topic-a%2F..%2Fb.jsonl"],
    ["..", "sid-topic-...jsonl"],
    ["", "sid-topic-.jsonl"],
  ])("encodes the topic %j", (topic, expected) => {
    expect(transcriptFileName("sid", topic)).toBe(expected);
  });

  const anyText = fc.string({ unit: anyCharacter, maxLength: 400 });

  test("any topic gives one plain, short name that identifies the session", () => {
    fc.assert(
      fc.property(anyText, (topic) => {
        const name = transcriptFileName("sid", topic);
        expect(basename(name)).toBe(name);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
        expect(sessionIdOfTranscript(name)).toBe("sid");
      }),
    );
  });

  test("different topics never share a name", () => {
    fc.assert(
      fc.property(anyText, anyText, (one, two) => {
        fc.pre(one !== two);
        expect(transcriptFileName("sid", one)).not.toBe(transcriptFileName("sid", two));
      }),
    );
    const long = "x".repeat(500);
    const hashed = transcriptFileName("sid", long).slice("sid-topic-".length, -".jsonl".length);
    expect(transcriptFileName("sid", hashed)).not.toBe(transcriptFileName("sid", long));
    expect(transcriptFileName("sid", "\ud800")).not.toBe(transcriptFileName("sid", "\ud801"));
  });
});

test.each(["sid.jsonl.bak.2026", "sid.jsonl.torn-2026", "sessions.json", ".jsonl", "x/y.jsonl"])(
  "%s is not a transcript name",
  (name) => {
    expect(sessionIdOfTranscript(name)).toBeUndefined();
  },
);

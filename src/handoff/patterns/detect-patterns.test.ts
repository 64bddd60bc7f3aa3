/** What becomes a note and what does not, by the kinds of sentence that are easily mistaken. */
import { array, assert, constantFrom, integer, oneof, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMs } from "../../../test/support/time.ts";
import { detectPatterns } from "./detect-patterns.ts";
import type { PatternMessage } from "./note.ts";

function message(text: string, role: "user" | "assistant" = "user"): PatternMessage {
  return { role, text, timestamp: "2026-05-04T10:00:00.000Z", entryId: "e1" };
}

function typesOf(text: string, role: "user" | "assistant" = "user"): string[] {
  return [...new Set(detectPatterns(message(text, role)).map((note) => note.type))].sort();
}

describe("detectPatterns", () => {
  it("gives each note its sentence, its entry and its time", () => {
    const notes = detectPatterns(message("Morning! The staging deploy is broken. I'm going to lunch."));
    expect(notes).toEqual([
      {
        type: "blocker",
        content: "The staging deploy is broken.",
        confidence: expect.any(Number),
        timestamp: "2026-05-04T10:00:00.000Z",
        sourceEntryId: "e1",
      },
    ]);
    expect(notes[0]?.confidence).toBeGreaterThan(0.5);
  });

  it("reads a plain string as a person's message", () => {
    const text = "Morning! The staging deploy is broken. I'm going to lunch.";
    const [note, ...others] = detectPatterns(text, { explain: true });
    expect(note).toMatchObject({ type: "blocker", timestamp: "", sourceEntryId: "" });
    expect(others).toEqual([]);
    expect(detectPatterns("")).toEqual([]);
  });

  it("says why, when asked", () => {
    const [note] = detectPatterns(message("We decided to use Postgres."), { explain: true });
    expect(note?.why).toContainEqual(expect.stringMatching(/choose.* \+\d/));
  });

  it.each([
    ["no problem", []],
    ["nothing is broken", []],
    ["we are not blocked", []],
    ["What happens if the build fails?", []],
    ["If it fails, restart it.", []],
    ["This might break on Windows.", []],
    ["Add error handling to the upload.", []],
    ["Why is the login broken?", []],
    ["The login page is broken.", ["blocker"]],
    ["Checkout is broken on Safari, can you take a look?", ["blocker"]],
  ])("blockers: %j", (text, types) => {
    expect(typesOf(text)).toEqual(types);
  });

  it.each([
    ["I'll fix the parser tomorrow.", ["task_created"]],
    ["Have you fixed the parser?", []],
    ["I haven't finished the parser.", []],
    ["Once the parser is fixed we can go on.", []],
    ["I fixed the parser.", ["accomplishment"]],
    ["The parser was failing, fixed now.", ["accomplishment"]],
    ["Fixed the parser, but now the lexer keeps crashing.", ["accomplishment", "blocker"]],
  ])("accomplishments: %j", (text, types) => {
    expect(typesOf(text)).toEqual(types);
  });

  it.each([
    ["Should we use Redis?", []],
    ["I think we should use Redis.", []],
    ["We could use Redis.", []],
    ["Let's see what the logs say.", []],
    ["Ok, let's go with Redis.", ["decision"]],
    ["We'll use Redis.", ["decision"]],
    ["Redis it is.", ["decision"]],
    ["Decided: Redis.", ["decision"]],
    ["decision: the cache lives in Redis", ["decision"]],
    ["Also decided: no cache for guests.", ["decision"]],
  ])("decisions: %j", (text, types) => {
    expect(typesOf(text)).toEqual(types);
  });

  it("does not read code, quotations and pasted output as statements", () => {
    expect(typesOf("```\nthrow new Error('the build is broken')\n```")).toEqual([]);
    expect(typesOf("> the build is broken\nok")).toEqual([]);
    expect(typesOf("2026-03-02T10:11:12Z ERROR the deploy failed\n2026-03-02T10:11:13Z ERROR it is broken")).toEqual(
      [],
    );
    expect(
      typesOf("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-the build is broken\n+the build is fixed"),
    ).toEqual([]);
    expect(typesOf("| job | state |\n|---|---|\n| deploy | broken |")).toEqual([]);
  });

  it("reads the sentence that introduces the output", () => {
    expect(typesOf("The build fails with:\n```\nerror TS2345\n```")).toEqual(["blocker"]);
  });

  it("does not take a story from the past for a blocker", () => {
    const text =
      "The worker died because the heap limit was too low. I raised the limit and the job has completed since.";
    expect(typesOf(text, "assistant")).not.toContain("blocker");
    expect(typesOf("I fixed the parser. The lexer is still broken.", "assistant")).toEqual([
      "accomplishment",
      "blocker",
    ]);
  });

  it("takes the section of a report into account", () => {
    expect(typesOf("## Done\n- Schema migration\n\n## Next steps\n- Fix the importer", "assistant")).toContain(
      "accomplishment",
    );
    expect(typesOf("Plan:\n- Fix the importer\n- Ship it", "assistant")).not.toContain("accomplishment");
    expect(typesOf("- [x] Backfill", "assistant")).toEqual(["accomplishment"]);
  });

  it.each([
    "Das Problem ist gelöst, alle Tests sind fertig.",
    "Der Server ist down, ich komme nicht weiter.",
    "Le problème est résolu, on a décidé de garder la version 2.",
    "El error sigue ahí, no puedo continuar.",
    "部署失败 error 500",
    "Сервер упал, error",
    "we gaan voor Postgres",
    "no funciona el login",
    "Deploy kaputt, warte auf legal",
    "Alle Tests grün, PR ist gemerged",
  ])("leaves other languages alone: %s", (text) => {
    expect(typesOf(text)).toEqual([]);
  });

  it("keeps to 200 characters, without secrets and control characters", () => {
    const secret = `ghp_${"q7".repeat(18)}`;
    const text = `The deploy is broken \u001b[31m because token ${secret} is rejected ${"and again ".repeat(60)}`;
    const notes = detectPatterns(message(text));
    expect(notes.length).toBeGreaterThan(0);
    for (const { content } of notes) {
      expect(content.length).toBeLessThanOrEqual(200);
      expect(content).not.toContain(secret);
      expect(content).not.toContain("\u001b");
    }
  });

  it("never throws, and holds its limits, whatever it is given", () => {
    const words = constantFrom(
      "broken",
      "fixed",
      "if",
      "we",
      "not",
      "?",
      "\n",
      "- ",
      "```",
      "let's",
      "can't",
      "\u0000",
      "👍",
      "密",
    );
    const texts = oneof(
      array(integer({ min: 0, max: 0xffff }), { maxLength: 400 }).map((codes) => String.fromCharCode(...codes)),
      array(words, { maxLength: 60 }).map((parts) => parts.join(" ")),
    );
    assert(
      property(texts, (text) => {
        for (const { content, confidence } of detectPatterns(message(text))) {
          expect(content.length).toBeLessThanOrEqual(200);
          expect(confidence).toBeGreaterThanOrEqual(0.5);
          expect(confidence).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each([
    ["prose", "The deploy is broken and we decided to wait. "],
    ["one word", "a"],
    ["one line of words", "not broken if "],
    ["commas", "fixed, "],
    ["blanks", " "],
    ["newlines", "\n"],
    ["quotes", '"'],
    ["backticks", "`"],
    ["slashes", "a/"],
    ["brackets", "[("],
  ])("takes bounded time on a megabyte of %s", (_name, unit) => {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    expect(cpuMs(() => detectPatterns(message(text)))).toBeLessThan(2000);
  });

  it("says which features spoke for a note when asked", () => {
    const [note] = detectPatterns(message("We are stuck on the login."), { explain: true });
    expect(note).toMatchObject({ type: "blocker" });
    expect(note?.why?.[0]).toMatch(/^\S.* \+\d/);
  });

  it("keeps the surest of many", () => {
    const notes = detectPatterns(message("I am blocked: the build is broken.\n".repeat(40)), { mostPerType: 3 });
    expect(notes.filter(({ type }) => type === "blocker")).toHaveLength(3);
  });
});

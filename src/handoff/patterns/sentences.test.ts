/** How a message is cut into sentences. */
import { describe, expect, it } from "vitest";
import { isEvidenceLine } from "./prose.ts";
import { normalize } from "./normalize.ts";
import { readSentences } from "./sentences.ts";

describe("readSentences", () => {
  it("splits at ends of sentences, not at abbreviations, versions and paths", () => {
    expect(textsOf("It runs v2.4.0, e.g. on src/a.ts now. Really? Yes!")).toEqual([
      "It runs v2.4.0, e.g. on src/a.ts now.",
      "Really?",
      "Yes!",
    ]);
  });

  it("takes chat lines one by one and joins a wrapped paragraph", () => {
    expect(textsOf("first line\nsecond line")).toEqual(["first line", "second line"]);
    const wrapped = "this is a paragraph that somebody wrapped at about sixty columns,\nso that it goes on here";
    expect(textsOf(wrapped)).toEqual([wrapped.replace("\n", " ")]);
  });

  it("knows the section of a list item and whether its box is ticked", () => {
    const sentences = readSentences("Blocked:\n- the upload\n\n**Done**\n- [x] the parser");
    expect(sentences.map(({ text, section, checked }) => ({ text, section, checked }))).toEqual([
      { text: "the upload", section: "blocked", checked: undefined },
      { text: "the parser", section: "done", checked: true },
    ]);
  });

  it("marks a line before evidence, and omits the evidence", () => {
    const sentences = readSentences("It dies with:\n```\nboom\n```\nAny idea?");
    expect(sentences.map(({ text, introducesEvidence }) => [text, introducesEvidence])).toEqual([
      ["It dies with:", true],
      ["Any idea?", false],
    ]);
  });
});

describe("isEvidenceLine", () => {
  it.each([
    "2026-03-02T10:11:12Z ERROR worker: refused",
    "    at render (app.js:14:3)",
    "TypeError: x is not a function",
    "npm ERR! code ELIFECYCLE",
    "src/a.ts:12:5 - error TS2345",
    "$ npm test",
    "| failed | 12 |",
    '  "status": "failed",',
  ])("is: %s", (line) => {
    expect(isEvidenceLine(line)).toBe(true);
  });

  it.each([
    "The build fails with a TypeError",
    "error handling is fine",
    "I ran npm test and it failed",
    "prod is down",
  ])("is not: %s", (line) => {
    expect(isEvidenceLine(line)).toBe(false);
  });
});

describe("normalize", () => {
  it("writes contractions out and makes names of code, paths and quotations", () => {
    expect(normalize('It can\'t open `failed.log`, says "broken"')).toBe("it can not open code_ , says quote_");
    expect(normalize("Let’s use src/error/fail.ts")).toBe("let us use path_");
  });

  it.each([
    ["it cannot, can't and cant", "it can not, can not and can not"],
    ["won't ain't didnt hasn't", "will not is not did not has not"],
    ["dont, anymore and any more", "do not, anymore and anymore"],
    ["they've youve ive i'll we're im i'm", "they have you have i have i will we are i am i am"],
    ["let's lets it's Tom's out thats she'd", "let us let us it is tom is out that is she would"],
    ["gonna gotta wanna", "going to have to want to"],
    ["x ✅ ☑ ✔ 🟢", "x done_ done_ done_ done_"],
    ["x ❌ ✖ 🔴 🚨", "x failed_ failed_ failed_ failed_"],
    ["x 🎉 🚀 🥳 🙌 🎊 💪", "x hooray_ hooray_ hooray_ hooray_ hooray_ hooray_"],
    ["see https://a.example/b and [the page](x)", "see url_ and the page"],
    ["he said 'it broke' in notes.md, «non»", "he said quote_ in path_ , quote_"],
    [`**bold** _it_ ~~no~~ ${"ab12".repeat(16)}`, "bold it_ no code_"],
    ["a\t b \n\n c", "a b c"],
  ])("reads %j", (text, plain) => {
    expect(normalize(text)).toBe(plain);
  });

  it("ends a sentence after a letter that names something, not after an initial", () => {
    expect(textsOf("Take subject line A. I'm setting it up.")).toEqual(["Take subject line A.", "I'm setting it up."]);
    expect(textsOf("We asked John F. Kennedy about it.")).toEqual(["We asked John F. Kennedy about it."]);
  });
});

function textsOf(text: string): string[] {
  return readSentences(text).map((sentence) => sentence.text);
}

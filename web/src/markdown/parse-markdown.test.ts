import { describe, expect, it } from "vitest";
import { parseInline } from "./parse-inline.ts";
import { parseMarkdown } from "./parse-markdown.ts";
import { safeLink } from "./safe-link.ts";

const text = (words: string) => ({ kind: "text", text: words });

describe("parseMarkdown", () => {
  it("knows the blocks that agents write", () => {
    const blocks = parseMarkdown(
      "# Title\nwords\nmore\n\n- a\n  - b\n2. c\n\n> quoted\n\n---\n```ts\nlet a = `1`;\n\n# no title\n```\n| a | b |\n|---|---|\n| 1 | 2 |",
    );
    expect(blocks).toMatchObject([
      { kind: "heading", level: 1, content: [text("Title")] },
      { kind: "paragraph", content: [text("words\nmore")] },
      { kind: "list", isOrdered: false, items: [{ depth: 0 }, { depth: 1 }, { depth: 0, content: [text("c")] }] },
      { kind: "quote", blocks: [{ kind: "paragraph" }] },
      { kind: "rule" },
      { kind: "code", language: "ts", text: "let a = `1`;\n\n# no title" },
      { kind: "table", head: [[text("a")], [text("b")]], rows: [[[text("1")], [text("2")]]] },
    ]);
  });

  it("takes a fence that is still being written as code", () => {
    expect(parseMarkdown("look:\n```sh\nls -l")).toMatchObject([
      { kind: "paragraph" },
      { kind: "code", language: "sh", text: "ls -l" },
    ]);
  });

  it("loses no word of an ordinary text", () => {
    const said = "a * b * c, snake_case_name, 2 < 3 && 4 > 1, <b>no</b>, [x], (y), `unclosed";
    expect(parseInline(said)).toEqual([text(said)]);
  });

  it("marks code, emphasis and links, and leaves the point of the sentence alone", () => {
    expect(parseInline("**so** *it* is `x**y**` see https://example.com/a. [it](https://example.com)")).toEqual([
      { kind: "strong", text: "so" },
      text(" "),
      { kind: "emphasis", text: "it" },
      text(" is "),
      { kind: "code", text: "x**y**" },
      text(" see "),
      { kind: "link", text: "https://example.com/a", href: "https://example.com/a" },
      text("."),
      text(" "),
      { kind: "link", text: "it", href: "https://example.com/" },
    ]);
  });

  it.each([
    "[a](javascript:alert(1))",
    "[a](JAVASCRIPT:alert(1))",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "[a](/rpc/x)",
    "[a](//evil.example)",
    "[a](\u0001javascript:alert(1))",
  ])("makes no link of %s", (hostile) => {
    expect(parseInline(hostile).filter(({ kind }) => kind === "link")).toEqual([]);
  });

  it("shows where a link leads when its label claims something else", () => {
    for (const label of ["https://bank.example", "bank.example/login", "www.bank.example"]) {
      expect(parseInline(`[${label}](https://evil.example/)`)).toEqual([
        { kind: "link", text: "https://evil.example/", href: "https://evil.example/" },
      ]);
    }
  });

  it.each(["`", "*", "**", "_", "[", "[a](", "](", "> ", "- ", "|", "https://a ", "```\n", "#", "![a](b"])(
    "is quick with two hundred thousand characters of %j",
    (piece) => {
      const started = performance.now();
      parseMarkdown(piece.repeat(200_000 / piece.length));
      expect(performance.now() - started).toBeLessThan(2000);
    },
  );
});

describe("safeLink", () => {
  it("lets pages and letters through", () => {
    expect(["http://a.example/", "https://a.example/?b=c", "mailto:a@b.example"].map(safeLink)).toEqual([
      "http://a.example/",
      "https://a.example/?b=c",
      "mailto:a@b.example",
    ]);
  });
});

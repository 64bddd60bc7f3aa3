import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Markdown, parseMarkdown } from "./markdown.tsx";

/** The HTML of the text, without the attributes that do not matter here. */
function render(text: string): string {
  const html = renderToStaticMarkup(createElement(Markdown, { text }));
  return html
    .replace(/^<div class="markdown">|<\/div>$/g, "")
    .replace(/ (?:dir|title|target|rel|tabindex|role|aria-[a-z]+)="[^"]*"/g, "");
}

/** What a person reads. */
function read(text: string): string {
  const entities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', "#x27": "'" };
  return render(text)
    .replace(/<[^>]*>/g, "")
    .replace(/&(lt|gt|amp|quot|#x27);/g, (_, name: string) => entities[name] ?? "");
}

describe("Markdown", () => {
  it("shows the blocks that agents write", () => {
    expect(render("# Title\nwords\nmore")).toBe('<p class="heading" data-level="1">Title</p><p>words\nmore</p>');
    expect(render("- a\n  - b\n- c")).toBe("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>");
    expect(render("3. a\n4. b")).toBe('<ol start="3"><li>a</li><li>b</li></ol>');
    expect(render("- [x] done\n- [ ] open")).toBe("<ul><li>☑ done</li><li>☐ open</li></ul>");
    expect(render("> quoted\n\n---")).toBe("<blockquote><p>quoted</p></blockquote><hr/>");
    expect(render("```ts\nlet a = `1`;\n\n# no title\n```")).toContain("<code>let a = `1`;\n\n# no title</code>");
    expect(render("| a | b |\n|---|---|\n| 1 | 2 |")).toContain("<tr><td>1</td><td>2</td></tr>");
  });

  it("shows an unclosed fence, as while it is being written, as code", () => {
    const html = render("look:\n```sh\nls -l");
    expect(html).toContain("<p>look:</p>");
    expect(html).toContain("<span>sh</span>");
    expect(html).toContain("<code>ls -l</code>");
  });

  it("loses no word of an ordinary text", () => {
    const said = "a * b * c, snake_case_name, 2 < 3 && 4 > 1, <b>no</b>, [x], (y), `unclosed";
    expect(read(said)).toBe(said);
    expect(read("<script>alert(1)</script>")).toBe("<script>alert(1)</script>");
    expect(read("<div onclick='x'>\n\n<img src=x onerror=y>")).toContain("<img src=x onerror=y>");
  });

  it("marks code, emphasis and links, and leaves the full stop out of a link", () => {
    expect(render("**so** *it* is `x**y**` see https://example.com/a. [it](https://example.com)")).toBe(
      "<p><strong>so</strong> <em>it</em> is <code>x**y**</code> see " +
        '<a href="https://example.com/a">https://example.com/a</a>. <a href="https://example.com/">it</a></p>',
    );
    expect(render("[letter](mailto:a@b.example)")).toBe('<p><a href="mailto:a@b.example">letter</a></p>');
  });

  it("loads no picture", () => {
    expect(render("![cat](https://a.example/cat.png)")).toBe('<p><a href="https://a.example/cat.png">cat</a></p>');
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
    "[a](javascript&#58;alert(1))",
    "![a](javascript:alert(1))",
    "<javascript:alert(1)>",
    "[a][b]\n\n[b]: javascript:alert(1)",
    '<a href="javascript:alert(1)">a</a>',
  ])("makes no link of %s", (hostile) => {
    expect(render(hostile)).not.toContain("<a ");
  });

  it("shows where a link leads when its label claims something else", () => {
    for (const label of ["https://bank.example", "bank.example/login", "www.bank.example"]) {
      expect(render(`[${label}](https://evil.example/)`)).toBe(
        '<p><a href="https://evil.example/">https://evil.example/</a></p>',
      );
    }
  });

  it.each([
    ..."` * ** _ [ [a]( ]( |  # ![a](b < & ~ a@ 1. a*a_".split(" "),
    "> ",
    ">",
    "- ",
    "1. ",
    "> 1. ",
    "https://a ",
    "```\n",
    "- a\n",
    "|a\n|-\n",
    "[x]: ",
    "a*a_\n\n",
  ])("parses 200,000 characters of %j in under two seconds", (piece) => {
    expect(cpuSeconds(() => parseMarkdown(piece.repeat(200_000 / Math.max(1, piece.length))))).toBeLessThan(2);
  });

  it("parses deeply indented lists in under two seconds", () => {
    const stairs = Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n");
    expect(cpuSeconds(() => parseMarkdown(stairs))).toBeLessThan(2);
  });
});

/** CPU time, because the machine may be busy. */
function cpuSeconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user / 1_000_000;
}

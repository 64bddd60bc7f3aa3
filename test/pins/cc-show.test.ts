/** `cc show`, `cc export`, and the commands for chats that also take a Claude Code session. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type CliResult, runCliShared } from "../support/cli.ts";
import { createCliHome } from "../support/cli-home.ts";
import { type SearchHome, SESSION, answer, createSearchHome, prompt } from "../support/search-home.ts";

const CWD = "/repos/shop";
const SECRET = `ghp_${"aB3d".repeat(9)}`;

async function createHome(): Promise<SearchHome> {
  const home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "nothing");
  const edit = { type: "tool_use", id: "t", name: "Edit", input: { file_path: `${CWD}/src/a.ts`, new_string: SECRET } };
  await home.native(CWD, SESSION, [
    prompt(CWD, `Use ${SECRET} to <b>deploy</b>`),
    answer(CWD, "", { message: { id: "m", model: "m", role: "assistant", content: [edit] } }),
    {
      ...prompt(CWD, ""),
      toolUseResult: {},
      message: { role: "user", content: [{ tool_use_id: "t", type: "tool_result", content: `wrote ${SECRET}` }] },
    },
    answer(CWD, "Done:\n```sh\nnpm run deploy && echo <ok>\n```\n\u202eevil"),
  ]);
  return home;
}

async function run(home: SearchHome, ...args: string[]): Promise<CliResult> {
  return await runCliShared(args, { home: home.home, env: { CLAUDE_CONFIG_DIR: home.claudeHome, TZ: "UTC" } });
}

describe("cc show", () => {
  it("prints messages and calls; --all adds tool output", async () => {
    await using home = await createHome();
    const { stdout, code } = await run(home, "cc", "show", SESSION.slice(0, 8));
    expect(code).toBe(0);
    expect(stdout.split("\n").slice(2, 5)).toEqual([
      "2026-11-01 10:00:00  you      Use ghp_[redacted] to <b>deploy</b>",
      `2026-11-01 10:00:00  Claude   (Edit ${CWD}/src/a.ts)`,
      "2026-11-01 10:00:00  Claude   Done:",
    ]);
    expect(stdout).not.toContain("wrote");
    const all = await run(home, "cc", "show", SESSION, "--all");
    expect(all.stdout).toContain("tool     wrote ghp_[redacted]");
    expect(stdout + all.stdout).not.toContain(SECRET);
  });

  it("prints one JSON object", async () => {
    await using home = await createHome();
    const { stdout } = await run(home, "cc", "show", SESSION, "--json", "--limit", "1");
    expect(JSON.parse(stdout)).toEqual({
      schema: 1,
      sessionId: SESSION,
      path: expect.stringContaining(`${SESSION}.jsonl`) as string,
      messages: [
        {
          role: "assistant",
          text: expect.stringContaining("npm run deploy") as string,
          calls: [],
          at: "2026-11-01T10:00:00.000Z",
        },
      ],
      count: 1,
    });
  });
});

describe("cc export", () => {
  it("writes a page without scripts, with everything escaped and redacted", async () => {
    await using home = await createHome();
    const { stdout } = await run(home, "cc", "export", SESSION, "--format", "html");
    expect(stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    expect(stdout).toContain("Use ghp_[redacted] to &lt;b&gt;deploy&lt;/b&gt;");
    expect(stdout).toContain("<pre><code>npm run deploy &amp;&amp; echo &lt;ok&gt;\n</code></pre>");
    expect(stdout).toContain(`<details><summary>Edit ${CWD}/src/a.ts</summary>`);
    expect(stdout).toContain("\\u202eevil");
    expect(stdout).not.toMatch(/<script|https?:\/\/|src=|<link|<b>/);
    expect(stdout).not.toContain(SECRET);
  });

  it("writes Markdown to a file, and every line as JSON", async () => {
    await using home = await createHome();
    const file = `${home.home}/out.md`;
    const { stderr } = await run(home, "cc", "export", SESSION, "--output", file);
    expect(stderr).toContain("Written to");
    const text = await readFile(file, "utf8");
    expect(text).toContain("## you · 2026-11-01 10:00:00\n\nUse ghp_[redacted] to <b>deploy</b>\n");
    const { stdout } = await run(home, "cc", "export", SESSION, "--format", "jsonl");
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(text + stdout).not.toContain(SECRET);
  });
});

describe("commands for chats", () => {
  it("take a Claude Code session and say so", async () => {
    await using home = await createHome();
    const history = await run(home, "history", SESSION.slice(0, 8));
    expect(history.stderr).toMatch(/^11111111 is a Claude Code session: /);
    expect(history.stdout).toContain("you      Use ghp_[redacted]");
    const exported = await run(home, "sessions", "export", SESSION, "--format", "html");
    expect(exported.stderr).toContain("is a Claude Code session");
    expect(exported.stdout).toContain("<!doctype html>");
    expect((await run(home, "sessions", "export", SESSION, "--no-redact")).code).toBe(2);
    const unknown = await run(home, "history", "99999999");
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringMatching(/No session found|no sessions yet/)]);
  });

  it("write a chat as a page", async () => {
    await using home = await createCliHome();
    const { stdout, code } = await runCliShared(["sessions", "export", "work", "--format", "html"], {
      home: home.path,
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/<h1>agent:main:cli:dm:[^<]+<\/h1>/);
    expect(stdout).toMatch(/<article class="person">\n<h2>you<time/);
  });
});

/** The errors and exit codes of the `cc` commands. docs/cli.md describes them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CcHome, OWN, createCcHome } from "../support/cli-home.ts";
import { runCliShared } from "../support/cli.ts";

let home: CcHome;

beforeAll(async () => {
  home = await createCcHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

describe("exit codes", () => {
  const cases: [title: string, args: string[], code: number, message: RegExp][] = [
    [
      "a time that is none",
      ["list", "--since", "xyz"],
      2,
      /--since must be a time such as 2d or 2026-11-15, not "xyz"/,
    ],
    ["a bad number", ["list", "--limit", "0"], 2, /--limit must be a whole number above 0/],
    ["a value that looks like an option", ["list", "--limit", "-1"], 2, /--limit has no value\n.*--limit=-value/],
    ["two places at once", ["list", "--all", "--repo", "."], 2, /--all and --repo exclude each other/],
    ["a folder that is not there", ["list", "--repo", "../nowhere"], 3, /There is no folder .*nowhere/],
    ["the same for a status", ["status", "nowhere"], 3, /There is no folder .*nowhere/],
    ["and for a run", ["run", "x", "--repo", "nowhere"], 3, /There is no folder .*nowhere/],
    ["a name that is no agent's", ["list", "--agent", "../etc"], 2, /is not a valid agent id/],
    ["an unknown id", ["info", "12345678"], 3, /No Claude Code session matches "12345678"[\s\S]*cc list --all/],
    ["an id that is too short", ["info", "aa"], 2, /too short/],
    [
      "an ambiguous start of an id",
      ["info", "cccccccc"],
      2,
      /matches several sessions: cccccccc-0000.*, cccccccc-cccc/,
    ],
    ["an unknown group", ["costs", "--by", "week"], 2, /--by must be one of day, repo, model, session, not "week"/],
    ["a mode that is none", ["run", "x", "--permission-mode", "all"], 2, /--permission-mode must be one of default, /],
    [
      "a policy that is none",
      ["run", "x", "--on-running", "wait"],
      2,
      /--on-running must be one of queue, fork, refuse/,
    ],
    ["an amount that is none", ["run", "x", "--max-budget-usd", "-1"], 2, /--max-budget-usd.*/],
    ["a task without words", ["run", " "], 2, /No task given/],
    ["two sessions at once", ["run", "x", "--fresh", "--resume", OWN], 2, /exclude each other/],
    ["a folder without a session to restore", ["archive", "--to", "x"], 2, /--restore and --to belong together/],
    ["a session that does not run", ["kill", "aaaa"], 3, /Session aaaaaaaa\S* is not running/],
    ["a follow-up to nobody", ["send", "aaaa", "hello"], 3, /No Holdfast process runs this session/],
    ["a session without a folder", ["attach", "cccccccc-0"], 3, /All folders of session cccccccc are gone/],
    ["a file that is not there", ["eval", "none.jsonl"], 3, /There is no file .*none\.jsonl/],
    ["a mistyped command", ["lst"], 2, /unknown command 'cc lst'[\s\S]*Did you mean cc list/],
  ];

  it("with clear messages for wrong input", async () => {
    for (const [title, args, code, message] of cases) {
      const result = await home.cc(...args);
      expect(result.stderr, title).toMatch(message);
      expect(result, title).toMatchObject({ code, stdout: "" });
    }
  });

  it("names the program when Claude Code is not installed", async () => {
    const env = { CLAUDE_CONFIG_DIR: home.claudeHome, PATH: "/nonexistent" };
    for (const args of [
      ["run", "x", "--fresh"],
      ["attach", "aaaa"],
    ]) {
      const result = await runCliShared(["cc", ...args], { home: home.home, cwd: home.repo, env });
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(/Claude Code was not found: no program "claude"[\s\S]*npm install -g/);
    }
  });

  it("reports an unreadable registry and shows the rest", async () => {
    const folder = join(home.openClawHome, "agents", "other");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "claude-code-sessions.json"), "{ torn");
    const { code, json, stderr } = await home.cc("list", "--json");
    expect(code).toBe(5);
    expect(json()).toMatchObject({ total: 2 });
    expect(stderr).toContain("claude-code-sessions.json");
  });
});

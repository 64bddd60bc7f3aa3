import { mkdir, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { type CliResult, runCliShared } from "../support/cli.ts";
import { type SearchHome, SESSION, SESSION_2, answer, createSearchHome, prompt } from "../support/search-home.ts";

function edit(cwd: string, file: string, added: string, timestamp: string): unknown {
  const input = { file_path: file, old_string: "before", new_string: added };
  const content = [{ type: "tool_use", id: "t", name: "Edit", input }];
  return answer(cwd, "", { timestamp, message: { id: "m", model: "m", role: "assistant", content } });
}

function at(hour: number): { timestamp: string } {
  return { timestamp: `2026-11-01T${hour}:00:00.000Z` };
}

async function run(home: SearchHome, ...args: string[]): Promise<CliResult> {
  return await runCliShared(["blame", ...args], { home: home.home, env: { CLAUDE_CONFIG_DIR: home.claudeHome } });
}

it("shows who changed a file or a line, newest first, with the prompt", async () => {
  await using home = await createSearchHome();
  const repo = `${home.home}/shop`;
  const file = `${repo}/queue.ts`;
  await mkdir(repo, { recursive: true });
  await writeFile(file, "const retries = 3;\nconst wait = 50;\n");
  await home.native(repo, SESSION, [
    prompt(repo, "retry failed jobs", at(10)),
    edit(repo, file, "const retries = 3;", "2026-11-01T10:10:00.000Z"),
    prompt(repo, "now something else", at(11)),
    edit(repo, `${repo}/other.ts`, "x", "2026-11-01T11:10:00.000Z"),
  ]);
  await home.native(repo, SESSION_2, [
    prompt(repo, "wait between retries", at(12)),
    edit(repo, file, "const wait = 50;", "2026-11-01T12:10:00.000Z"),
    { type: "ai-title", aiTitle: "Back-off" },
  ]);

  const { stdout, code } = await run(home, file, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    schema: 1,
    file,
    total: 2,
    sessions: [
      {
        sessionId: SESSION_2,
        in: "claude",
        title: "Back-off",
        repo,
        at: "2026-11-01T12:10:00.000Z",
        prompts: [{ text: "wait between retries", at: "2026-11-01T12:10:00.000Z", entryId: "u-20" }],
        open: { show: ["cc", "show", SESSION_2] },
      },
      {
        sessionId: SESSION,
        in: "claude",
        repo,
        at: "2026-11-01T10:10:00.000Z",
        prompts: [{ text: "retry failed jobs", at: "2026-11-01T10:10:00.000Z", entryId: "u-17" }],
        open: { show: ["cc", "show", SESSION] },
      },
    ],
  });
  const line = await run(home, `${file}:1`);
  expect(line.stdout).toContain("  you: retry failed jobs\n  holdfast cc show 11111111\n");
  expect(line.stdout).not.toContain("wait between retries");
  // An edit may replace only a part of the line.
  await writeFile(file, "export const retries = 3;\n");
  expect((await run(home, `${file}:1`)).stdout).toBe(line.stdout);
  await writeFile(file, "export const retries: number = max(settings.retries, 3);\n");
  expect((await run(home, `${file}:1`)).stdout).toContain("No session on this machine changed");
  expect((await run(home, `${file}:9`)).code).toBe(3);
  expect((await run(home, `${repo}/untouched.ts`)).stdout).toContain("No session on this machine changed");
});

/** Worktrees of tasks: merged and unchanged ones are removed, everything else stays. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCliShared } from "../support/cli.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { createTaskChat } from "../support/task-chat.ts";
import { until } from "../support/time.ts";

const COMMIT = "echo 1 > one && git add -A && git commit -qm 'Add one'";

it("removes a worktree when nothing in it would be lost, and adds it again for a follow-up", async () => {
  await using chat = await createTaskChat({ claudeCode: { permissionMode: "acceptEdits", allowedTools: ["Bash"] } });
  const { api, claude, home } = chat;
  const worktrees = (): string[] => readdirSync(join(home.home, "claude/worktrees")).toSorted();
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: claude.repo, encoding: "utf8" });
  const branches = (): string => git("branch", "--format=%(refname:short)");
  const runs = async (task: string): Promise<string> => {
    home.telegram.say(`/cc run --worktree in repo: ${task}`);
    const { params } = await home.hears(ADA.id, new RegExp(`Task \\w+ is done[^]*${task}`));
    return /Task (\w+) is done/.exec(String(params["text"]))?.[1] ?? "";
  };
  const restart = async (): Promise<void> => {
    await home.stop();
    await home.start();
  };
  api.script(toolUse("Bash", { command: COMMIT }), text("Did it: Commit."));
  const committed = await runs("Commit");
  api.script(text("Did it: Look."));
  const unchanged = await runs("Look");
  expect(worktrees()).toEqual([committed, unchanged].toSorted());

  await restart();
  await until(() => branches() === `holdfast/${committed}\nmain\n`, branches);
  expect(worktrees()).toEqual([committed]);
  const doctor = await runCliShared(["doctor", "--json"], { home: home.home });
  expect((doctor.json() as { findings: { check: string }[] }).findings).toContainEqual({
    check: "worktrees",
    severity: "info",
    path: join(home.home, "claude/worktrees", committed),
    message: `A worktree of a task: branch holdfast/${committed} is not merged`,
  });

  // The same session continues in the same folder.
  api.script(text("Looked again."));
  home.telegram.say(`/cc send #${unchanged} Once more`);
  await home.hears(ADA.id, new RegExp(`Looked again\\.\\nBranch holdfast/${unchanged}$`));
  expect(JSON.stringify(api.conversation.at(-1))).toContain("Did it: Look.");

  git("merge", "--quiet", `holdfast/${committed}`);
  await restart();
  await until(() => branches() === "main\n", branches);
  expect(worktrees()).toEqual([]);
  expect(git("log", "-1", "--format=%s")).toBe("Add one\n");
});

/**
 * README.md shows what really happens. `UPDATE_README=1 npx vitest run test/e2e/readme.test.ts` writes the
 * output of a fresh run into it.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClaudeHome } from "../support/claude-home.ts";
import { startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import {
  fillClaudeHome,
  type FollowedStep,
  type TourStep,
  compareWithReadme,
  readTour,
  runStep,
  screenLines,
  startStep,
} from "./readme-tour.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const isClaude = ({ command }: TourStep): boolean => command.startsWith("holdfast cc ");

describe("the tour of README.md", () => {
  it("matches the output in an empty home", { timeout: 120_000 }, async () => {
    await using folder = await temporaryFolder();
    const [start, ...steps] = readTour().filter((step) => !isClaude(step));
    if (start === undefined) throw new Error("README.md has no tour");
    const place = { cwd: folder.path, env: { HOME: folder.path, HOLDFAST_HOME: folder.join(".holdfast") } };

    expect(start.command).toBe("npm start");
    const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: { start: string } };
    expect(scripts.start).toMatch(/ bin\/holdfast\.js gateway$/);
    using gateway = await startStep("gateway --port 0", "Press Ctrl-C to stop.", place);
    const followed: FollowedStep[] = [{ step: start, lines: screenLines(gateway.output()) }];
    for (const step of steps) followed.push({ step, lines: await runStep(step, place) });
    gateway.type("\u0003");
    await gateway.ended;

    const { shown, seen } = compareWithReadme(followed);
    expect(shown).toEqual(seen);
  });

  it("matches the output for Claude Code's sessions", { timeout: 120_000 }, async () => {
    await using api = await startFakeAnthropic();
    await using claude = await createClaudeHome(api);
    const home = join(claude.home, ".holdfast");
    await mkdir(home);
    const sessionSelection = { relevance: "offline" };
    const claudeCode = { command: claude.command, permissionMode: "bypassPermissions", sessionSelection };
    await writeFile(join(home, "config.json"), JSON.stringify({ claudeCode }));
    fillClaudeHome(claude);
    api.script(
      toolUse("Bash", { command: "git log --oneline" }),
      text("Retries now stop after ten attempts; the delivery is then marked as failed."),
    );
    const place = { cwd: claude.repo, env: { ...claude.env, HOLDFAST_HOME: home } };
    const followed: FollowedStep[] = [];
    for (const step of readTour().filter(isClaude)) followed.push({ step, lines: await runStep(step, place) });

    const { shown, seen } = compareWithReadme(followed);
    expect(shown).toEqual(seen);
  });
});

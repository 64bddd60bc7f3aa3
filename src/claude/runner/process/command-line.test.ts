import { chmod, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temp-folder.ts";
import type { ClaudeProcessOptions } from "./claude-process.ts";
import { claudeArguments, claudeEnvironment, findClaude } from "./command-line.ts";

const ID = "6b9c6f0e-3f5c-4d9e-9a59-0a4f5d8f2a11";
const BASE: ClaudeProcessOptions = { command: "claude", cwd: "/" };

test("never passes a value as an option", () => {
  const args = claudeArguments({
    ...BASE,
    model: "--dangerously-skip-permissions",
    appendSystemPromptFile: "/-c",
    effort: "--resume",
    allowedTools: ["Bash(git log:*)", "--continue"],
  });
  expect(args.every((argument) => argument.startsWith("--"))).toBe(true);
  expect(args.slice(6)).toEqual([
    "--model=--dangerously-skip-permissions",
    "--allowedTools=Bash(git log:*)",
    "--allowedTools=--continue",
    "--append-system-prompt-file=/-c",
    "--effort=--resume",
  ]);
});

test("starts a new session, resumes one or forks one", () => {
  expect(claudeArguments(BASE).join(" ")).not.toContain("session");
  const withSession = (session: ClaudeProcessOptions["session"] & object): string[] =>
    claudeArguments({ ...BASE, session }).slice(6);
  expect(withSession({ kind: "new", sessionId: ID })).toEqual([`--session-id=${ID}`]);
  expect(withSession({ kind: "resume", sessionId: ID })).toEqual([`--resume=${ID}`]);
  expect(withSession({ kind: "fork", sessionId: ID })).toEqual([`--resume=${ID}`, "--fork-session"]);
  expect(() => withSession({ kind: "resume", sessionId: "a title" })).toThrow(/not a Claude Code session id/);
});

test("rejects limits that are not positive numbers", () => {
  expect(claudeArguments({ ...BASE, maxTurns: 3, maxBudgetUsd: 0.5 }).slice(6)).toEqual([
    "--max-turns=3",
    "--max-budget-usd=0.5",
  ]);
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => claudeArguments({ ...BASE, maxBudgetUsd: wrong })).toThrow(/must be a number above 0/);
  }
});

test("removes the variables of an outer session", () => {
  const outer = {
    PATH: "/bin",
    CLAUDECODE: "1",
    CLAUDE_CODE_SESSION_ID: "x",
    CLAUDE_CODE_SSE_PORT: "1",
    NONE: undefined,
  };
  expect(claudeEnvironment({ ...outer, CLAUDE_CODE_ENTRYPOINT: "cli", ANTHROPIC_API_KEY: "k" })).toEqual({
    PATH: "/bin",
    ANTHROPIC_API_KEY: "k",
    CLAUDE_CODE_ENTRYPOINT: "holdfast",
  });
});

test("finds a program on the PATH or by its path, or gives a hint", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("claude");
  await writeFile(path, "#!/bin/sh\n");
  const env = { PATH: `/nowhere:${folder.path}` };
  const missing = expect.objectContaining({
    code: "claude-not-found",
    hint: expect.stringContaining("claudeCode.command"),
  });
  expect(() => findClaude("claude", env)).toThrow(missing);
  await chmod(path, 0o755);
  expect(findClaude("claude", env)).toBe(path);
  expect(findClaude(path, {})).toBe(path);
  for (const wrong of ["", "no-such-program", folder.path]) expect(() => findClaude(wrong, env)).toThrow(missing);
});

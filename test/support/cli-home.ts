/** Homes for tests of the command line. */
import { cpSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { saveSession } from "../../src/claude/registry/registry.ts";
import { CLAUDE_SAMPLES } from "./claude-samples.ts";
import { runCliShared, type CliResult } from "./cli.ts";
import { createTestRepo } from "./git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "./native-home.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

/** By input. They are removed with the scratch folder of the run. */
const originals = new Map<string, Promise<string>>();

/** A session `work` with two windows. */
const TWO_WINDOWS = ["hello", "/label work", "/new again"];

export async function createCliHome(lines: readonly string[] = TWO_WINDOWS): Promise<TemporaryFolder> {
  const input = `${lines.join("\n")}\n`;
  const original = originals.get(input) ?? talk(input);
  originals.set(input, original);
  const home = await temporaryFolder();
  await cp(await original, home.path, { recursive: true });
  return home;
}

async function talk(input: string): Promise<string> {
  const { path: home } = await temporaryFolder();
  const { code, stderr } = await runCliShared(["chat", "--local"], { home, input });
  if (code !== 0) throw new Error(stderr);
  return home;
}

export const NUMBER = expect.any(Number) as number;
export const TEXT = expect.any(String) as string;
export const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/) as string;

export interface CcHome extends NativeHome {
  repo: string;
  /** `holdfast cc …` in the repo. */
  cc(...args: string[]): Promise<CliResult>;
  /** `holdfast cc …` in another folder or home. */
  ccIn(place: { cwd?: string; home?: string }, ...args: string[]): Promise<CliResult>;
}

export const OWN = testSessionId("a");

/** Terminal control sequences. */
export const HOSTILE = "\u001b]0;owned\u0007\u001b[31mred\u202e";

const HOUR = 3_600_000;

export async function createCcHome(): Promise<CcHome> {
  const native = await createNativeHome();
  const repo = native.join("shop");
  await fill(native, repo);
  const ccIn: CcHome["ccIn"] = async ({ cwd = repo, home }, ...args) => {
    const claudeHome = home === undefined ? native.claudeHome : join(home, "claude");
    const env = { CLAUDE_CONFIG_DIR: claudeHome, OPENCLAW_STATE_DIR: native.openClawHome };
    return await runCliShared(["cc", ...args], { home: home ?? native.home, cwd, env });
  };
  return { ...native, repo, ccIn, cc: async (...args) => await ccIn({}, ...args) };
}

async function fill(native: NativeHome, repo: string): Promise<void> {
  createTestRepo(repo);
  native.session({
    id: "a",
    cwds: [repo],
    prompts: ["[openclaw:agent=main]\n\nFix the webhook handler", "now a test"],
    files: [join(repo, "hook.ts")],
    entrypoint: "holdfast",
    modifiedAt: Date.now() - HOUR,
  });
  native.session({
    id: "b",
    cwds: [repo],
    branch: HOSTILE,
    prompts: [`${HOSTILE} task`],
    modifiedAt: Date.now() - 48 * HOUR,
  });
  native.session({
    id: "c",
    cwds: [native.join("elsewhere")],
    prompts: ["something else"],
    modifiedAt: Date.now() - 26 * 24 * HOUR,
  });
  const registered = { sessionId: OWN, repoPath: repo, task: "Fix the webhook handler", label: "hooks" };
  await saveSession({ home: native.home, agentId: "main" }, registered);
  addFixture(native, "compacted-manual");
  addFixture(native, "subagents");
}

/** Copies real transcripts into their own project folder. */
function addFixture(native: NativeHome, name: string): void {
  cpSync(join(CLAUDE_SAMPLES, name), join(native.claudeHome, "projects", `-fixtures-${name}`), { recursive: true });
}

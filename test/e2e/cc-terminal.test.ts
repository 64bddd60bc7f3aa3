/** The picker and `cc watch` in a real terminal, which `script` provides. */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type NativeHome, createNativeHome, testSessionId } from "../support/native-home.ts";
import { answer } from "../support/search-home.ts";
import { text, toolUse } from "../support/fake-anthropic/reply.ts";
import { createTaskHome } from "../support/task-home.ts";
import { type ProgramPlace, type WatchedProgram, startInTerminal, startProgram } from "../support/cli.ts";

const OPEN_SCREEN = "\u001b[?1049h";
const CLOSE_SCREEN = "\u001b[?1049l";

let home: NativeHome;
let repo: string;
let transcript: string;

beforeAll(async () => {
  home = await createNativeHome();
  repo = home.join("shop");
  mkdirSync(repo);
  transcript = home.session({ id: "a", cwds: [repo], prompts: ["Fix the webhook"], modifiedAt: Date.now() - 60_000 });
  home.session({ id: "b", cwds: [repo], prompts: ["Write the docs \u001b[31m"], modifiedAt: Date.now() - 120_000 });
  home.session({
    id: "c",
    cwds: [home.join("other")],
    prompts: ["Something else"],
    modifiedAt: Date.now() - 180_000,
  });
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

function inTerminal(...args: string[]): WatchedProgram {
  return startInTerminal(["cc", ...args].join(" "), 80, place());
}

function withoutTerminal(...args: string[]): WatchedProgram {
  return startProgram(["cc", ...args], place());
}

function place(): ProgramPlace {
  const env = {
    HOLDFAST_HOME: home.home,
    CLAUDE_CONFIG_DIR: home.claudeHome,
    OPENCLAW_STATE_DIR: home.openClawHome,
  };
  return { cwd: repo, env };
}

describe("holdfast cc in a terminal", () => {
  it("filters while typing, shows the selected session and prints its id", async () => {
    const picker = inTerminal();
    await picker.shows(OPEN_SCREEN);
    await picker.shows("2 in ");
    await picker.shows("Fix the webhook");
    await picker.shows("Esc quit");
    picker.type("docs");
    await picker.shows("1 of 2 in ");
    await picker.shows(String.raw`· Write the docs \u001b[31m`);
    picker.type("\u0019");
    expect(await picker.ended).toBe(0);
    const [, after = ""] = picker.output().split(CLOSE_SCREEN);
    expect(after.trim()).toBe(testSessionId("b"));
    expect(picker.output()).not.toContain("\u001b[31m");
  });

  it("switches from the repo to all sessions, and exits with 130", async () => {
    const picker = inTerminal();
    await picker.shows("2 in ");
    picker.type("\t");
    await picker.shows("3 in all repos");
    await picker.shows("Something else");
    picker.type("\u001b");
    expect(await picker.ended).toBe(130);
    expect(picker.output()).toContain(CLOSE_SCREEN);
  });

  it("finds what was said, and stays open if a session cannot be resumed", async () => {
    const said = answer(repo, "The signature was compared before the body was read.");
    appendFileSync(transcript, `${JSON.stringify({ ...said, sessionId: testSessionId("a") })}\n`);
    const picker = inTerminal();
    await picker.shows("2 in ");
    picker.type("signature compared");
    await picker.shows("1 of 2 in ");
    await picker.shows("was compared");
    picker.type("\u0015");
    picker.type("\t");
    await picker.shows("3 in all repos");
    picker.type("something else");
    await picker.shows("1 of 3 in ");
    // Its folder does not exist.
    picker.type("\r");
    await picker.shows("are gone");
    await picker.shows("> something else");
    picker.type("\u001b");
    expect(await picker.ended).toBe(130);
  });

  it("shows all sessions if the folder has none", async () => {
    const picker = inTerminal("--since", "1d", "--agent", "nobody");
    await picker.shows("0 in all repos");
    await picker.shows("No sessions yet.");
    picker.type("\u0003");
    expect(await picker.ended).toBe(130);
  });

  it("restores the terminal when killed", async () => {
    const picker = inTerminal();
    await picker.shows("2 in ");
    const [, pid = ""] = /(\d+)/.exec(await childrenOf(picker.child.pid ?? 0)) ?? [];
    process.kill(Number(pid), "SIGTERM");
    expect(await picker.ended).toBe(143);
    expect(picker.output()).toContain(CLOSE_SCREEN);
  });
});

async function childrenOf(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
}

describe("holdfast cc watch", () => {
  it("redraws the table when a transcript grows, until interrupted", async () => {
    const watcher = inTerminal("watch");
    await watcher.shows(OPEN_SCREEN);
    await watcher.shows("2 sessions, 0 running");
    home.session({ id: "d", cwds: [repo], prompts: ["A new task"] });
    await watcher.shows("3 sessions, 0 running");
    await watcher.shows("A new task");
    watcher.type("\u0003");
    expect(await watcher.ended).toBe(0);
    expect(watcher.output()).toContain(CLOSE_SCREEN);
  });

  it("prints a line per change without a terminal", async () => {
    const watcher = withoutTerminal("watch");
    await watcher.shows("running.");
    appendFileSync(
      transcript,
      `${JSON.stringify({ type: "custom-title", customTitle: "Renamed", sessionId: testSessionId("a") })}\n`,
    );
    await watcher.shows("changed aaaaaaaa not running, 1 turn, just now: Renamed");
    watcher.child.kill("SIGINT");
    expect(await watcher.ended).toBe(0);
  });
});

describe("holdfast cc run in a terminal", () => {
  it("asks what Claude Code may do", async () => {
    await using task = await createTaskHome();
    task.api.script(
      toolUse("Bash", { command: "touch one", description: "Create a file" }),
      toolUse("Bash", { command: "touch two" }),
      text("finished"),
    );
    const env = { ...task.claude.env, HOLDFAST_HOME: task.home };
    using run = startInTerminal("cc run go --permission-mode default", 100, { cwd: task.claude.repo, env });
    await run.shows("Claude Code wants to use Bash: touch one (Create a file)");
    await run.shows("[n]o:");
    run.type("what?\n");
    await run.shows("[n]o:");
    run.type("y\n");
    await run.shows("touch two");
    await run.shows("[n]o:");
    run.type("n\n");
    await run.shows("finished");
    expect(await run.ended).toBe(5);
    expect(["one", "two"].map((name) => existsSync(join(task.claude.repo, name)))).toEqual([true, false]);
  });
});

/** The picker and `cc watch` as a person gets them: in a terminal, which `script` provides. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type NativeWorld, createNativeWorld, testSessionId } from "../support/native-world.ts";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
const OPEN_SCREEN = "\u001b[?1049h";
const CLOSE_SCREEN = "\u001b[?1049l";

let world: NativeWorld;
let repo: string;
let transcript: string;

beforeAll(async () => {
  world = await createNativeWorld();
  repo = world.join("shop");
  mkdirSync(repo);
  transcript = world.session({ id: "a", cwds: [repo], prompts: ["Fix the webhook"], modifiedAt: Date.now() - 60_000 });
  world.session({ id: "b", cwds: [repo], prompts: ["Write the docs \u001b[31m"], modifiedAt: Date.now() - 120_000 });
  world.session({
    id: "c",
    cwds: [world.join("other")],
    prompts: ["Something else"],
    modifiedAt: Date.now() - 180_000,
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

interface Program {
  child: ChildProcessWithoutNullStreams;
  output(): string;
  /** Resolves when the text has been written since the last wait. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  ended: Promise<number | null>;
}

/** The command's words are ours: no foreign text reaches this shell. */
function inTerminal(...args: string[]): Program {
  const command = `stty cols 80 rows 24; exec "${process.execPath}" "${BIN}" cc ${args.join(" ")}`;
  return follow(spawn("script", ["-qefc", command, "/dev/null"], { cwd: repo, env: environment(), stdio: "pipe" }));
}

function withoutTerminal(...args: string[]): Program {
  return follow(spawn(process.execPath, [BIN, "cc", ...args], { cwd: repo, env: environment(), stdio: "pipe" }));
}

function environment(): NodeJS.ProcessEnv {
  const paths = {
    HOLDFAST_HOME: world.home,
    CLAUDE_CONFIG_DIR: world.claudeHome,
    OPENCLAW_STATE_DIR: world.openClawHome,
  };
  return { ...process.env, ...paths, SHELL: "/bin/sh", TERM: "xterm-256color", NO_COLOR: "1" };
}

function follow(child: ChildProcessWithoutNullStreams): Program {
  let output = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return {
    child,
    output: () => output,
    async shows(text) {
      const deadline = Date.now() + 15_000;
      for (let at = -1; at === -1;) {
        at = output.indexOf(text, seen);
        if (at !== -1) seen = at + text.length;
        else if (Date.now() > deadline)
          throw new Error(`"${text}" did not come: ${JSON.stringify(output.slice(seen))}`);
        else await delay(10);
      }
    },
    type: (keys) => void child.stdin.write(keys),
    ended: once(child, "close").then(([code]) => code as number | null),
  };
}

describe("holdfast cc in a terminal", () => {
  it("filters while one types, shows the marked session and prints its id", async () => {
    const picker = inTerminal();
    await picker.shows(OPEN_SCREEN);
    await picker.shows("2 in ");
    await picker.shows("Fix the webhook");
    await picker.shows("Esc leave");
    picker.type("docs");
    await picker.shows("1 of 2 in ");
    await picker.shows(String.raw`· Write the docs \u001b[31m`);
    picker.type("\u0019");
    expect(await picker.ended).toBe(0);
    const [, after = ""] = picker.output().split(CLOSE_SCREEN);
    expect(after.trim()).toBe(testSessionId("b"));
    expect(picker.output()).not.toContain("\u001b[31m");
  });

  it("goes from the repo to all of them, and leaves with 130", async () => {
    const picker = inTerminal();
    await picker.shows("2 in ");
    picker.type("\t");
    await picker.shows("3 in all repos");
    await picker.shows("Something else");
    picker.type("\u001b");
    expect(await picker.ended).toBe(130);
    expect(picker.output()).toContain(CLOSE_SCREEN);
  });

  it("shows all of them where the folder has none", async () => {
    const picker = inTerminal("--since", "1d", "--agent", "nobody");
    await picker.shows("0 in all repos");
    await picker.shows("No sessions yet.");
    picker.type("\u0003");
    expect(await picker.ended).toBe(130);
  });

  it("gives the terminal back when it is killed", async () => {
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
  it("redraws the table when a transcript grows, until it is interrupted", async () => {
    const watcher = inTerminal("watch");
    await watcher.shows(OPEN_SCREEN);
    await watcher.shows("2 sessions, 0 running");
    world.session({ id: "d", cwds: [repo], prompts: ["A new task"] });
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

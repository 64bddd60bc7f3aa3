/**
 * `holdfast hook` as Claude Code calls it, with everything around it broken: it always succeeds soon, and prints
 * nothing or a valid answer. Its speed is not measured here; it only must not hang.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestRepo } from "../support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../support/native-home.ts";
import { canMount, smallDisk } from "../support/temp-folder.ts";
import { tearHandoff } from "../support/stores.ts";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
const OLD = testSessionId("a");
const NEW = testSessionId("b");
const BLOCKED = "I'm blocked: the importer cannot connect, because the broker refuses our certificate.";
/** Much longer than needed, but not endless. */
const NO_HANG_MS = 10_000;

let fixture: NativeHome;
let repo: string;
let transcript: string;

beforeEach(async () => {
  fixture = await createNativeHome();
  repo = realpathSync(createTestRepo(fixture.join("repo")).path);
  mkdirSync(fixture.home, { recursive: true });
  transcript = fixture.session({ id: "a", cwds: [repo], prompts: ["Please mend the importer."] });
  await appendFile(transcript, `${JSON.stringify(lineOf("assistant", BLOCKED))}\n`);
});

afterEach(async () => {
  await settled();
  await fixture[Symbol.asyncDispose]();
});

describe("holdfast hook", () => {
  it("gives a starting session the last hand-off, and captures it in the background", async () => {
    const { stdout } = await hook("SessionStart", starting());
    const { hookSpecificOutput } = JSON.parse(stdout) as { hookSpecificOutput: Record<string, string> };
    expect(hookSpecificOutput).toEqual({ hookEventName: "SessionStart", additionalContext: expect.any(String) });
    expect(hookSpecificOutput["additionalContext"]).toContain(BLOCKED);
    expect(hookSpecificOutput["additionalContext"]?.length).toBeLessThan(9_000);
    await settled();
    expect(kept()).toMatchObject([{ previousSessionId: OLD, resumeOfferedAt: expect.any(String) }]);
    // It is not offered again so soon.
    expect((await hook("SessionStart", { ...starting(), session_id: testSessionId("c") })).stdout).toBe("");
  });

  it("gives facts and the last exchange if nothing was captured, and the next session the full hand-off", async () => {
    const said = Array.from({ length: 30 }, (_, number) => lineOf("assistant", `I looked at module ${number}.`));
    const last = "We decided to use RabbitMQ instead of Kafka for the new queue.";
    const lines = [...said, lineOf("assistant", last)].map((line) => `${JSON.stringify(line)}\n`);
    await appendFile(transcript, lines.join(""));
    const first = (await hook("SessionStart", starting())).stdout;
    expect(first).toContain(last.slice(0, -1));
    expect(first).toContain("Decisions and blockers are still being read");
    await settled();
    expect(kept()).toMatchObject([{ previousSessionId: OLD, lastMessageIndex: said.length + 3 }]);
    const second = (await hook("SessionStart", { ...starting(), session_id: testSessionId("c") })).stdout;
    expect(second).toContain(last.slice(0, -1));
    expect(second).toContain(BLOCKED.slice(0, -1));
    expect(second).not.toContain("still being read");
    await settled();
    expect((await hook("SessionStart", { ...starting(), session_id: testSessionId("d") })).stdout).toBe("");
  });

  it("gives the stored hand-off even if there are newer messages", async () => {
    await hook("Stop", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    const last = "We decided to use RabbitMQ instead of Kafka for the new queue.";
    await appendFile(transcript, `${JSON.stringify(lineOf("assistant", last))}\n`);
    const { stdout } = await hook("SessionStart", starting());
    expect(stdout).toContain(BLOCKED);
    expect(stdout).toContain("More was said after that message");
    expect(stdout).not.toContain(last);
    await settled();
    // The next session gets all of it.
    expect((await hook("SessionStart", { ...starting(), session_id: testSessionId("c") })).stdout).toContain(last);
  });

  it("tells the last words after /clear, which nobody had the time to capture", async () => {
    await hook("Stop", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    const last = "We decided to use RabbitMQ instead of Kafka for the new queue.";
    await appendFile(transcript, `${JSON.stringify(lineOf("assistant", last))}\n`);
    const { stdout } = await hook("SessionStart", { ...starting(), source: "clear" });
    expect(stdout).toContain(BLOCKED);
    expect(stdout).toContain(last);
  });

  it("captures an ended session once, however often it is called", async () => {
    const ending = { ...starting(), session_id: OLD, transcript_path: transcript };
    await Promise.all(
      ["Stop", "PreCompact", "Stop", "SessionEnd", "PostCompact"].map(async (event) => await hook(event, ending)),
    );
    await settled();
    expect(kept()).toMatchObject([{ previousSessionId: OLD, summary: { blockers: [BLOCKED] } }]);
    expect(existsSync(join(fixture.home, "claude", "hooks", "hook.log"))).toBe(false);
  });

  it("ignores conversations with people, and gives our own tasks nothing they already have", async () => {
    const chat = { CLAUDE_CODE_ENTRYPOINT: "holdfast", HOLDFAST_RUN: "chat" };
    const ending = { ...starting(), session_id: OLD, transcript_path: transcript };
    expect((await hook("SessionStart", starting(), { env: chat })).stdout).toBe("");
    await hook("SessionEnd", ending, { env: chat });
    expect((await hook("SessionStart", starting(), { env: { ...chat, HOLDFAST_RUN: "task" } })).stdout).toBe("");
    await settled();
    expect(existsSync(join(fixture.home, "claude", "hooks", "requests"))).toBe(false);
  });

  it("does not wait for a locked store", async () => {
    await hook("SessionEnd", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    using database = new DatabaseSync(storePath());
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const before = performance.now();
    // What was rendered at the capture needs no store.
    expect((await hook("SessionStart", starting())).stdout).toContain(BLOCKED);
    expect(performance.now() - before).toBeLessThan(NO_HANG_MS);
    database.exec("ROLLBACK");
  });

  it("tells the same from the store if the rendered hand-off is lost, and has it rendered again", async () => {
    await hook("SessionEnd", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    const offers = join(fixture.home, "cache", "offers");
    expect(readdirSync(offers).filter((name) => name.endsWith(".json"))).toHaveLength(1);
    rmSync(offers, { recursive: true });
    expect((await hook("SessionStart", starting())).stdout).toContain(BLOCKED);
    await settled();
    expect(readdirSync(offers).filter((name) => name.endsWith(".json"))).toHaveLength(1);
    expect((await hook("SessionStart", { ...starting(), session_id: testSessionId("c") })).stdout).toBe("");
  });

  it("tells nothing that a person has cleared, whether or not it was rendered", async () => {
    const ending = { ...starting(), session_id: OLD, transcript_path: transcript };
    await hook("SessionEnd", ending);
    await settled();
    const cleared = start(["handoff", "clear", "--session", OLD]);
    cleared.stdin?.end();
    expect((await ended(cleared)).code).toBe(0);
    expect((await hook("SessionStart", starting())).stdout).toBe("");
    rmSync(join(fixture.home, "cache", "offers"), { recursive: true });
    expect((await hook("SessionStart", starting())).stdout).toBe("");
  });

  it("tells nothing of a session that another process has open", async () => {
    await hook("Stop", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    const sessions = join(fixture.claudeHome, "sessions");
    mkdirSync(sessions, { recursive: true });
    writeFileSync(
      join(sessions, `${process.pid}.json`),
      JSON.stringify({ pid: process.pid, sessionId: OLD, cwd: repo }),
    );
    expect((await hook("SessionStart", starting())).stdout).toBe("");
    rmSync(sessions, { recursive: true });
    expect((await hook("SessionStart", starting())).stdout).toContain(BLOCKED);
  });

  it.each<[string, string | Buffer]>([
    ["nothing", ""],
    ["garbage", "\u0000\u0001 not { json"],
    ["another JSON", "[1, 2]"],
    ["an object of somebody else", '{"hello": "you"}'],
    [
      "a path that leads elsewhere",
      JSON.stringify({ session_id: "../../etc/passwd", cwd: "/", transcript_path: "/etc/passwd" }),
    ],
    ["100 MB", Buffer.alloc(100 * 1024 * 1024, "x")],
    [
      "100 MB that could end at every byte",
      Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(100 * 1024 * 1024, "}")]),
    ],
  ])("bears %s as its input", async (_, input) => {
    const { stdout } = await hook("SessionStart", input);
    expect(stdout).toBe("");
  });

  it("survives endless input, and complete input on an open pipe", async () => {
    for (const input of ["", '{"session_id":', JSON.stringify(starting())]) {
      const child = start(["hook", "SessionStart"]);
      child.stdin?.write(input);
      expect((await ended(child)).code).toBe(0);
    }
  });

  it("survives unknown event names", async () => {
    for (const args of [["hook"], ["hook", "Nonsense"], ["hook", "Stop", "and", "more"], ["hook", "--wrong"]]) {
      const child = start(args);
      child.stdin?.end(JSON.stringify(starting()));
      expect(await ended(child)).toMatchObject({ code: 0, stdout: "" });
    }
  });

  it("survives a missing, torn or huge transcript, and a missing folder", async () => {
    const own = { ...starting(), session_id: OLD, transcript_path: transcript, source: "compact" };
    const torn = readFileSync(transcript, "utf8").slice(0, -40);
    // First, while nothing is stored: a stored hand-off may come without the newest messages.
    truncateSync(transcript, 2 ** 30);
    await appendFile(transcript, `\n${JSON.stringify(lineOf("assistant", BLOCKED))}\n`);
    expect((await hook("SessionStart", own)).stdout).toContain(BLOCKED);
    await settled();
    writeFileSync(transcript, torn);
    await hook("SessionStart", own);
    await settled();
    rmSync(transcript);
    await hook("SessionStart", own);
    rmSync(repo, { recursive: true });
    await hook("SessionStart", starting());
  });

  it("gives the hand-off even if its own working folder is gone", async () => {
    const cwd = fixture.join("gone");
    mkdirSync(cwd);
    const child = spawn(
      "/bin/sh",
      ["-c", 'rmdir "$PWD" && exec "$0" "$@"', process.execPath, BIN, "hook", "SessionStart"],
      {
        cwd,
        env: environment(),
        stdio: "pipe",
      },
    );
    child.stdin.end(JSON.stringify(starting()));
    const { code, stdout } = await ended(child);
    expect(existsSync(cwd)).toBe(false);
    expect(code).toBe(0);
    expect(stdout).toContain(BLOCKED);
  });

  it("reads a Stop event with a long answer", async () => {
    const ending = { ...starting(), session_id: OLD, transcript_path: transcript };
    await hook("Stop", { ...ending, last_assistant_message: "{ } ".repeat(100_000) });
    await settled();
    expect(kept()).toMatchObject([{ previousSessionId: OLD }]);
  });

  it("gives the stored hand-off next to a torn state in the store", async () => {
    await hook("SessionEnd", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    const other = `agent:main:claude-code:${testSessionId("c")}`;
    using database = new DatabaseSync(storePath());
    database.exec(`INSERT INTO handoffs SELECT '${other}', 0, updated_at, state FROM handoffs`);
    tearHandoff(storePath(), other);
    expect((await hook("SessionStart", starting())).stdout).toContain(BLOCKED);
  });

  it("rebuilds a torn state in the store", async () => {
    await hook("SessionEnd", { ...starting(), session_id: OLD, transcript_path: transcript });
    await settled();
    tearHandoff(storePath(), `agent:main:claude-code:${OLD}`);
    await hook("SessionStart", starting());
    await settled();
    expect(kept()).toMatchObject([{ previousSessionId: OLD, summary: { blockers: [BLOCKED] } }]);
  });

  it("survives a home that is a file, and a missing one", async () => {
    writeFileSync(fixture.join("file"), "");
    for (const home of [fixture.join("file"), fixture.join("file", "below"), fixture.join("nowhere")]) {
      for (const event of ["SessionStart", "SessionEnd"])
        await hook(event, starting(), { env: { HOLDFAST_HOME: home } });
    }
    expect(existsSync(fixture.join("nowhere"))).toBe(false);
  });

  it.skipIf(!canMount())("survives a full disk", async () => {
    await using disk = await smallDisk(2);
    const home = join(disk.path, "home");
    mkdirSync(home);
    await disk.fill();
    for (const event of ["SessionStart", "Stop", "SessionEnd"]) {
      await hook(event, starting(), { env: { HOLDFAST_HOME: home } });
    }
    expect(existsSync(join(home, "agents"))).toBe(false);
  });

  it("survives a closed output pipe", async () => {
    const child = start(["hook", "SessionStart"]);
    child.stdout?.destroy();
    child.stdin?.end(JSON.stringify(starting()));
    const [code] = (await once(child, "exit")) as [number | null];
    expect(code).toBe(0);
  });

  it("survives a broken configuration, and prints nothing if hand-off is turned off", async () => {
    const config = join(fixture.home, "config.json");
    mkdirSync(fixture.home, { recursive: true });
    for (const text of ["{ broken", '{"handoff": {"enabled": false}}']) {
      writeFileSync(config, text);
      expect((await hook("SessionStart", starting())).stdout).toBe("");
    }
  });
});

function starting(): Record<string, string> {
  const transcriptPath = join(transcript, "..", `${NEW}.jsonl`);
  return {
    session_id: NEW,
    transcript_path: transcriptPath,
    cwd: repo,
    hook_event_name: "SessionStart",
    source: "startup",
  };
}

function lineOf(type: string, text: string): Record<string, unknown> {
  return {
    type,
    uuid: crypto.randomUUID(),
    parentUuid: null,
    isSidechain: false,
    timestamp: new Date().toISOString(),
    sessionId: OLD,
    cwd: repo,
    entrypoint: "cli",
    message: { id: "msg_1", role: type, model: "claude-test", content: [{ type: "text", text }] },
  };
}

interface HookOptions {
  env?: Record<string, string>;
}

/** It must succeed and print either a valid answer or nothing. */
async function hook(event: string, input: object | string, options: HookOptions = {}): Promise<{ stdout: string }> {
  const child = start(["hook", event], options);
  child.stdin?.end(typeof input === "string" || Buffer.isBuffer(input) ? input : JSON.stringify(input));
  const { code, stdout, stderr } = await ended(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout === "" || "hookSpecificOutput" in (JSON.parse(stdout) as object)).toBe(true);
  return { stdout };
}

function start(args: readonly string[], { env = {} }: HookOptions = {}): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: fixture.join("."),
    env: { ...environment(), ...env },
    stdio: "pipe",
  });
  // It need not read all its input.
  child.stdin.on("error", () => undefined);
  return child;
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: fixture.join("."),
    HOLDFAST_HOME: fixture.home,
    CLAUDE_CONFIG_DIR: fixture.claudeHome,
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  };
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const timer = setTimeout(() => child.kill("SIGKILL"), NO_HANG_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return { code, stdout, stderr };
}

function isOpen(name: string): boolean {
  return [".json", ".json.lock", ".json.taken"].some((end) => name.endsWith(end));
}

/** Running processes of this home. */
function isAnyRunning(): boolean {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => environmentOf(pid).includes(`HOLDFAST_HOME=${fixture.home}\0`));
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** Waits until the background work of the hooks is done. */
async function settled(): Promise<void> {
  const folder = join(fixture.home, "claude", "hooks", "requests");
  for (let attempt = 0; attempt < 600; attempt++) {
    if ((!existsSync(folder) || !readdirSync(folder).some(isOpen)) && !isAnyRunning()) return;
    await delay(25);
  }
  throw new Error("a hook's work was not done");
}

function storePath(): string {
  return join(fixture.home, "agents", "main", "agent.sqlite");
}

function kept(): unknown[] {
  using database = new DatabaseSync(storePath());
  return database
    .prepare("SELECT state FROM handoffs ORDER BY key")
    .all()
    .map(({ state }) => JSON.parse(String(state)) as unknown);
}

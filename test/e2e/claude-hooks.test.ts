/**
 * What one session of Claude Code leaves for the next, with the real `claude` and a model API on loopback: with
 * Holdfast's hooks in its settings, for every way a session can end, and without hooks.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../src/base/json-record.ts";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import type { ClaudeHome } from "../support/claude-home.ts";
import { type CliResult, runCli, runCliShared } from "../support/cli.ts";
import type { RecordedRequest } from "../support/fake-anthropic/recorded-request.ts";
import { text } from "../support/fake-anthropic/reply.ts";
import { type ProcessHome, createProcessHome } from "../support/process-home.ts";

const SAID = {
  task: "Please move the invoice importer to the new queue.",
  blocker: "I'm blocked: the importer cannot connect, because the staging broker refuses our certificate.",
  decision: "We decided to use RabbitMQ instead of Kafka for the new queue.",
  next: "The next step is to ask Dana for a new certificate and then to run the importer again.",
};
const SETTINGS = '{\n  "cleanupPeriodDays": 30, \n  "hooks": {"Stop": [ ]}\n}';

let home: ProcessHome;
let holdfastHome: string;

describe("with hooks in Claude Code's settings, a person's hand-off", () => {
  let sessionId: string;
  beforeAll(async () => {
    await openHomes();
    await installHooks();
    sessionId = await work(async (claude) => await claude.leave());
    await home.home.empty(20_000);
  });
  beforeEach(() => {
    holdfastHome = join(home.home.home, ".holdfast");
  });
  afterAll(closeHomes);

  it("is in the prompt of Holdfast's own task, once", async () => {
    // In a copy, because an offer to the task would prevent offers to the sessions below.
    holdfastHome = join(home.home.home, ".holdfast-copy");
    await cp(join(home.home.home, ".holdfast"), holdfastHome, { recursive: true });
    expect(await holdfast("cc", "run", "Have a look around.", "--fresh")).toMatchObject({ code: 0 });
    const told = await requestOf("Have a look around.");
    expectHandoff(told, sessionId);
    expect(told.split("<handoff ")).toHaveLength(2);
  });

  it("does not reach a session of another repo", async () => {
    expect(await hookOutput(home.home.home)).toBe("");
  });

  it("reaches exactly the next session, with references to the original messages", async () => {
    const told = await firstRequest("What is there to do?");
    expectHandoff(told, sessionId);
    await expectReferences(told, sessionId);
    // Offered a moment ago, it is not offered again.
    await home.home.empty(20_000);
    expect(await hookOutput(home.home.repo)).not.toContain("<handoff ");
  });
});

describe("with hooks in Claude Code's settings, the next session gets the hand-off", () => {
  beforeEach(async () => {
    await openHomes();
    await installHooks();
  });
  afterEach(closeHomes);

  it("after SIGKILL, which calls no hook, also if hooks were uninstalled meanwhile", async () => {
    const sessionId = await work(async (claude) => await claude.kill());
    expect(await holdfast("hooks", "uninstall", "claude-code")).toMatchObject({ code: 0 });
    expect(readFileSync(settingsFile(), "utf8")).toBe(SETTINGS);
    await installHooks();
    // The words are read in the background.
    await home.home.empty(20_000);
    expectHandoff(await firstRequest("Where were we?"), sessionId);
  });

  it("after a compaction: its own notes; then after /clear, in the same process", async () => {
    const sessionId = await work(async (claude) => {
      await claude.say("/compact");
      await claude.say("Go on, please.");
      await claude.say("/clear");
      await claude.say("Where were we before?");
      await claude.leave();
    });
    const compacted = await requestOf("Go on, please.");
    expectHandoff(compacted, sessionId);
    expect(compacted).toContain("before it was shortened");
    expectHandoff(await requestOf("Where were we before?"), sessionId);
  });
});

describe("without hooks, the hand-off of a killed session", () => {
  let sessionId: string;
  beforeAll(async () => {
    await openHomes();
    sessionId = await work(async (claude) => await claude.kill());
  });
  // Hand-offs of other tests are unknown there.
  beforeEach(() => {
    holdfastHome = join(home.home.home, `.holdfast-${crypto.randomUUID()}`);
  });
  afterAll(closeHomes);

  it("can be shown", async () => {
    const { code, stdout } = await holdfast("handoff", "show", "--session", sessionId);
    expect(code).toBe(0);
    for (const said of [SAID.blocker, SAID.decision, SAID.next]) expect(stdout).toContain(said.slice(-40, -1));
  });

  it("reaches a new task in the repo", async () => {
    expect(await holdfast("cc", "run", "Have a look around.", "--fresh")).toMatchObject({ code: 0 });
    expectHandoff(await requestOf("Have a look around."), sessionId);
  });

  it("does not reach a task that opts out", async () => {
    expect(await holdfast("cc", "run", "Know nothing.", "--fresh", "--no-handoff")).toMatchObject({ code: 0 });
    expect(await requestOf("Know nothing.")).not.toContain("<handoff ");
  });
});

async function openHomes(): Promise<void> {
  home = await createProcessHome();
  holdfastHome = join(home.home.home, ".holdfast");
}

async function closeHomes(): Promise<void> {
  await home[Symbol.asyncDispose]();
}

/** Nothing else of Claude Code's may be touched. */
async function installHooks(): Promise<void> {
  writeFileSync(settingsFile(), SETTINGS);
  const before = names();
  expect(await holdfast("hooks", "install", "claude-code")).toMatchObject({ code: 0 });
  expect(names()).toEqual(before);
}

/** Creates a session with something to hand over. Resolves to its id. */
async function work(end: (claude: PersonClaude) => Promise<void>): Promise<string> {
  await using claude = startPersonClaude(home.home, environment());
  home.api.script(text(SAID.blocker), text(SAID.next));
  await claude.say(SAID.task);
  await claude.say(SAID.decision);
  const sessionId = claude.sessionId();
  // Claude Code answers before it writes its transcript.
  await vi.waitFor(
    async () => expect(JSON.stringify(await home.home.transcript(sessionId))).toContain(SAID.next),
    10_000,
  );
  await end(claude);
  return sessionId;
}

/** Everything that the model receives in a session that begins with this question. */
async function firstRequest(question: string): Promise<string> {
  await using claude = startPersonClaude(home.home, environment());
  await claude.say(question);
  await claude.leave();
  return await requestOf(question);
}

/** What the hook gives a session that starts in this folder, called as Claude Code calls it. */
async function hookOutput(cwd: string): Promise<string> {
  const sessionId = crypto.randomUUID();
  const path = join(home.home.configDir, "projects", projectFolderName(cwd), `${sessionId}.jsonl`);
  const input = JSON.stringify({ session_id: sessionId, transcript_path: path, cwd, source: "startup" });
  const { code, stdout } = await runCli(["hook", "SessionStart"], {
    home: holdfastHome,
    env: home.home.env,
    cwd,
    input,
  });
  expect(code).toBe(0);
  return stdout;
}

async function requestOf(question: string): Promise<string> {
  const asks = (request: RecordedRequest): boolean =>
    request.kind === "main" && JSON.stringify(request.messages).includes(question);
  const request = await home.api.waitFor(asks);
  return JSON.stringify([request.system, request.messages]);
}

function expectHandoff(told: string, sessionId: string): void {
  expect(told).toContain("<handoff ");
  expect(told).toContain(sessionId.slice(0, 8));
  for (const said of [SAID.blocker, SAID.decision, SAID.next]) expect(told).toContain(said.slice(-40, -1));
  expect(told).toContain("move the invoice importer");
}

/** Each line names its source: a line of the transcript with the same words. */
async function expectReferences(told: string, sessionId: string): Promise<void> {
  const lines = await home.home.transcript(sessionId);
  for (const said of [SAID.blocker, SAID.decision, SAID.next]) {
    const [, reference] = new RegExp(`${said.slice(-30, -1)}[^\\\\]*?\\[([0-9a-f]{8})\\]`).exec(told) ?? [];
    const named = lines.filter(({ uuid }) => String(uuid).startsWith(String(reference)));
    expect(named, said).toHaveLength(1);
    expect(JSON.stringify(named)).toContain(said);
  }
}

async function holdfast(...args: string[]): Promise<CliResult> {
  const { env } = home.home;
  writeConfig();
  return await runCliShared(args, { home: holdfastHome, env, cwd: home.home.repo });
}

function environment(): Record<string, string> {
  return { HOLDFAST_HOME: holdfastHome };
}

function writeConfig(): void {
  mkdirSync(holdfastHome, { recursive: true });
  writeFileSync(join(holdfastHome, "config.json"), JSON.stringify({ claudeCode: { command: home.home.command } }));
}

function settingsFile(): string {
  return join(home.home.configDir, "settings.json");
}

function names(): string[] {
  const { configDir } = home.home;
  const all = readdirSync(configDir, { recursive: true, encoding: "utf8" }).toSorted();
  return all.map((name) => `${name} ${name === "settings.json" ? "" : lstatSync(join(configDir, name)).ctimeMs}`);
}

/** `claude` as a person runs it: its own entrypoint, its own settings and hooks. */
interface PersonClaude extends AsyncDisposable {
  process: ChildProcess;
  /** Until it has answered. */
  say(text: string): Promise<void>;
  /** Of the conversation as it is now. */
  sessionId(): string;
  /** Ends it as a person does. */
  leave(): Promise<void>;
  kill(): Promise<void>;
}

function startPersonClaude(home: ClaudeHome, env: Record<string, string>): PersonClaude {
  const args = ["--print", "--input-format=stream-json", "--output-format=stream-json", "--verbose"];
  const child = spawn(home.command, args, {
    cwd: home.repo,
    env: { ...home.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  const messages: Record<string, unknown>[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const message = JSON.parse(line) as unknown;
    if (isRecord(message)) messages.push(message);
  });
  return {
    process: child,
    async say(text) {
      const before = messages.length;
      child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`);
      const isAnswered = (): boolean => messages.slice(before).some(({ type }) => type === "result");
      while (!isAnswered()) await Promise.race([once(lines, "line"), fail(closed, `no answer to ${text}`)]);
    },
    sessionId: () => String(messages.findLast(({ type }) => type === "system" || type === "result")?.["session_id"]),
    async leave() {
      child.stdin.end();
      await closed;
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await closed;
    },
  };
}

async function fail(ended: Promise<unknown>, message: string): Promise<never> {
  await ended;
  throw new Error(message);
}

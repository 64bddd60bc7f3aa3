/**
 * Claude Code's folder belongs to Claude Code. Every read-only command runs against one that contains credentials,
 * also behind links named like transcripts. Afterwards nothing has changed and no secret was read, judged by access
 * times and by `strace` where installed.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectMcp } from "../support/mcp-home.ts";
import { createTestRepo } from "../support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../support/native-home.ts";
import { TOOL_NAMES } from "../../src/mcp/bridge-parts.ts";
import { BIN } from "../support/cli.ts";

const CASES = fileURLToPath(new URL("../../examples/selection-cases.jsonl", import.meta.url));
const DAY = 86_400_000;
const OWN = testSessionId("a");
const SECRETS = [
  ".credentials.json",
  ".claude.json",
  "settings.local.json",
  "sessions/auth.token",
  "sessions/4242.token",
  "statsig/key.json",
];
const SETTINGS = "settings.json";
/** Uses the kernel's filter; otherwise strace would stop at every other system call too. */
const TRACING = ["-qq", "-f", "--seccomp-bpf", "-e", "trace=open,openat,openat2,creat"];
const CAN_TRACE = canTrace();

const COMMANDS: string[][] = [
  ["cc"],
  ["cc", "list", "--all", "--json"],
  ["cc", "list", "--running"],
  ["cc", "info", OWN],
  ["cc", "status"],
  ["cc", "select", "mend the webhook"],
  ["cc", "costs", "--by", "session"],
  ["cc", "eval", CASES],
  ["sessions", "--json"],
  ["doctor"],
];

let fixture: NativeHome;
let repo: string;

beforeAll(async () => {
  fixture = await createNativeHome();
  repo = createTestRepo(fixture.join("repo")).path;
  const old = { cwds: [repo], modifiedAt: Date.now() - 28 * DAY };
  const path = fixture.session({ id: "a", prompts: ["[openclaw:agent=main]\nMend the webhook"], ...old });
  fixture.session({ id: "b", ...old });
  for (const name of ["sessions", "statsig"]) mkdirSync(join(fixture.claudeHome, name));
  for (const name of [...SECRETS, SETTINGS]) plant(name);
  const credentials = join(fixture.claudeHome, ".credentials.json");
  symlinkSync(credentials, join(path, "..", `${testSessionId("c")}.jsonl`));
  symlinkSync(credentials, join(fixture.claudeHome, "sessions", `${process.pid}.json`));
  symlinkSync(credentials, join(fixture.claudeHome, "history.jsonl"));
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

/** Access time before modification time: a file system that records only the first read then records the next one. */
function plant(name: string): void {
  const path = join(fixture.claudeHome, name);
  writeFileSync(path, JSON.stringify({ env: { ANTHROPIC_API_KEY: "sk-ant-planted" }, cleanupPeriodDays: 30 }));
  utimesSync(path, UNREAD_S, UNREAD_S + 1000);
}

const UNREAD_S = Date.UTC(2020, 0, 1) / 1000;

describe("Claude Code's folder after every read-only command", () => {
  let before: string[];
  let opened: string[];
  beforeAll(async () => {
    before = snapshot();
    opened = COMMANDS.flatMap((args) => openedBy((under) => void holdfast(args, under)));
    const log = fixture.join("mcp.trace");
    await callEveryTool(strace(log));
    opened.push(...openedIn(log));
    await watchOnce();
  });

  it("is unchanged, and no secret was read", () => {
    expect(snapshot()).toEqual(before);
    expect(readFiles([...SECRETS, SETTINGS])).toEqual([]);
  });

  it.skipIf(!CAN_TRACE)("was opened by known names only, and only for reading", () => {
    expect(opened.length).toBeGreaterThan(0);
    expect(opened.filter((line) => !ALLOWED.test(line))).toEqual([]);
  });
});

describe("Claude Code's folder after archiving", () => {
  it("is unchanged, and apart from sessions only the settings were read", () => {
    const before = snapshot();
    const opened = [
      openedBy((under) => expect(holdfast(["cc", "archive"], under)).toContain(`copied ${OWN}`)),
      openedBy((under) => void holdfast(["cc", "archive", "--days", "20"], under)),
    ];
    holdfast(["cc", "archive", "--restore", OWN, "--to", fixture.join("restored")]);
    expect(snapshot()).toEqual(before);
    expect(readFiles(SECRETS)).toEqual([]);
    const others = opened.map((lines) => lines.filter((line) => !ALLOWED.test(line)));
    const settings = CAN_TRACE ? ["settings.json O_RDONLY"] : [];
    expect(others.map((lines) => lines.map((line) => line.replace(/\|.*/, "")))).toEqual([settings, settings]);
  });
});

const ALLOWED = /^(?:projects|projects\/.*|sessions|sessions\/\d+\.json|history\.jsonl) O_RDONLY\b/;

function holdfast(args: readonly string[], under: readonly string[] = []): string {
  const [command = "", ...rest] = [...under, process.execPath, BIN, ...args];
  return execFileSync(command, rest, { cwd: repo, env: environment(), encoding: "utf8", stdio: "pipe" });
}

function environment(): Record<string, string | undefined> {
  const { home, claudeHome, openClawHome } = fixture;
  return {
    ...process.env,
    HOLDFAST_HOME: home,
    CLAUDE_CONFIG_DIR: claudeHome,
    OPENCLAW_STATE_DIR: openClawHome,
    NO_COLOR: "1",
  };
}

const ARGUMENTS: Record<string, object> = {
  openclaw_memory_search: { query: "webhook" },
  openclaw_announce: { message: "Half done" },
  openclaw_session_list: { include_native: true },
  openclaw_session_search: { query: "webhook" },
  openclaw_decide_session: { task: "Mend the webhook" },
  openclaw_handoff: { session_id: OWN },
};

async function callEveryTool(under: readonly string[] = []): Promise<void> {
  await using mcp = await connectMcp({ cwd: repo, env: environment(), under });
  for (const name of TOOL_NAMES) {
    const tool = name.startsWith("openclaw_") ? name : `openclaw_${name}`;
    const { isError } = await mcp.client.callTool({ name: tool, arguments: { ...ARGUMENTS[tool] } });
    expect(isError ?? false, tool).toBe(false);
  }
}

/** Runs until it has printed the number of sessions. */
async function watchOnce(): Promise<void> {
  const child = spawn(process.execPath, [BIN, "cc", "watch"], {
    cwd: repo,
    env: environment(),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  await once(child.stderr, "data");
  child.kill("SIGINT");
  await ended;
}

/** Names, kinds, modes, sizes and times of everything, folders too. */
function snapshot(): string[] {
  const names = readdirSync(fixture.claudeHome, { recursive: true, encoding: "utf8" }).toSorted();
  return ["", ...names].map((name) => {
    const { mode, size, mtimeMs, ctimeMs, ino } = lstatSync(join(fixture.claudeHome, name));
    return [name, ino, mode.toString(8), size, mtimeMs, ctimeMs].join(" ");
  });
}

function readFiles(names: readonly string[]): string[] {
  return names.filter((name) => lstatSync(join(fixture.claudeHome, name)).atimeMs !== UNREAD_S * 1000);
}

function canTrace(): boolean {
  try {
    execFileSync("strace", [...TRACING, "-o", "/dev/null", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The `strace` prefix that records opened files. Empty where that is not possible. */
function strace(log: string): string[] {
  return CAN_TRACE ? ["strace", ...TRACING, "-o", log] : [];
}

function openedBy(run: (under: string[]) => void): string[] {
  const log = fixture.join("trace");
  run(strace(log));
  return openedIn(log);
}

/** `<path below Claude Code's folder> <flags>` of each attempt. */
function openedIn(log: string): string[] {
  if (!CAN_TRACE) return [];
  const calls = readFileSync(log, "utf8").matchAll(/\b(?:open|openat2?|creat)\((?:\w+, )?"([^"]*)", ([^)]*)/g);
  return [...calls].flatMap(([, path = "", flags = ""]) => {
    const below = relative(fixture.claudeHome, path);
    return below.startsWith("..") ? [] : [`${below} ${flags}`];
  });
}

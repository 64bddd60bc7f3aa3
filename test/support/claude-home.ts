/**
 * Everything that the real `claude` needs in a test, isolated from the user's own files:
 *
 *   await using claude = await createClaudeHome(api);
 *
 * A scratch home, a repo, and an environment that reaches only the fake API. Every process started with
 * this environment carries a mark; the disposal fails if one still runs.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { cp, mkdir, readFile, readdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { randomIds } from "../../src/base/ids.ts";
import { isRecord } from "../../src/base/json-record.ts";
import type { FakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";
import { templateOf } from "./git-repo.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { until } from "./time.ts";

export interface ClaudeHome extends AsyncDisposable {
  /** The pinned CLI. */
  command: string;
  /** The scratch home. */
  home: string;
  /** CLAUDE_CONFIG_DIR. */
  configDir: string;
  /** A git repo with one commit. */
  repo: string;
  env: Record<string, string>;
  /** The lines of a session's transcript. */
  transcript(sessionId: string): Promise<Record<string, unknown>[]>;
  /** Pids of running processes of this home. */
  processes(): number[];
  /** Waits until no process of this home runs; fails after the timeout. */
  empty(timeoutMs?: number): Promise<void>;
}

const CLI = fileURLToPath(new URL("../../node_modules/.bin/claude", import.meta.url));
const MARK = "HOLDFAST_TEST_MARK";

export async function createClaudeHome(api: Pick<FakeAnthropic, "url">): Promise<ClaudeHome> {
  if (!existsSync(CLI)) throw new Error("The tests need the real Claude Code: run `npm ci` first.");
  const folder = await temporaryFolder();
  const root = await realpath(folder.path);
  const configDir = join(root, "home", ".claude");
  const repo = join(root, "repo");
  await mkdir(configDir, { recursive: true });
  const mark = randomIds.uuid();
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(root, "home"),
    CLAUDE_CONFIG_DIR: configDir,
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: "test-key-without-value",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Root may then use bypassPermissions.
    IS_SANDBOX: "1",
    // Processes are short-lived: garbage collection and optimization would not pay off.
    BUN_JSC_useGC: "0",
    BUN_JSC_useDFGJIT: "0",
    // The MCP bridge and hooks that Claude Code starts.
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    [MARK]: mark,
  };
  await createRepo(repo, { PATH: env.PATH, HOME: env.HOME });

  const processes = (): number[] => markedProcesses(mark);
  const empty = async (timeoutMs = 10_000): Promise<void> => {
    const deadline = Date.now() + timeoutMs;
    while (processes().length > 0) {
      if (Date.now() > deadline) throw new Error(`still running: ${processes().map(describeProcess).join("; ")}`);
      // Looking at every process of the machine takes milliseconds.
      await delay(50);
    }
  };
  return {
    command: CLI,
    home: env.HOME,
    configDir,
    repo,
    env,
    transcript: async (sessionId) => await readTranscript(join(configDir, "projects"), sessionId),
    processes,
    empty,
    [Symbol.asyncDispose]: async () => {
      try {
        await empty();
      } finally {
        for (const pid of processes()) process.kill(pid, "SIGKILL");
        await folder[Symbol.asyncDispose]();
      }
    },
  };
}

async function createRepo(path: string, env: { PATH: string; HOME: string }): Promise<void> {
  await writeFile(join(env.HOME, ".gitconfig"), "[user]\n\tname = Test\n\temail = test@example.invalid\n");
  const template = templateOf("one commit", (folder) => {
    const git = (...args: string[]): unknown => execFileSync("git", ["-C", folder, ...args], { env, stdio: "ignore" });
    git("init", "--initial-branch=main", "--template=");
    writeFileSync(join(folder, "README.md"), "A repo to work in.\n");
    git("add", "README.md");
    git("commit", "-m", "A first commit");
  });
  await cp(template, path, { recursive: true });
}

/** Claude Code may write a moment after a turn has ended, so this waits for the file and for a whole last line. */
async function readTranscript(projects: string, sessionId: string): Promise<Record<string, unknown>[]> {
  const read = async (): Promise<string | undefined> => {
    const folders = await readdir(projects).catch(() => []);
    const path = folders.map((folder) => join(projects, folder, `${sessionId}.jsonl`)).find((one) => existsSync(one));
    const text = path === undefined ? "" : await readFile(path, "utf8");
    return text.endsWith("\n") ? text : undefined;
  };
  const text = await until(read, `the transcript of ${sessionId}`);
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as unknown).filter(isRecord);
}

function markedProcesses(mark: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => readQuietly(`/proc/${pid}/environ`).includes(`${MARK}=${mark}`)).map(Number);
}

function describeProcess(pid: number): string {
  return `${pid} ${readQuietly(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200)}`;
}

/** The process may be gone, or belong to another user. */
function readQuietly(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/**
 * Prints how many files of dist/ run at least one function for one Telegram message on the echo engine, and for
 * one `cc run` with the real `claude` and a fake model API. Uses V8's coverage. Build first.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClaudeHome } from "../test/support/claude-home.ts";
import { startFakeAnthropic } from "../test/support/fake-anthropic/fake-anthropic.ts";
import { startFakeTelegram } from "../test/support/fake-telegram/fake-telegram.ts";
import { temporaryFolder } from "../test/support/temp-folder.ts";

const DIST = new URL("../dist/", import.meta.url).href;
/** Runs the command line from its separate files. SIGUSR2 writes a report and resets the counters. */
const RUNNER = `
import v8 from "node:v8";
import { main } from ${JSON.stringify(`${DIST}cli/main.js`)};
process.on("SIGUSR2", () => v8.takeCoverage());
process.exitCode = await main(process.argv.slice(2));
`;

print("One Telegram message", await filesOfMessage());
print("cc run", await filesOfRun());

async function filesOfMessage(): Promise<readonly string[]> {
  await using folder = await temporaryFolder();
  await using telegram = await startFakeTelegram();
  const account = { tokenEnv: "TELEGRAM_TOKEN", apiRoot: telegram.url, allowFrom: ["*"] };
  writeFileSync(folder.join("config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
  const gateway = start(folder.path, ["gateway", "--port", "0", "--json"], {
    HOLDFAST_HOME: folder.path,
    TELEGRAM_TOKEN: telegram.token,
  });
  telegram.say("warm up");
  await telegram.waitFor(({ params }) => String(params["text"]).includes("warm up"), 30_000);
  await report(gateway, folder.path);
  rmSync(coverageIn(folder.path), { recursive: true });
  mkdirSync(coverageIn(folder.path));
  telegram.say("hello");
  await telegram.waitFor(({ params }) => String(params["text"]).includes("hello"), 30_000);
  await report(gateway, folder.path);
  const ofMessage = executedFiles(coverageIn(folder.path));
  gateway.kill("SIGTERM");
  await once(gateway, "exit");
  // Threads report when they end. Their reports end with the number of the thread; the main thread has 0.
  const ofThreads = executedFiles(coverageIn(folder.path), /-[1-9]\d*\.json$/);
  return [...new Set([...ofMessage, ...ofThreads])].toSorted();
}

/** Waits until the message has settled, then for the report. */
async function report(child: ChildProcess, folder: string): Promise<void> {
  await delay(2000);
  child.kill("SIGUSR2");
  while (!existsSync(coverageIn(folder)) || readdirSync(coverageIn(folder)).length === 0) await delay(100);
  await delay(1000);
}

async function filesOfRun(): Promise<readonly string[]> {
  await using folder = await temporaryFolder();
  await using api = await startFakeAnthropic();
  await using claude = await createClaudeHome(api);
  const claudeCode = { command: claude.command, permissionMode: "bypassPermissions" };
  writeFileSync(folder.join("config.json"), JSON.stringify({ claudeCode }));
  const child = start(
    folder.path,
    ["cc", "run", "say hello"],
    { ...claude.env, HOLDFAST_HOME: folder.path },
    claude.repo,
  );
  await once(child, "exit");
  return executedFiles(coverageIn(folder.path));
}

function start(folder: string, args: readonly string[], env: Record<string, string>, cwd = folder): ChildProcess {
  const runner = join(folder, "run.mjs");
  writeFileSync(runner, RUNNER);
  return spawn(process.execPath, [runner, ...args], {
    cwd,
    env: { ...process.env, ...env, NODE_V8_COVERAGE: coverageIn(folder) },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function coverageIn(folder: string): string {
  return join(folder, "coverage");
}

interface Report {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[];
}

function executedFiles(folder: string, named = /\.json$/): readonly string[] {
  const names = readdirSync(folder).filter((name) => named.test(name));
  const reports = names.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Report);
  const files = reports.flatMap(({ result }) =>
    result
      // The first function is the module itself, which runs when it is loaded.
      .filter(({ functions }) => functions.slice(1).some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url)
      .filter((url) => url.startsWith(DIST)),
  );
  return [...new Set(files)].map((url) => fileURLToPath(url).slice(fileURLToPath(DIST).length)).toSorted();
}

function print(title: string, files: readonly string[]): void {
  console.log(`${title}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join("")}`);
}

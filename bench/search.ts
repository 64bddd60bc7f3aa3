/** Search over generated Claude Code sessions: the first index, one command, one RPC call, size and memory. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/base/clock.ts";
import { silentLogger } from "../src/base/log.ts";
import { createLiveSearch } from "../src/compose/live-search.ts";
import { DEFAULT_CONFIG } from "../src/config/config.ts";
import { generateCorpus } from "./claude-corpus.ts";
import { NOTE_MEMORY, type Result, compare, median } from "./measure.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const SESSIONS = process.env["HOLDFAST_BENCH_QUICK"] === undefined ? 10_000 : 500;
const RSS_LIMIT_MB = 300;
const QUESTIONS = ["retry queue", "parser", "webhook signature test", "qeueu", "src/cache.ts"];

export async function measureSearch(folder: string): Promise<Result[]> {
  const [home, claudeHome] = [join(folder, "search-home"), join(folder, "search-claude")];
  const memory = join(folder, "search-max-rss");
  const env = {
    ...process.env,
    CLAUDE_CONFIG_DIR: claudeHome,
    HOLDFAST_HOME: home,
    HOME: folder,
    BENCH_RSS: memory,
  };
  const { bytes } = generateCorpus({ folder: claudeHome, sessions: SESSIONS });
  const corpus = `${SESSIONS.toLocaleString("en")} sessions, ${(bytes / 1e9).toFixed(2)} GB`;
  mkdirSync(join(home, "cache"), { recursive: true });
  const run = (args: readonly string[], more: readonly string[] = []): void =>
    runProgram(process.execPath, [...more, BIN, ...args], env);
  const search = (index: number): void => run(["search", QUESTIONS[index % QUESTIONS.length] ?? ""]);
  const cold = (name: string, args: readonly string[], more?: readonly string[]): void => {
    for (const file of readdirSync(join(home, "cache"))) if (file.startsWith(name)) rmSync(join(home, "cache", file));
    run(args, more);
  };
  // Once, to fill the page cache and the compile cache.
  cold("claude-index", ["cc", "list", "--all"]);
  cold("search.sqlite", ["search", "retry"], ["--import", NOTE_MEMORY]);
  const maxRssMb = Number(readFileSync(memory, "utf8")) / 1024;
  const [first, list] = await compare(
    2,
    () => cold("search.sqlite", ["search", "retry"]),
    () => cold("claude-index", ["cc", "list", "--all"]),
  );
  const [command, bare] = await compare(15, search, () => runProgram(process.execPath, ["-e", "0"], env));
  const results: Result[] = [
    { work: `search, first index, ${corpus}`, ours: first, peer: "cc list, no index", theirs: list, bar: atMost(3) },
    {
      work: `its peak memory, ${corpus}`,
      ours: maxRssMb,
      peer: "limit",
      theirs: RSS_LIMIT_MB,
      bar: atMost(1),
      unit: "MB",
    },
    { work: `search, ${corpus}`, ours: command, peer: "node -e 0", theirs: bare, bar: atMost(5) },
    {
      work: `size of the search index, ${corpus}`,
      ours: statSync(join(home, "cache", "search.sqlite")).size / 1e6,
      peer: "transcripts",
      theirs: bytes / 1e6,
      bar: atMost(0.25),
      unit: "MB",
    },
    await measureCalls(home, env, corpus),
  ];
  if (spawnSync("rg", ["--version"]).status === 0) {
    const theirs = await median(5, () => runProgram("rg", ["-l", "retries", claudeHome], env));
    results.push({ work: `search, ${corpus}`, ours: command, peer: "rg -l", theirs });
  } else {
    console.error("rg not installed: search is not compared with it");
  }
  rmSync(claudeHome, { recursive: true });
  return results;
}

async function measureCalls(home: string, env: NodeJS.ProcessEnv, corpus: string): Promise<Result> {
  const config = { ...DEFAULT_CONFIG, log: { level: "silent" as const } };
  const live = createLiveSearch({ home, config, env, clock: systemClock, logger: silentLogger });
  try {
    await live.query({ text: "retry" });
    const ours = await median(30, async (index) => {
      await live.query({ text: QUESTIONS[index % QUESTIONS.length] ?? "" });
    });
    return { work: `search.query, ${corpus}`, ours, peer: "limit", theirs: 20, bar: atMost(1) };
  } finally {
    await live.close();
  }
}

function atMost(limit: number): Result["bar"] {
  return { ratio: "ours/theirs", atMost: limit };
}

function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status, stderr } = spawnSync(program, args, { env, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

/**
 * Measures the built `cc` commands: `cc costs` without an index against ccusage on the same files, `cc list` against
 * the bare runtime and the Agent SDK, and the refresh after a file grew. Fails unless ccusage counts the same tokens.
 */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createNativeIndex } from "../src/claude/index/create-native-index.ts";
import { generateCorpus } from "./claude-corpus.ts";
import { NOTE_MEMORY, type Result, compare, median } from "./measure.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const CCUSAGE = "ccusage@20.0.24";
const AGENT_SDK = "@anthropic-ai/claude-agent-sdk@0.3.325";
const LIST_PAGE = ["cc", "list", "--all"];
const LIST_ALL = ["cc", "list", "--all", "--json"];
const COSTS = ["cc", "costs", "--json"];
const QUICK = process.env["HOLDFAST_BENCH_QUICK"] !== undefined;
const RSS_LIMIT_MB = 250;

interface Corpus {
  sessions: number;
  meanBytes?: number | undefined;
  outputLength?: number | undefined;
  /** Maximum time of a warm list of all sessions as JSON, relative to the bare runtime. Default: not measured. */
  listAtMost?: number | undefined;
  /** Also measure the first page of the list, and the Agent SDK. */
  besideSdk?: boolean | undefined;
  /** Maximum time of `cc costs` without an index, relative to ccusage. */
  atMost: number;
}

const LARGE_OUTPUTS = { meanBytes: 200_000, outputLength: 3000 };
const CORPORA: readonly Corpus[] = [
  { sessions: 10_000, listAtMost: 10, besideSdk: true, atMost: 0.7 },
  { sessions: 2000, ...LARGE_OUTPUTS, listAtMost: 6, atMost: 0.8 },
  { sessions: 6000, ...LARGE_OUTPUTS, atMost: 0.7 },
];
const QUICK_CORPORA: readonly Corpus[] = [{ sessions: 1000, listAtMost: 10, besideSdk: true, atMost: 0.7 }];

export async function measureClaude(folder: string): Promise<Result[]> {
  const ccusage = installCcusage(join(folder, "ccusage"));
  const sdk = installSdk(join(folder, "agent-sdk"));
  const results: Result[] = [];
  for (const { listAtMost, besideSdk, atMost, ...options } of QUICK ? QUICK_CORPORA : CORPORA) {
    const claudeHome = join(folder, "claude");
    const { bytes } = generateCorpus({ folder: claudeHome, ...options });
    const corpus = `${options.sessions.toLocaleString("en")} sessions, ${(bytes / 1e9).toFixed(2)} GB`;
    results.push(...(await measureCold({ folder, claudeHome, corpus, ccusage, atMost })));
    if (listAtMost !== undefined) results.push(await measureList({ folder, claudeHome, corpus, atMost: listAtMost }));
    if (besideSdk === true) results.push(...(await measurePage({ folder, claudeHome, corpus, sdk })));
    rmSync(claudeHome, { recursive: true });
  }
  results.push(await measureGrowth(folder));
  return results;
}

interface Run {
  folder: string;
  claudeHome: string;
  corpus: string;
  atMost: number;
}

type ColdRun = Run & { ccusage: string };
type PageRun = Omit<Run, "atMost"> & { sdk: string };

/** `cc costs` without an index. The compile cache stays: people have no index only once, but always a cache. */
async function measureCold({ folder, claudeHome, corpus, ccusage, atMost }: ColdRun): Promise<Result[]> {
  const home = join(folder, "home");
  const memory = join(folder, "max-rss");
  const env = { CLAUDE_CONFIG_DIR: claudeHome, HOLDFAST_HOME: home, HOME: folder };
  let ours: Tokens | undefined;
  let theirs: Tokens | undefined;
  const ourRun = (more: readonly string[] = []) => {
    rmSync(indexFile(home), { force: true });
    const output = run(process.execPath, [...more, BIN, ...COSTS], { ...env, BENCH_RSS: memory });
    const { input, output: written, cacheRead, cacheWrite } = (JSON.parse(output) as { total: Tokens }).total;
    ours = { input, output: written, cacheRead, cacheWrite };
  };
  const theirRun = () => {
    const output = run(ccusage, ["claude", "daily", "--json", "--offline"], env);
    theirs = toTokens((JSON.parse(output) as { totals: CcusageTotals }).totals);
  };
  mkdirSync(join(home, "cache"), { recursive: true });
  // Run each once, to fill the page cache and the compile cache.
  theirRun();
  ourRun(["--import", NOTE_MEMORY]);
  const maxRssMb = Number(readFileSync(memory, "utf8")) / 1024;
  const [ourTime, theirTime] = await compare(5, () => ourRun(), theirRun);
  if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
    throw new Error(`tokens differ: ours ${JSON.stringify(ours)}, ccusage ${JSON.stringify(theirs)}`);
  }
  return [
    {
      work: `${COSTS.join(" ")}, no index yet, ${corpus}`,
      ours: ourTime,
      peer: CCUSAGE,
      theirs: theirTime,
      bar: { ratio: "ours/theirs", atMost },
    },
    {
      work: `its peak memory, ${corpus}`,
      ours: maxRssMb,
      peer: "limit",
      theirs: RSS_LIMIT_MB,
      bar: { ratio: "ours/theirs", atMost: 1 },
      unit: "MB",
    },
  ];
}

function indexFile(home: string): string {
  return join(home, "cache", "claude-index.sqlite");
}

interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

interface CcusageTotals {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
}

function toTokens({ inputTokens, outputTokens, cacheReadTokens, cacheCreationTokens }: CcusageTotals): Tokens {
  return { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheCreationTokens };
}

/** All sessions as JSON. */
async function measureList({ atMost, ...place }: Run): Promise<Result> {
  const list = lister(place);
  // Twice, because the index settles in the second run.
  list(LIST_ALL)();
  list(LIST_ALL)();
  const [ours, theirs] = await compare(9, list(LIST_ALL), bare);
  const work = `${LIST_ALL.join(" ")}, warm, ${place.corpus}`;
  return { work, ours, peer: "node -e 0", theirs, bar: { ratio: "ours/theirs", atMost } };
}

/** The first page. The index is warm. */
async function measurePage({ sdk, ...place }: PageRun): Promise<Result[]> {
  const [page, besidePage] = await compare(15, lister(place)(LIST_PAGE), bare);
  const script = `const { listSessions } = await import(${JSON.stringify(sdk)}); await listSessions();`;
  const listSessions = () => void run(process.execPath, ["--input-type=module", "-e", script], environment(place));
  const theirs = await median(2, listSessions);
  const work = `${LIST_PAGE.join(" ")}, warm, ${place.corpus}`;
  return [
    { work, ours: page, peer: "node -e 0", theirs: besidePage, bar: { ratio: "ours/theirs", atMost: 4 } },
    { work, ours: page, peer: "Agent SDK listSessions()", theirs, bar: { ratio: "theirs/ours", atLeast: 30 } },
  ];
}

function lister(place: Omit<Run, "atMost">) {
  return (args: readonly string[]) => () => void run(process.execPath, [BIN, ...args], environment(place));
}

function environment({ folder, claudeHome }: Omit<Run, "atMost">): Record<string, string> {
  return { CLAUDE_CONFIG_DIR: claudeHome, HOLDFAST_HOME: join(folder, "home"), HOME: folder };
}

function bare(): void {
  run(process.execPath, ["-e", "0"]);
}

/** 1 KB added to a small file and to a large one. */
async function measureGrowth(folder: string): Promise<Result> {
  const megabytes = QUICK ? 200 : 1000;
  const append = await Promise.all([1 / 1024, megabytes].map(async (size) => await growingFile(folder, size)));
  const [small, large] = append;
  if (small === undefined || large === undefined) throw new Error("two files are needed");
  const [theirs, ours] = await compare(30, small, large);
  return {
    work: `refresh after 1 KB more in a file of ${megabytes} MB`,
    ours,
    peer: "of 1 KB",
    theirs,
    bar: { ratio: "ours/theirs", atMost: 1.5 },
  };
}

async function growingFile(folder: string, megabytes: number): Promise<() => Promise<void>> {
  const claudeHome = join(folder, `grown-${megabytes}`);
  const project = join(claudeHome, "projects", "-grown");
  const path = join(project, "00000000-0000-4000-8000-000000000001.jsonl");
  mkdirSync(project, { recursive: true });
  let number = 0;
  const line = () => {
    number += 1;
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = {
      id: `m${number}`,
      model: "claude-opus-4-5",
      content: [{ type: "text", text: "x".repeat(700) }],
      usage,
    };
    const timestamp = new Date(1_790_000_000_000 + number).toISOString();
    return `${JSON.stringify({ type: "assistant", uuid: `u${number}`, timestamp, cwd: "/grown", message })}\n`;
  };
  writeFileSync(path, line());
  while (statSync(path).size < megabytes * 1024 * 1024)
    appendFileSync(path, Array.from({ length: 20_000 }, line).join(""));
  const index = createNativeIndex({ path: join(claudeHome, "index.sqlite"), claudeHome });
  await index.refresh();
  return async () => {
    appendFileSync(path, line());
    const { bytesRead } = await index.refresh();
    if (bytesRead > 2000) throw new Error(`${bytesRead} bytes were read of 1 KB`);
  };
}

/** The native program, because its npm launcher would add a start of Node. */
function installCcusage(folder: string): string {
  install(folder, CCUSAGE);
  const program = join(folder, `node_modules/@ccusage/ccusage-${process.platform}-${process.arch}/bin/ccusage`);
  chmodSync(program, 0o755);
  return program;
}

/** Without the bundled CLI, which is an optional dependency. */
function installSdk(folder: string): string {
  install(folder, AGENT_SDK, "--omit=optional");
  return join(folder, "node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs");
}

function install(folder: string, name: string, ...options: string[]): void {
  mkdirSync(folder, { recursive: true });
  if (existsSync(join(folder, "node_modules"))) return;
  writeFileSync(join(folder, "package.json"), "{}");
  run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...options, name], {}, folder);
}

function run(program: string, args: readonly string[], env: Record<string, string> = {}, cwd?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    maxBuffer: 1 << 30,
    encoding: "utf8",
    cwd,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`, { cause: error });
  return stdout;
}

/**
 * Runs the benchmarks. Prints each figure with its limit or the reference measured in the same run, and writes them
 * to bench/results.json. Exits with 1 when a limit is missed.
 *
 *   npm run bench                 everything
 *   npm run bench -- transcripts  one part: store, transcripts, commands, turns, postgres, handoff, claude or search
 *
 * The part `claude` installs the programs it compares with into its scratch folder, so it needs npm's
 * registry, about 2 GB of disk and some minutes. HOLDFAST_BENCH_QUICK=1 makes it and `search` smaller.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { measureClaude } from "./claude-sessions.ts";
import { measureCommands } from "./cli.ts";
import { measureHandoff } from "./handoff.ts";
import { type Result, judge, printResults } from "./measure.ts";
import { measureSearch } from "./search.ts";
import { measurePostgres } from "./postgres.ts";
import { measureStoreUpdates } from "./store-update.ts";
import { measureTranscripts } from "./transcripts.ts";
import { measureTurns } from "./turns.ts";

const PARTS: Record<string, (folder: string) => Promise<Result[]>> = {
  store: measureStoreUpdates,
  transcripts: measureTranscripts,
  commands: measureCommands,
  turns: measureTurns,
  postgres: measurePostgres,
  handoff: measureHandoff,
  claude: measureClaude,
  search: measureSearch,
};

const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !(name in PARTS));
if (unknown !== undefined) throw new Error(`unknown part "${unknown}"; there are ${Object.keys(PARTS).join(", ")}`);

const folder = await mkdtemp(join(tmpdir(), "holdfast-bench-"));
const results: Result[] = [];
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.error(`measuring ${name} …`);
    results.push(...(await measure(folder)));
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

printResults(results);
const judged = results.map((result) => ({ ...result, ok: judge(result).ok }));
const machine = { node: process.version, cpus: cpus().length, platform: process.platform };
await writeFile(
  new URL("results.json", import.meta.url),
  `${JSON.stringify({ at: new Date().toISOString(), machine, results: judged }, undefined, 2)}\n`,
);
if (judged.some(({ ok }) => ok === false)) process.exitCode = 1;

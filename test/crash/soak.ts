/**
 * The crash tests for as long as you like: `npm run soak -- --minutes 30 --seed 7`. Without
 * arguments about five thousand kills. Ends with exit code 1 if any promise was broken.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import type { CrashResult } from "../../src/selftest/crash-rounds.ts";
import { runSelftest } from "../../src/selftest/selftest.ts";

const DEFAULT_ROUNDS = 5000;
const { values } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, folder: { type: "string" } },
});

const result = await runSelftest({
  folder: values.folder ?? tmpdir(),
  seed: values.seed ?? String(Date.now()),
  minutes: values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes),
  rounds: values.minutes === undefined ? DEFAULT_ROUNDS : undefined,
  onProgress: tellEvery(100),
});
process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`);
process.exitCode = result.ok ? 0 : 1;

function tellEvery(kills: number): (result: Readonly<CrashResult>) => void {
  let told = 0;
  return (progress) => {
    if (progress.kills < told + kills) return;
    told = progress.kills;
    process.stderr.write(`${progress.kills} kills, ${progress.failures.length} failures (seed ${progress.seed})\n`);
  };
}

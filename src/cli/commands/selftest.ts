/** `holdfast selftest`: kills processes while they work and checks that nothing acknowledged is lost. */
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import type { CrashResult } from "../../selftest/crash-rounds.ts";
import { type SelftestResult, runSelftest } from "../../selftest/selftest.ts";
import type { Counts, Flags, Texts } from "../command.ts";
import { print, printJson, talk } from "../output.ts";
import { printableLine } from "../../base/text.ts";

type SelftestCommandOptions = Flags<"json"> & Texts<"seed" | "folder"> & Counts<"minutes">;

const MAX_SEED = 1_000_000;

export async function selftest(options: SelftestCommandOptions): Promise<void> {
  const seed = options.seed ?? String(randomInt(MAX_SEED));
  const folder = options.folder ?? tmpdir();
  const minutes = options.minutes ?? 1;
  talk(`Killing processes in ${folder} for about ${minutes} min, seed ${seed}. Your own sessions stay untouched.`);
  const result = await runSelftest({ folder, seed, minutes, onProgress: createProgress() });
  if (process.stderr.isTTY) process.stderr.write("\n");
  if (options.json === true) printJson(result);
  else print(describe(result));
  if (!result.ok) process.exitCode = 1;
}

const PROGRESS_EVERY_MS = 1000;
const LOG_EVERY_MS = 15_000;

/** On a terminal one line that is updated, elsewhere a line every 15 seconds. */
function createProgress(): (result: Readonly<CrashResult>) => void {
  const isTerminal = process.stderr.isTTY;
  let last = performance.now();
  return ({ kills, acknowledged, failures }) => {
    if (performance.now() - last < (isTerminal ? PROGRESS_EVERY_MS : LOG_EVERY_MS)) return;
    last = performance.now();
    const line = `${kills} kills, ${acknowledged} acknowledged operations, ${failures.length} failures`;
    process.stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  };
}

function describe({ ok, seed, folder, crashes, leases }: SelftestResult): string {
  const points = Object.keys(crashes.byPoint).length;
  const lines = [
    `${crashes.kills} kills: ${crashes.kills - crashes.random} at ${points} fault points, ${crashes.random} at random instants, ${crashes.powerCuts} with a power cut`,
    `${crashes.acknowledged} acknowledged operations`,
    ...leases.map(
      ({ kind, killed, paused, acknowledged }) =>
        `leases (${kind}): taken over from ${killed} killed and ${paused} paused holders, ${acknowledged} acknowledged writes`,
    ),
  ];
  if (crashes.unreached.length > 0) lines.push(`FAILED to reach ${crashes.unreached.join(", ")}`);
  for (const { kind, episode, round, aim, problems } of crashes.failures) {
    lines.push(`FAILED ${kind}, episode ${episode}, round ${round}, killed at ${aim}:`);
    lines.push(...problems.map((problem) => `  ${printableLine(problem)}`));
  }
  for (const { kind, problems } of leases) {
    lines.push(...problems.map((problem) => `FAILED leases (${kind}): ${printableLine(problem)}`));
  }
  lines.push(ok ? "Everything acknowledged was found, in order, once." : `Seed ${seed}; the files are in ${folder}`);
  return lines.join("\n");
}

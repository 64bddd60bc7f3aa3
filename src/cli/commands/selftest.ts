/** `holdfast selftest`: kills processes in the middle of their work, here, and looks what is left. */
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { printableLine } from "../../base/printable.ts";
import type { CrashResult } from "../../selftest/crash-rounds.ts";
import { type SelftestResult, runSelftest } from "../../selftest/selftest.ts";
import { print, printJson, talk } from "../output.ts";

export interface SelftestCommandOptions {
  seed?: string;
  minutes?: number;
  folder?: string;
  json?: boolean;
}

const HIGHEST_SEED = 1_000_000;

export async function selftest(options: SelftestCommandOptions): Promise<void> {
  const seed = options.seed ?? String(randomInt(HIGHEST_SEED));
  const folder = options.folder ?? tmpdir();
  const minutes = options.minutes ?? 1;
  talk(`Killing processes in ${folder} for about ${minutes} min, seed ${seed}. Your own sessions are not touched.`);
  const result = await runSelftest({ folder, seed, minutes, onProgress: createProgress() });
  if (process.stderr.isTTY) process.stderr.write("\n");
  if (options.json === true) printJson(result);
  else print(describe(result));
  if (!result.ok) process.exitCode = 1;
}

const PROGRESS_EVERY_MS = 1000;
const PROGRESS_EVERY_MS_IN_A_LOG = 15_000;

/** One line that changes on a terminal, a line now and then in a log. */
function createProgress(): (result: Readonly<CrashResult>) => void {
  const isTerminal = process.stderr.isTTY;
  let last = performance.now();
  return ({ kills, acknowledged, failures }) => {
    if (performance.now() - last < (isTerminal ? PROGRESS_EVERY_MS : PROGRESS_EVERY_MS_IN_A_LOG)) return;
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
  lines.push(ok ? "Everything acknowledged was there, in order, once." : `Seed ${seed}; what is left is in ${folder}`);
  return lines.join("\n");
}

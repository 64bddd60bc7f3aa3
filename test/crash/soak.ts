/**
 * The crash tests for as long as you like: `npm run soak -- --minutes 30 --seed 7`. Without arguments
 * about five thousand kills of processes that write to a store, and three hundred of a gateway that answers
 * people. A third of the minutes goes to the gateway. Ends with exit code 1 if any promise was broken.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import type { CrashResult } from "../../src/selftest/crash-rounds.ts";
import { runSelftest } from "../../src/selftest/selftest.ts";
import { type GatewayReport, TURN_STEPS, runGatewayRounds } from "./gateway-rounds.ts";

const DEFAULT_ROUNDS = 5000;
const DEFAULT_GATEWAY_KILLS = 300;
const GATEWAY_SHARE = 1 / 3;
const { values } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, folder: { type: "string" } },
});

const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
const seed = values.seed ?? String(Date.now());

const result = await runSelftest({
  folder: values.folder ?? tmpdir(),
  seed,
  minutes: minutes * (1 - GATEWAY_SHARE),
  rounds: values.minutes === undefined ? DEFAULT_ROUNDS : undefined,
  onProgress: tellEvery(100),
});
const gateway = await soakGateway(minutes * GATEWAY_SHARE);
process.stdout.write(`${JSON.stringify({ ...result, gateway }, undefined, 2)}\n`);
process.exitCode = result.ok && gateway.failures.length === 0 ? 0 : 1;

/** Homes one after the other; each is killed at every step and as often at a random instant. */
async function soakGateway(limitMinutes: number): Promise<GatewayReport> {
  const deadline = Date.now() + limitMinutes * 60_000;
  const most = Number.isFinite(limitMinutes) ? Number.POSITIVE_INFINITY : DEFAULT_GATEWAY_KILLS;
  const sum: GatewayReport = {
    messages: 0,
    kills: 0,
    duplicates: 0,
    repeatedAttempts: 0,
    repeatedUpdates: 0,
    failures: [],
  };
  const kills = TURN_STEPS.flatMap((step) => [step, "random" as const]);
  for (let round = 0; sum.kills < most && Date.now() < deadline; round++) {
    const report = await runGatewayRounds({ kills, seed: `${seed}/${round}` });
    for (const count of ["messages", "kills", "duplicates", "repeatedAttempts", "repeatedUpdates"] as const) {
      sum[count] += report[count];
    }
    sum.failures.push(...report.failures.map((failure) => `round ${round}: ${failure}`));
    process.stderr.write(`gateway: ${sum.kills} kills, ${sum.failures.length} failures (seed ${seed}/${round})\n`);
  }
  return sum;
}

function tellEvery(kills: number): (result: Readonly<CrashResult>) => void {
  let told = 0;
  return (progress) => {
    if (progress.kills < told + kills) return;
    told = progress.kills;
    process.stderr.write(`${progress.kills} kills, ${progress.failures.length} failures (seed ${progress.seed})\n`);
  };
}

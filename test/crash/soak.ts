/**
 * The crash tests for as long as you like: `npm run soak -- --minutes 30 --seed 7`. Without arguments
 * about five thousand kills of processes that write to a store, three hundred of a gateway that answers
 * people, and every crash loop once. A third of the minutes goes to the gateway, a third to crash loops.
 * `--only store|gateway|loops` runs one of them. `npm run soak -- cluster --minutes 30` runs three gateways over one
 * PostgreSQL instead. Ends with exit code 1 if any promise was broken.
 */
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import type { CrashResult } from "../../src/selftest/crash-rounds.ts";
import { createRandom } from "../../src/selftest/operations.ts";
import { runSelftest } from "../../src/selftest/selftest.ts";
import { type CrashLoop, type CrashLoopReport, runCrashLoop } from "./crash-loop.ts";
import { CLUSTER_FAULTS, type ClusterFault, runCluster } from "./cluster.ts";
import { type GatewayReport, TURN_STEPS, runGatewayRounds } from "./gateway-rounds.ts";

const DEFAULT_ROUNDS = 5000;
const DEFAULT_GATEWAY_KILLS = 300;
const FAULTS_PER_CLUSTER = 16;
const SHARE = 1 / 3;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string" },
    seed: { type: "string" },
    folder: { type: "string" },
    only: { type: "string" },
  },
});

const RANDOM = { when: "random", sessions: 20, messages: 40, kills: 50, turnMs: 60 } as const;
const AS_IT_RUNS = { when: "as-it-runs", sessions: 40, messages: 120, kills: 50, turnMs: 2000 } as const;

const LOOPS: readonly Omit<CrashLoop, "seed">[] = [
  { ...AS_IT_RUNS, store: "sqlite", mode: "followup" },
  { ...AS_IT_RUNS, store: "json", mode: "followup" },
  { ...AS_IT_RUNS, store: "sqlite", mode: "collect" },
  { ...AS_IT_RUNS, store: "sqlite", mode: "followup", sessions: 1, messages: 10, kills: 26 },
  { ...RANDOM, store: "sqlite", mode: "followup" },
  { ...RANDOM, store: "sqlite", mode: "collect" },
  { ...RANDOM, store: "sqlite", mode: "steer" },
  { ...RANDOM, store: "json", mode: "followup" },
  { store: "sqlite", mode: "followup", when: "poison", sessions: 4, messages: 12, kills: 100, turnMs: 60 },
];

const minutes = values.minutes === undefined ? Number.POSITIVE_INFINITY : Number(values.minutes);
const seed = values.seed ?? String(Date.now());

const isCluster = positionals.includes("cluster");
const result = await part("store", async () => {
  const { ok, ...report } = await runSelftest({
    folder: values.folder ?? tmpdir(),
    seed,
    minutes: minutes * SHARE,
    rounds: values.minutes === undefined ? DEFAULT_ROUNDS : undefined,
    onProgress: tellEvery(100),
  });
  return { ok, report };
});
const gateway = await part("gateway", async () => {
  const report = await soakGateway(minutes * SHARE);
  return { ok: report.failures.length === 0, report };
});
const loops = await part("loops", async () => {
  const report = await soakLoops(minutes * SHARE);
  return { ok: report.every(({ failures }) => failures.length === 0), report };
});
const cluster = isCluster ? await soakCluster(values.minutes === undefined ? 10 : minutes) : undefined;
const parts = { store: result, gateway, loops, cluster };
process.stdout.write(`${JSON.stringify(parts, undefined, 2)}\n`);
process.exitCode = Object.values(parts).every((done) => done?.ok !== false) ? 0 : 1;

async function part<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
  if (isCluster) return undefined;
  return values.only === undefined || values.only === name ? await run() : undefined;
}

/** Clusters one after the other, each with many faults in a random order. Prints the take-over times as a table. */
async function soakCluster(limitMinutes: number) {
  const deadline = Date.now() + limitMinutes * 60_000;
  const times = new Map<ClusterFault, { ms: number[]; accountMs: number[] }>();
  const sum = { faults: 0, acknowledged: 0, takenOver: 0, duplicates: 0, repeated: 0, failures: [] as string[] };
  const longestOverlaps = { turnMs: 0, accountMs: 0 };
  for (let round = 0; round === 0 || Date.now() < deadline; round++) {
    const random = createRandom(seed, `cluster faults ${round}`);
    const faults = Array.from({ length: FAULTS_PER_CLUSTER }, () => random.pick(CLUSTER_FAULTS));
    const report = await runCluster({ faults, seed: `${seed}/${round}` });
    for (const count of ["acknowledged", "takenOver", "duplicates", "repeated"] as const) sum[count] += report[count];
    sum.faults += faults.length;
    sum.failures.push(...report.failures.map((failure) => `round ${round}: ${failure}`));
    for (const name of ["turnMs", "accountMs"] as const) {
      longestOverlaps[name] = Math.max(longestOverlaps[name], ...report.overlaps[name]);
    }
    for (const { fault, ms, accountMs } of report.takeOvers) {
      const known = times.get(fault) ?? { ms: [], accountMs: [] };
      times.set(fault, { ms: [...known.ms, ...ms], accountMs: [...known.accountMs, ...accountMs] });
    }
    process.stderr.write(`cluster: ${sum.faults} faults, ${sum.failures.length} failures (seed ${seed}/${round})\n`);
  }
  const table = [...times].map(([fault, { ms, accountMs }]) => {
    return {
      fault,
      sessions: ms.length,
      ...spread(ms),
      accounts: accountMs.length,
      slowestAccount: Math.max(0, ...accountMs),
    };
  });
  return { ok: sum.failures.length === 0, report: { ...sum, longestOverlaps, takeOvers: table } };
}

function spread(ms: readonly number[]): { p50: number; p99: number } {
  const sorted = ms.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Each kind of crash loop once, and again for as long as there is time. */
async function soakLoops(limitMinutes: number): Promise<(CrashLoop & CrashLoopReport)[]> {
  const deadline = Date.now() + limitMinutes * 60_000;
  const reports: (CrashLoop & CrashLoopReport)[] = [];
  for (let round = 0; round === 0 || (Number.isFinite(deadline) && Date.now() < deadline); round++) {
    for (const kind of LOOPS) {
      if (Date.now() > deadline) break;
      const loop = { ...kind, seed: `${seed}/${round}` };
      const report = await runCrashLoop(loop);
      reports.push({ ...loop, ...report });
      const { acknowledged, kills, givenUp, failures } = report;
      const what = `${loop.when}, ${loop.mode}, ${loop.store}`;
      process.stderr.write(
        `crash loop (${what}): ${acknowledged} messages, ${kills} kills, ${givenUp} given up, ${failures.length} failures\n`,
      );
    }
  }
  return reports;
}

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

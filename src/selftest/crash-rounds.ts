/**
 * Kills children in the middle of their work, round after round, and checks after each kill that
 * what was acknowledged is there, in order, once. A home is used for several rounds and then
 * replaced by a fresh one; the rounds of one home are an episode. Episodes share nothing, run a few
 * at a time and are repeatable: the seed and the number of the episode decide everything in it
 * except where a random instant falls.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoreKind } from "../store/store.ts";
import { checkHome } from "./check-home.ts";
import type { CrashTask } from "./crash-child.ts";
import { type Expectation, createExpectation, expectJournal } from "./expectation.ts";
import { parseJournal } from "./journal.ts";
import { type Kill, planKills } from "./kill-plan.ts";
import { cutPower, tearTail } from "./power-cut.ts";
import { type Random, createRandom } from "./random.ts";
import { type ChildRun, compileCacheIn, runChild } from "./run-child.ts";

export interface CrashOptions {
  /** An existing folder; everything is made below it and removed again, except what failed. */
  folder: string;
  seed: string;
  /** Left out: no limit. */
  rounds?: number | undefined;
  /** Left out: no limit. */
  minutes?: number | undefined;
  /** Left out: both. */
  kinds?: readonly [StoreKind, ...StoreKind[]];
  /** How many children at a time. Left out: 3. */
  lanes?: number;
  /** The folder of the compiled child program. Left out: the program beside this one. */
  programs?: string;
  onProgress?: (result: Readonly<CrashResult>) => void;
}

export interface CrashResult {
  seed: string;
  kills: number;
  /** Kills by store and fault point, `sqlite/lease.taken`. */
  byPoint: Record<string, number>;
  /** Kills at random instants. */
  random: number;
  /** Kills after which unsynced bytes were cut off as well. */
  powerCuts: number;
  /** Operations that were acknowledged and later found. */
  acknowledged: number;
  /** Fault points that were aimed at and never reached. */
  unreached: string[];
  failures: CrashFailure[];
}

export interface CrashFailure {
  kind: StoreKind;
  /** Together with the seed of the run this names what happened. */
  episode: number;
  round: number;
  aim: string;
  /** Where everything was left as it was found, with the child's journal in `journal.jsonl`. */
  folder: string;
  problems: string[];
}

const ROUNDS_PER_EPISODE = 10;
const DEFAULT_LANES = 3;

export async function runCrashRounds(options: CrashOptions): Promise<CrashResult> {
  const { seed, folder, kinds = ["sqlite", "json"], rounds = Number.POSITIVE_INFINITY } = options;
  const result: CrashResult = {
    seed,
    kills: 0,
    byPoint: {},
    random: 0,
    powerCuts: 0,
    acknowledged: 0,
    unreached: [],
    failures: [],
  };
  const aimed = new Set<string>();
  const plans = kinds.map((kind) => ({ kind, kills: planKills(kind) }));
  const deadline = performance.now() + (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  let planned = 0;
  let episodes = 0;

  const nextEpisode = (): Episode | undefined => {
    const plan = plans[episodes % plans.length];
    const length = Math.min(ROUNDS_PER_EPISODE, rounds - planned);
    if (plan === undefined || length <= 0 || performance.now() >= deadline) return undefined;
    planned += length;
    const number = ++episodes;
    return {
      number,
      kind: plan.kind,
      seed: `${seed}/${number}`,
      home: join(folder, `episode-${number}-${plan.kind}`),
      compileCache: compileCacheIn(folder),
      programs: options.programs,
      kills: Array.from({ length }, () => plan.kills.next().value),
      expectation: createExpectation(),
      rounds: 0,
    };
  };
  const lane = async (): Promise<void> => {
    for (let episode = nextEpisode(); episode !== undefined; episode = nextEpisode()) {
      await runEpisode(episode, deadline, (outcome) => {
        noteRound(result, aimed, outcome);
        options.onProgress?.(result);
      });
    }
  };
  await Promise.all(Array.from({ length: options.lanes ?? DEFAULT_LANES }, lane));
  await rm(join(folder, "compile-cache"), { recursive: true, force: true });
  result.unreached = [...aimed].filter((aim) => result.byPoint[aim] === undefined).toSorted();
  return result;
}

interface Episode {
  number: number;
  kind: StoreKind;
  seed: string;
  home: string;
  compileCache: string;
  programs: string | undefined;
  kills: Kill[];
  expectation: Expectation;
  /** How many were run so far. */
  rounds: number;
  /** The session that the last child died with. */
  lastKey?: string | undefined;
}

interface RoundOutcome {
  episode: Episode;
  round: number;
  kill: Kill;
  killed: boolean;
  powerCut: boolean;
  acknowledged: number;
  problems: string[];
}

type OnRound = (outcome: RoundOutcome) => void;

/** Ends with the first round that fails; the home then stays as it is. */
async function runEpisode(episode: Episode, deadline: number, onRound: OnRound): Promise<void> {
  await mkdir(episode.home, { recursive: true });
  for (const kill of episode.kills) {
    if (performance.now() >= deadline) break;
    if (!(await runUntilKilled(episode, kill, onRound))) return;
  }
  await rm(episode.home, { recursive: true, force: true });
}

const ATTEMPTS = 3;

/** The random mix may miss a fault point, so it has several attempts. False when a check failed. */
async function runUntilKilled(episode: Episode, kill: Kill, onRound: OnRound): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (kill.before !== undefined && !(await runUntilKilled(episode, kill.before, onRound))) return false;
    const outcome = await runRound(episode, ++episode.rounds, kill);
    onRound(outcome);
    if (outcome.problems.length > 0) return false;
    if (outcome.killed) break;
  }
  return true;
}

const MOST_OPERATIONS = 60;
const LATEST_KILL_MS = 150;
const HIGHEST_HIT = 4;

async function runRound(episode: Episode, round: number, kill: Kill): Promise<RoundOutcome> {
  const { home, kind, expectation } = episode;
  const random = createRandom(episode.seed, "round", round);
  // What the kill before has left lies with the session that it hit.
  const leanKey = kill.tearFirst ? await tornSession(episode) : kill.before && episode.lastKey;
  const { run, task } = await killChild(episode, kill, random, leanKey);
  await writeFile(join(home, "journal.jsonl"), `${JSON.stringify(task)}\n${run.output}`);
  const journal = parseJournal(run.output);
  expectJournal(expectation, journal);
  episode.lastKey = journal.inFlight?.key;
  const powerCut = random.chance(0.5) && (await cutPower(home, expectation, journal.inFlight, random));
  const found = await checkHome({
    home,
    kind,
    expectation,
    inFlight: journal.inFlight,
    onlyRead: kill.leaveLocks,
  });
  return {
    episode,
    round,
    kill,
    killed: run.killed,
    powerCut,
    acknowledged: journal.acknowledged.length,
    problems: [...journal.failed, ...found],
  };
}

async function killChild(
  episode: Episode,
  { point, lean, tearFirst, leaveLocks }: Kill,
  random: Random,
  leanKey: string | undefined,
): Promise<{ run: ChildRun; task: CrashTask }> {
  const { home, kind, expectation, compileCache, programs } = episode;
  const hit = tearFirst || leaveLocks ? 1 : random.whole(1, HIGHEST_HIT);
  const task: CrashTask = {
    home,
    kind,
    seed: episode.seed,
    firstNumber: expectation.nextNumber,
    operations: MOST_OPERATIONS,
    ...(point === undefined ? {} : { dieAt: { point, hit } }),
    ...(lean === undefined ? {} : { lean }),
    ...(leanKey === undefined ? {} : { leanKey }),
  };
  const killAfterMs = point === undefined ? random.fraction() * LATEST_KILL_MS : undefined;
  return { run: await runChild("crash-child", task, { killAfterMs, compileCache, programs }), task };
}

/** A session with half a line at the end of its transcript; where there is no session yet, one is made. */
async function tornSession(episode: Episode): Promise<string | undefined> {
  const { home, kind, seed, expectation, compileCache, programs } = episode;
  const torn = await tearTail(home, expectation);
  if (torn !== undefined) return torn;
  const task: CrashTask = { home, kind, seed, firstNumber: expectation.nextNumber, operations: 6, lean: ["append"] };
  const { output } = await runChild("crash-child", task, { compileCache, programs });
  expectJournal(expectation, parseJournal(output));
  return await tearTail(home, expectation);
}

function noteRound(result: CrashResult, aimed: Set<string>, outcome: RoundOutcome): void {
  const { episode, kill, round, problems } = outcome;
  const aim = kill.point === undefined ? "a random instant" : `${episode.kind}/${kill.point}`;
  if (kill.point !== undefined) aimed.add(aim);
  result.acknowledged += outcome.acknowledged;
  if (outcome.powerCut) result.powerCuts++;
  if (outcome.killed) {
    result.kills++;
    if (kill.point === undefined) result.random++;
    else result.byPoint[aim] = (result.byPoint[aim] ?? 0) + 1;
  }
  if (problems.length > 0) {
    result.failures.push({ kind: episode.kind, episode: episode.number, round, aim, folder: episode.home, problems });
  }
}

/**
 * Kills child processes while they work and checks after each kill that everything acknowledged is there, in order,
 * once. Several rounds share a home and form an episode. Episodes share nothing, run a few at a time and are
 * repeatable: seed and episode number decide everything except the moment of a random kill.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FAULT_POINTS, type FaultPoint } from "../base/faults.ts";
import type { StoreKind } from "../store/store.ts";
import { checkHome, cutPower, tearTail } from "./check-home.ts";
import type { CrashTask } from "./crash-child.ts";
import { type Expectation, type JournalLine, createExpectation, expectJournal } from "./expectation.ts";
import { type OperationName, createRandom } from "./operations.ts";
import { type ChildPrograms, compileCacheIn, startChild } from "./run-child.ts";

export interface CrashOptions {
  /** An existing folder. Files are created below it and removed unless something failed. */
  folder: string;
  seed: string;
  /** Default: no limit. */
  rounds?: number | undefined;
  /** Default: no limit. */
  minutes?: number | undefined;
  /** Folder of the compiled child program. Default: the program beside this file. */
  programs?: string | undefined;
  onProgress?: ((result: Readonly<CrashResult>) => void) | undefined;
}

export type CrashResult = ReturnType<typeof nothingYet>;

function nothingYet(seed: string) {
  return {
    seed,
    kills: 0,
    /** Kills by store and fault point, `sqlite/lease.taken`. */
    byPoint: {} as Record<string, number>,
    random: 0,
    /** Kills with a simulated power cut, which removes unsynced bytes. */
    powerCuts: 0,
    /** Operations that were acknowledged and found. */
    acknowledged: 0,
    unreached: [] as string[],
    failures: [] as CrashFailure[],
  };
}

export interface CrashFailure {
  kind: StoreKind;
  /** With the seed of the run, this identifies the failure. */
  episode: number;
  round: number;
  aim: string;
  /** The untouched home, with the child's journal in `journal.jsonl`. */
  folder: string;
  problems: string[];
}

const ROUNDS_PER_EPISODE = 10;
/** Children at a time. */
const LANES = 3;

export async function runCrashRounds(options: CrashOptions): Promise<CrashResult> {
  const { seed, folder, rounds = Number.POSITIVE_INFINITY, minutes = Number.POSITIVE_INFINITY } = options;
  const result = nothingYet(seed);
  const plans = (["sqlite", "json"] as const).map((kind) => ({ kind, kills: planKills(kind) }));
  const deadline = performance.now() + minutes * 60_000;
  const programs = { compileCache: compileCacheIn(folder), programs: options.programs };
  let planned = 0;
  let episodes = 0;

  /** Stops at the first round that fails and keeps the home. */
  const runEpisode = async ({ kind, kills }: (typeof plans)[number], number: number): Promise<void> => {
    const length = Math.min(ROUNDS_PER_EPISODE, rounds - planned);
    planned += length;
    const home = join(folder, `episode-${number}-${kind}`);
    await mkdir(home, { recursive: true });
    const start = { number, kind, seed: `${seed}/${number}`, home, programs, rounds: 0 };
    const episode: Episode = { ...start, expectation: createExpectation() };
    const onRound = (outcome: RoundOutcome): void => {
      noteRound(result, episode, outcome);
      options.onProgress?.(result);
    };
    for (const kill of Array.from({ length }, () => kills.next().value)) {
      if (performance.now() < deadline && !(await runUntilKilled(episode, kill, onRound))) return;
    }
    await rm(home, { recursive: true, force: true });
  };
  const lane = async (): Promise<void> => {
    for (;;) {
      const plan = plans[episodes % plans.length];
      if (plan === undefined || planned >= rounds || performance.now() >= deadline) return;
      await runEpisode(plan, ++episodes);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await rm(join(folder, "compile-cache"), { recursive: true, force: true });
  result.unreached = Object.keys(result.byPoint)
    .filter((aim) => result.byPoint[aim] === 0)
    .toSorted();
  return result;
}

interface Episode {
  number: number;
  kind: StoreKind;
  seed: string;
  home: string;
  programs: ChildPrograms;
  expectation: Expectation;
  rounds: number;
  /** The session of the operation that was last in flight. */
  lastKey?: string | undefined;
}

type RoundOutcome = Awaited<ReturnType<typeof runRound>>;

const ATTEMPTS = 3;

/** The random mix may miss a fault point, so there are several attempts. False if a check failed. */
async function runUntilKilled(
  episode: Episode,
  kill: Kill,
  onRound: (outcome: RoundOutcome) => void,
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (kill.before !== undefined && !(await runUntilKilled(episode, kill.before, onRound))) return false;
    episode.rounds += 1;
    const outcome = await runRound(episode, kill);
    onRound(outcome);
    if (outcome.problems.length > 0) return false;
    if (outcome.killed) break;
  }
  return true;
}

const MAX_OPERATIONS = 60;
const MAX_KILL_MS = 150;
const MAX_HIT = 4;

async function runRound(episode: Episode, kill: Kill) {
  const { home, kind, expectation } = episode;
  const { point, lean, tearFirst, leaveLocks } = kill;
  const random = createRandom(episode.seed, "round", episode.rounds);
  // Work on the session that the previous kill has hit.
  const leanKey = tearFirst ? await tornSession(episode) : kill.before && episode.lastKey;
  // What an earlier kill or a torn line leaves is met only once.
  const isMetOnce = tearFirst || leaveLocks || kill.before !== undefined;
  const hit = isMetOnce ? 1 : random.whole(1, MAX_HIT);
  const killAfterMs = point === undefined ? random.fraction() * MAX_KILL_MS : undefined;
  const dieAt = point === undefined ? undefined : { point, hit };
  const { killed, journal } = await runChild(
    episode,
    { operations: MAX_OPERATIONS, dieAt, lean, leanKey },
    killAfterMs,
  );
  const { inFlight, acknowledged, failed } = journal;
  episode.lastKey = inFlight?.key;
  const powerCut = random.chance(0.5) && (await cutPower(home, expectation.state, inFlight, random));
  const found = await checkHome({ home, kind, expectation, inFlight, onlyRead: leaveLocks });
  return { kill, killed, powerCut, acknowledged, problems: [...failed, ...found] };
}

/** Runs a child to its end and adds its acknowledged operations to the expectation. */
async function runChild(
  { home, kind, seed, expectation, programs }: Episode,
  work: Pick<CrashTask, "operations" | "dieAt" | "lean" | "leanKey">,
  killAfterMs?: number,
) {
  const task: CrashTask = { home, kind, seed, firstNumber: expectation.nextNumber, ...work };
  const child = startChild<JournalLine>("crash-child", task, programs, killAfterMs);
  const killed = await child.ended;
  const lines = [task, ...child.lines].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(join(home, "journal.jsonl"), lines);
  return { killed, journal: expectJournal(expectation, child.lines) };
}

/** A session whose transcript ends with half a line; creates a session if there is none. */
async function tornSession(episode: Episode): Promise<string | undefined> {
  const { home, expectation } = episode;
  const torn = await tearTail(home, expectation.state);
  if (torn !== undefined) return torn;
  await runChild(episode, { operations: 6, lean: ["append"] });
  return await tearTail(home, expectation.state);
}

function noteRound(result: CrashResult, episode: Episode, outcome: RoundOutcome): void {
  const { number, rounds: round, kind, home: folder } = episode;
  const { kill, problems } = outcome;
  const aim = kill.point === undefined ? "a random moment" : `${kind}/${kill.point}`;
  result.acknowledged += outcome.acknowledged;
  if (outcome.powerCut) result.powerCuts++;
  if (outcome.killed) result.kills++;
  if (kill.point !== undefined) result.byPoint[aim] = (result.byPoint[aim] ?? 0) + Number(outcome.killed);
  else if (outcome.killed) result.random++;
  if (problems.length > 0) result.failures.push({ kind, episode: number, round, aim, folder, problems });
}

interface Kill {
  /** Default: at a random moment. */
  point?: FaultPoint | undefined;
  lean?: Lean | undefined;
  /** First leave half a line at the end of a transcript. */
  tearFirst: boolean;
  /** Keep the locks for the next kill. */
  leaveLocks: boolean;
  /** A kill that must happen in the same home just before. */
  before?: Kill | undefined;
}

type Lean = readonly [OperationName, ...OperationName[]];

/** Doctor, turns, tasks and hand-offs need more than a store; they have separate crash tests. */
const TESTED_ELSEWHERE = /^(?:doctor|inbox|turn|block|task|delivery|handoff)\./;

export function pointsOf(kind: StoreKind): FaultPoint[] {
  const others = kind === "sqlite" ? "json." : "sqlite.";
  return FAULT_POINTS.filter((point) => !point.startsWith(others) && !TESTED_ELSEWHERE.test(point));
}

const RANDOM_EVERY = 4;

/** Endless: every fault point of a store in turn, and every fourth time a random moment. */
function* planKills(kind: StoreKind): Generator<Kill, never> {
  const points = pointsOf(kind);
  for (let index = 0; ; index++) {
    if (index % RANDOM_EVERY === RANDOM_EVERY - 1) {
      yield { tearFirst: false, leaveLocks: false };
      continue;
    }
    const point = points[(index - Math.floor(index / RANDOM_EVERY)) % points.length] ?? points[0];
    if (point === undefined) continue;
    // A lock is taken over only from a process that died with it, so such a kill comes first.
    const before = point === "lock.takeover.claimed" ? killAt("lock.created", kind, { leaveLocks: true }) : undefined;
    yield { ...killAt(point, kind), before };
  }
}

function killAt(point: FaultPoint, kind: StoreKind, { leaveLocks = false } = {}): Kill {
  return { point, tearFirst: point.startsWith("transcript.torn."), leaveLocks, lean: leanOf(point, kind) };
}

/** Operations that lead to a fault point; undefined if nearly all do. */
export function leanOf(point: FaultPoint, kind: StoreKind): Lean | undefined {
  const [area] = point.split(".");
  if (point.startsWith("transcript.rewrite.") || area === "lock") return ["append", "compact", "compact"];
  if (point === "transcript.created" || area === "window") return ["reset"];
  if (area === "transcript" || area === "lease") return ["append"];
  if (area === "archive") return ["archive", "count"];
  if (point.startsWith("sqlite.view.") || (area === "file" && kind === "sqlite")) return ["count", "reopen"];
  return undefined;
}

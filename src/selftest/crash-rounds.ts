/**
 * Kills child processes while they work and checks after each kill that everything acknowledged is there, in order,
 * once. Several rounds share a home and form an episode. Episodes share nothing, run a few at a time and are
 * repeatable: seed and episode number decide everything except the moment of a random kill.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FAULT_POINTS, type FaultPoint } from "../base/faults.ts";
import type { StoreKind } from "../store/store.ts";
import { checkHome } from "./check-home.ts";
import { cutPower, tearTail } from "./check-transcript.ts";
import type { CrashTask } from "./crash-child.ts";
import { type Expectation, type JournalLine, createExpectation, expectJournal, readJournal } from "./expectation.ts";
import { type OperationName, type Random, createRandom } from "./operations.ts";
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
  /** Optional. */
  onProgress?: ((result: Readonly<CrashResult>) => void) | undefined;
}

export interface CrashResult {
  seed: string;
  kills: number;
  /** Kills by store and fault point, `sqlite/lease.taken`. */
  byPoint: Record<string, number>;
  /** Kills at random moments. */
  random: number;
  /** Kills with a simulated power cut, which removes unsynced bytes. */
  powerCuts: number;
  /** Operations that were acknowledged and found. */
  acknowledged: number;
  /** Fault points that were never reached. */
  unreached: string[];
  failures: CrashFailure[];
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
  const { seed, folder, rounds = Number.POSITIVE_INFINITY } = options;
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
  const plans = (["sqlite", "json"] as const).map((kind) => ({ kind, kills: planKills(kind) }));
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
      programs: { compileCache: compileCacheIn(folder), programs: options.programs },
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
  await Promise.all(Array.from({ length: LANES }, lane));
  await rm(join(folder, "compile-cache"), { recursive: true, force: true });
  result.unreached = [...aimed].filter((aim) => result.byPoint[aim] === undefined).toSorted();
  return result;
}

interface Episode {
  number: number;
  kind: StoreKind;
  seed: string;
  home: string;
  programs: ChildPrograms;
  kills: Kill[];
  expectation: Expectation;
  /** Rounds so far. */
  rounds: number;
  /** The session of the operation that was last in flight. */
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

/** Stops at the first round that fails and keeps the home. */
async function runEpisode(episode: Episode, deadline: number, onRound: OnRound): Promise<void> {
  await mkdir(episode.home, { recursive: true });
  for (const kill of episode.kills) {
    if (performance.now() >= deadline) break;
    if (!(await runUntilKilled(episode, kill, onRound))) return;
  }
  await rm(episode.home, { recursive: true, force: true });
}

const ATTEMPTS = 3;

/** The random mix may miss a fault point, so there are several attempts. False if a check failed. */
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

const MAX_OPERATIONS = 60;
const MAX_KILL_MS = 150;
const MAX_HIT = 4;

async function runRound(episode: Episode, round: number, kill: Kill): Promise<RoundOutcome> {
  const { home, kind, expectation } = episode;
  const random = createRandom(episode.seed, "round", round);
  // Work on the session that the previous kill has hit.
  const leanKey = kill.tearFirst ? await tornSession(episode) : kill.before && episode.lastKey;
  const { killed, lines } = await killChild(episode, kill, random, leanKey);
  const journal = readJournal(lines);
  expectJournal(expectation, journal);
  episode.lastKey = journal.inFlight?.key;
  const powerCut = random.chance(0.5) && (await cutPower(home, expectation.state, journal.inFlight, random));
  const { inFlight } = journal;
  const found = await checkHome({ home, kind, expectation, inFlight, onlyRead: kill.leaveLocks });
  return {
    episode,
    round,
    kill,
    killed,
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
): Promise<{ killed: boolean; lines: readonly JournalLine[] }> {
  const { home, kind, expectation, programs } = episode;
  const hit = tearFirst || leaveLocks ? 1 : random.whole(1, MAX_HIT);
  const task: CrashTask = {
    home,
    kind,
    seed: episode.seed,
    firstNumber: expectation.nextNumber,
    operations: MAX_OPERATIONS,
    dieAt: point === undefined ? undefined : { point, hit },
    lean,
    leanKey,
  };
  const killAfterMs = point === undefined ? random.fraction() * MAX_KILL_MS : undefined;
  const child = startChild<JournalLine>("crash-child", task, programs, killAfterMs);
  const killed = await child.ended;
  const journal = [task, ...child.lines].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(join(home, "journal.jsonl"), journal);
  return { killed, lines: child.lines };
}

/** A session whose transcript ends with half a line; creates a session if there is none. */
async function tornSession(episode: Episode): Promise<string | undefined> {
  const { home, kind, seed, expectation, programs } = episode;
  const torn = await tearTail(home, expectation.state);
  if (torn !== undefined) return torn;
  const task: CrashTask = { home, kind, seed, firstNumber: expectation.nextNumber, operations: 6, lean: ["append"] };
  const child = startChild<JournalLine>("crash-child", task, programs);
  await child.ended;
  expectJournal(expectation, readJournal(child.lines));
  return await tearTail(home, expectation.state);
}

function noteRound(result: CrashResult, aimed: Set<string>, outcome: RoundOutcome): void {
  const { episode, kill, round, problems } = outcome;
  const aim = kill.point === undefined ? "a random moment" : `${episode.kind}/${kill.point}`;
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

/** Doctor, turns and hand-offs need more than a store; they have separate crash tests. */
const TESTED_ELSEWHERE = /^(?:doctor|inbox|turn|delivery|handoff)\./;

/** The fault points that a process with this store can reach. */
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

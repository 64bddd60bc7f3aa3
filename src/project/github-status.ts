/**
 * Pull requests and checks, as `gh` tells them. GitHub is slow and may be away, so:
 * - nobody waits longer than the limit; an answer that comes later is there for the next call,
 * - an answer holds for a minute, a failure for a shorter time, both in memory only,
 * - it is all or nothing: a list that could not be read is never shown as an empty one.
 */
import { type Clock, systemClock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { GithubStatus } from "./project-status.ts";
import { type PullRequest, parsePullRequests } from "./pull-requests.ts";
import { type CommandResult, type RunningCommand, findProgram, startCommand } from "./run-command.ts";
import { gitEnvironment } from "./run-git.ts";

export interface GithubReading {
  github?: GithubStatus;
  problem?: string;
}

export interface GithubQuestion {
  /** Where `gh` runs: a folder of the repo. */
  folder: string;
  /** Names the repo in the cache. */
  repo: string;
  /** Empty on a detached HEAD: then only what is not about a branch is asked. */
  branch: string;
}

export type GithubReader = (question: GithubQuestion) => Promise<GithubReading>;

export interface GithubReaderOptions {
  env?: NodeJS.ProcessEnv;
  clock?: Clock;
  /** How long a call waits. Default 3,000. */
  waitMs?: number;
  /** How long `gh` may go on in the background before it is stopped. Default 20,000. */
  timeoutMs?: number;
}

const CACHE_MS = 60_000;
const FAILURE_CACHE_MS = 15_000;
const MAX_CACHED = 50;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const DAY_MS = 86_400_000;

interface CacheItem {
  reading: Promise<GithubReading>;
  letGo(): void;
  /** Set when the answer is there. */
  validUntil?: number;
}

export function createGithubReader(options: GithubReaderOptions = {}): GithubReader {
  const clock = options.clock ?? systemClock;
  const cache = new Map<string, CacheItem>();

  return async (question) => {
    const key = JSON.stringify([question.repo, question.branch]);
    let item = cache.get(key);
    if (item === undefined || (item.validUntil !== undefined && clock.now() >= item.validUntil)) {
      item = ask(question, options, clock);
      cache.delete(key);
      cache.set(key, item);
      for (const oldest of Array.from(cache.keys()).slice(0, Math.max(0, cache.size - MAX_CACHED)))
        cache.delete(oldest);
    }
    return await waitFor(item, options.waitMs ?? 3_000);
  };
}

function ask(question: GithubQuestion, options: GithubReaderOptions, clock: Clock): CacheItem {
  const running = new Set<RunningCommand>();
  const item: CacheItem = {
    reading: readGithub(question, options, clock, running).catch((error: unknown) => ({
      problem: `GitHub: ${errorMessage(error)}`,
    })),
    letGo: () => running.forEach((command) => command.letGo()),
  };
  void item.reading.then((reading) => {
    item.validUntil = clock.now() + (reading.github === undefined ? FAILURE_CACHE_MS : CACHE_MS);
  });
  return item;
}

/** The time limit is a real one whatever the clock says: the program that is waited for is real, too. */
async function waitFor(item: CacheItem, ms: number): Promise<GithubReading> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<GithubReading>((resolve) => {
    timer = setTimeout(() => {
      item.letGo();
      resolve({ problem: `GitHub: gh has not answered within ${ms} ms; ask again in a moment` });
    }, ms);
  });
  try {
    return await Promise.race([item.reading, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

async function readGithub(
  question: GithubQuestion,
  options: GithubReaderOptions,
  clock: Clock,
  running: Set<RunningCommand>,
): Promise<GithubReading> {
  const env = githubEnvironment(options.env ?? process.env);
  const program = await findProgram("gh", env);
  if (program === undefined) {
    return { problem: "GitHub: gh is not installed (https://cli.github.com), so pull requests and checks are unknown" };
  }
  const limits = { timeoutMs: options.timeoutMs ?? 20_000, maxOutputBytes: MAX_OUTPUT_BYTES };
  const list = async (args: readonly string[]): Promise<PullRequest[]> => {
    if (args.includes(HEAD_OPTION)) return [];
    const command = startCommand(program, ["pr", "list", ...args], { cwd: question.folder, env, ...limits });
    running.add(command);
    const result = await command.result;
    running.delete(command);
    return readList(result);
  };
  const since = clock.now() - DAY_MS;
  const [ofBranch = [], assigned = [], recent = []] = await allOrStop(
    queries(question.branch, since).map(list),
    running,
  );
  return {
    github: {
      openPrs: ofBranch.map(({ pr }) => pr),
      assignedPrs: assigned.map(({ pr }) => pr),
      recentPrActivity: recent.map(({ pr }) => pr).filter(({ updatedAt }) => Date.parse(updatedAt) >= since),
      failingChecks: ofBranch.flatMap(({ failingChecks }) => failingChecks),
    },
  };
}

/** One of the branch, one of what is assigned, one of what happened lately. */
function queries(branch: string, since: number): string[][] {
  // The search counts in whole seconds.
  const updated = `updated:>=${new Date(since).toISOString().slice(0, 19)}Z sort:updated-desc`;
  return [
    ["--limit=20", "--state=open", `${HEAD_OPTION}${branch}`, `--json=${FIELDS},statusCheckRollup`],
    ["--limit=20", "--state=open", "--assignee=@me", `--json=${FIELDS}`],
    ["--limit=20", "--state=all", `--search=${updated}`, `--json=${FIELDS}`],
  ];
}

/** When one fails, nobody needs the others. */
async function allOrStop<T>(tasks: Promise<T>[], running: Set<RunningCommand>): Promise<T[]> {
  try {
    return await Promise.all(tasks);
  } catch (error) {
    for (const command of running) command.stop();
    await Promise.allSettled(tasks);
    throw error;
  }
}

/** On a detached HEAD it stands without a name, and there is nothing to ask. */
const HEAD_OPTION = "--head=";
const FIELDS = "number,title,headRefName,state,author,updatedAt";

function githubEnvironment(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GH_FORCE_TTY: _tty, CLICOLOR_FORCE: _color, GH_DEBUG: _debug, DEBUG: _all, ...env } = gitEnvironment(base);
  return { ...env, GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", GH_PAGER: "cat", NO_COLOR: "1" };
}

function readList(result: CommandResult): PullRequest[] {
  if (result.failure === "timeout") throw new Error("gh took too long and was stopped");
  if (result.failure === "too-much-output") throw new Error("gh printed more than can be read");
  if (result.exitCode === 4 || result.stderr.includes("gh auth login")) {
    throw new Error("gh is not signed in; run `gh auth login`");
  }
  if (result.failure !== undefined || result.exitCode !== 0) {
    const line = result.stderr.split("\n").find((text) => text.trim() !== "") ?? `exit code ${result.exitCode}`;
    throw new Error(`gh says: ${line.slice(0, 200)}`);
  }
  return parsePullRequests(result.stdout.toString("utf8"));
}

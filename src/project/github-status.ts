/**
 * Pull requests and checks, read with `gh`. GitHub may be slow or unreachable, so:
 * - a caller waits no longer than the limit; a late answer serves the next call;
 * - an answer is cached in memory for a minute, a failure for a shorter time;
 * - a reading is complete or absent: a list that could not be read is never shown as empty.
 */
import { DAY_MS, type Clock, systemClock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import { type CommandResult, gitEnvironment, runCommand } from "./run-git.ts";
import { TOO_LATE, within } from "../base/async.ts";

export type GithubStatus = Awaited<ReturnType<typeof readGithub>>;
export type GithubPr = GithubStatus["openPrs"][number];

export interface GithubReading {
  github?: GithubStatus | undefined;
  problem?: string | undefined;
}

export interface GithubQuestion {
  /** Where `gh` runs: a folder of the repo. */
  folder: string;
  /** Identifies the repo in the cache. */
  repo: string;
  /** Empty on a detached HEAD: then the answer has no pull requests or checks of a branch. */
  branch: string;
}

export type GithubReader = (question: GithubQuestion) => Promise<GithubReading>;

export interface GithubReaderOptions {
  env?: NodeJS.ProcessEnv | undefined;
  clock?: Clock | undefined;
  /** How long a call waits. Default: 3,000. */
  waitMs?: number | undefined;
  /** How long `gh` may run in the background. Default: 20,000. */
  timeoutMs?: number | undefined;
}

const CACHE_MS = 60_000;
const FAILURE_CACHE_MS = 15_000;
const MAX_CACHED = 50;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
interface CacheItem {
  reading: Promise<GithubReading>;
  /** Set once the answer has arrived. */
  validUntil?: number | undefined;
}

export function createGithubReader(options: GithubReaderOptions = {}): GithubReader {
  const { clock = systemClock, waitMs = 3_000 } = options;
  const cache = new Map<string, CacheItem>();

  return async (question) => {
    const key = JSON.stringify([question.repo, question.branch]);
    let item = cache.get(key);
    if (item === undefined || (item.validUntil !== undefined && clock.now() >= item.validUntil)) {
      item = ask(question, options, clock);
      cache.delete(key);
      cache.set(key, item);
      for (const oldest of [...cache.keys()].slice(0, -MAX_CACHED)) cache.delete(oldest);
    }
    // Waits in real time whatever the clock says, because `gh` runs in real time.
    const answer = await within(waitMs, item.reading);
    if (answer !== TOO_LATE) return answer;
    return { problem: `GitHub: gh did not answer within ${waitMs} ms; ask again in a moment` };
  };
}

function ask(question: GithubQuestion, options: GithubReaderOptions, clock: Clock): CacheItem {
  const reading = readGithub(question, options, clock).then(
    (github): GithubReading => ({ github }),
    (error: unknown): GithubReading => ({ problem: `GitHub: ${errorMessage(error)}` }),
  );
  const item: CacheItem = { reading };
  void reading.then(({ github }) => {
    item.validUntil = clock.now() + (github === undefined ? FAILURE_CACHE_MS : CACHE_MS);
  });
  return item;
}

const PR_FIELDS = "number,title,headRefName,state,author,updatedAt";

async function readGithub(
  { folder, branch }: GithubQuestion,
  { env = process.env, timeoutMs = 20_000 }: GithubReaderOptions,
  clock: Clock,
) {
  const command = {
    cwd: folder,
    env: githubEnvironment(env),
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    // A late answer serves the next call, but must not keep this process alive.
    background: true,
  };
  const list = async (...args: string[]) =>
    readList(await runCommand("gh", ["pr", "list", "--limit=20", ...args], command));
  const since = clock.now() - DAY_MS;
  // The search counts in whole seconds.
  const updated = `updated:>=${new Date(since).toISOString().slice(0, 19)}Z sort:updated-desc`;
  const lists = [
    branch === ""
      ? Promise.resolve([])
      : list("--state=open", `--head=${branch}`, `--json=${PR_FIELDS},statusCheckRollup`),
    list("--state=open", "--assignee=@me", `--json=${PR_FIELDS}`),
    list("--state=all", `--search=${updated}`, `--json=${PR_FIELDS}`),
  ];
  // A failed command must not leave the others running.
  await Promise.allSettled(lists);
  const [ofBranch = [], assigned = [], recent = []] = await Promise.all(lists);
  return {
    openPrs: ofBranch.map(({ pr }) => pr),
    assignedPrs: assigned.map(({ pr }) => pr),
    recentPrActivity: recent.map(({ pr }) => pr).filter(({ updatedAt }) => Date.parse(updatedAt) >= since),
    failingChecks: ofBranch.flatMap(({ failingChecks }) => failingChecks),
  };
}

function githubEnvironment(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GH_FORCE_TTY: _tty, CLICOLOR_FORCE: _color, GH_DEBUG: _debug, DEBUG: _all, ...env } = gitEnvironment(base);
  return { ...env, GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", GH_PAGER: "cat", NO_COLOR: "1" };
}

function readList(result: CommandResult) {
  if (result.failure === "missing") {
    throw new Error("gh is not installed (https://cli.github.com), so pull requests and checks are unknown");
  }
  if (result.failure === "timeout") throw new Error("gh took too long and was stopped");
  if (result.failure === "too-much-output") throw new Error("gh printed too much to read");
  if (result.exitCode === 4 || result.stderr.includes("gh auth login")) {
    throw new Error("gh is not signed in; run `gh auth login`");
  }
  if (result.failure !== undefined || result.exitCode !== 0) {
    const line = result.stderr.split("\n").find((text) => text.trim() !== "") ?? `exit code ${result.exitCode}`;
    throw new Error(`gh says: ${line.slice(0, 200)}`);
  }
  const list = parseJson(result.stdout.toString("utf8"));
  if (list === undefined) throw new Error("gh printed something that is not JSON; is it really the GitHub CLI?");
  if (!Array.isArray(list)) throw new Error("gh printed JSON that is not a list; is it really the GitHub CLI?");
  return list.flatMap((item: unknown) => readPullRequest(item));
}

const MAX_TEXT = 500;
const MAX_CHECKS = 50;

/** Another version of `gh` may omit any member. */
function readPullRequest(item: unknown) {
  if (!isRecord(item) || typeof item["number"] !== "number") return [];
  const author = item["author"];
  const rollup = item["statusCheckRollup"];
  return [
    {
      pr: {
        number: item["number"],
        title: textOf(item["title"]),
        branch: textOf(item["headRefName"]),
        state: textOf(item["state"]).toLowerCase(),
        author: isRecord(author) ? textOf(author["login"]) : "",
        updatedAt: textOf(item["updatedAt"]),
      },
      failingChecks: Array.isArray(rollup)
        ? rollup.flatMap((check: unknown) => readFailingCheck(check)).slice(0, MAX_CHECKS)
        : [],
    },
  ];
}

/** Conclusions of a check run and states of a commit status. Cancelled is not failed. */
const FAILURES = new Set(["failure", "error", "timed_out", "action_required", "startup_failure"]);

function readFailingCheck(check: unknown) {
  if (!isRecord(check)) return [];
  const isStatus = check["__typename"] === "StatusContext";
  const conclusion = textOf(check[isStatus ? "state" : "conclusion"]).toLowerCase();
  if (!FAILURES.has(conclusion)) return [];
  const workflow = textOf(check["workflowName"]);
  const name = textOf(check[isStatus ? "context" : "name"]);
  return [
    {
      name: workflow === "" ? name : `${workflow} / ${name}`,
      status: isStatus ? "completed" : textOf(check["status"]).toLowerCase(),
      conclusion,
    },
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT) : "";
}

/** Looks up facts in the repo, all at once and within a time limit. Facts that fail or come too late stay unknown. */
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { within } from "../base/async.ts";
import { fileExists } from "../base/files.ts";
import { readChanges, type GitStatus } from "../project/git-status.ts";
import type { GithubReader, GithubStatus } from "../project/github-status.ts";
import { type LocatedRepo, locateRepo, mayLieInRepo } from "../project/repo.ts";
import { type GitOptions, outputOf, runGit, repoFilterOverrides } from "../project/run-git.ts";
import { type BranchState, filesChangedSince, readBranchStates } from "../project/repo-changes.ts";

export interface RepoQuestion {
  cwd: string;
  /** The time of the last message. */
  since: Date;
  /** The branch at that time, if the transcript names one. */
  branchThen?: string | undefined;
  branches: readonly string[];
  files: readonly string[];
  asksChecks: boolean;
  asksChanges: boolean;
}

export interface RepoFacts {
  branches: ReadonlyMap<string, BranchState>;
  /** The branch at the time of the last message. */
  branchThen?: string | undefined;
  /** Branches that were checked out here, from git's log of HEAD. */
  seenBranches: ReadonlySet<string>;
  /** By the name in the hand-off. Unchanged files are missing. */
  files: ReadonlyMap<string, "gone" | "changed">;
  /** Newest first. Undefined: unknown. */
  commits?: readonly SinceCommit[] | undefined;
  changes?: Pick<GitStatus, "counts" | "ahead" | "upstream">;
  github?: GithubStatus;
  /** The branch of `github`. */
  checkedBranch?: string;
}

export interface SinceCommit {
  sha: string;
  subject: string;
  files: string[];
}

export interface LookUpOptions {
  budgetMs: number;
  git?: GitOptions | undefined;
  github?: GithubReader | false | undefined;
}

export async function lookUpRepo(question: RepoQuestion, options: LookUpOptions): Promise<RepoFacts> {
  const facts: RepoFacts = { branches: new Map(), seenBranches: new Set(), files: new Map() };
  await within(
    options.budgetMs,
    gather(question, options, (some) => Object.assign(facts, some)),
  );
  return { ...facts };
}

async function gather(
  question: RepoQuestion,
  options: LookUpOptions,
  tell: (facts: Partial<RepoFacts>) => unknown,
): Promise<void> {
  const git = { ...options.git, gitTimeoutMs: Math.min(options.git?.gitTimeoutMs ?? 5_000, options.budgetMs) };
  const { cwd, since } = question;
  if (!(await mayLieInRepo(cwd))) return;
  const repo = await locateRepo(cwd, git).catch(() => undefined);
  if (repo === undefined || "problem" in repo) return;

  const log = readCommitsSince(repo, since, git);
  const branchThen = question.branchThen ?? (question.asksChecks ? await readBranchThen(repo, since) : undefined);
  const branches = [...question.branches, ...(branchThen === undefined ? [] : [branchThen])];
  const steps: Promise<unknown>[] = [log.then((commits) => tell({ commits }))];
  if (branches.length > 0) {
    const seen = readSeenBranches(repo);
    steps.push(
      readBranchStates(cwd, branches, { ...git, repo }).then(async (states) =>
        tell({ branches: states, branchThen, seenBranches: await seen }),
      ),
    );
  }
  if (question.files.length > 0) {
    steps.push(log.then(async (commits) => tell({ files: await readFiles(question, repo, commits ?? [], git) })));
  }
  if (question.asksChanges && !repo.isBare) steps.push(readWorkingTree(repo, git).then(tell));
  const github = options.github;
  if (question.asksChecks && github !== undefined && github !== false) {
    // The failure was on this branch, even if another one is checked out now.
    const branch = branchThen === undefined || branchThen === "HEAD" ? repo.branch : branchThen;
    const asked = { folder: repo.worktreeRoot, repo: repo.root, branch };
    steps.push(
      github(asked).then((reading) =>
        tell(reading.github === undefined ? {} : { github: reading.github, checkedBranch: branch }),
      ),
    );
  }
  await Promise.allSettled(steps);
}

async function readWorkingTree({ worktreeRoot }: LocatedRepo, git: GitOptions): Promise<Partial<RepoFacts>> {
  const overrides = await repoFilterOverrides(worktreeRoot, git);
  const { problem, ...status } = await readChanges(worktreeRoot, { ...git, maxListed: 1 }, overrides);
  return problem === undefined ? { changes: status } : {};
}

const MAX_COMMITS = 300;

/** Fields and names end with NUL. A commit starts with U+0001, a file name never does. */
async function readCommitsSince(
  repo: LocatedRepo,
  since: Date,
  options: GitOptions,
): Promise<SinceCommit[] | undefined> {
  const args = ["log", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-show-signature", "--no-color"];
  const limits = [`--max-count=${MAX_COMMITS}`, `--since=${since.toISOString()}`, "--encoding=UTF-8"];
  const result = await runGit(repo.worktreeRoot, [...args, ...limits, "--format=%x01%h%x02%s", "HEAD", "--"], options);
  const text = outputOf(result);
  if (text === undefined) return undefined;
  const commits: SinceCommit[] = [];
  for (const part of text.split("\0")) {
    if (part.startsWith("\u0001")) {
      const [sha = "", ...subject] = part.slice(1).split("\u0002");
      commits.push({ sha, subject: subject.join(" "), files: [] });
    } else if (part !== "") {
      commits.at(-1)?.files.push(part.replace(/^\n/, ""));
    }
  }
  return commits;
}

const MAX_LOG_BYTES = 256 * 1024;

/** From the worktree's log of HEAD: the first checkout after that time names the branch before it. */
async function readBranchThen(repo: LocatedRepo, since: Date): Promise<string | undefined> {
  const log = await readEnd(join(repo.gitDir, "logs", "HEAD")).catch(() => "");
  for (const line of log.split("\n")) {
    const move = /> (\d{1,12}) [+-]\d{4}\tcheckout: moving from (\S+) to /.exec(line);
    if (move !== null && Number(move[1]) * 1000 > since.getTime()) return branchOrNone(move[2]);
  }
  return branchOrNone(repo.branch);
}

/** From this worktree and the main one. */
async function readSeenBranches({ gitDir, commonDir }: LocatedRepo): Promise<Set<string>> {
  const folders = Array.from(new Set([gitDir, commonDir]));
  const logs = await Promise.all(
    folders.map(async (folder) => await readEnd(join(folder, "logs", "HEAD")).catch(() => "")),
  );
  const moves = logs.flatMap((log) => Array.from(log.matchAll(/\tcheckout: moving from (\S+) to (\S+)/g)));
  return new Set(moves.flatMap(([, from = "", to = ""]) => [from, to]));
}

function branchOrNone(name: string | undefined): string | undefined {
  return name === undefined || name === "" || /^[0-9a-f]{40}$/.test(name) ? undefined : name;
}

async function readEnd(path: string): Promise<string> {
  await using handle: FileHandle = await open(path, "r");
  const { size } = await handle.stat();
  const length = Math.min(size, MAX_LOG_BYTES);
  const bytes = Buffer.alloc(length);
  await handle.read(bytes, 0, length, size - length);
  return bytes.toString("utf8");
}

async function readFiles(
  { cwd, since, files }: RepoQuestion,
  repo: LocatedRepo,
  commits: readonly SinceCommit[],
  options: GitOptions,
): Promise<Map<string, "gone" | "changed">> {
  const touched = Array.from(new Set(commits.flatMap((commit) => commit.files)));
  const places = new Map(files.map((file) => [file, placeOf(file, touched)]));
  const changed = new Set(
    await filesChangedSince(cwd, since, Array.from(new Set(places.values())), { ...options, repo }),
  );
  const found = await Promise.all(
    Array.from(places, async ([file, place]): Promise<[string, "gone" | "changed"][]> => {
      if (!changed.has(place)) return [];
      const path = place.startsWith("/") ? place : join(repo.worktreeRoot, place);
      return [[file, (await fileExists(path).catch(() => true)) ? "changed" : "gone"]];
    }),
  );
  return new Map(found.flat());
}

/** A file may be named by its last part: a commit since then has the whole path, if only one fits. */
function placeOf(file: string, touched: readonly string[]): string {
  const name = file.replace(/^\.\//, "");
  if (name.startsWith("/") || touched.includes(name)) return name;
  const fitting = touched.filter((path) => path.endsWith(`/${name}`));
  return fitting.length === 1 ? (fitting[0] ?? name) : name;
}

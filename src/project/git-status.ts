/** The git part of a project's status. Its commands run at once; each that fails leaves a gap and says why. */
import { dirname, join } from "node:path";
import { fileExists } from "../base/files.ts";
import type { GitStatus } from "./project-status.ts";
import { readCommits } from "./commits.ts";
import { readOperation } from "./operation.ts";
import { type PorcelainStatus, parsePorcelain } from "./porcelain.ts";
import { repoFilterOverrides } from "./repo-filters.ts";
import { type LocatedRepo, locateRepo, nearestFolder } from "./repo.ts";
import { type GitOptions, type GitSetting, gitProblem, outputOf, runGit } from "./run-git.ts";

export interface GitStatusOptions extends GitOptions {
  /** How many changes of each kind are listed. Default 100; all of them are counted. */
  maxListed?: number;
  /** Default 10. */
  maxCommits?: number;
}

export interface GitReading {
  /** Missing when the path lies in no repo that git reads. */
  git?: GitStatus;
  problems: string[];
}

const MAX_WORKTREES = 100;

export async function readGitStatus(path: string, options: GitStatusOptions = {}): Promise<GitReading> {
  const folder = await nearestFolder(path);
  const [located, overrides] = await Promise.all([locateRepo(folder, options), repoFilterOverrides(folder, options)]);
  if ("problem" in located) return { problems: [located.problem] };
  return await readLocatedGitStatus(located, options, overrides);
}

export async function readLocatedGitStatus(
  repo: LocatedRepo,
  options: GitStatusOptions,
  overrides: readonly GitSetting[] | undefined,
): Promise<GitReading & { git: GitStatus }> {
  const folder = repo.worktreeRoot;
  const [changes, log, stashCount, operation, isSubmodule] = await Promise.all([
    repo.isBare ? undefined : readChanges(folder, options, overrides),
    readCommits(folder, options.maxCommits ?? 10, options),
    countStashes(folder, options),
    readOperation(repo.gitDir),
    readIsSubmodule(folder, options),
  ]);
  const head = log.head === "" ? (changes?.status.head ?? "") : log.head;
  const problems = changes?.problem === undefined ? [] : [`Changes: ${changes.problem}`];
  // Without a commit there is no history to read, and nothing wrong with that.
  if (log.problem !== undefined && head !== "") problems.push(`Commits: ${log.problem}`);
  return {
    git: {
      currentBranch: repo.branch,
      isDetached: repo.isDetached,
      isBare: repo.isBare,
      isSubmodule,
      isWorktree: repo.gitDir !== repo.commonDir,
      headCommitSha: head,
      headCommitMessage: log.commits[0]?.message ?? "",
      ...(operation === undefined ? {} : { operation }),
      ...changePart(changes?.status),
      stashCount,
      recentCommits: log.commits,
      worktrees: repo.worktrees.slice(0, MAX_WORKTREES),
    },
    problems,
  };
}

/** Submodules are compared by their commit; looking into them would run their own configuration. */
const STATUS_ARGS = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty"];

/**
 * `overrides` are those of repo-filters.ts. With paths: only those, each by itself. Without: everything, a new
 * folder as one item.
 */
export async function readChanges(
  folder: string,
  options: GitStatusOptions,
  overrides: readonly GitSetting[] | undefined,
  paths: readonly string[] = [],
): Promise<{ status: PorcelainStatus; problem?: string }> {
  if (overrides === undefined) {
    return { status: parsePorcelain("", 0), problem: "not looked at, because the repo's filters could not be read" };
  }
  const untracked = `--untracked-files=${paths.length === 0 ? "normal" : "all"}`;
  const result = await runGit(folder, [...STATUS_ARGS, untracked, "--", ...paths], options, overrides);
  const isCut = result.failure === "too-much-output";
  const text = isCut ? result.stdout.toString("utf8") : outputOf(result);
  const status = parsePorcelain(text ?? "", options.maxListed ?? 100);
  if (isCut) return { status, problem: "there are more than could be read; the counts are too low" };
  return text === undefined ? { status, problem: gitProblem(result) } : { status };
}

function changePart(status: PorcelainStatus = parsePorcelain("", 0)): Omit<PorcelainStatus, "head"> {
  const { head: _, ...part } = status;
  return part;
}

async function countStashes(folder: string, options: GitOptions): Promise<number> {
  const args = ["rev-list", "--walk-reflogs", "--count", "--ignore-missing", "refs/stash", "--"];
  return Number(outputOf(await runGit(folder, args, options))) || 0;
}

async function readIsSubmodule(folder: string, options: GitOptions): Promise<boolean> {
  if (!(await isBelowRepo(folder))) return false;
  const answer = outputOf(await runGit(folder, ["rev-parse", "--show-superproject-working-tree"], options));
  return answer !== undefined && answer !== "";
}

/** Most repos lie in no other one; a look at the folders above is cheaper than asking git. */
async function isBelowRepo(folder: string): Promise<boolean> {
  for (let above = dirname(folder), last = folder; above !== last; last = above, above = dirname(above)) {
    if (await fileExists(join(above, ".git")).catch(() => false)) return true;
  }
  return false;
}

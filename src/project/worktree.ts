/**
 * Worktrees of tasks, so that two pieces of work in a repo do not collide. Only a worktree whose work is all on other
 * branches is removed.
 */
import { dirname, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, fileExists } from "../base/files.ts";
import { readRepoStatus } from "./repo-status.ts";
import { hadOwnCommits } from "./repo-changes.ts";
import { findRepo } from "./repo.ts";
import { type CommandResult, type GitOptions, gitProblem, outputOf, repoFilterOverrides, runGit } from "./run-git.ts";

/** A large repo takes a while to check out. */
const ADD_TIMEOUT_MS = 120_000;

/**
 * Creates a branch at HEAD, and a worktree of it at `path`. Resolves to the folder in it that `repoPath` is in the repo.
 * A branch or worktree that is already there is used.
 */
export async function addWorktree(
  repoPath: string,
  { path, branch }: { path: string; branch: string },
  options: GitOptions = {},
): Promise<string> {
  const place = await runGit(repoPath, ["rev-parse", "--show-prefix", "--verify", "HEAD^{commit}"], options);
  const [prefix = ""] = outputOf(place)?.split("\n") ?? [];
  if (outputOf(place) === undefined) throw cannotAdd(repoPath, place);
  const folder = join(path, prefix);
  if (await isWorktree(path, options)) return folder;
  const settings = await repoFilterOverrides(repoPath, options);
  await ensurePrivateFolder(dirname(path));
  const patient = { ...options, gitTimeoutMs: ADD_TIMEOUT_MS };
  const known = await runGit(repoPath, ["rev-parse", "--verify", `refs/heads/${branch}`], options);
  const what = outputOf(known) === undefined ? ["-b", branch, path, "HEAD"] : [path, branch];
  const added = await runGit(repoPath, ["worktree", "add", "--quiet", ...what], patient, settings ?? []);
  if (outputOf(added) === undefined || settings === undefined) throw cannotAdd(repoPath, added);
  return folder;
}

/** What would be lost with the worktree. Undefined: nothing. */
export async function unmergedWork(path: string, options: GitOptions = {}): Promise<string | undefined> {
  const { git, problems } = await readRepoStatus(path, { ...options, github: false });
  if (git === undefined || problems.length > 0) return problems.join("; ");
  const { counts, operation, currentBranch, headCommitSha } = git;
  if (operation !== undefined) return `a ${operation} is under way`;
  const changes = counts.staged + counts.unstaged + counts.untracked + counts.conflicted;
  if (changes > 0) return changes === 1 ? "1 uncommitted change" : `${changes} uncommitted changes`;
  const names = ["for-each-ref", "--format=%(refname)", `--contains=${headCommitSha}`, "refs/heads", "refs/remotes"];
  const answer = outputOf(await runGit(path, names, options));
  // A copy of the branch on a server is not merged.
  const isOwn = (ref: string): boolean => ref.endsWith(`/${currentBranch}`) && currentBranch !== "";
  if (answer?.split("\n").some((ref) => ref !== "" && !isOwn(ref)) === true) {
    return (await hasOnlyIgnoredFiles(path, currentBranch, options)) ? "files that git ignores" : undefined;
  }
  return currentBranch === "" ? "commits without a branch" : `branch ${currentBranch} is not merged`;
}

/** Without a commit they may be all that a task has made. After a merge they are leftovers of builds. */
async function hasOnlyIgnoredFiles(path: string, branch: string, options: GitOptions): Promise<boolean> {
  const repo = await findRepo(path, options);
  if (repo !== undefined && (await hadOwnCommits(repo.commonDir, `refs/heads/${branch}`))) return false;
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  return outputOf(await runGit(path, args, options)) !== "";
}

/** Removes the worktree and its branch. Resolves to what keeps it, or undefined if it is gone. */
export async function removeWorktree(
  path: string,
  { branch, ...options }: GitOptions & { branch: string },
): Promise<string | undefined> {
  if (!(await isWorktree(path, options))) return "it is not a worktree";
  const work = await unmergedWork(path, options);
  const repo = await findRepo(path, options);
  if (work !== undefined || repo === undefined) return work ?? "git cannot read it";
  const head = outputOf(await runGit(path, ["rev-parse", "--verify", "HEAD^{commit}"], options))?.trim() ?? "";
  const settings = (await repoFilterOverrides(path, options)) ?? [];
  const patient = { ...options, gitTimeoutMs: ADD_TIMEOUT_MS };
  // Without --force, git checks again.
  const removed = await runGit(repo.root, ["worktree", "remove", path], patient, settings);
  if (outputOf(removed) === undefined) return gitProblem(removed);
  // Fails if the branch has moved.
  await runGit(repo.root, ["update-ref", "-d", `refs/heads/${branch}`, head], options);
  return undefined;
}

async function isWorktree(path: string, options: GitOptions): Promise<boolean> {
  if (!(await fileExists(path))) return false;
  const top = await runGit(path, ["rev-parse", "--show-cdup"], options);
  return outputOf(top)?.trim() === "";
}

function cannotAdd(repoPath: string, result: CommandResult): HoldfastError {
  return new HoldfastError("usage", "worktree-refused", `No worktree of ${repoPath}: ${gitProblem(result)}.`, {
    hint: "A worktree needs a git repo with at least one commit. Leave it out to work in the folder itself.",
    data: { repoPath },
  });
}

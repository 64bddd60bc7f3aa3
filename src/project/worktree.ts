/** Adds a worktree, so that two pieces of work in a repo do not collide. It stays until its owner removes it. */
import { dirname, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, fileExists } from "../base/files.ts";
import { type CommandResult, type GitOptions, gitProblem, outputOf, repoFilterOverrides, runGit } from "./run-git.ts";

/** A large repo takes a while to check out. */
const ADD_TIMEOUT_MS = 120_000;

/**
 * Creates a branch at HEAD, and a worktree of it at `path`. Resolves to the folder in it that `repoPath` is in the repo.
 * A worktree that is already there is used.
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
  const args = ["worktree", "add", "--quiet", "-b", branch, path, "HEAD"];
  const added = await runGit(repoPath, args, patient, settings ?? []);
  if (outputOf(added) === undefined || settings === undefined) throw cannotAdd(repoPath, added);
  return folder;
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

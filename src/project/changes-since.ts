/**
 * Which files are no longer as somebody left them at a given time: committed since then, or dirty now
 * and written (or removed) since then. Two git commands, whatever the number of files.
 */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { readChanges } from "./git-status.ts";
import { repoFilterOverrides } from "./repo-filters.ts";
import { type LocatedRepo, locateRepo } from "./repo.ts";
import { type GitOptions, outputOf, runGit } from "./run-git.ts";

/** The first ones; more would not fit into a command line everywhere. */
const MAX_FILES = 200;
const MAX_COMMITS = 2_000;

/**
 * Answers with those of `files` that changed, as they were written. Relative ones start at the
 * worktree's top; absolute ones may lie in any worktree of the repo, also one that is gone.
 */
export async function filesChangedSince(
  repoPath: string,
  since: Date,
  files: readonly string[],
  options: GitOptions = {},
): Promise<string[]> {
  const repo = await locateRepo(repoPath, options);
  return "problem" in repo ? [] : await locatedFilesChangedSince({ repo, repoPath }, since, files, options);
}

export async function locatedFilesChangedSince(
  { repo, repoPath }: { repo: LocatedRepo; repoPath: string },
  since: Date,
  files: readonly string[],
  options: GitOptions = {},
): Promise<string[]> {
  if (Number.isNaN(since.getTime())) return [];
  const tops = [
    repo.worktreeRoot,
    repo.root,
    ...repo.worktrees.map(({ path }) => path),
    ...(await linkedTop(repoPath, repo)),
  ];
  const wanted = new Map<string, string>();
  for (const file of files.slice(0, MAX_FILES)) {
    const path = isAbsolute(file) ? pathInRepo(file, tops) : inside(join(repo.worktreeRoot, file), repo.worktreeRoot);
    if (path !== undefined) wanted.set(file, path);
  }
  if (wanted.size === 0) return [];
  const paths = Array.from(new Set(wanted.values()));
  const [committed, dirty] = await Promise.all([
    committedSince(repo, since, paths, options),
    dirtySince(repo, since, paths, options),
  ]);
  const changed = new Set([...committed, ...dirty]);
  return files.filter((file) => {
    const path = wanted.get(file);
    return path !== undefined && changed.has(path);
  });
}

/** The worktree's top by the name that the caller uses, when that leads over a symlink. */
async function linkedTop(repoPath: string, repo: LocatedRepo): Promise<string[]> {
  try {
    const top = resolve(repoPath, relative(await realpath(repoPath), repo.worktreeRoot));
    return (await realpath(top)) === repo.worktreeRoot ? [top] : [];
  } catch {
    return [];
  }
}

/** From the top of the worktree that it lies in; the innermost one counts. */
function pathInRepo(file: string, tops: readonly string[]): string | undefined {
  const paths = tops.map((top) => inside(file, top)).filter((path) => path !== undefined);
  return paths.sort((a, b) => a.length - b.length)[0];
}

/** With slashes, as git writes it. */
function inside(file: string, folder: string): string | undefined {
  const path = relative(folder, file);
  const isInside = path !== "" && path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
  return isInside && !path.includes("\0") ? path.split(sep).join("/") : undefined;
}

async function committedSince(
  repo: LocatedRepo,
  since: Date,
  paths: readonly string[],
  options: GitOptions,
): Promise<string[]> {
  // A merge counts as one change against what was there before it, so old commits that it brought count, too.
  const args = ["log", "-z", "--first-parent", "-m", "--name-only", "--format=", "--no-renames", "--no-ext-diff"];
  const limits = ["--no-show-signature", `--max-count=${MAX_COMMITS}`, `--since=${since.toISOString()}`];
  const result = await runGit(repo.worktreeRoot, [...args, ...limits, "HEAD", "--", ...paths], options);
  return (outputOf(result) ?? "").split("\0");
}

async function dirtySince(
  repo: LocatedRepo,
  since: Date,
  paths: readonly string[],
  options: GitOptions,
): Promise<string[]> {
  if (repo.isBare) return [];
  const overrides = await repoFilterOverrides(repo.worktreeRoot, options);
  const { status } = await readChanges(repo.worktreeRoot, { ...options, maxListed: MAX_FILES * 2 }, overrides, paths);
  const changes = [...status.stagedChanges, ...status.unstagedChanges].flatMap(({ path, from }) => [
    path,
    from ?? path,
  ]);
  const dirty = Array.from(new Set([...changes, ...status.untrackedFiles]));
  const written = await Promise.all(dirty.map((path) => wasWrittenSince(join(repo.worktreeRoot, path), since)));
  return dirty.filter((_, index) => written[index]);
}

async function wasWrittenSince(path: string, since: Date): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs > since.getTime();
  } catch {
    return true;
  }
}

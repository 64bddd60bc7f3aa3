/** What happened in a repo after a given time: which files changed, and what became of branches. */
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { readFileIfPresent, isInside } from "../base/files.ts";
import { readChanges } from "./git-status.ts";
import { type LocatedRepo, locateRepo } from "./repo.ts";
import { type GitOptions, outputOf, runGit, repoFilterOverrides } from "./run-git.ts";

/** More would not fit into a command line on every system. */
const MAX_FILES = 200;
const MAX_COMMITS = 2_000;

interface ChangesOptions extends GitOptions {
  /** Default: looked up. */
  repo?: LocatedRepo | undefined;
}

/**
 * Returns the `files` that changed since a time: committed since then, or dirty now and written or removed since then.
 * Relative paths start at the top of the worktree; absolute paths may be in any worktree of the repo, even a deleted
 * one. Runs two git commands whatever the number of files.
 */
export async function filesChangedSince(
  repoPath: string,
  since: Date,
  files: readonly string[],
  options: ChangesOptions = {},
): Promise<string[]> {
  const repo = options.repo ?? (await locateRepo(repoPath, options));
  if ("problem" in repo || Number.isNaN(since.getTime())) return [];
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

/** The top of the worktree as the caller names it, when that path contains a symlink. */
async function linkedTop(repoPath: string, repo: LocatedRepo): Promise<string[]> {
  try {
    const top = resolve(repoPath, relative(await realpath(repoPath), repo.worktreeRoot));
    return (await realpath(top)) === repo.worktreeRoot ? [top] : [];
  } catch {
    return [];
  }
}

/** Relative to the top of its worktree; the innermost worktree counts. */
function pathInRepo(file: string, tops: readonly string[]): string | undefined {
  const paths = tops.map((top) => inside(file, top)).filter((path) => path !== undefined);
  return paths.sort((a, b) => a.length - b.length)[0];
}

/** With slashes, as git writes it. */
function inside(file: string, folder: string): string | undefined {
  const path = relative(folder, file);
  if (path === "" || !isInside(folder, file) || path.includes("\0")) return undefined;
  return path.split(sep).join("/");
}

export interface NewCommit {
  /** Abbreviated. */
  sha: string;
  message: string;
}

const MAX_NEW_COMMITS = 100;

/** Commits of HEAD that were made since a time and that `before`, an earlier HEAD, does not have; newest first. */
export async function commitsSince(
  folder: string,
  { since, before }: { since: Date; before: string },
  options: GitOptions = {},
): Promise<NewCommit[]> {
  // Commits have whole seconds.
  const time = Math.floor(since.getTime() / 1000) - 1;
  const args = ["log", "-z", `--max-count=${MAX_NEW_COMMITS}`, `--since=@${time}`, "--encoding=UTF-8", "--no-color"];
  const range = before === "" ? ["HEAD"] : ["HEAD", `^${before}`];
  const format = ["--no-show-signature", "--format=%h%x00%s"];
  const parts = (outputOf(await runGit(folder, [...args, ...format, ...range, "--"], options)) ?? "").split("\0");
  const shas = parts.filter((part, index) => index % 2 === 0 && part !== "");
  return shas.map((sha, index) => ({ sha, message: parts[index * 2 + 1] ?? "" }));
}

async function committedSince(
  repo: LocatedRepo,
  since: Date,
  paths: readonly string[],
  options: GitOptions,
): Promise<string[]> {
  // A merge counts as one change, so old commits that it brings in count too.
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
  const status = await readChanges(repo.worktreeRoot, { ...options, maxListed: MAX_FILES * 2 }, overrides, paths);
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

export type BranchState = "current" | "open" | "merged" | "deleted";

/** Limits the search on a long default branch. */
const MAX_MAIN_LINE = 10_000;
const HEADS = "refs/heads/";
const ORIGIN = "refs/remotes/origin/";

/**
 * Merged means: the default branch, local or at origin as last fetched, contains the last commit of the branch, and the
 * branch had commits of its own. A squash or rebase merge leaves no trace of the branch, so it counts as open. `HEAD`
 * and an empty name have no entry, and nothing has one when git fails.
 */
export async function readBranchStates(
  repoPath: string,
  branches: readonly string[],
  options: ChangesOptions = {},
): Promise<Map<string, BranchState>> {
  const states = new Map<string, BranchState>();
  const repo = options.repo ?? (await locateRepo(repoPath, options));
  if ("problem" in repo) return states;
  const folder = repo.worktreeRoot;
  const refs = await readRefs(folder, options);
  if (refs === undefined) return states;

  const asked = Array.from(new Set(branches)).filter((name) => name !== "" && name !== "HEAD");
  const refOf = (name: string) => [HEADS + name, ORIGIN + name].find((ref) => refs.tips.has(ref));
  const merged = await readMerged(folder, refs, options);
  const mainLine = asked.some((name) => merged.has(refOf(name) ?? "")) ? await readMainLine(folder, refs, options) : [];
  const onMainLine = new Set(mainLine);

  for (const name of asked) {
    const ref = refOf(name);
    if (!repo.isBare && name === repo.branch) states.set(name, "current");
    else if (ref === undefined) states.set(name, "deleted");
    else if (refs.defaults.includes(ref) || !merged.has(ref)) states.set(name, "open");
    // A tip on the main line: a fast-forward merge, or a branch without commits of its own.
    else if (!onMainLine.has(refs.tips.get(ref) ?? "")) states.set(name, "merged");
    else states.set(name, (await hadOwnCommits(repo.commonDir, ref)) ? "merged" : "open");
  }
  return states;
}

type Refs = NonNullable<Awaited<ReturnType<typeof readRefs>>>;

async function readRefs(folder: string, options: GitOptions) {
  const format = "--format=%(refname)%00%(objectname)%00%(symref)";
  const text = outputOf(await runGit(folder, ["for-each-ref", format, HEADS, ORIGIN], options));
  if (text === undefined) return undefined;
  const tips = new Map<string, string>();
  let originHead: string | undefined;
  // A ref name has no control characters, so splitting by lines is safe.
  for (const line of text.split("\n")) {
    const [name = "", commit = "", target = ""] = line.split("\0");
    if (name === `${ORIGIN}HEAD`) originHead = target;
    else if (name !== "") tips.set(name, commit);
  }
  const exists = (name: string) => tips.has(HEADS + name) || tips.has(ORIGIN + name);
  const name = originHead?.startsWith(ORIGIN) ? originHead.slice(ORIGIN.length) : ["main", "master"].find(exists);
  const defaults = name === undefined ? [] : [HEADS + name, ORIGIN + name].filter((ref) => tips.has(ref));
  return { tips, defaults };
}

async function readMerged(folder: string, refs: Refs, options: GitOptions): Promise<Set<string>> {
  const lists = await Promise.all(
    refs.defaults.map(async (ref) => {
      const args = ["for-each-ref", `--merged=${ref}`, "--format=%(refname)", HEADS, ORIGIN];
      return (outputOf(await runGit(folder, args, options)) ?? "").split("\n");
    }),
  );
  return new Set(lists.flat().filter((name) => name !== ""));
}

async function readMainLine(folder: string, refs: Refs, options: GitOptions): Promise<string[]> {
  const args = ["rev-list", "--first-parent", `--max-count=${MAX_MAIN_LINE}`, ...refs.defaults, "--"];
  return (outputOf(await runGit(folder, args, options)) ?? "").split("\n");
}

/** The reflog of the branch tells commits from fast-forwards. */
export async function hadOwnCommits(commonDir: string, ref: string): Promise<boolean> {
  const log = await readFileIfPresent(join(commonDir, "logs", ref)).catch(() => undefined);
  if (log === undefined) return false;
  return log
    .toString("utf8")
    .split("\n")
    .some((line) => /\t(commit|cherry-pick|revert|am|rebase|merge .*: Merge made)/.test(line));
}

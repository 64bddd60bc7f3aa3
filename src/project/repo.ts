/**
 * Finds the repo of a path. A repo is one git store with all its worktrees: every subfolder, linked worktree and symlink
 * leads to the same `root`. Paths are real paths and may contain newlines, so no git answer holds two paths that would
 * have to be split by lines.
 */
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileExists, readFileIfPresent } from "../base/files.ts";
import { type GitOptions, gitProblem, outputOf, runGit } from "./run-git.ts";

export interface LocatedRepo {
  /** The main worktree, or the folder of a bare repo. */
  root: string;
  /** The worktree of the path; `root` when the path is in none. */
  worktreeRoot: string;
  /** The git folder that all worktrees share. */
  commonDir: string;
  /** The git folder of this worktree. */
  gitDir: string;
  /** The main one first. */
  worktrees: Worktree[];
  isBare: boolean;
  /** Also set before the first commit. Empty on a detached HEAD. */
  branch: string;
  isDetached: boolean;
}

export interface Worktree {
  path: string;
  head?: string | undefined;
  branch?: string | undefined;
  isMain: boolean;
  isBare: boolean;
  /** Git still lists it, but its folder is gone. */
  isGone: boolean;
}

export interface NoRepo {
  /** False when there may be a repo that git cannot or will not read. */
  isAbsent: boolean;
  problem: string;
}

/** Undefined when the path is not in a repo, git is missing, or git refuses the repo. */
export async function findRepo(path: string, options: GitOptions = {}): Promise<LocatedRepo | undefined> {
  const found = await locateRepo(path, options);
  return "problem" in found ? undefined : found;
}

export async function locateRepo(path: string, options: GitOptions = {}): Promise<LocatedRepo | NoRepo> {
  const folder = await nearestFolder(path);
  const [place, list] = await Promise.all([
    runGit(folder, ["rev-parse", ...PLACE_QUESTIONS], options),
    listWorktrees(folder, options),
  ]);
  const answer = outputOf(place);
  if (answer === undefined) {
    return { isAbsent: place.stderr.includes("not a git repository"), problem: gitProblem(place) };
  }

  const found = await readPlace(answer, folder, options);
  const { isBare, here, gitDir } = found;
  const commonDir = await findCommonDir(gitDir);
  const root = isBare && gitDir === commonDir ? commonDir : await findRoot(list[0], found, commonDir, options);
  const worktrees = await Promise.all(list.map((item) => completeWorktree(item, root)));
  const listed = worktrees.find(({ path }) => path === here);
  const branch = listed === undefined ? await readBranch(folder, options) : listed.branch;
  return {
    root,
    worktreeRoot: here ?? root,
    commonDir,
    worktrees,
    gitDir,
    isBare: isBare && here === undefined,
    branch: branch ?? "",
    isDetached: branch === undefined,
  };
}

/** Whether git may find a repo there. Checking the parent folders is much cheaper than running git. */
export async function mayLieInRepo(path: string): Promise<boolean> {
  for (let folder = await nearestFolder(path); ; folder = dirname(folder)) {
    // A bare repo has HEAD in its folder instead of `.git`.
    if (existsSync(join(folder, ".git")) || existsSync(join(folder, "HEAD"))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** The folder itself, or its nearest existing parent: the folder of a session may be gone. */
async function nearestFolder(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      const real = await realpath(folder);
      if ((await stat(real)).isDirectory()) return real;
    } catch {
      // Missing or unreadable: try its parent.
    }
    if (dirname(folder) === folder) return folder;
  }
}

// `--show-cdup` prints only `../`, so the last answer is the only path.
const PLACE_QUESTIONS = ["--is-bare-repository", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"];

/** `here` is the top of the worktree; undefined outside every worktree. */
async function readPlace(answer: string, folder: string, options: GitOptions) {
  const [bare, inside, up, ...rest] = answer.split("\n");
  const isBare = bare === "true";
  if (inside === "true") {
    const here = await realOrSame(resolve(folder, up ?? ""));
    return { isBare, here, gitDir: await realOrSame(withoutLineEnd(rest.join("\n"))) };
  }
  // Outside a worktree `--show-cdup` may print a path, so ask for the git folder alone.
  const alone = outputOf(await runGit(folder, ["rev-parse", "--absolute-git-dir"], options));
  return { isBare, here: undefined, gitDir: await realOrSame(withoutLineEnd(alone ?? folder)) };
}

/** The file `commondir` in the git folder of a linked worktree names the shared git folder. */
async function findCommonDir(gitDir: string): Promise<string> {
  const text = await readFileIfPresent(join(gitDir, "commondir")).catch(() => undefined);
  return text === undefined ? gitDir : await realOrSame(resolve(gitDir, withoutLineEnd(text.toString("utf8"))));
}

/** Git lists the parent of the git folder as the main worktree. For a submodule or a separate git folder that is wrong. */
async function findRoot(
  main: ListedWorktree | undefined,
  { gitDir, here }: Awaited<ReturnType<typeof readPlace>>,
  commonDir: string,
  options: GitOptions,
): Promise<string> {
  if (gitDir === commonDir && here !== undefined) return here;
  if (main?.isBare === true) return commonDir;
  if (basename(commonDir) === ".git") return dirname(commonDir);
  const top = outputOf(await runGit(commonDir, [`--git-dir=${commonDir}`, "rev-parse", "--show-toplevel"], options));
  return top === undefined ? commonDir : await realOrSame(withoutLineEnd(top));
}

interface ListedWorktree extends Worktree {
  isPrunable: boolean;
}

/** The exit code of git for an unknown option. */
const USAGE_ERROR = 129;

async function listWorktrees(folder: string, options: GitOptions): Promise<ListedWorktree[]> {
  const safe = await runGit(folder, ["worktree", "list", "--porcelain", "-z"], options);
  if (safe.exitCode !== USAGE_ERROR) return parseWorktrees(outputOf(safe) ?? "", "\0");
  // Git before 2.36 has no `-z`; a worktree path with a newline is then misread.
  return parseWorktrees(outputOf(await runGit(folder, ["worktree", "list", "--porcelain"], options)) ?? "", "\n");
}

/** For a folder outside every worktree, such as a bare repo. Undefined on a detached HEAD. */
async function readBranch(folder: string, options: GitOptions): Promise<string | undefined> {
  const head = outputOf(await runGit(folder, ["symbolic-ref", "--quiet", "HEAD"], options));
  return head === undefined ? undefined : branchName(withoutLineEnd(head));
}

function branchName(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

function parseWorktrees(text: string, separator: string): ListedWorktree[] {
  const worktrees: ListedWorktree[] = [];
  for (const line of text.split(separator)) {
    const space = line.indexOf(" ");
    const [name, value] = space === -1 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
    if (name === "worktree") {
      const isMain = worktrees.length === 0;
      worktrees.push({ path: value, isMain, isBare: false, isGone: false, isPrunable: false });
    }
    const current = worktrees.at(-1);
    if (current === undefined) continue;
    if (name === "HEAD" && !/^0+$/.test(value)) current.head = value;
    if (name === "branch") current.branch = branchName(value);
    if (name === "bare") current.isBare = true;
    if (name === "prunable") current.isPrunable = true;
  }
  return worktrees;
}

async function completeWorktree(listed: ListedWorktree, root: string): Promise<Worktree> {
  const { isPrunable, ...worktree } = listed;
  if (worktree.isMain) return { ...worktree, path: root };
  const path = await realOrSame(worktree.path);
  return { ...worktree, path, isGone: isPrunable || !(await fileExists(path).catch(() => true)) };
}

/** Returns the path as git wrote it when the folder is gone or its name is not valid text. */
async function realOrSame(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

function withoutLineEnd(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

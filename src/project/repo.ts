/**
 * Which repo a path belongs to. A repo is one git store with all its worktrees: every subdirectory,
 * linked worktree and symlink leads to the same `root`. Paths are real paths and may contain anything,
 * newlines too, so git is never asked for two paths in one answer that is split by lines.
 */
import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileExists, readFileIfPresent } from "../base/files.ts";
import type { Worktree } from "./project-status.ts";
import type { CommandResult } from "./run-command.ts";
import { type GitOptions, gitProblem, outputOf, runGit } from "./run-git.ts";

export interface Repo {
  /** The main worktree, or the folder of a bare repo. */
  root: string;
  /** The worktree that the path lies in; `root` when it lies in none. */
  worktreeRoot: string;
  /** Where all worktrees of the repo keep what they share. */
  commonDir: string;
  /** The main one first. */
  worktrees: Worktree[];
}

export interface LocatedRepo extends Repo {
  /** Where this worktree keeps what is its own. */
  gitDir: string;
  isBare: boolean;
  /** Empty on a detached HEAD. Known of an unborn branch, too. */
  branch: string;
  isDetached: boolean;
}

/** Undefined when the path lies in no repo, git is missing, or git refuses the repo. */
export async function findRepo(path: string, options: GitOptions = {}): Promise<Repo | undefined> {
  const found = await locateRepo(path, options);
  if ("problem" in found) return undefined;
  const { root, worktreeRoot, commonDir, worktrees } = found;
  return { root, worktreeRoot, commonDir, worktrees };
}

export interface NoRepo {
  /** False when there may be a repo that git cannot or will not read. */
  isAbsent: boolean;
  problem: string;
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

  const { isBare, isInside, gitDir } = await readPlace(answer, folder, options);
  const commonDir = await findCommonDir(gitDir);
  const main = list[0];
  const here = isInside === undefined ? undefined : await realOrSame(resolve(folder, isInside));
  const root = isBare && gitDir === commonDir ? commonDir : await findRoot({ main, gitDir, commonDir, here }, options);
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

/** Whether git could find a repo there: a look at the folders above costs next to nothing, asking git a process. */
export async function mayLieInRepo(path: string): Promise<boolean> {
  for (let folder = await nearestFolder(path); ; folder = dirname(folder)) {
    // A bare repo has no `.git`; its own HEAD lies in its folder.
    if (existsSync(join(folder, ".git")) || existsSync(join(folder, "HEAD"))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** A session may know a folder that is gone: then the nearest one above it that is there. */
export async function nearestFolder(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      const real = await realpath(folder);
      if ((await stat(real)).isDirectory()) return real;
    } catch {
      // Not there, or not ours to see: look above it.
    }
    if (dirname(folder) === folder) return folder;
  }
}

// `--show-cdup` answers with `../` only, and stands before the one path.
const PLACE_QUESTIONS = ["--is-bare-repository", "--is-inside-work-tree", "--show-cdup", "--absolute-git-dir"];

interface Place {
  isBare: boolean;
  /** The way up to the worktree's top; undefined outside of every worktree. */
  isInside: string | undefined;
  gitDir: string;
}

async function readPlace(answer: string, folder: string, options: GitOptions): Promise<Place> {
  const [bare, inside, up, ...rest] = answer.split("\n");
  const isBare = bare === "true";
  if (inside === "true") {
    return { isBare, isInside: up ?? "", gitDir: await realOrSame(withoutLineEnd(rest.join("\n"))) };
  }
  // Outside of a worktree `--show-cdup` may name a folder; ask for the one path alone.
  const alone = outputOf(await runGit(folder, ["rev-parse", "--absolute-git-dir"], options));
  return { isBare, isInside: undefined, gitDir: await realOrSame(withoutLineEnd(alone ?? folder)) };
}

/** A linked worktree's git folder says in a file where the shared one is. */
async function findCommonDir(gitDir: string): Promise<string> {
  const text = await readFileIfPresent(join(gitDir, "commondir")).catch(() => undefined);
  return text === undefined ? gitDir : await realOrSame(resolve(gitDir, withoutLineEnd(text.toString("utf8"))));
}

interface RootClues {
  main: ListedWorktree | undefined;
  gitDir: string;
  commonDir: string;
  here: string | undefined;
}

/**
 * Git takes the main worktree to be the folder around `.git`. That is wrong for a submodule or a
 * separate git folder, which it then names itself.
 */
async function findRoot(clues: RootClues, options: GitOptions): Promise<string> {
  const { main, gitDir, commonDir, here } = clues;
  if (gitDir === commonDir && here !== undefined) return here;
  if (main?.isBare === true) return commonDir;
  if (basename(commonDir) === ".git") return dirname(commonDir);
  const told = outputOf(await runGit(commonDir, [`--git-dir=${commonDir}`, "rev-parse", "--show-toplevel"], options));
  return told === undefined ? commonDir : await realOrSame(withoutLineEnd(told));
}

interface ListedWorktree extends Worktree {
  isPrunable: boolean;
}

async function listWorktrees(folder: string, options: GitOptions): Promise<ListedWorktree[]> {
  const safe = await runGit(folder, ["worktree", "list", "--porcelain", "-z"], options);
  if (!isUsageError(safe)) return parseWorktrees(outputOf(safe) ?? "", "\0");
  // Before 2.36 there is no `-z`; a worktree path with a newline is then read wrong.
  return parseWorktrees(outputOf(await runGit(folder, ["worktree", "list", "--porcelain"], options)) ?? "", "\n");
}

/** For a folder that is in no worktree, such as a bare repo. Undefined on a detached HEAD. */
async function readBranch(folder: string, options: GitOptions): Promise<string | undefined> {
  const head = outputOf(await runGit(folder, ["symbolic-ref", "--quiet", "HEAD"], options));
  return head === undefined ? undefined : branchName(withoutLineEnd(head));
}

function branchName(ref: string): string {
  return ref.replace(/^refs\/heads\//, "");
}

function isUsageError(result: CommandResult): boolean {
  return result.exitCode === 129;
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

/** What is gone, or has a name that is no text, stays as git wrote it. */
async function realOrSame(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

function withoutLineEnd(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

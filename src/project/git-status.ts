/**
 * The git part of a project's status: branch, changes, commits, stashes, the operation under way. The git commands run
 * in parallel; one that fails leaves its part empty and adds a problem.
 */
import { dirname, join } from "node:path";
import { fileExists, readFileIfPresent } from "../base/files.ts";
import type { LocatedRepo } from "./repo.ts";
import { type GitOptions, type GitSetting, gitProblem, outputOf, runGit } from "./run-git.ts";

export type GitStatus = Awaited<ReturnType<typeof readGitStatus>>["git"];

export interface GitChanges {
  upstream?: string | undefined;
  ahead?: number | undefined;
  behind?: number | undefined;
  stagedChanges: GitChange[];
  unstagedChanges: GitChange[];
  untrackedFiles: string[];
  /** Counts all changes, also those cut from the lists. */
  counts: { staged: number; unstaged: number; untracked: number; conflicted: number };
}

export interface GitChange {
  path: string;
  /** The letter of git's porcelain format: M, A, D, R, C, T, U. */
  status: string;
  from?: string | undefined;
}

export interface GitCommit {
  sha: string;
  message: string;
  author: string;
  /** ISO. Empty when the commit has no valid date. */
  date: string;
}

type Operation = "merge" | "rebase" | "cherry-pick" | "revert" | "bisect" | "am";

export interface GitStatusOptions extends GitOptions {
  /** Maximum number of listed changes of each kind. Default: 100. */
  maxListed?: number | undefined;
}

const MAX_WORKTREES = 100;
const MAX_COMMITS = 10;

/** `overrides` come from `repoFilterOverrides`. */
export async function readGitStatus(
  repo: LocatedRepo,
  options: GitStatusOptions,
  overrides: readonly GitSetting[] | undefined,
) {
  const folder = repo.worktreeRoot;
  const [{ head: changesHead, problem, ...changes }, log, stashCount, operation, isSubmodule] = await Promise.all([
    repo.isBare ? parsePorcelain("", 0) : readChanges(folder, options, overrides),
    readCommits(folder, options),
    countStashes(folder, options),
    readOperation(repo.gitDir),
    readIsSubmodule(folder, options),
  ]);
  const head = log.head === "" ? changesHead : log.head;
  const problems = problem === undefined ? [] : [`Changes: ${problem}`];
  // Before the first commit the log fails, which is not a problem.
  if (log.problem !== undefined && head !== "") problems.push(`Commits: ${log.problem}`);
  return {
    git: {
      /** Empty on a detached HEAD. */
      currentBranch: repo.branch,
      isDetached: repo.isDetached,
      isBare: repo.isBare,
      isSubmodule,
      /** This folder is a linked worktree, not the main one. */
      isWorktree: repo.gitDir !== repo.commonDir,
      /** Empty before the first commit. */
      headCommitSha: head,
      headCommitMessage: log.commits[0]?.message ?? "",
      operation,
      ...changes,
      stashCount,
      recentCommits: log.commits,
      worktrees: repo.worktrees.slice(0, MAX_WORKTREES),
    },
    problems,
  };
}

interface ChangesReading extends GitChanges {
  /** Empty before the first commit. */
  head: string;
  problem?: string | undefined;
}

/** Submodules are compared by commit only: looking into them would apply their own configuration. */
const STATUS_ARGS = ["status", "--porcelain=v2", "-z", "--branch", "--ignore-submodules=dirty"];

/** With `paths`: only those, file by file. Without: everything, with a new folder as one item. */
export async function readChanges(
  folder: string,
  options: GitStatusOptions,
  overrides: readonly GitSetting[] | undefined,
  paths: readonly string[] = [],
): Promise<ChangesReading> {
  if (overrides === undefined) {
    return { ...parsePorcelain("", 0), problem: "not read, because the repo's filters could not be read" };
  }
  const untracked = `--untracked-files=${paths.length === 0 ? "normal" : "all"}`;
  const result = await runGit(folder, [...STATUS_ARGS, untracked, "--", ...paths], options, overrides);
  const isCut = result.failure === "too-much-output";
  const text = isCut ? result.stdout.toString("utf8") : outputOf(result);
  const changes = parsePorcelain(text ?? "", options.maxListed ?? 100);
  if (isCut) changes.problem = "there are too many to read; the counts are too low";
  else if (text === undefined) changes.problem = gitProblem(result);
  return changes;
}

/** Records end with NUL, so a name may contain anything else. */
function parsePorcelain(text: string, maxListed: number): ChangesReading {
  const changes: ChangesReading = {
    head: "",
    stagedChanges: [],
    unstagedChanges: [],
    untrackedFiles: [],
    counts: { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 },
  };
  // After the last NUL comes nothing, or a record that was cut off.
  const records = text.split("\0").slice(0, -1);
  for (let index = 0; index < records.length; index++) {
    const record = records[index] ?? "";
    if (record.startsWith("# ")) readHeader(record.slice(2), changes);
    else if (record.startsWith("2 ")) readChange(record, records[++index], changes, maxListed);
    else readChange(record, undefined, changes, maxListed);
  }
  return changes;
}

function readHeader(header: string, changes: ChangesReading): void {
  const [name, ...values] = header.split(" ");
  const [first = "", second = ""] = values;
  if (name === "branch.oid" && first !== "(initial)") changes.head = first;
  if (name === "branch.upstream") changes.upstream = values.join(" ");
  if (name === "branch.ab") {
    changes.ahead = Math.abs(Number(first)) || 0;
    changes.behind = Math.abs(Number(second)) || 0;
  }
}

/** Number of fields before the path, by kind of record. */
const FIELDS_BEFORE_PATH: Record<string, number> = { "1": 8, "2": 9, u: 10, "?": 1 };

function readChange(record: string, from: string | undefined, changes: ChangesReading, maxListed: number): void {
  const kind = record.charAt(0);
  const path = afterFields(record, FIELDS_BEFORE_PATH[kind]);
  if (path === undefined) return;
  const { counts, stagedChanges, unstagedChanges, untrackedFiles } = changes;
  const list = (changed: GitChange[], status: string): void => {
    if (changed.length >= maxListed) return;
    changed.push({ path, status, from: "RC".includes(status) ? from : undefined });
  };
  if (kind === "?") {
    counts.untracked++;
    if (untrackedFiles.length < maxListed) untrackedFiles.push(path);
    return;
  }
  const [inIndex = ".", inWorktree = "."] = kind === "u" ? ".U" : record.slice(2, 4);
  if (kind === "u") counts.conflicted++;
  if (inIndex !== ".") {
    counts.staged++;
    list(stagedChanges, inIndex);
  }
  if (inWorktree !== ".") {
    counts.unstaged++;
    list(unstagedChanges, inWorktree);
  }
}

function afterFields(record: string, fields: number | undefined): string | undefined {
  if (fields === undefined) return undefined;
  let start = 0;
  for (let field = 0; field < fields; field++) {
    start = record.indexOf(" ", start) + 1;
    if (start === 0) return undefined;
  }
  return record.slice(start);
}

const MAX_SUBJECT = 500;
const COMMIT_FIELDS = ["%H", "%h", "%s", "%an", "%aI"];

/** Fields and commits end with NUL, the one character that no commit can contain. */
async function readCommits(
  folder: string,
  options: GitOptions,
): Promise<{ commits: GitCommit[]; head: string; problem?: string | undefined }> {
  const args = ["log", "-z", `--max-count=${MAX_COMMITS}`, "--no-show-signature", "--encoding=UTF-8", "--no-color"];
  const result = await runGit(folder, [...args, `--format=${COMMIT_FIELDS.join("%x00")}`, "HEAD", "--"], options);
  const text = outputOf(result);
  if (text === undefined) return { commits: [], head: "", problem: gitProblem(result) };
  const parts = text.split("\0");
  const commits: GitCommit[] = [];
  const size = COMMIT_FIELDS.length;
  for (let index = 0; index + size <= parts.length; index += size) {
    const [, sha = "", message = "", author = "", date = ""] = parts.slice(index, index + size);
    commits.push({
      sha,
      message: message.slice(0, MAX_SUBJECT),
      author: author.slice(0, MAX_SUBJECT),
      date: isoDate(date),
    });
  }
  return { commits, head: parts[0] ?? "" };
}

function isoDate(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}

async function countStashes(folder: string, options: GitOptions): Promise<number> {
  const args = ["rev-list", "--walk-reflogs", "--count", "--ignore-missing", "refs/stash", "--"];
  return Number(outputOf(await runGit(folder, args, options))) || 0;
}

/** Git marks an operation with files in the worktree's own git folder. */
const MARKS: readonly (readonly [string, Operation])[] = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];

async function readOperation(gitDir: string): Promise<Operation | undefined> {
  const names = ["rebase-merge", "rebase-apply", "rebase-apply/applying", ...MARKS.map(([name]) => name)];
  const found = new Set<string>();
  await Promise.all(
    names.map(async (name) => {
      if (await fileExists(join(gitDir, name)).catch(() => false)) found.add(name);
    }),
  );
  if (found.has("rebase-apply/applying")) return "am";
  if (found.has("rebase-merge") || found.has("rebase-apply")) return "rebase";
  const mark = MARKS.find(([name]) => found.has(name))?.[1];
  // Between two commits of a long cherry-pick there is no mark, only the list of remaining commits.
  return mark === undefined || mark === "bisect" ? ((await readSequence(gitDir)) ?? mark) : mark;
}

async function readSequence(gitDir: string): Promise<Operation | undefined> {
  const todo = await readFileIfPresent(join(gitDir, "sequencer/todo")).catch(() => undefined);
  if (todo === undefined) return undefined;
  return todo.subarray(0, 6).toString("utf8") === "revert" ? "revert" : "cherry-pick";
}

async function readIsSubmodule(folder: string, options: GitOptions): Promise<boolean> {
  if (!(await isBelowRepo(folder))) return false;
  const answer = outputOf(await runGit(folder, ["rev-parse", "--show-superproject-working-tree"], options));
  return answer !== undefined && answer !== "";
}

/** Few repos are nested, and checking the parent folders is cheaper than running git. */
async function isBelowRepo(folder: string): Promise<boolean> {
  for (let above = dirname(folder), last = folder; above !== last; last = above, above = dirname(above)) {
    if (await fileExists(join(above, ".git")).catch(() => false)) return true;
  }
  return false;
}

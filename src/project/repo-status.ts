/**
 * The whole status of a project. Its parts are gathered at once and each may fail alone: what cannot
 * be known is missing and named in `problems`; only a folder that is not there is an error.
 */
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { readDocsStatus } from "./docs-status.ts";
import { type GitStatusOptions, readLocatedGitStatus } from "./git-status.ts";
import { type GithubReader, type GithubReading, createGithubReader } from "./github-status.ts";
import type { RepoStatus } from "./project-status.ts";
import { repoFilterOverrides } from "./repo-filters.ts";
import { type LocatedRepo, locateRepo } from "./repo.ts";

export interface RepoStatusOptions extends GitStatusOptions {
  /** Default: one that the whole process shares. False: GitHub is not asked. */
  github?: GithubReader | false;
  clock?: Clock;
}

let shared: GithubReader | undefined;

export async function readRepoStatus(path: string, options: RepoStatusOptions = {}): Promise<RepoStatus> {
  const folder = await realFolder(path);
  const timestamp = new Date((options.clock ?? systemClock).now()).toISOString();
  const [located, overrides] = await Promise.all([locateRepo(folder, options), repoFilterOverrides(folder, options)]);
  if ("problem" in located) {
    const problem = located.isAbsent ? "this folder is in no git repo" : located.problem;
    return {
      repo: { path: folder, name: basename(folder), isGitRepo: false, problem },
      docs: await readDocsStatus(folder),
      problems: [`Git: ${problem}`],
      timestamp,
    };
  }
  const [reading, hub, docs] = await Promise.all([
    readLocatedGitStatus(located, options, overrides),
    readGithub(located, options),
    readDocsStatus(located.worktreeRoot),
  ]);
  return {
    repo: { path: folder, name: repoName(located), isGitRepo: true },
    git: reading.git,
    ...(hub.github === undefined ? {} : { github: hub.github }),
    docs,
    problems: [...reading.problems, ...(hub.problem === undefined ? [] : [hub.problem])],
    timestamp,
  };
}

async function realFolder(path: string): Promise<string> {
  try {
    const folder = await realpath(path);
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    if (!["ENOENT", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) throw fileError(error, "look at", path);
    throw new HoldfastError("not-found", "project-not-found", `There is no folder ${path}`, {
      hint: "Give the path of a project's folder, or run this inside of one.",
      data: { path },
      cause: error,
    });
  }
  throw new HoldfastError("usage", "not-a-folder", `${path} is a file, not a project's folder`, {
    hint: "Give the path of the folder that it lies in.",
    data: { path },
  });
}

async function readGithub(repo: LocatedRepo, options: RepoStatusOptions): Promise<GithubReading> {
  if (options.github === false) return {};
  if (options.github === undefined) shared ??= createGithubReader();
  const read = options.github ?? shared;
  return (await read?.({ folder: repo.worktreeRoot, repo: repo.root, branch: repo.branch })) ?? {};
}

function repoName(repo: LocatedRepo): string {
  return basename(repo.root).replace(/(?<=.)\.git$/, "");
}

/**
 * The status of a project: git, GitHub and its documents. The parts are read in parallel and fail independently: a part
 * that cannot be read is absent and named in `problems`. Only a missing folder is an error.
 */
import { readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { type GitStatus, type GitStatusOptions, readGitStatus } from "./git-status.ts";
import { type GithubReader, type GithubReading, type GithubStatus, createGithubReader } from "./github-status.ts";
import { type LocatedRepo, locateRepo } from "./repo.ts";
import { repoFilterOverrides } from "./run-git.ts";

export interface RepoStatus {
  repo: {
    /** The real path of the requested folder. */
    path: string;
    name: string;
    isGitRepo: boolean;
    /** Why the git part is absent. */
    problem?: string | undefined;
  };
  /** Absent when the folder is not in a repo or git cannot be run. */
  git?: GitStatus | undefined;
  /** Absent when `gh` is missing, not signed in or too slow, or the repo is not on GitHub. */
  github?: GithubStatus | undefined;
  docs: DocsStatus;
  /** Parts that could not be read, and why. */
  problems: string[];
  /** ISO. */
  timestamp: string;
}

export type DocsStatus = Awaited<ReturnType<typeof readDocsStatus>>;

export interface RepoStatusOptions extends GitStatusOptions {
  /** Default: one reader for the whole process. False: do not ask GitHub. */
  github?: GithubReader | false | undefined;
  clock?: Clock | undefined;
}

export async function readRepoStatus(path: string, options: RepoStatusOptions = {}): Promise<RepoStatus> {
  const folder = await realFolder(path);
  const timestamp = new Date((options.clock ?? systemClock).now()).toISOString();
  const [located, overrides] = await Promise.all([locateRepo(folder, options), repoFilterOverrides(folder, options)]);
  if ("problem" in located) {
    const problem = located.isAbsent ? "this folder is not in a git repo" : located.problem;
    return {
      repo: { path: folder, name: basename(folder), isGitRepo: false, problem },
      docs: await readDocsStatus(folder),
      problems: [`Git: ${problem}`],
      timestamp,
    };
  }
  const [{ git, problems }, hub, docs] = await Promise.all([
    readGitStatus(located, options, overrides),
    readGithub(located, options),
    readDocsStatus(located.worktreeRoot),
  ]);
  return {
    repo: { path: folder, name: repoName(located), isGitRepo: true },
    git,
    github: hub.github,
    docs,
    problems: [...problems, ...(hub.problem === undefined ? [] : [hub.problem])],
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
      hint: "Give the path of a project folder, or run this command inside one.",
      data: { path },
      cause: error,
    });
  }
  throw new HoldfastError("usage", "not-a-folder", `${path} is a file, not a project folder`, {
    hint: "Give the path of the folder that contains it.",
    data: { path },
  });
}

let shared: GithubReader | undefined;

async function readGithub(repo: LocatedRepo, { github }: RepoStatusOptions): Promise<GithubReading> {
  if (github === false) return {};
  const read = github ?? (shared ??= createGithubReader());
  return await read({ folder: repo.worktreeRoot, repo: repo.root, branch: repo.branch });
}

function repoName(repo: LocatedRepo): string {
  return basename(repo.root).replace(/(?<=.)\.git$/, "");
}

const MAX_SPECS = 100;

/** Documents for the people and agents who work on the project. Looks at file names only. */
async function readDocsStatus(folder: string) {
  const [files, specs] = await Promise.all([namesIn(folder), namesIn(join(folder, ".specs"))]);
  const has = (name: string) => files?.includes(name) === true;
  return {
    hasClaudeMd: has("CLAUDE.md"),
    hasAgentsMd: has("AGENTS.md"),
    hasSpecs: specs !== undefined,
    specFiles: (specs ?? [])
      .filter((name) => name.endsWith(".md"))
      .sort()
      .slice(0, MAX_SPECS),
    hasTodo: has("TODO.md"),
    hasReadme: has("README.md"),
  };
}

/** Without specs. */
export function documentNames({ hasClaudeMd, hasAgentsMd, hasReadme, hasTodo }: DocsStatus): string[] {
  const files = { "CLAUDE.md": hasClaudeMd, "AGENTS.md": hasAgentsMd, "README.md": hasReadme, "TODO.md": hasTodo };
  return Object.entries(files).flatMap(([name, exists]) => (exists ? [name] : []));
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  return await readdir(folder).catch(() => undefined);
}

/**
 * Finds the repo of a working folder, for the many folders in transcripts. It reads the file system instead of running
 * git, which would take far too long for a list, and caches every answer: ten thousand sessions in a hundred folders
 * cost a hundred lookups. For a deleted folder the nearest existing parent counts.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { realPath } from "../../base/files.ts";

export type RepoLocator = ReturnType<typeof createRepoLocator>;

export function createRepoLocator() {
  const exists = remember((path) => existsSync(path));
  const canonical: (path: string) => string = remember((path) => {
    const parent = dirname(path);
    // A failing `realpath` is slow, and many folders are gone.
    const real = exists(path) ? realPath(path) : undefined;
    return real ?? (parent === path ? path : join(canonical(parent), basename(path)));
  });
  const hasGit = remember((path) => exists(path) && existsSync(join(path, ".git")));
  const worktreeOf: (path: string) => string | undefined = remember((path) => {
    if (hasGit(path)) return path;
    const parent = dirname(path);
    return parent === path ? undefined : worktreeOf(parent);
  });
  const mainOf = remember((worktree) => canonical(findMainWorktree(worktree)));
  return {
    /** The real path; the part below a deleted folder stays as written. */
    canonical: (path: string) => canonical(resolve(path)),
    exists,
    hasGit,
    /** The nearest folder with a `.git`, from a canonical path upwards. */
    worktreeOf,
    /** The main worktree of the path's repo, or the folder of a bare repo. */
    repoOf: remember((path) => {
      const worktree = worktreeOf(canonical(resolve(path)));
      return worktree === undefined ? undefined : mainOf(worktree);
    }),
  };
}

/**
 * Returns a function from the working folders of a session to its repo: the repo of the first folder that is in one,
 * else the registered repo, else the first folder. Cached, because most sessions of a project have the same folders.
 */
export function createRepoPathFinder(
  locator: RepoLocator,
): (cwds: readonly string[], registered: string | undefined) => string {
  const known = new Map<string, { repo: string | undefined; start: string }>();
  const place = (cwds: readonly string[]) => ({
    repo: cwds.map((cwd) => locator.repoOf(cwd)).find((repo) => repo !== undefined),
    start: cwds[0] === undefined ? "" : locator.canonical(cwds[0]),
  });
  return (cwds, registered) => {
    const key = cwds.join("\n");
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = place(cwds)));
    return found.repo ?? registered ?? found.start;
  };
}

function remember<T>(ask: (path: string) => T): (path: string) => T {
  const answers = new Map<string, T>();
  return (path) => {
    const known = answers.get(path);
    if (known !== undefined || answers.has(path)) return known as T;
    const answer = ask(path);
    answers.set(path, answer);
    return answer;
  };
}

/** The `.git` of a linked worktree is a file with the path of its git folder, which names the shared git folder. */
function findMainWorktree(worktree: string): string {
  try {
    const git = join(worktree, ".git");
    if (statSync(git).isDirectory()) return worktree;
    const gitDir = /^gitdir: (.+?)\r?\n?$/s.exec(readFileSync(git, "utf8"))?.[1];
    if (gitDir === undefined) return worktree;
    const own = resolve(worktree, gitDir);
    const shared = resolve(own, readFileSync(join(own, "commondir"), "utf8").replace(/\r?\n$/, ""));
    if (basename(shared) === ".git") return dirname(shared);
    // A bare repo is its own root. The shared git folder of a submodule is not a working folder.
    return existsSync(join(dirname(dirname(shared)), "modules")) ? worktree : shared;
  } catch {
    // Without `commondir`, as in a submodule or with a separate git folder, the worktree is the main one.
    return worktree;
  }
}

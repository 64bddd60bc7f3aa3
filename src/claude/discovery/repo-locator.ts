/**
 * From a working folder to its repo, for the many folders that transcripts name. It asks the file
 * system only and remembers every answer, so that ten thousand sessions in a hundred folders cost a
 * hundred questions; a process per folder, as git itself would need, takes far too long for a list.
 * Folders may be gone: then the nearest one above that is there decides.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

export interface RepoLocator {
  /** The real path; below a folder that is gone, the path as it was written. */
  canonical(path: string): string;
  exists(path: string): boolean;
  /** Whether the folder is the top of a worktree. */
  hasGit(folder: string): boolean;
  /** The nearest folder at or above a canonical path that has a `.git`, if there is one. */
  worktreeOf(canonicalPath: string): string | undefined;
  /** The main worktree of the repo (or the folder of a bare one) to which a path belongs. */
  repoOf(path: string): string | undefined;
}

export function createRepoLocator(): RepoLocator {
  const exists = remember((path) => existsSync(path));
  const canonical: (path: string) => string = remember((path) => {
    const parent = dirname(path);
    // Asked first, because a failing `realpath` is slow and many folders are gone.
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
    canonical: (path) => canonical(resolve(path)),
    exists,
    hasGit,
    worktreeOf,
    repoOf: remember((path) => {
      const worktree = worktreeOf(canonical(resolve(path)));
      return worktree === undefined ? undefined : mainOf(worktree);
    }),
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

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** A linked worktree's `.git` is a file that leads to a folder which says where the shared one is. */
function findMainWorktree(worktree: string): string {
  try {
    const git = join(worktree, ".git");
    if (statSync(git).isDirectory()) return worktree;
    const gitDir = /^gitdir: (.+?)\r?\n?$/s.exec(readFileSync(git, "utf8"))?.[1];
    if (gitDir === undefined) return worktree;
    const own = resolve(worktree, gitDir);
    const shared = resolve(own, readFileSync(join(own, "commondir"), "utf8").replace(/\r?\n$/, ""));
    if (basename(shared) === ".git") return dirname(shared);
    // A bare repo is its own root; a submodule's shared folder is no place where anybody works.
    return existsSync(join(dirname(dirname(shared)), "modules")) ? worktree : shared;
  } catch {
    // No `commondir`: a submodule, or a git folder kept elsewhere. Then the worktree is the main one.
    return worktree;
  }
}

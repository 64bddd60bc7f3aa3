/**
 * Which sessions belong to a repo. A repo is all its worktrees with everything below them, except what
 * is a repo of its own; a session belongs to it when it worked there, however the path was written.
 * Where there is no repo, the folder and everything below it counts.
 */
import { dirname } from "node:path";
import { findRepo } from "../../project/repo.ts";
import { projectFolderName } from "../native/layout.ts";
import type { RepoLocator } from "./repo-locator.ts";

export interface RepoScope {
  /** The main worktree, or the folder that was asked for. */
  root: string;
  /** Missing when it is no repo. */
  commonDir?: string;
  /** Canonical folders; those of worktrees that are gone included. */
  roots: ReadonlySet<string>;
  coversPath(path: string): boolean;
  /** By the folders of a session; by its project folder when it names none. */
  covers(session: { folder: string; cwds: readonly string[] }): boolean;
  /** Adds the folder of a worktree that git has forgotten. */
  addRoot(path: string): void;
}

export async function findRepoScope(path: string, locator: RepoLocator): Promise<RepoScope> {
  const asked = locator.canonical(path);
  const repo = await findRepo(path);
  const worktrees = repo?.worktrees.map((worktree) => locator.canonical(worktree.path)) ?? [];
  const root = repo?.root ?? asked;
  const roots = new Set(repo === undefined ? [asked] : [repo.root, repo.worktreeRoot, ...worktrees]);
  const folderNames = new Set<string>();
  const known = new Map<string, boolean>();

  /** From the path upwards: the repo's own root must come before the `.git` of another. */
  const liesWithin = (path: string): boolean => {
    for (let folder = path; ; folder = dirname(folder)) {
      if (roots.has(folder)) return true;
      if (repo !== undefined && locator.hasGit(folder)) return false;
      if (dirname(folder) === folder) return false;
    }
  };
  const coversPath = (path: string): boolean => {
    let answer = known.get(path);
    if (answer === undefined) {
      answer = liesWithin(locator.canonical(path));
      known.set(path, answer);
    }
    return answer;
  };
  const addRoot = (path: string): void => {
    roots.add(path);
    known.clear();
    folderNames.clear();
  };
  const namesRoot = (folder: string): boolean => {
    if (folderNames.size === 0) for (const root of roots) folderNames.add(projectFolderName(root));
    return folderNames.has(folder);
  };

  return {
    root,
    ...(repo === undefined ? {} : { commonDir: repo.commonDir }),
    roots,
    coversPath,
    covers: ({ folder, cwds }) => (cwds.length === 0 ? namesRoot(folder) : cwds.some(coversPath)),
    addRoot,
  };
}

/**
 * Which running sessions stand in the way of a task. Two sessions in one working tree overwrite each
 * other's files; in two worktrees of one repo they do not.
 */
import { isAbsolute, relative, sep } from "node:path";
import type { Worktree } from "../../project/project-status.ts";
import type { DiscoveredSession } from "../discovered-session.ts";

/** The newest first. A session that does not say where it works is taken to work here. */
export function runningHere(
  running: readonly DiscoveredSession[],
  repoPath: string,
  worktrees: readonly Pick<Worktree, "path">[],
): DiscoveredSession[] {
  const here = worktreeOf(repoPath, worktrees);
  return running
    .filter((session) => {
      const folder = session.cwds.at(-1);
      const place = folder === undefined ? undefined : worktreeOf(folder, worktrees);
      return here === undefined || place === undefined || place === here;
    })
    .sort((a, b) => b.lastModified.getTime() - a.lastModified.getTime());
}

/** A worktree may lie inside another one: the innermost counts. */
function worktreeOf(folder: string, worktrees: readonly Pick<Worktree, "path">[]): string | undefined {
  const around = worktrees.map(({ path }) => path).filter((path) => isInside(path, folder));
  return around.sort((a, b) => b.length - a.length)[0];
}

/** True for the folder itself, too. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Which places of work a list is about, and to which repo a session's folders belong. */
import type { IndexedPlace, NativeIndex } from "../index/native-index.ts";
import type { RepoLocator } from "./repo-locator.ts";
import type { RepoScope } from "./repo-scope.ts";
import type { RowOptions } from "./session-row.ts";

/** Which places are meant; `folders` undefined: all of them. */
export interface Places {
  covers(session: { folder: string; cwds: readonly string[] }): boolean;
  coversPath(path: string): boolean;
  folders?: string[];
  /** How many transcripts there are in these places. */
  countSessions(): number;
}

export async function placesOf(
  scope: RepoScope | undefined,
  index: NativeIndex,
  locator: RepoLocator,
): Promise<Places> {
  if (scope === undefined) {
    return { covers: () => true, coversPath: () => true, countSessions: () => index.count() };
  }
  const { addGoneWorktrees } = await import("./gone-worktrees.ts");
  const all = index.places();
  addGoneWorktrees(scope, index, all, locator);
  const covered = all.filter((place) => scope.covers(place));
  const folders = [...new Set(covered.map(({ folder }) => folder))];
  return {
    covers: (session) => scope.covers(session),
    coversPath: (path) => scope.coversPath(path),
    folders,
    countSessions: () => countSessions(covered),
  };
}

function countSessions(places: readonly IndexedPlace[]): number {
  return places.reduce((sum, { sessions }) => sum + sessions, 0);
}

/** The repo that was asked for, else that of the first folder which lies in one. */
export function createRepoPathOf(scope: RepoScope | undefined, locator: RepoLocator): RowOptions["repoPathOf"] {
  if (scope !== undefined) return () => scope.root;
  // Most sessions of a folder have worked nowhere else.
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

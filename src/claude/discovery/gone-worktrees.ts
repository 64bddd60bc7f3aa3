/**
 * Worktrees that were removed and that git has forgotten. Their sessions name a folder that is not
 * there any more, so what they belong to must be shown by something else; in doubt they belong to
 * nothing, because work of one repo must never be offered for another. What counts:
 * - a session of the repo also worked in that folder: Claude Code resumes only within one repo; or
 * - the folder lay beside the repo's worktrees, and a session there was forked from one of the repo; or
 * - the folder lay beside the repo's worktrees, its sessions were on a branch that this repo has and no
 *   repo beside it has, a branch with a name of its own, and files they touched are in the repo too.
 * In every case the sessions there must have been on a branch: a scratch folder is no worktree.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { IndexedPlace, IndexedSession, NativeIndex } from "../index/native-index.ts";
import type { RepoLocator } from "./repo-locator.ts";
import type { RepoScope } from "./repo-scope.ts";

/** Adds what it finds to the scope. */
export function addGoneWorktrees(
  scope: RepoScope,
  index: NativeIndex,
  places: readonly IndexedPlace[],
  locator: RepoLocator,
): void {
  const { commonDir } = scope;
  if (commonDir === undefined) return;
  const gone = goneFolders(scope, places, locator);
  // One folder may be the evidence for the next.
  for (let found = true; found && gone.size > 0;) {
    found = false;
    const shared = foldersShared(scope, places, locator);
    for (const [folder, projectFolder] of gone) {
      const isShared = liesIn(folder, shared);
      if (!isShared && neighbourhoods(folder, scope).length === 0) continue;
      const sessions = sessionsOf(index, projectFolder, folder, locator);
      if (!sessions.some(({ branches }) => branches.some(isBranch))) gone.delete(folder);
      else if (
        isShared ||
        sessions.some((session) => isForkedHere(session, scope, index)) ||
        isOnOwnBranch(folder, sessions, scope, commonDir, locator)
      ) {
        scope.addRoot(folder);
        gone.delete(folder);
        found = true;
      }
    }
  }
}

/** Folders in which sessions were started, that are gone and in no repo, with their project folders. */
function goneFolders(scope: RepoScope, places: readonly IndexedPlace[], locator: RepoLocator): Map<string, string> {
  const gone = new Map<string, string>();
  for (const place of places) {
    const [start] = place.cwds;
    if (start === undefined || scope.covers(place) || !isGone(start, scope, locator)) continue;
    gone.set(locator.canonical(start), place.folder);
  }
  return gone;
}

function isGone(cwd: string, scope: RepoScope, locator: RepoLocator): boolean {
  const folder = locator.canonical(cwd);
  if (locator.exists(folder) || scope.coversPath(cwd) || locator.worktreeOf(folder) !== undefined) return false;
  return ![homedir(), ...scope.roots].some((path) => path === folder || path.startsWith(`${folder}${sep}`));
}

/** Folders that are gone and in which sessions of the repo worked. */
function foldersShared(scope: RepoScope, places: readonly IndexedPlace[], locator: RepoLocator): Set<string> {
  const shared = new Set<string>();
  for (const place of places) {
    if (place.cwds.length === 1 || !scope.covers(place)) continue;
    for (const cwd of place.cwds.map((cwd) => locator.canonical(cwd))) if (!locator.exists(cwd)) shared.add(cwd);
  }
  return shared;
}

function liesIn(folder: string, folders: ReadonlySet<string>): boolean {
  return folders.has(folder) || (dirname(folder) !== folder && liesIn(dirname(folder), folders));
}

/** Folders of worktrees in which it lay, directly or in a folder among them. None: it lay elsewhere. */
function neighbourhoods(folder: string, scope: RepoScope): string[] {
  const homes = new Set([...scope.roots].map((root) => dirname(root)));
  // Everything lies below the root folder; that makes nothing neighbours.
  return [dirname(folder), dirname(dirname(folder))].filter((parent) => parent !== sep && homes.has(parent));
}

const SAMPLE = 20;

function sessionsOf(index: NativeIndex, folder: string, path: string, locator: RepoLocator): IndexedSession[] {
  return index
    .list({ folders: [folder], limit: SAMPLE })
    .filter(({ cwds }) => cwds.some((cwd) => locator.canonical(cwd) === path));
}

function isBranch(name: string): boolean {
  return name !== "" && name !== "HEAD";
}

function isForkedHere(session: IndexedSession, scope: RepoScope, index: NativeIndex): boolean {
  const parent = session.forkedFrom === undefined ? undefined : index.get(session.forkedFrom);
  return parent !== undefined && parent.cwds.length > 0 && scope.covers(parent);
}

/** Every repo has one of these, so that having it proves nothing. */
const COMMON_BRANCHES =
  /^(?:HEAD|main|master|trunk|dev|devel|develop|development|staging|stable|prod|production|release|next|test)$/i;

function isOnOwnBranch(
  folder: string,
  sessions: readonly IndexedSession[],
  scope: RepoScope,
  commonDir: string,
  locator: RepoLocator,
): boolean {
  const branches = new Set(sessions.flatMap((session) => session.branches));
  const telling = [...branches].filter((name) => !COMMON_BRANCHES.test(name) && hasBranch(commonDir, name) === true);
  if (telling.length === 0 || !filesFit(folder, sessions, scope.root)) return false;
  const parents = new Set([dirname(folder), dirname(scope.root), ...neighbourhoods(folder, scope)]);
  const rivals = [...parents].flatMap((parent) => reposIn(parent, scope, locator));
  return telling.some((name) => rivals.every((git) => hasBranch(git, name) === false));
}

/** Without files there is nothing to compare; with files, one of them must be in the repo as well. */
function filesFit(folder: string, sessions: readonly IndexedSession[], root: string): boolean {
  const touched = sessions
    .flatMap((session) => session.files)
    .filter(({ path }) => path.startsWith(`${folder}${sep}`))
    .map(({ path }) => relative(folder, path));
  return touched.length === 0 || touched.some((path) => existsSync(join(root, path)));
}

const MAX_NEIGHBOURS = 500;
/** Stands for neighbours that could not be looked at: as good as one that has every branch. */
const UNKNOWN_REPO = "";

/** The git folders of other repos directly in `folder`. */
function reposIn(folder: string, scope: RepoScope, locator: RepoLocator): string[] {
  if (!locator.exists(folder)) return [];
  try {
    const names = readdirSync(folder);
    if (names.length > MAX_NEIGHBOURS) return [UNKNOWN_REPO];
    const paths = names.map((name) => join(folder, name)).filter((path) => locator.hasGit(path));
    const repos = new Set(paths.map((path) => locator.repoOf(path) ?? path).filter((path) => path !== scope.root));
    return [...repos].map((path) => (locator.hasGit(path) ? join(path, ".git") : path));
  } catch {
    return [UNKNOWN_REPO];
  }
}

/** Undefined when it cannot be told from the files. */
function hasBranch(gitDir: string, name: string): boolean | undefined {
  if (gitDir === UNKNOWN_REPO || name.split("/").some((part) => part === "" || part.startsWith("."))) return undefined;
  if (name.includes("\0") || !existsSync(join(gitDir, "HEAD")) || existsSync(join(gitDir, "reftable")))
    return undefined;
  if (existsSync(join(gitDir, "refs", "heads", name))) return true;
  try {
    return readFileSync(join(gitDir, "packed-refs"), "utf8")
      .split("\n")
      .some((line) => line.endsWith(` refs/heads/${name}`));
  } catch {
    return false;
  }
}

/**
 * Which sessions belong to a repo. A repo is all its worktrees with everything below them, except nested repos. A session
 * belongs to it when it worked there, however the path was written. Outside a repo, the folder and everything below it
 * count.
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { findRepo } from "../../project/repo.ts";
import type { IndexedPlace, NativeIndex } from "../index/native-index.ts";
import { parseFacts } from "../native/session-scan.ts";
import { projectFolderName } from "../native/layout.ts";
import type { RepoLocator } from "./repo-locator.ts";

export interface Places {
  covers(session: { folder: string; cwds: readonly string[] }): boolean;
  coversPath(path: string): boolean;
  /** Names of the project folders with sessions of these places. Undefined: all. */
  folders?: string[] | undefined;
  countSessions(): number;
}

type RepoScope = Awaited<ReturnType<typeof findRepoScope>>;

export async function findRepoScope(path: string, locator: RepoLocator) {
  const asked = locator.canonical(path);
  const repo = await findRepo(path);
  const worktrees = repo?.worktrees.map((worktree) => locator.canonical(worktree.path)) ?? [];
  const root = repo?.root ?? asked;
  const roots = new Set(repo === undefined ? [asked] : [repo.root, repo.worktreeRoot, ...worktrees]);
  const folderNames = new Set<string>();
  const known = new Map<string, boolean>();

  /** Walks upwards: a root of this repo must come before the `.git` of another one. */
  const isWithin = (path: string): boolean => {
    for (let folder = path; ; folder = dirname(folder)) {
      if (roots.has(folder)) return true;
      if (repo !== undefined && locator.hasGit(folder)) return false;
      if (dirname(folder) === folder) return false;
    }
  };
  const coversPath = (path: string): boolean => {
    let answer = known.get(path);
    if (answer === undefined) {
      answer = isWithin(locator.canonical(path));
      known.set(path, answer);
    }
    return answer;
  };
  const namesRoot = (folder: string): boolean => {
    if (folderNames.size === 0) for (const root of roots) folderNames.add(projectFolderName(root));
    return folderNames.has(folder);
  };

  return {
    /** The main worktree, or the requested folder. */
    root,
    /** Undefined outside a repo. */
    commonDir: repo?.commonDir,
    /** Canonical folders, including deleted worktrees. */
    roots,
    coversPath,
    /** Decides by the working folders of a session, or by its project folder when it has none. */
    covers: ({ folder, cwds }: Parameters<Places["covers"]>[0]) =>
      cwds.length === 0 ? namesRoot(folder) : cwds.some(coversPath),
    addRoot(path: string): void {
      roots.add(path);
      known.clear();
      folderNames.clear();
    },
  };
}

/** Adds deleted worktrees to the scope and returns the places that it covers. */
export function placesOf(scope: RepoScope, index: NativeIndex, locator: RepoLocator): Places {
  const all = index.places();
  addGoneWorktrees(scope, index, all, locator);
  const covered = all.filter((place) => scope.covers(place));
  return {
    covers: scope.covers,
    coversPath: scope.coversPath,
    folders: [...new Set(covered.map(({ folder }) => folder))],
    countSessions: () => covered.reduce((sum, { sessions }) => sum + sessions, 0),
  };
}

/**
 * Adds worktrees that were deleted and that git no longer knows. Their sessions name a folder that is gone, so other
 * evidence must show that they belong to this repo; without it they belong to none, because work of one repo must never
 * be offered for another. It counts as evidence when
 * - a session of the repo also worked in the folder: Claude Code resumes only within one repo; or
 * - the folder was next to the repo's worktrees, and a session there was forked from one of the repo; or
 * - the folder was next to the repo's worktrees, its sessions were on a distinctive branch that this repo has and no
 *   neighbouring repo has, and files they touched are in the repo too.
 * In every case the sessions must have been on a branch: a scratch folder is not a worktree.
 */
function addGoneWorktrees(
  scope: RepoScope,
  index: NativeIndex,
  places: readonly IndexedPlace[],
  locator: RepoLocator,
): void {
  const { commonDir } = scope;
  if (commonDir === undefined) return;
  const gone = goneFolders(scope, places, locator);
  // One folder may be evidence for the next.
  for (let found = true; found && gone.size > 0;) {
    found = false;
    const shared = foldersShared(scope, places, locator);
    for (const [folder, projectFolder] of gone) {
      const isShared = isInOneOf(folder, shared);
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

/** Deleted folders outside every repo in which sessions were started, with their project folders. */
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

/** Deleted folders in which sessions of the repo worked. */
function foldersShared(scope: RepoScope, places: readonly IndexedPlace[], locator: RepoLocator): Set<string> {
  const shared = new Set<string>();
  for (const place of places) {
    if (place.cwds.length === 1 || !scope.covers(place)) continue;
    for (const cwd of place.cwds.map((cwd) => locator.canonical(cwd))) if (!locator.exists(cwd)) shared.add(cwd);
  }
  return shared;
}

function isInOneOf(folder: string, folders: ReadonlySet<string>): boolean {
  return folders.has(folder) || (dirname(folder) !== folder && isInOneOf(dirname(folder), folders));
}

/** Parents of worktrees that contained the folder directly or one level down. */
function neighbourhoods(folder: string, scope: RepoScope): string[] {
  const homes = new Set([...scope.roots].map((root) => dirname(root)));
  // The root folder contains everything, so it does not count.
  return [dirname(folder), dirname(dirname(folder))].filter((parent) => parent !== sep && homes.has(parent));
}

const SAMPLE = 20;

type GoneSession = ReturnType<typeof sessionsOf>[number];

function sessionsOf(index: NativeIndex, folder: string, path: string, locator: RepoLocator) {
  return [...index.list({ folders: [folder], limit: SAMPLE })]
    .filter(({ cwds }) => cwds.some((cwd) => locator.canonical(cwd) === path))
    .map(({ forkedFrom, shown }) => ({ forkedFrom, ...parseFacts(shown) }));
}

function isBranch(name: string): boolean {
  return name !== "" && name !== "HEAD";
}

function isForkedHere(session: GoneSession, scope: RepoScope, index: NativeIndex): boolean {
  const parent = session.forkedFrom === undefined ? undefined : index.get(session.forkedFrom);
  return parent !== undefined && parent.cwds.length > 0 && scope.covers(parent);
}

/** Most repos have one of these, so they prove nothing. */
const COMMON_BRANCHES =
  /^(?:HEAD|main|master|trunk|dev|devel|develop|development|staging|stable|prod|production|release|next|test)$/i;

function isOnOwnBranch(
  folder: string,
  sessions: readonly GoneSession[],
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

/** If the sessions touched files, one of them must be in the repo too. */
function filesFit(folder: string, sessions: readonly GoneSession[], root: string): boolean {
  const touched = sessions
    .flatMap((session) => session.filesTouched)
    .filter(({ path }) => path.startsWith(`${folder}${sep}`))
    .map(({ path }) => relative(folder, path));
  return touched.length === 0 || touched.some((path) => existsSync(join(root, path)));
}

const MAX_NEIGHBOURS = 500;
/** Neighbours that could not be read. They may have any branch. */
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

/** Undefined when the files do not show it. */
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

/**
 * What became of branches. Merged means: the default branch, here or at origin as last fetched,
 * contains the branch's last commit and the branch had commits of its own. A squash or rebase merge
 * makes new commits and leaves no trace of the branch: such a branch counts as open.
 */
import { join } from "node:path";
import { readFileIfPresent } from "../base/files.ts";
import { type LocatedRepo, locateRepo } from "./repo.ts";
import { type GitOptions, outputOf, runGit } from "./run-git.ts";

export type BranchState = "current" | "open" | "merged" | "deleted";

/** A default branch with more merges than this in a row is not searched to its beginning. */
const MAX_MAIN_LINE = 10_000;
const HEADS = "refs/heads/";
const ORIGIN = "refs/remotes/origin/";

/** Without an entry for what is no branch (`HEAD`, an empty name) and when git cannot be asked. */
export async function readBranchStates(
  repoPath: string,
  branches: readonly string[],
  options: GitOptions = {},
): Promise<Map<string, BranchState>> {
  const repo = await locateRepo(repoPath, options);
  return "problem" in repo ? new Map() : await readLocatedBranchStates(repo, branches, options);
}

export async function readLocatedBranchStates(
  repo: LocatedRepo,
  branches: readonly string[],
  options: GitOptions = {},
): Promise<Map<string, BranchState>> {
  const states = new Map<string, BranchState>();
  const folder = repo.worktreeRoot;
  const refs = await readRefs(folder, options);
  if (refs === undefined) return states;

  const asked = Array.from(new Set(branches)).filter((name) => name !== "" && name !== "HEAD");
  const refOf = (name: string) => [HEADS + name, ORIGIN + name].find((ref) => refs.tips.has(ref));
  const merged = await readMerged(folder, refs, options);
  const mainLine = asked.some((name) => merged.has(refOf(name) ?? "")) ? await readMainLine(folder, refs, options) : [];
  const onMainLine = new Set(mainLine);

  for (const name of asked) {
    const ref = refOf(name);
    if (!repo.isBare && name === repo.branch) states.set(name, "current");
    else if (ref === undefined) states.set(name, "deleted");
    else if (refs.defaults.includes(ref) || !merged.has(ref)) states.set(name, "open");
    // On the main line itself lies a branch that was forwarded into it, or one that nobody has worked on.
    else if (!onMainLine.has(refs.tips.get(ref) ?? "")) states.set(name, "merged");
    else states.set(name, (await hadOwnCommits(repo.commonDir, ref)) ? "merged" : "open");
  }
  return states;
}

interface Refs {
  /** Commit by full name. */
  tips: Map<string, string>;
  /** The default branch here and at origin, as far as they exist. */
  defaults: string[];
}

async function readRefs(folder: string, options: GitOptions): Promise<Refs | undefined> {
  const format = "--format=%(refname)%00%(objectname)%00%(symref)";
  const text = outputOf(await runGit(folder, ["for-each-ref", format, HEADS, ORIGIN], options));
  if (text === undefined) return undefined;
  const tips = new Map<string, string>();
  let originHead: string | undefined;
  // A ref's name has no control characters, so lines are safe here.
  for (const line of text.split("\n")) {
    const [name = "", commit = "", target = ""] = line.split("\0");
    if (name === `${ORIGIN}HEAD`) originHead = target;
    else if (name !== "") tips.set(name, commit);
  }
  const exists = (name: string) => tips.has(HEADS + name) || tips.has(ORIGIN + name);
  const name = originHead?.startsWith(ORIGIN) ? originHead.slice(ORIGIN.length) : ["main", "master"].find(exists);
  const defaults = name === undefined ? [] : [HEADS + name, ORIGIN + name].filter((ref) => tips.has(ref));
  return { tips, defaults };
}

async function readMerged(folder: string, refs: Refs, options: GitOptions): Promise<Set<string>> {
  const lists = await Promise.all(
    refs.defaults.map(async (ref) => {
      const args = ["for-each-ref", `--merged=${ref}`, "--format=%(refname)", HEADS, ORIGIN];
      return (outputOf(await runGit(folder, args, options)) ?? "").split("\n");
    }),
  );
  return new Set(lists.flat().filter((name) => name !== ""));
}

async function readMainLine(folder: string, refs: Refs, options: GitOptions): Promise<string[]> {
  const args = ["rev-list", "--first-parent", `--max-count=${MAX_MAIN_LINE}`, ...refs.defaults, "--"];
  return (outputOf(await runGit(folder, args, options)) ?? "").split("\n");
}

/** The branch's own log says how it moved; committing on it is not the same as catching up. */
async function hadOwnCommits(commonDir: string, ref: string): Promise<boolean> {
  const log = await readFileIfPresent(join(commonDir, "logs", ref)).catch(() => undefined);
  if (log === undefined) return false;
  return log
    .toString("utf8")
    .split("\n")
    .some((line) => /\t(commit|cherry-pick|revert|am|rebase|merge .*: Merge made)/.test(line));
}

/**
 * Compares the lines of a hand-off with the repo: branches, files, failing checks and uncommitted work. The result of a
 * line is a short clause; facts that cannot be found in time are omitted.
 */
import { printableLine } from "../base/text.ts";
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import { type Matter, matterOf } from "./matter.ts";
import type { Remarks } from "./render.ts";
import { type RepoFacts, lookUpRepo } from "./repo-facts.ts";
import type { SessionState, SummaryItem } from "./state.ts";

export interface VerifyOptions {
  /** Time limit. Default: 1,500. */
  budgetMs?: number | undefined;
  git?: GitOptions | undefined;
  /** Default: GitHub is not asked. */
  github?: GithubReader | false | undefined;
}

const BUDGET_MS = 1_500;
const MAX_CLAUSES = 2;

/** Remarks by item; most have none. Never fails. */
export async function verifyItems(
  state: Pick<SessionState, "items" | "cwd" | "branch" | "lastMessageAt">,
  options: VerifyOptions = {},
): Promise<Remarks> {
  const { cwd, branch } = state;
  const since = new Date(state.lastMessageAt);
  const budgetMs = options.budgetMs ?? BUDGET_MS;
  if (cwd === undefined || Number.isNaN(since.getTime()) || budgetMs <= 0) return new Map();
  const mentions = new Map(state.items.map((item) => [item, readMentions(item.text)]));
  const all = Array.from(mentions.values());
  const question = {
    cwd,
    since,
    branchThen: branch,
    branches: all.flatMap(({ branches, maybeBranches }) => [...branches, ...maybeBranches]),
    files: all.flatMap(({ files }) => files),
    asksChecks: all.some(({ isFailure }) => isFailure),
    asksChanges: all.some(({ isUncommitted, branches }) => isUncommitted || branches.length > 0),
  };
  const facts = await lookUpRepo(question, { budgetMs, git: options.git, github: options.github });
  const remarks = new Map<SummaryItem, string>();
  for (const [item, named] of mentions) {
    const clauses = remarksOn(item, named, facts).slice(0, MAX_CLAUSES);
    if (clauses.length > 0) remarks.set(item, clauses.join("; "));
  }
  return remarks;
}

function remarksOn(item: SummaryItem, mentions: Mentions, facts: RepoFacts): string[] {
  const branches = branchRemarks(mentions, facts);
  const known = [...branches, ...fileRemarks(mentions, facts), ...changeRemarks(mentions, facts)];
  const settled = branches.some((remark) => /merged|gone/.test(remark));
  const checks = mentions.isFailure ? (settled ? ["was failing"] : checkRemarks(mentions, facts)) : [];
  const clauses = [...checks, ...known];
  return clauses.length > 0 ? clauses : commitRemarks(item, mentions, facts);
}

function branchRemarks(mentions: Mentions, facts: RepoFacts): string[] {
  const named = namedBranches(mentions, facts);
  const remarks = named.flatMap((name) => branchRemark(name, facts, "the branch"));
  if (remarks.length > 0 || named.length > 0 || !mentions.isFailure || facts.branchThen === undefined) return remarks;
  return branchRemark(facts.branchThen, facts, `branch ${short(facts.branchThen)}`).filter((remark) =>
    /merged|gone/.test(remark),
  );
}

function namedBranches({ branches, maybeBranches }: Mentions, facts: RepoFacts): string[] {
  return [...branches, ...maybeBranches.filter((name) => (facts.branches.get(name) ?? "deleted") !== "deleted")];
}

function branchRemark(name: string, facts: RepoFacts, words: string): string[] {
  const state = facts.branches.get(name);
  if (state === undefined) return [];
  const wasMerged = state === "merged" || (state !== "current" && mergedByPullRequest(name, facts));
  if (wasMerged) return [`${words} has since been merged`];
  if (state === "deleted") {
    if (wasMergedByName(name, facts)) return [`${words} is gone: it was merged`];
    // Otherwise it may be a planned branch, or no branch at all.
    return name === facts.branchThen || facts.seenBranches.has(name) ? [`${words} is gone`] : [];
  }
  const ahead = state === "current" ? (facts.changes?.ahead ?? 0) : 0;
  if (ahead > 0)
    return [`${words} is ${count(ahead, "commit")} ahead of ${short(facts.changes?.upstream ?? "its upstream")}`];
  return [];
}

/** Git does not show that a branch was squashed and merged; GitHub does. */
function mergedByPullRequest(name: string, { github }: RepoFacts): boolean {
  return (
    github?.recentPrActivity.some(({ branch, state }) => branch === name && state.toUpperCase() === "MERGED") ?? false
  );
}

function wasMergedByName(name: string, { commits = [] }: RepoFacts): boolean {
  return commits.some(
    ({ subject }) =>
      /^merge\b/i.test(subject) && subject.split(/[\s'"]+/).some((word) => word === name || word.endsWith(`/${name}`)),
  );
}

function checkRemarks(mentions: Mentions, facts: RepoFacts): string[] {
  const { github, checkedBranch = "" } = facts;
  if (github === undefined) return [];
  const named = namedBranches(mentions, facts);
  if (named.length > 0 && !named.includes(checkedBranch)) return [];
  const [first] = github.failingChecks;
  if (first !== undefined) {
    const more = github.failingChecks.length - 1;
    return [`still failing now: ${short(first.name)}${more > 0 ? ` and ${more} more` : ""}`];
  }
  return github.openPrs.length > 0 ? ["no check of its pull request fails now"] : [];
}

function fileRemarks({ files }: Mentions, facts: RepoFacts): string[] {
  return files.flatMap((file) => {
    const state = facts.files.get(file);
    if (state === undefined) return [];
    return [state === "gone" ? `${short(file)} is gone` : `${short(file)} has changed since`];
  });
}

function changeRemarks({ isUncommitted }: Mentions, { changes }: RepoFacts): string[] {
  if (!isUncommitted || changes === undefined) return [];
  const { staged, unstaged, untracked, conflicted } = changes.counts;
  const all = staged + unstaged + untracked + conflicted;
  return [all === 0 ? "the tree is clean now" : `${count(all, "change")} uncommitted now`];
}

/** A commit with at least two telling words of the line, which are at least half of its own. */
function commitRemarks({ kind }: SummaryItem, { matter }: Mentions, { commits = [] }: RepoFacts): string[] {
  if (kind === "topic") return [];
  const about = commits.find(({ subject }) => {
    const words = Array.from(matterOf(subject));
    const common = words.filter((word) => matter.has(word)).length;
    return common >= 2 && common * 2 >= words.length;
  });
  return about === undefined ? [] : [`since then commit ${about.sha}: “${printableLine(about.subject, 60)}”`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function short(text: string): string {
  return printableLine(text, 60);
}

/** The checkable names in a line. */
interface Mentions {
  /** Called a branch, or named like one. */
  branches: string[];
  /** Branches only if git knows them. */
  maybeBranches: string[];
  files: string[];
  /** Tests, a build or CI that fail. */
  isFailure: boolean;
  isUncommitted: boolean;
  matter: Matter;
}

function readMentions(text: string): Mentions {
  const plain = text.replace(/\b[a-z][a-z0-9+.-]{1,30}:\/\/\S+/gi, " ");
  const tokens = plain.split(/[\s"'`“”‘’«»<>()[\]{},;]+/).map((token) => token.replace(/^[.:!?]+|[.:!?]+$/g, ""));
  const files = unique(tokens.filter(isFile));
  const called = calledBranches(plain);
  // Any word can be next to "branch": "the branch looks good", "a half-finished branch".
  const named = unique([
    ...called.filter(({ name, isQuoted }) => isQuoted || /[_/#\d]/.test(name)).map(({ name }) => name),
    ...tokens.filter((token) => BRANCH_NAME.test(token)),
  ]);
  const branches = named.filter((name) => !files.includes(name));
  return {
    branches,
    maybeBranches: unique([
      ...called.map(({ name }) => name),
      ...tokens.filter((token) => MAYBE_BRANCH.test(token)),
    ]).filter((name) => !branches.includes(name)),
    files,
    isFailure: FAILURE.test(plain) && CHECK.test(plain),
    isUncommitted: UNCOMMITTED.test(plain),
    matter: matterOf(plain),
  };
}

const FAILURE =
  /\b(?:fail(?:s|ed|ing|ures?)?|red|broken|breaks?|flaky|errors?|not pass(?:ing)?|don't pass|doesn't pass)\b/i;
const CHECK = /\b(?:tests?|specs?|suite|ci|builds?|pipelines?|checks?|workflows?|lint(?:er|ing)?|type ?check|jobs?)\b/i;
const UNCOMMITTED =
  /\b(?:un-?committed|un-?staged|not (?:yet )?(?:been )?committed|(?:haven't|hasn't|didn't|not yet) commit(?:ted)?|to commit|commit (?:it|this|them|these|the (?:changes|work|rest))|working tree|work tree|dirty)\b/i;

const BRANCH_NAME =
  /^(?:feature|feat|fix|bugfix|hotfix|chore|release|refactor|wip|dependabot|renovate)\/[\w.#/-]{1,100}$/i;
const MAYBE_BRANCH = /^(?=.{4,100}$)[a-z0-9][\w.#]*(?:[/-][\w.#]+)+$/i;
const CALLED_BRANCH =
  /(?<![\w-])branch(?:es)?\s+(?:is\s+|called\s+|named\s+)?(["'`“]?)([\w][\w.#/-]{1,100})|(?<![\w./-])([\w][\w.#/-]{1,100})(["'`”]?)\s+branch\b(?!-)/gi;

function calledBranches(text: string): { name: string; isQuoted: boolean }[] {
  return Array.from(text.matchAll(CALLED_BRANCH), ([, opened, after, before, closed]) => ({
    name: (after ?? before ?? "").replace(/[.]+$/, ""),
    isQuoted: (opened ?? closed ?? "") !== "",
  }));
}

const FILE_ENDING = /\.[a-z][a-z0-9]{0,9}$/i;

/** A name with an extension. If it is not in the repo, there is no remark. */
function isFile(token: string): boolean {
  return token.length <= 300 && FILE_ENDING.test(token) && /^[\w@.+~/-]+$/.test(token) && !/^[\d.v]+$/i.test(token);
}

function unique(names: readonly string[]): string[] {
  return Array.from(new Set(names));
}

/**
 * What was true when it was said may not be any more: each line of a hand-off that names a branch, a file,
 * a failing check or uncommitted work is compared with the repo as it is now. What is found out is a short
 * clause; what cannot be known in time is passed over in silence.
 */
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import type { Remarks } from "./render.ts";
import type { SessionState, SummaryItem } from "./state.ts";
import { type Mentions, readMentions, wordsOf } from "./verify/mentions.ts";
import { type RepoFacts, lookUpRepo } from "./verify/repo-facts.ts";
import { printableLine } from "../base/text.ts";

export interface VerifyOptions {
  /** How long it may take. Default 1,500. */
  budgetMs?: number | undefined;
  git?: GitOptions | undefined;
  /** False or left out: GitHub is not asked. */
  github?: GithubReader | false | undefined;
}

const BUDGET_MS = 1_500;
const MOST_CLAUSES = 2;

/** Remarks by item; none for most. Never fails. */
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
  const asksChecks = all.some(({ isFailure }) => isFailure);
  const question = {
    cwd,
    since,
    branchThen: branch,
    branches: all.flatMap(({ branches, maybeBranches }) => [...branches, ...maybeBranches]),
    files: all.flatMap(({ files }) => files),
    asksBranchThen: asksChecks,
    asksChecks,
    asksChanges: all.some(({ isUncommitted, branches }) => isUncommitted || branches.length > 0),
  };
  const facts = await lookUpRepo(question, { budgetMs, git: options.git, github: options.github });
  const remarks = new Map<SummaryItem, string>();
  for (const [item, named] of mentions) {
    const clauses = remarksOn(item, named, facts).slice(0, MOST_CLAUSES);
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
    // It may be one that is still to be made, or no branch at all.
    return name === facts.branchThen || facts.seenBranches.has(name) ? [`${words} is gone`] : [];
  }
  const ahead = state === "current" ? (facts.changes?.ahead ?? 0) : 0;
  if (ahead > 0)
    return [`${words} is ${count(ahead, "commit")} ahead of ${short(facts.changes?.upstream ?? "its upstream")}`];
  return [];
}

/** A squashed branch leaves no trace in git; GitHub knows. */
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

/** Two words in common that say something, and half of what the commit says. */
function commitRemarks(item: SummaryItem, { words }: Mentions, { commits = [] }: RepoFacts): string[] {
  if (item.kind === "topic") return [];
  const about = commits.find(({ subject }) => {
    const said = Array.from(wordsOf(subject));
    const common = said.filter((word) => words.has(word)).length;
    return common >= 2 && common * 2 >= said.length;
  });
  return about === undefined ? [] : [`since then commit ${about.sha}: “${printableLine(about.subject, 60)}”`];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function short(text: string): string {
  return printableLine(text, 60);
}

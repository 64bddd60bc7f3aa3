/**
 * The project status as the result of the MCP tool `openclaw_project_status`. As JSON it has at most about 1,050 tokens:
 * the longest lists lose their last items, and `omitted` counts them. Texts are single lines without control
 * characters. An absent member means unknown.
 */
import type { DiscoveredSession } from "./discovered-session.ts";
import { type ProjectStatus, ageOf, dataLine, textWeight } from "./project-status.ts";
import type { GithubPr } from "../project/github-status.ts";

/** `omitted` is the number of omitted items by list. */
export type ProjectStatusReport = ReturnType<typeof wholeReport> & { omitted?: Record<string, number> | undefined };

/** Changes, commits, documents. */
const MAX_LISTED = 10;
/** Sessions, pull requests, checks, problems. */
const MAX_ITEMS = 5;
const TEXT_WIDTH = 100;
const PATH_WIDTH = 200;

/** Redaction may make texts longer, so this is less than the 4,200 of `renderProjectStatus`. */
const MAX_WEIGHT = 4_000;

export function projectStatusReport(status: ProjectStatus): ProjectStatusReport {
  return fit(wholeReport(status));
}

/** Removes the last item of the largest list until the report fits. A list keeps one item as long as possible. */
function fit(report: ProjectStatusReport): ProjectStatusReport {
  const lists = Object.entries<unknown>({ ...report, specs: report.docs.specs })
    .filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
    .map(([name, items]) => ({ name, items }));
  const omitted: Record<string, number> = {};
  while (weightOf({ ...report, omitted }) > MAX_WEIGHT) {
    const long = lists.filter(({ items }) => items.length > 1);
    const [heaviest] = (long.length > 0 ? long : lists).toSorted((a, b) => weightOf(b.items) - weightOf(a.items));
    if (heaviest === undefined || heaviest.items.length === 0) break;
    heaviest.items.pop();
    omitted[heaviest.name] = (omitted[heaviest.name] ?? 0) + 1;
  }
  return Object.keys(omitted).length === 0 ? report : { ...report, omitted };
}

function weightOf(value: unknown): number {
  return textWeight(JSON.stringify(value));
}

function wholeReport(status: ProjectStatus) {
  const { repo, sessions, docs, timestamp } = status;
  const report = (list: DiscoveredSession[]) => list.slice(0, MAX_ITEMS).map((one) => sessionReport(one, timestamp));
  return {
    repo: line(repo.name),
    path: line(repo.path, PATH_WIDTH),
    ...gitReport(status),
    activeSessions: report(sessions.active),
    recentSessions: report(sessions.recent),
    ownSessions: report(sessions.ownRecent),
    docs: {
      claudeMd: docs.hasClaudeMd,
      agentsMd: docs.hasAgentsMd,
      specs: docs.specFiles.slice(0, MAX_LISTED).map((name) => line(name)),
      todo: docs.hasTodo,
      readme: docs.hasReadme,
    },
    ...githubReport(status),
    problems: status.problems.slice(0, MAX_ITEMS).map((problem) => line(problem, PATH_WIDTH)),
  };
}

function gitReport({ git, timestamp }: ProjectStatus) {
  const changes = [
    ...(git?.unstagedChanges ?? []).map(({ status, path }) => `${status} ${line(path, PATH_WIDTH)}`),
    ...(git?.untrackedFiles ?? []).map((path) => `?? ${line(path, PATH_WIDTH)}`),
  ];
  const sha = git?.recentCommits[0]?.sha ?? git?.headCommitSha ?? "";
  return {
    /** Empty on a detached HEAD and outside git. */
    branch: line(git?.currentBranch ?? ""),
    detached: git?.isDetached === true ? true : undefined,
    operation: git?.operation,
    upstream: git?.upstream === undefined ? undefined : line(git.upstream),
    ahead: git?.ahead,
    behind: git?.behind,
    /** Short id and subject; empty before the first commit. */
    headCommit: sha === "" ? "" : `${sha} — ${line(git?.headCommitMessage ?? "")}`,
    /** Unstaged changes: `M path`, and `?? path` for new files. */
    uncommittedChanges: changes.slice(0, MAX_LISTED),
    stagedChanges: (git?.stagedChanges ?? [])
      .slice(0, MAX_LISTED)
      .map(({ status, path }) => `${status} ${line(path, PATH_WIDTH)}`),
    /** Counts all changes; the lists above are cut. */
    changeCounts: git?.counts ?? { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 },
    stashCount: git?.stashCount ?? 0,
    recentCommits: (git?.recentCommits ?? []).slice(0, MAX_LISTED).map(({ sha, message, author, date }) => {
      return { sha, message: line(message), author: line(author, 60), date: ageOf(date, timestamp) };
    }),
  };
}

function githubReport({ github }: ProjectStatus) {
  if (github === undefined) return undefined;
  const open = new Map([...github.openPrs, ...github.assignedPrs].map((pr) => [pr.number, pr]));
  return {
    openPrs: Array.from(open.values()).slice(0, MAX_ITEMS).map(prReport),
    recentPrs: github.recentPrActivity.slice(0, MAX_ITEMS).map(prReport),
    failingChecks: github.failingChecks.slice(0, MAX_ITEMS).map(({ name, conclusion }) => {
      return { name: line(name), conclusion: line(conclusion) };
    }),
  };
}

function prReport({ number, title, branch, state }: GithubPr) {
  return { number, title: line(title), branch: line(branch), status: line(state) };
}

function sessionReport(session: DiscoveredSession, now: string) {
  const task = session.lastTask ?? session.title ?? session.lastPrompt ?? session.firstMessage;
  return {
    sessionId: line(session.sessionId),
    /** The agent, or the origin of a session without one. */
    agent: line(session.agentId ?? session.origin),
    branch: line(session.branch),
    lastTask: line(task),
    age: ageOf(session.lastModified, now),
  };
}

function line(text: string, width = TEXT_WIDTH): string {
  return dataLine(text, width);
}

/**
 * The status as a compact object, in the shape of the MCP tool `openclaw_project_status`. Lists are
 * short, texts are single lines without control characters; absent members mean that it is not known.
 */
import type { GithubPr } from "../project/project-status.ts";
import type { DiscoveredSession } from "./discovered-session.ts";
import type { ProjectStatus } from "./project-status.ts";
import { ageOf, dataLine } from "./project-status-text.ts";

export interface ProjectStatusReport {
  repo: string;
  path: string;
  /** Empty on a detached HEAD and outside of git. */
  branch: string;
  detached?: true;
  /** A merge, rebase or the like. */
  operation?: string;
  upstream?: string;
  ahead?: number;
  behind?: number;
  /** Short id and subject; empty before the first commit. */
  headCommit: string;
  /** Not staged: `M path`, and `?? path` for what is new. */
  uncommittedChanges: string[];
  stagedChanges: string[];
  /** How many there are in all; the lists above are cut. */
  changeCounts: { staged: number; unstaged: number; untracked: number; conflicted: number };
  stashCount: number;
  recentCommits: { sha: string; message: string; author: string; date: string }[];
  activeSessions: SessionReport[];
  recentSessions: SessionReport[];
  ownSessions: SessionReport[];
  docs: { claudeMd: boolean; agentsMd: boolean; specs: string[]; todo: boolean; readme: boolean };
  openPrs?: PrReport[];
  recentPrs?: PrReport[];
  failingChecks?: { name: string; conclusion: string }[];
  /** What could not be gathered, and why. */
  problems: string[];
}

export interface SessionReport {
  sessionId: string;
  /** The agent, or how the session was started when it was none. */
  agent: string;
  branch: string;
  lastTask: string;
  age: string;
}

export interface PrReport {
  number: number;
  title: string;
  branch: string;
  status: string;
}

/** Of changes, commits, documents. */
const MAX_LISTED = 10;
/** Of sessions, pull requests, checks, problems. */
const MAX_ITEMS = 5;
const TEXT_WIDTH = 100;
const PATH_WIDTH = 200;

export function projectStatusReport(status: ProjectStatus): ProjectStatusReport {
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

type GitReport = Pick<
  ProjectStatusReport,
  | "branch"
  | "detached"
  | "operation"
  | "upstream"
  | "ahead"
  | "behind"
  | "headCommit"
  | "uncommittedChanges"
  | "stagedChanges"
  | "changeCounts"
  | "stashCount"
  | "recentCommits"
>;

function gitReport({ git, timestamp }: ProjectStatus): GitReport {
  const changes = [
    ...(git?.unstagedChanges ?? []).map(({ status, path }) => `${status} ${line(path, PATH_WIDTH)}`),
    ...(git?.untrackedFiles ?? []).map((path) => `?? ${line(path, PATH_WIDTH)}`),
  ];
  const sha = git?.recentCommits[0]?.sha ?? git?.headCommitSha ?? "";
  return {
    branch: line(git?.currentBranch ?? ""),
    ...(git?.isDetached === true ? { detached: true } : {}),
    ...(git?.operation === undefined ? {} : { operation: git.operation }),
    ...(git?.upstream === undefined ? {} : { upstream: line(git.upstream) }),
    ...(git?.ahead === undefined ? {} : { ahead: git.ahead }),
    ...(git?.behind === undefined ? {} : { behind: git.behind }),
    headCommit: sha === "" ? "" : `${sha} — ${line(git?.headCommitMessage ?? "")}`,
    uncommittedChanges: changes.slice(0, MAX_LISTED),
    stagedChanges: (git?.stagedChanges ?? [])
      .slice(0, MAX_LISTED)
      .map(({ status, path }) => `${status} ${line(path, PATH_WIDTH)}`),
    changeCounts: git?.counts ?? { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 },
    stashCount: git?.stashCount ?? 0,
    recentCommits: (git?.recentCommits ?? []).slice(0, MAX_LISTED).map(({ sha, message, author, date }) => {
      return { sha, message: line(message), author: line(author, 60), date: ageOf(date, timestamp) };
    }),
  };
}

function githubReport({ github }: ProjectStatus): Pick<ProjectStatusReport, "openPrs" | "recentPrs" | "failingChecks"> {
  if (github === undefined) return {};
  const open = new Map([...github.openPrs, ...github.assignedPrs].map((pr) => [pr.number, pr]));
  return {
    openPrs: Array.from(open.values()).slice(0, MAX_ITEMS).map(prReport),
    recentPrs: github.recentPrActivity.slice(0, MAX_ITEMS).map(prReport),
    failingChecks: github.failingChecks.slice(0, MAX_ITEMS).map(({ name, conclusion }) => {
      return { name: line(name), conclusion: line(conclusion) };
    }),
  };
}

function prReport({ number, title, branch, state }: GithubPr): PrReport {
  return { number, title: line(title), branch: line(branch), status: line(state) };
}

function sessionReport(session: DiscoveredSession, now: string): SessionReport {
  const task = session.lastTask ?? session.title ?? session.lastPrompt ?? session.firstMessage;
  return {
    sessionId: line(session.sessionId),
    agent: line(session.agentId ?? session.origin),
    branch: line(session.branch),
    lastTask: line(task),
    age: ageOf(session.lastModified, now),
  };
}

function line(text: string, width = TEXT_WIDTH): string {
  return dataLine(text, width);
}

/** What a project looks like right now. Every part may be missing; what is there is true. */

export interface RepoStatus {
  repo: {
    /** The real path that was asked about. */
    path: string;
    name: string;
    isGitRepo: boolean;
    /** Why there is no git part, when there is none. */
    problem?: string;
  };
  /** Missing when it is no repo or git cannot be run. */
  git?: GitStatus;
  /** Missing when `gh` is not there, not signed in, too slow, or the repo is not on GitHub. */
  github?: GithubStatus;
  docs: DocsStatus;
  /** Parts that could not be gathered, and why. */
  problems: string[];
  /** ISO. */
  timestamp: string;
}

export interface GitStatus {
  /** Empty on a detached HEAD. */
  currentBranch: string;
  isDetached: boolean;
  isBare: boolean;
  isSubmodule: boolean;
  /** This folder is a linked worktree, not the main one. */
  isWorktree: boolean;
  /** No commit yet: empty. */
  headCommitSha: string;
  headCommitMessage: string;
  /** A merge, rebase, cherry-pick, revert or bisect that is under way. */
  operation?: "merge" | "rebase" | "cherry-pick" | "revert" | "bisect" | "am";
  upstream?: string;
  ahead?: number;
  behind?: number;
  stagedChanges: GitChange[];
  unstagedChanges: GitChange[];
  untrackedFiles: string[];
  /** How many there are in all; the lists above are cut. */
  counts: { staged: number; unstaged: number; untracked: number; conflicted: number };
  stashCount: number;
  recentCommits: GitCommit[];
  worktrees: Worktree[];
}

export interface GitChange {
  path: string;
  /** As git's porcelain format writes it: M, A, D, R, C, T, U. */
  status: string;
  /** Where it was before a rename or copy. */
  from?: string;
}

export interface GitCommit {
  sha: string;
  message: string;
  author: string;
  /** ISO. */
  date: string;
}

export interface Worktree {
  path: string;
  head?: string;
  branch?: string;
  isMain: boolean;
  isBare: boolean;
  /** Git still knows it, its folder is gone. */
  isGone: boolean;
}

export interface GithubStatus {
  openPrs: GithubPr[];
  assignedPrs: GithubPr[];
  recentPrActivity: GithubPr[];
  failingChecks: GithubCheck[];
}

export interface GithubPr {
  number: number;
  title: string;
  branch: string;
  state: string;
  author: string;
  updatedAt: string;
}

export interface GithubCheck {
  name: string;
  status: string;
  conclusion: string;
}

export interface DocsStatus {
  hasClaudeMd: boolean;
  hasAgentsMd: boolean;
  hasSpecs: boolean;
  specFiles: string[];
  hasTodo: boolean;
  hasReadme: boolean;
}

/** `holdfast cc status`: the state of a project, for people. Models get it through the MCP bridge. */
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { ProjectStatus } from "../../../claude/project-status.ts";
import { plural, formatAge, printHanging, printJson, printStyled, style } from "../../output.ts";
import { type ClaudeOptions, requireFolder, withClaude, originCell, sessionTitle, shortPath } from "./claude-side.ts";
import { shortId } from "../../../base/ids.ts";
import { printable, printableLine } from "../../../base/text.ts";
import { documentNames } from "../../../project/repo-status.ts";
import type { GitStatus } from "../../../project/git-status.ts";
import type { GithubStatus } from "../../../project/github-status.ts";

const MAX_CHANGES = 10;
const MAX_COMMITS = 5;

export async function showStatus(repo: string | undefined, options: ClaudeOptions): Promise<void> {
  const folder = requireFolder(repo);
  const status = await withClaude(options, async (side) => await side.status(folder));
  if (options.json === true) printJson(status);
  else printStatus(status);
}

function printStatus(status: ProjectStatus): void {
  const { repo, git, github, sessions, docs, problems } = status;
  printStyled(`${style("bold", printableLine(repo.name))}  ${style("dim", printableLine(shortPath(repo.path)))}`);
  if (git === undefined) section("Git", [repo.problem ?? "no repository"]);
  else printGit(git);
  if (github !== undefined) section("GitHub", githubLines(github));
  // A session in several lists is shown only once.
  const shown = new Set<string>();
  for (const [title, some] of [
    ["Running", sessions.active],
    ["Recent sessions", sessions.recent],
    ["Your agent's sessions", sessions.ownRecent],
  ] as const) {
    const others = some.filter(({ sessionId }) => !shown.has(sessionId));
    section(title, others.map(sessionRow));
    for (const { sessionId } of others) shown.add(sessionId);
  }
  const documents = [...documentNames(docs), ...docs.specFiles.map((name) => `.specs/${name}`)];
  section("Documents", [documents.join(", ") || "none"]);
  // The section Git has shown this one.
  const unshown = problems.filter((problem) => problem !== `Git: ${repo.problem}`);
  section("Unknown", unshown);
}

function printGit(git: GitStatus): void {
  const { counts } = git;
  const changes = [
    ...git.stagedChanges.map(({ status, path }): Row => [`staged ${status}   `, path]),
    ...git.unstagedChanges.map(({ status, path }): Row => [`changed ${status}  `, path]),
    ...git.untrackedFiles.map((path): Row => ["new        ", path]),
  ];
  const total = counts.staged + counts.unstaged + counts.untracked;
  const stashed = git.stashCount === 0 ? [] : [`stashed: ${git.stashCount}`];
  section("Git", [placeText(git), ...(total === 0 ? ["no changes"] : []), ...stashed]);
  section("Changes", changes.slice(0, MAX_CHANGES), total);
  const commits = git.recentCommits
    .slice(0, MAX_COMMITS)
    .map(({ sha, message, author, date }): Row => [rowHead(sha, Date.parse(date)), `${message} (${author})`]);
  section("Commits", commits);
  const others = git.worktrees.filter(({ isMain }) => !isMain);
  section(
    "Worktrees",
    others.map(
      ({ path, branch, isGone }) => `${shortPath(path)} on ${branch ?? "no branch"}${isGone ? " (gone)" : ""}`,
    ),
  );
}

function placeText(git: GitStatus): string {
  const where = git.isDetached ? `detached at ${git.headCommitSha.slice(0, 8)}` : `on ${git.currentBranch}`;
  const distance =
    git.upstream === undefined ? "" : `, ${git.ahead ?? 0} ahead and ${git.behind ?? 0} behind ${git.upstream}`;
  const operation = git.operation === undefined ? "" : `, ${git.operation} in progress`;
  const empty = git.headCommitSha === "" ? ", no commit yet" : "";
  const kind = [
    ...(git.isBare ? ["bare"] : []),
    ...(git.isSubmodule ? ["submodule"] : []),
    ...(git.isWorktree ? ["linked worktree"] : []),
  ];
  const conflicts = git.counts.conflicted === 0 ? "" : `, ${plural(git.counts.conflicted, "conflict")}`;
  return `${where}${distance}${operation}${conflicts}${empty}${kind.length === 0 ? "" : ` (${kind.join(", ")})`}`;
}

function githubLines({ openPrs, assignedPrs, recentPrActivity, failingChecks }: GithubStatus): string[] {
  const prs = new Map([...recentPrActivity, ...assignedPrs, ...openPrs].map((pr) => [pr.number, pr]));
  const isOwn = new Set(openPrs.map(({ number }) => number));
  return [
    ...[...prs.values()].map(
      (pr) => `#${pr.number} ${pr.state}${isOwn.has(pr.number) ? " (this branch)" : ""} ${pr.title}`,
    ),
    ...failingChecks.map(({ name, conclusion }) => `failing: ${name} (${conclusion})`),
  ];
}

function sessionRow(session: DiscoveredSession): Row {
  const about = `${originCell(session)} on ${session.branch}: ${sessionTitle(session)}`;
  return [rowHead(session.sessionId, session.lastModified.getTime()), about];
}

function rowHead(id: string, at: number): string {
  return `${shortId(id).padEnd(8)} ${formatAge(Date.now() - at).padStart(4)}  `;
}

/** A head with fixed columns, then text of any origin. */
type Row = readonly [head: string, text: string];

function section(title: string, rows: readonly (string | Row)[], total = rows.length): void {
  if (rows.length === 0) return;
  printStyled(style("bold", title));
  for (const row of rows) {
    const [head, text] = typeof row === "string" ? ["", row] : row;
    printHanging(`  ${printable(head)}`, printableLine(text, 160));
  }
  if (total > rows.length) printStyled(style("dim", `  … ${total - rows.length} more`));
}

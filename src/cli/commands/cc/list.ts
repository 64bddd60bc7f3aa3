/** `holdfast cc list`: the Claude Code sessions of a repo or of all repos, as a table or as JSON. */
import { basename, resolve } from "node:path";
import { ERROR_KINDS, HoldfastError, errorMessage } from "../../../base/errors.ts";
import { shortId } from "../../../base/ids.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { Discovery } from "../../../claude/discovery/discover.ts";
import { type Counts, type Flags, type Texts, invalidOption, parseSince } from "../../command.ts";
import {
  flexible,
  right,
  plural,
  type Column,
  formatAge,
  printJson,
  printTable,
  talk,
  writeJsonList,
  cutToWidth,
} from "../../output.ts";
import {
  type ClaudeOptions,
  isFolder,
  withClaude,
  progressLine,
  originCell,
  runningMark,
  sessionTitle,
  shortPath,
  spentCell,
} from "./claude-side.ts";
import { printableLine } from "../../../base/text.ts";
import type { ClaudeSide, DiscoverChoice } from "../../../compose/claude.ts";

export type ListOptions = ClaudeOptions & Flags<"all" | "running"> & Texts<"repo" | "since"> & Counts<"limit">;

const TABLE_LIMIT = 50;
const PLACE_WIDTH = 24;
const NARROW_PLACE = 14;
const TITLE_WIDTH = 100;
const COMFORTABLE = 110;

export async function listNative(options: ListOptions): Promise<void> {
  const { repoPath, choice } = toQuery(options);
  await withClaude(options, async (side) => {
    using progress = progressLine();
    const query = { ...choice, refresh: progress.refresh };
    if (options.json === true && choice.limit === undefined && !process.stdout.isTTY) {
      const found = await side.discoverTexts(repoPath, query);
      progress[Symbol.dispose]();
      const { rows, activeCount } = found;
      await writeJsonList({ schema: 1 }, "sessions", rows, String, (total) => {
        if (total === 0) assertFolder(repoPath);
        return { total, activeCount };
      });
      reportProblems(found);
      return;
    }
    const found = await side.discover(repoPath, query);
    progress[Symbol.dispose]();
    if (found.total === 0) assertFolder(repoPath);
    if (options.json === true) {
      const { sessions, total, activeCount } = found;
      printJson({ schema: 1, sessions, total, activeCount });
    } else if (found.total === 0) await explainEmpty(side, found, options);
    else printSessions(found, options);
    reportProblems(found);
  });
}

export type ListQuery = ReturnType<typeof toQuery>;

/** `repoPath` is undefined for all repos. */
export function toQuery(options: ListOptions): { repoPath: string | undefined; choice: DiscoverChoice } {
  if (options.all === true && options.repo !== undefined) {
    throw invalidOption("--all and --repo exclude each other", "--all lists the sessions of every repo.");
  }
  const limit = options.limit ?? (options.json === true ? undefined : TABLE_LIMIT);
  return {
    repoPath: options.all === true ? undefined : resolve(options.repo ?? "."),
    choice: {
      limit,
      onlyRunning: options.running,
      ofAgent: options.agent?.trim().toLowerCase(),
      since: options.since === undefined ? undefined : parseSince("--since", options.since, Date.now()),
    },
  };
}

/** A deleted folder may still have sessions; a folder without any is a mistake. */
export function assertFolder(repoPath: string | undefined): void {
  if (repoPath === undefined || isFolder(repoPath)) return;
  throw new HoldfastError("not-found", "folder-not-found", `There is no folder ${repoPath}, and it has no sessions`, {
    hint: "`holdfast cc list --all` lists the sessions of every repo.",
    data: { path: repoPath },
  });
}

async function explainEmpty(side: ClaudeSide, { repoPath }: Discovery, options: ListOptions): Promise<void> {
  const isFiltered = options.running === true || options.since !== undefined || options.agent !== undefined;
  const everywhere = (await side.discover(undefined, { limit: 1, refresh: false })).total;
  if (everywhere === 0) {
    talk(`Claude Code has no sessions in ${shortPath(side.claudeHome)} yet.`);
    talk('Start one with `claude`, or with `holdfast cc run "<task>"`. If they are elsewhere, set CLAUDE_CONFIG_DIR.');
  } else if (isFiltered) {
    talk(`No session matches. \`holdfast cc list --all\` lists all ${everywhere}.`);
  } else {
    const where = repoPath === undefined ? "here" : `in ${shortPath(repoPath)}`;
    talk(`No Claude Code sessions ${where}. \`holdfast cc list --all\` lists ${everywhere} in all repos.`);
  }
}

export function printSessions({ sessions, total, activeCount }: Discovery, options: ListOptions): void {
  const { columns, row } = sessionTable(options.all === true, Date.now());
  printTable(columns, sessions.map(row));
  const more = total - sessions.length;
  if (more > 0) talk(`${more} more; --limit ${total} shows all.`);
  else if (activeCount > 0) talk(`${plural(total, "session")}, ${activeCount} running (●).`);
}

/** On a narrow terminal the branch column is short, or hidden if the repo is shown. */
export function sessionTable(withRepo: boolean, now: number) {
  const isNarrow = process.stdout.isTTY && process.stdout.columns < COMFORTABLE;
  const withBranch = !isNarrow || !withRepo;
  return {
    columns: [
      // As wide as a running mark, so that the columns do not move.
      " ",
      "ID",
      right("AGE"),
      ...(withRepo ? ["REPO"] : []),
      ...(withBranch ? ["BRANCH"] : []),
      flexible("TITLE"),
      right("TURNS"),
      right("COST"),
      "ORIGIN",
    ] satisfies Column[],
    row: (session: DiscoveredSession): string[] => [
      runningMark(session),
      shortId(session.sessionId),
      formatAge(now - session.lastModified.getTime()),
      ...(withRepo ? [cell(basename(session.repoPath), isNarrow ? NARROW_PLACE : PLACE_WIDTH)] : []),
      ...(withBranch ? [cell(session.branch, isNarrow ? NARROW_PLACE : PLACE_WIDTH)] : []),
      // A title may be a whole prompt.
      cell(sessionTitle(session).slice(0, 1000), TITLE_WIDTH),
      String(session.userTurns),
      spentCell(session),
      originCell(session),
    ],
  };
}

function cell(text: string, width: number): string {
  return cutToWidth(printableLine(text), width);
}

/** Unreadable registries and transcripts do not hide the rest, but they are reported. */
export function reportProblems({ problems, refreshed }: Pick<Discovery, "problems" | "refreshed">): void {
  const failed = refreshed?.failed ?? [];
  for (const { path, error } of problems) talk(`holdfast: ${path}: ${errorMessage(error)}`);
  for (const { path, reason } of failed) talk(`holdfast: ${path}: ${reason}`);
  if (problems.length + failed.length > 0) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

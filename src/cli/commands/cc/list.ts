/** `holdfast cc list`: Claude Code's sessions of a repo or of all, as a table or as JSON. */
import { basename, resolve } from "node:path";
import { ERROR_KINDS, HoldfastError, errorMessage } from "../../../base/errors.ts";
import { printableLine } from "../../../base/printable.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { Discovery } from "../../../claude/discovery/discover.ts";
import type { ClaudeSide, DiscoverChoice } from "../../../compose-claude.ts";
import { parseSince } from "../../arguments.ts";
import { type Column, formatAge, printJson, printTable, talk } from "../../output.ts";
import { cutToWidth } from "../../text-width.ts";
import { type ClaudeOptions, isFolder, withClaude } from "./claude-side.ts";
import { progressLine } from "./progress-line.ts";
import { originCell, plural, runningMark, sessionTitle, shortId, shortPath, spentCell } from "./session-view.ts";

export interface ListOptions extends ClaudeOptions {
  repo?: string;
  all?: boolean;
  running?: boolean;
  since?: string;
  limit?: number;
}

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
      const [found, { writeSessions }] = await Promise.all([
        side.discoverTexts(repoPath, query),
        import("./list-json.ts"),
      ]);
      progress[Symbol.dispose]();
      await writeSessions(found, () => assertFolder(repoPath));
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

export interface ListQuery {
  /** Undefined: every repo. */
  repoPath: string | undefined;
  choice: DiscoverChoice;
}

export function toQuery(options: ListOptions): ListQuery {
  if (options.all === true && options.repo !== undefined) {
    throw new HoldfastError("usage", "invalid-option", "--all and --repo exclude each other", {
      hint: "--all shows the sessions of every repo.",
    });
  }
  const limit = options.limit ?? (options.json === true ? undefined : TABLE_LIMIT);
  return {
    repoPath: options.all === true ? undefined : resolve(options.repo ?? "."),
    choice: {
      ...(limit === undefined ? {} : { limit }),
      ...(options.running === true ? { onlyRunning: true } : {}),
      ...(options.agent === undefined ? {} : { ofAgent: options.agent.trim().toLowerCase() }),
      ...(options.since === undefined ? {} : { since: parseSince("--since", options.since, Date.now()) }),
    },
  };
}

/** A folder that is gone may still have sessions; one that never was is a mistake. */
export function assertFolder(repoPath: string | undefined): void {
  if (repoPath === undefined || isFolder(repoPath)) return;
  throw new HoldfastError("not-found", "folder-not-found", `There is no folder ${repoPath}, and no session knows it`, {
    hint: "`holdfast cc list --all` shows the sessions of every repo.",
    data: { path: repoPath },
  });
}

/** Says why there is nothing and where something is. */
async function explainEmpty(side: ClaudeSide, { repoPath }: Discovery, options: ListOptions): Promise<void> {
  const isFiltered = options.running === true || options.since !== undefined || options.agent !== undefined;
  const everywhere = (await side.discover(undefined, { limit: 1, refresh: false })).total;
  if (everywhere === 0) {
    talk(`Claude Code has no sessions in ${shortPath(side.claudeHome)} yet.`);
    talk('Start one with `claude`, or with `holdfast cc run "<task>"`. CLAUDE_CONFIG_DIR says where else to look.');
  } else if (isFiltered) {
    talk(
      `No session fits; there ${everywhere === 1 ? "is" : "are"} ${everywhere} in all (\`holdfast cc list --all\`).`,
    );
  } else {
    const where = repoPath === undefined ? "here" : `in ${shortPath(repoPath)}`;
    talk(`No Claude Code sessions ${where}. \`holdfast cc list --all\` shows the ${everywhere} of all repos.`);
  }
}

export function printSessions({ sessions, total, activeCount }: Discovery, options: ListOptions): void {
  const { columns, row } = sessionTable(options.all === true, Date.now());
  printTable(columns, sessions.map(row));
  const more = total - sessions.length;
  if (more > 0) talk(`${more} more; --limit ${total} shows all.`);
  else if (activeCount > 0) talk(`${plural(total, "session")}, ${activeCount} running (●).`);
}

export interface SessionTable {
  columns: readonly Column[];
  row: (session: DiscoveredSession) => string[];
}

/** Where there is little room, the branch is short, and gives way to the repo where both would be shown. */
export function sessionTable(withRepo: boolean, now: number): SessionTable {
  const isNarrow = process.stdout.isTTY && process.stdout.columns < COMFORTABLE;
  const withBranch = !isNarrow || !withRepo;
  return {
    columns: [
      // As wide as a mark, so that nothing moves when one comes.
      { title: " " },
      { title: "ID" },
      { title: "AGE", align: "right" },
      ...(withRepo ? [{ title: "REPO" }] : []),
      ...(withBranch ? [{ title: "BRANCH" }] : []),
      { title: "TITLE", flexible: true },
      { title: "TURNS", align: "right" },
      { title: "COST", align: "right" },
      { title: "ORIGIN" },
    ],
    row: (session) => [
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

/** A registry or a transcript that could not be read is no reason to show nothing, but it is told. */
export function reportProblems({ problems, refreshed }: Pick<Discovery, "problems" | "refreshed">): void {
  const failed = refreshed?.failed ?? [];
  for (const { path, error } of problems) talk(`holdfast: ${path}: ${errorMessage(error)}`);
  for (const { path, reason } of failed) talk(`holdfast: ${path}: ${reason}`);
  if (problems.length + failed.length > 0) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

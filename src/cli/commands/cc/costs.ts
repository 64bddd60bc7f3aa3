/** `holdfast cc costs`: what Claude Code used, by list prices, each message counted once. */
import { printableLine } from "../../../base/printable.ts";
import type { NativeIndex, UsageRow } from "../../../claude/index/native-index.ts";
import { parseChoice, parseSince } from "../../arguments.ts";
import { formatTokens, printJson, printTable, talk } from "../../output.ts";
import { withClaude } from "./claude-side.ts";
import { progressLine } from "./progress-line.ts";
import { formatUsd, shortId, shortPath } from "./session-view.ts";

export interface CostsOptions {
  json?: boolean;
  by?: string;
  since?: string;
}

const GROUPS = ["day", "repo", "model", "session"] as const;
type Grouping = (typeof GROUPS)[number];

type UsageSum = Omit<UsageRow, "group">;

export async function showCosts(options: CostsOptions): Promise<void> {
  const by = parseChoice("--by", options.by ?? "day", GROUPS);
  const since = options.since === undefined ? undefined : parseSince("--since", options.since, Date.now());
  const { rows, names } = await withClaude({}, async (side) => {
    using progress = progressLine();
    const index = await side.index();
    // Titles are the only thing that is shown beside what was used.
    await index.refresh({ ...progress.refresh, usageOnly: by !== "session" || options.json === true });
    const usage = index.usage({ by: by === "repo" ? "folder" : by, ...(since === undefined ? {} : { since }) });
    const rows = by === "repo" ? await joinRepos(usage) : usage;
    return { rows, names: options.json === true ? new Map<string, string>() : namesOf(by, rows, index) };
  });
  const total = rows.reduce(addRow, EMPTY);
  if (options.json === true) {
    const from = since === undefined ? {} : { since: new Date(since) };
    printJson({ schema: 1, by, ...from, rows, total });
  } else if (rows.length === 0) talk("Nothing was used in this time.");
  else printCosts(by, rows, total, names);
}

const EMPTY: UsageSum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unpricedTokens: 0, messages: 0 };

/** Worktrees and subfolders of one repo become one row; the most used first. */
async function joinRepos(rows: readonly UsageRow[]): Promise<UsageRow[]> {
  const { createRepoLocator } = await import("../../../claude/discovery/repo-locator.ts");
  const locator = createRepoLocator();
  const repos = new Map<string, UsageSum>();
  for (const row of rows) {
    // A session that names no folder is grouped by the name of its project folder, which is no path.
    const repo = row.group.startsWith("/") ? (locator.repoOf(row.group) ?? row.group) : row.group;
    repos.set(repo, addRow(repos.get(repo) ?? EMPTY, row));
  }
  return [...repos].map(([group, sum]) => ({ group, ...sum })).sort((a, b) => allTokens(b) - allTokens(a));
}

/** What a row is called where people read it. */
function namesOf(by: Grouping, rows: readonly UsageRow[], index: NativeIndex): Map<string, string> {
  if (by === "repo") return new Map(rows.map(({ group }) => [group, shortPath(group)]));
  if (by !== "session") return new Map();
  const sessions = index.list({ sessionIds: rows.map(({ group }) => group) });
  return new Map(
    sessions.map(({ sessionId, title, firstPrompt }) => [
      sessionId,
      `${shortId(sessionId)}  ${printableLine((title ?? firstPrompt ?? "").slice(0, 200), TITLE_WIDTH)}`,
    ]),
  );
}

const TITLE_WIDTH = 50;

function addRow(sum: UsageSum, row: UsageSum): UsageSum {
  const costUsd = row.costUsd === undefined ? sum.costUsd : (sum.costUsd ?? 0) + row.costUsd;
  return {
    input: sum.input + row.input,
    output: sum.output + row.output,
    cacheRead: sum.cacheRead + row.cacheRead,
    cacheWrite: sum.cacheWrite + row.cacheWrite,
    unpricedTokens: sum.unpricedTokens + row.unpricedTokens,
    messages: sum.messages + row.messages,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function allTokens({ input, output, cacheRead, cacheWrite }: UsageSum): number {
  return input + output + cacheRead + cacheWrite;
}

function printCosts(
  by: Grouping,
  rows: readonly UsageRow[],
  total: UsageSum,
  names: ReadonlyMap<string, string>,
): void {
  const right = { align: "right" } as const;
  const isUnpriced = total.unpricedTokens > 0;
  const cells = (name: string, sum: UsageSum): string[] => [
    name,
    sum.costUsd === undefined ? "" : formatUsd(sum.costUsd),
    ...[sum.input, sum.output, sum.cacheRead, sum.cacheWrite].map(formatTokens),
    String(sum.messages),
    ...(isUnpriced ? [formatTokens(sum.unpricedTokens)] : []),
  ];
  printTable(
    [
      { title: by.toUpperCase(), flexible: true },
      { title: "COST", ...right },
      { title: "INPUT", ...right },
      { title: "OUTPUT", ...right },
      { title: "CACHE READ", ...right },
      { title: "CACHE WRITE", ...right },
      { title: "MESSAGES", ...right },
      ...(isUnpriced ? [{ title: "UNPRICED", ...right }] : []),
    ],
    [...rows.map((row) => cells(names.get(row.group) ?? row.group, row)), cells("total", total)],
  );
  if (isUnpriced) talk(`${formatTokens(total.unpricedTokens)} tokens are of models without a known price.`);
}

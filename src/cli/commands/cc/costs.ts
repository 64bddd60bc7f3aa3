/** `holdfast cc costs`: tokens and costs by list prices, each message counted once. */
import type { NativeIndex, UsageRow } from "../../../claude/index/native-index.ts";
import { flexible, formatTokens, printJson, printTable, right, talk } from "../../output.ts";
import { withClaude, progressLine, formatUsd, shortPath } from "./claude-side.ts";
import { shortId } from "../../../base/ids.ts";
import { type Flags, type Texts, parseSince } from "../../command.ts";
import { printableLine } from "../../../base/text.ts";
import { mostExpensiveFirst } from "../../../claude/index/session-rows.ts";
import { parseFacts } from "../../../claude/native/session-scan.ts";

type CostsOptions = Flags<"json"> & Texts<"since"> & { by?: Grouping | undefined };

type Grouping = "day" | "repo" | "model" | "session";

type UsageSum = Omit<UsageRow, "group">;

export async function showCosts(options: CostsOptions): Promise<void> {
  const { by = "day" } = options;
  const since = options.since === undefined ? undefined : parseSince("--since", options.since, Date.now());
  const { rows, names } = await withClaude({}, async (side) => {
    using progress = progressLine();
    const index = await side.index();
    // Only the titles of sessions need more than the usage.
    await index.refresh({ ...progress.refresh, usageOnly: by !== "session" || options.json === true });
    const usage = index.usage({ by: by === "repo" ? "folder" : by, since });
    const rows = by === "repo" ? await joinRepos(usage) : usage;
    return { rows, names: options.json === true ? new Map<string, string>() : namesOf(by, rows, index) };
  });
  const total = rows.reduce(addRow, EMPTY);
  if (options.json === true) {
    printJson({ schema: 1, by, since: since === undefined ? undefined : new Date(since), rows, total });
  } else if (rows.length === 0) talk("No usage in this period.");
  else printCosts(by, rows, total, names);
}

const EMPTY: UsageSum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, unpricedTokens: 0, messages: 0 };

/** Joins the worktrees and subfolders of a repo; the most expensive first. */
async function joinRepos(rows: readonly UsageRow[]): Promise<UsageRow[]> {
  const { createRepoLocator } = await import("../../../claude/discovery/repo-locator.ts");
  const locator = createRepoLocator();
  const repos = new Map<string, UsageSum>();
  for (const row of rows) {
    // Sessions without a folder are grouped by the name of their project folder, which is not a path.
    const repo = row.group.startsWith("/") ? (locator.repoOf(row.group) ?? row.group) : row.group;
    repos.set(repo, addRow(repos.get(repo) ?? EMPTY, row));
  }
  return [...repos].map(([group, sum]) => ({ group, ...sum })).sort(mostExpensiveFirst);
}

function namesOf(by: Grouping, rows: readonly UsageRow[], index: NativeIndex): Map<string, string> {
  if (by === "repo") return new Map(rows.map(({ group }) => [group, shortPath(group)]));
  if (by !== "session") return new Map();
  const sessions = [...index.list({ sessionIds: rows.map(({ group }) => group) })];
  return new Map(
    sessions.map(({ sessionId, shown }) => {
      const { title, firstMessage } = parseFacts(shown);
      const text = title ?? firstMessage;
      return [sessionId, `${shortId(sessionId)}  ${printableLine(text.slice(0, 200), TITLE_WIDTH)}`];
    }),
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
    costUsd,
  };
}

function printCosts(
  by: Grouping,
  rows: readonly UsageRow[],
  total: UsageSum,
  names: ReadonlyMap<string, string>,
): void {
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
      flexible(by.toUpperCase()),
      ...["COST", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "MESSAGES"].map(right),
      ...(isUnpriced ? [right("UNPRICED")] : []),
    ],
    [...rows.map((row) => cells(names.get(row.group) ?? row.group, row)), cells("total", total)],
  );
  if (isUnpriced) talk(`${formatTokens(total.unpricedTokens)} tokens belong to models without a known price.`);
}

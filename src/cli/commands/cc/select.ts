/** `holdfast cc select`: which session fits a task, and why each of the others does not. Starts nothing. */
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { SelectionRow } from "../../../claude/selection/explain-selection.ts";
import type { SessionSelection } from "../../../claude/selection/selection.ts";
import { printHanging, printJson, printStyled, printTable, talk } from "../../output.ts";
import { type ClaudeOptions, requireFolder, withClaude } from "./claude-side.ts";
import { shortId } from "./session-view.ts";

export interface SelectCommandOptions extends ClaudeOptions {
  repo?: string;
  label?: string;
  limit?: number;
}

const SHOWN = 10;

export async function explainChoice(task: string, options: SelectCommandOptions): Promise<void> {
  const folder = requireFolder(options.repo);
  await withClaude(options, async (side) => {
    const choice = options.label === undefined ? {} : { label: options.label };
    const { selection, sessions } = await side.select(task, folder, choice);
    if (options.json === true) printJson(selection);
    else await printChoice(selection, sessions, options.limit ?? SHOWN);
  });
}

async function printChoice(
  selection: SessionSelection,
  sessions: readonly DiscoveredSession[],
  limit: number,
): Promise<void> {
  printHanging("", selection.reason);
  const { explainSelection } = await import("../../../claude/selection/explain-selection.ts");
  const rows = explainSelection(selection, sessions);
  if (rows.length === 0) return;
  const shown = rows.slice(0, limit);
  printStyled("");
  printFactors(shown);
  printStyled("");
  for (const row of shown) printReasons(row);
  if (rows.length > shown.length) talk(`${rows.length - shown.length} more; --limit ${rows.length} shows all.`);
  const how = selection.relevanceBy === "model" ? "by the configured model" : "without a model";
  if (selection.relevanceBy !== "none") talk(`Tasks were compared ${how}.`);
}

function printFactors(rows: readonly SelectionRow[]): void {
  const right = { align: "right" } as const;
  printTable(
    [
      { title: "ID" },
      { title: "SCORE", ...right },
      { title: "BRANCH", ...right },
      { title: "RECENT", ...right },
      { title: "TASK", ...right },
      { title: "HEALTH", ...right },
      { title: "ROOM", ...right },
      { title: "VERDICT" },
      { title: "SESSION", flexible: true },
    ],
    rows.map(({ sessionId, score, factors, verdict, candidate }) => [
      shortId(sessionId),
      score.toFixed(2),
      factors.branchMatch.toFixed(2),
      factors.recency.toFixed(2),
      factors.taskRelevance.toFixed(2),
      factors.sessionHealth.toFixed(2),
      factors.contextCapacity.toFixed(2),
      verdict,
      candidate,
    ]),
  );
}

function printReasons({ sessionId, relevance, reasoning, ceiling, evidence }: SelectionRow): void {
  const why = `relevance ${relevance.toFixed(2)}${reasoning === "" ? "" : `: ${reasoning}`}`;
  printHanging(`${shortId(sessionId)}  `, why);
  const indent = " ".repeat(10);
  if (ceiling !== undefined) printHanging(indent, `held back: ${ceiling}`, { text: "yellow" });
  for (const text of evidence) if (text !== ceiling) printHanging(indent, text, { text: "dim" });
}

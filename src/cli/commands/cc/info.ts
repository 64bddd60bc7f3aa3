/** `holdfast cc info`: everything about one native session. */
import { localTime } from "../../../base/clock.ts";
import { shortId } from "../../../base/ids.ts";
import { type DiscoveredSession, countedCost } from "../../../claude/discovered-session.ts";
import type { IndexedSession, NativeIndex, TranscriptDetails, UsageRow } from "../../../claude/index/native-index.ts";
import type { KeptDecision } from "../../../claude/registry/registry-file.ts";
import { claudeLayout } from "../../../config/layout.ts";
import { plural, printJson, formatBytes, formatTokens, printHanging, printStyled, style } from "../../output.ts";
import { resumeCommand } from "./attach.ts";
import {
  type ClaudeOptions,
  withClaude,
  progressLine,
  formatUsd,
  originCell,
  runningText,
  sessionTitle,
  shortPath,
  surenessText,
} from "./claude-side.ts";
import { shownPoints } from "../../../claude/selection/selection.ts";
import { printableLine } from "../../../base/text.ts";
import type { ClaudeSide } from "../../../compose/claude.ts";

export async function showNative(id: string, options: ClaudeOptions): Promise<void> {
  const info = await withClaude(options, async (side) => {
    using progress = progressLine();
    return await gatherInfo(side, await side.find(id, { refresh: progress.refresh }));
  });
  if (options.json === true) printJson(info);
  else printInfo(info);
}

type SessionInfo = Awaited<ReturnType<typeof gatherInfo>>;

async function gatherInfo(side: ClaudeSide, session: DiscoveredSession) {
  const { sessionId } = session;
  const [index, { listSubagents }, { readRuns, toLiveSession }] = await Promise.all([
    side.index(),
    import("../../../claude/native/layout.ts"),
    import("../../../claude/runner/run-files.ts"),
  ]);
  const indexed = index.get(sessionId);
  const runs = await readRuns(claudeLayout(side.home).locksFolder);
  const run = runs.find((one) => one.sessionId === sessionId);
  const resume = resumeCommand(session, side.config.command);
  return {
    schema: 1,
    session,
    /** Facts from the transcript; undefined without one. */
    transcript: transcriptFacts(index.details(sessionId)),
    /** Tokens and costs by model. */
    usage: index.usage({ by: "model", sessionIds: [sessionId] }),
    subagents: indexed === undefined ? [] : await listSubagents(indexed.path),
    /** Ids of its forks. */
    forks: indexed === undefined ? [] : findForks(index, indexed),
    /** The Holdfast run that holds the session. */
    run: run === undefined ? undefined : toLiveSession(run),
    /** Why tasks ran in it, oldest first. */
    decisions: await side.decisions({ sessionId }),
    /** How to resume it by hand; undefined if it cannot be resumed. */
    resume,
  };
}

function transcriptFacts(details: TranscriptDetails | undefined) {
  const compactions = (details?.compactions ?? []).map(({ at, ...rest }) => {
    return { ...rest, at: at === undefined ? undefined : new Date(at) };
  });
  return details === undefined ? undefined : { ...details, compactions };
}

/** Claude Code writes a fork into the folder of its original. */
function findForks(index: NativeIndex, { folder, sessionId }: IndexedSession): string[] {
  const neighbours = [...index.list({ folders: [folder] })];
  return neighbours.filter((one) => one.forkedFrom === sessionId).map((one) => one.sessionId);
}

const MAX_FILES = 15;
const MAX_PROMPTS = 6;
const MAX_DECISIONS = 3;

function printInfo(info: SessionInfo): void {
  const { session, transcript, subagents } = info;
  printHanging("", printableLine(sessionTitle(session), 200), { text: "bold" });
  for (const [name, value] of factRows(info)) printFact(name, value);
  for (const row of info.usage) printFact("", `${row.group}: ${usageText(row)}`);
  for (const decision of info.decisions.slice(-MAX_DECISIONS)) printDecision(decision);
  printList("Prompts", session.prompts.slice(-MAX_PROMPTS), session.prompts.length);
  const files = session.filesTouched.toReversed();
  const shown = files.slice(0, MAX_FILES);
  const touched = shown.map(({ path, edited }) => `${edited ? "edited" : "read"} ${shortPath(path)}`);
  printList("Files, latest first", touched, files.length);
  const helpers = subagents.map(({ agentId, agentType, description }) =>
    [agentId, agentType, description].filter((part) => part !== undefined).join(", "),
  );
  printList("Subagents", helpers);
  printList("Compactions", (transcript?.compactions ?? []).map(compactionText), session.compactionCount);
  const damaged = (transcript?.damaged ?? []).map(({ offset, reason }) => `at byte ${offset}: ${reason}`);
  printList("Damaged lines", damaged, session.damagedLines);
}

function printDecision({ at, task, selection, suggested }: KeptDecision): void {
  printFact(
    "Chosen",
    `${localTime(Date.parse(at))} for "${printableLine(task, 100)}": ${printableLine(selection.reason, 400)}`,
  );
  const sure = surenessText(selection);
  if (sure !== undefined) printFact("", sure);
  for (const { sessionId, score, relevance, reason } of selection.candidates) {
    printFact(
      "",
      `${shortId(sessionId)}  score ${shownPoints(score)}, relevance ${relevance.toFixed(2)}: ${printableLine(reason, 200)}`,
    );
  }
  if (suggested !== undefined) printFact("", `Suggested: ${printableLine(suggested.reason, 400)}`);
}

function factRows({ session, transcript, forks, run, resume }: SessionInfo): [string, string][] {
  const { createdAt, lastModified, budgetUsedPct, transcriptPath, cwds } = session;
  const began = createdAt === undefined ? "" : `${localTime(createdAt.getTime())} to `;
  const unknown = transcript?.unknownLines ?? 0;
  const id = shortId(session.sessionId);
  const rows: [string, string | undefined][] = [
    ["Session", session.sessionId],
    ["State", runningText(session)],
    ["Held by", run && `process ${run.hostPid}, agent ${run.agentId}: ${run.task}`],
    ["Repo", shortPath(session.repoPath)],
    ["Folders", cwds.length < 2 ? undefined : cwds.map(shortPath).join(", ")],
    ["Branches", session.branches.join(", ")],
    ["Origin", originText(session)],
    ["Label", session.labels?.join(", ") ?? session.label],
    ["Chat", session.conversation],
    ["Used", `${began}${localTime(lastModified.getTime())}`],
    ["Size", sizeText(session)],
    ["Models", session.models.join(", ")],
    ["Mode", session.permissionMode],
    ["Forked from", session.forkedFrom],
    ["Forks", forks.join(", ")],
    ["Unknown", unknown === 0 ? undefined : `${plural(unknown, "line")} of unknown types`],
    ["Transcript", transcriptPath === undefined ? "none" : shortPath(transcriptPath)],
    ["Resume", resume && `holdfast cc attach ${id}`],
    ["Restore", session.archived === true ? `holdfast cc archive --restore ${id} --to <folder>` : undefined],
    ["", resume && `in ${shortPath(resume.cwd)}: ${[resume.command, ...resume.args].join(" ")}`],
    ["Budget", budgetUsedPct === undefined ? undefined : `${Math.round(budgetUsedPct * 100)} % used`],
    ["Cost", costText(session)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]]));
}

/** `agent main, holdfast, 2.1.197`, without duplicates. */
function originText(session: DiscoveredSession): string {
  const parts = [originCell(session), session.entrypoint, session.ccVersion].filter((part) => part !== undefined);
  return [...new Set(parts)].join(", ");
}

function sizeText(session: DiscoveredSession): string {
  const { userTurns, messageCount, fileSizeBytes, contextTokens } = session;
  const context = contextTokens === 0 ? [] : [`context of ${formatTokens(contextTokens)} tokens`];
  return [plural(userTurns, "turn"), plural(messageCount, "message"), formatBytes(fileSizeBytes), ...context].join(
    ", ",
  );
}

function costText(session: DiscoveredSession): string {
  const { estimatedCostUsd, totalCostUsd } = session;
  const cost = countedCost(session);
  if (cost === undefined) return "no known price";
  const sources = [
    ...(estimatedCostUsd === undefined ? [] : [`${formatUsd(estimatedCostUsd)} by list prices`]),
    ...(totalCostUsd === undefined ? [] : [`${formatUsd(totalCostUsd)} recorded for agent runs`]),
  ];
  return `${formatUsd(cost)} (${sources.join(", ")})`;
}

function usageText({ input, output, cacheRead, cacheWrite, costUsd }: UsageRow): string {
  const cache = `${formatTokens(cacheRead)} read from and ${formatTokens(cacheWrite)} written to the cache`;
  const price = costUsd === undefined ? "no known price" : formatUsd(costUsd);
  return `${formatTokens(input)} tokens in, ${formatTokens(output)} out, ${cache}, ${price}`;
}

function compactionText({
  trigger,
  preTokens,
  postTokens,
  at,
}: NonNullable<ReturnType<typeof transcriptFacts>>["compactions"][number]): string {
  const sizes = preTokens === undefined ? "" : `: ${formatTokens(preTokens)} → ${formatTokens(postTokens ?? 0)} tokens`;
  return `${at === undefined ? "" : `${localTime(at.getTime())} `}${trigger ?? ""}${sizes}`;
}

function printFact(name: string, value: string): void {
  printHanging(`${name.padEnd(11)} `, value, { head: "dim" });
}

/** `total` counts all items if only some are given. */
function printList(name: string, items: readonly string[], total = items.length): void {
  if (items.length === 0) return;
  printStyled(style("bold", `${name}${total > items.length ? ` (${items.length} of ${total})` : ""}`));
  for (const item of items) printHanging("  ", printableLine(item, 160));
}

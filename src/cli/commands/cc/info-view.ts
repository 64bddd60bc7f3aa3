/** One native session for people: facts first, then what was asked, touched and damaged. */
import { localTime } from "../../../base/clock.ts";
import { printableLine } from "../../../base/printable.ts";
import type { UsageRow } from "../../../claude/index/native-index.ts";
import { formatBytes, formatTokens, printHanging, printStyled, style } from "../../output.ts";
import type { SessionInfo, TranscriptFacts } from "./session-info.ts";
import {
  formatUsd,
  originCell,
  plural,
  runningText,
  sessionCost,
  sessionTitle,
  shortId,
  shortPath,
} from "./session-view.ts";

const MAX_FILES = 15;
const MAX_PROMPTS = 6;

export function printInfo(info: SessionInfo): void {
  const { session, transcript, subagents } = info;
  printHanging("", printableLine(sessionTitle(session), 200), { text: "bold" });
  for (const [name, value] of factRows(info)) printFact(name, value);
  for (const row of info.usage) printFact("", `${row.group}: ${usageText(row)}`);
  printList("Prompts", session.prompts.slice(-MAX_PROMPTS), session.prompts.length);
  const files = session.filesTouched.toReversed();
  const shown = files.slice(0, MAX_FILES);
  const touched = shown.map(({ path, edited }) => `${edited ? "edited" : "read"} ${shortPath(path)}`);
  printList("Files, the latest first", touched, files.length);
  const helpers = subagents.map(({ agentId, agentType, description }) =>
    [agentId, agentType, description].filter((part) => part !== undefined).join(", "),
  );
  printList("Subagents", helpers);
  printList("Compactions", (transcript?.compactions ?? []).map(compactionText), session.compactionCount);
  const damaged = (transcript?.damaged ?? []).map(({ offset, reason }) => `at byte ${offset}: ${reason}`);
  printList("Damaged lines", damaged, session.damagedLines);
}

function factRows({ session, transcript, forks, run, resume }: SessionInfo): [string, string][] {
  const { createdAt, lastModified, budgetUsedPct, transcriptPath, cwds } = session;
  const began = createdAt === undefined ? "" : `${localTime(createdAt.getTime())} to `;
  const unknown = transcript?.unknownLines ?? 0;
  const rows: [string, string | undefined][] = [
    ["Session", session.sessionId],
    ["State", runningText(session)],
    ["Held by", run === undefined ? undefined : `process ${run.hostPid}, agent ${run.agentId}: ${run.task}`],
    ["Repo", shortPath(session.repoPath)],
    ["Folders", cwds.length < 2 ? undefined : cwds.map(shortPath).join(", ")],
    ["Branches", session.branches.join(", ")],
    ["Origin", originText(session)],
    ["Label", session.label],
    ["Used", `${began}${localTime(lastModified.getTime())}`],
    ["Size", sizeText(session)],
    ["Models", session.models.join(", ")],
    ["Mode", session.permissionMode],
    ["Forked from", session.forkedFrom],
    ["Forks", forks.join(", ")],
    ["Not known", unknown === 0 ? undefined : `${plural(unknown, "line")} of kinds that this version does not know`],
    ["Transcript", transcriptPath === undefined ? "none" : shortPath(transcriptPath)],
    ["Resume", resume === undefined ? undefined : `holdfast cc attach ${shortId(session.sessionId)}`],
    [
      "Restore",
      session.archived === true
        ? `holdfast cc archive --restore ${shortId(session.sessionId)} --to <folder>`
        : undefined,
    ],
    [
      "",
      resume === undefined ? undefined : `in ${shortPath(resume.cwd)}: ${[resume.command, ...resume.args].join(" ")}`,
    ],
    ["Budget", budgetUsedPct === undefined ? undefined : `${Math.round(budgetUsedPct * 100)} % used`],
    ["Cost", costText(session)],
  ];
  return rows.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value]]));
}

/** `agent main, holdfast, 2.1.197`; what says the same twice is said once. */
function originText(session: SessionInfo["session"]): string {
  const parts = [originCell(session), session.entrypoint, session.ccVersion].filter((part) => part !== undefined);
  return [...new Set(parts)].join(", ");
}

function sizeText(session: SessionInfo["session"]): string {
  const { userTurns, messageCount, fileSizeBytes, contextTokens } = session;
  const context = contextTokens === 0 ? [] : [`context of ${formatTokens(contextTokens)} tokens`];
  return [plural(userTurns, "turn"), plural(messageCount, "message"), formatBytes(fileSizeBytes), ...context].join(
    ", ",
  );
}

function costText(session: SessionInfo["session"]): string {
  const cost = sessionCost(session);
  if (cost === undefined) return "no known price";
  const own = session.totalCostUsd === undefined ? "" : `; ${formatUsd(session.totalCostUsd)} by Holdfast's own runs`;
  return `${formatUsd(cost)} by list prices${own}`;
}

function usageText({ input, output, cacheRead, cacheWrite, costUsd }: UsageRow): string {
  const cache = `${formatTokens(cacheRead)} read from and ${formatTokens(cacheWrite)} written to the cache`;
  const price = costUsd === undefined ? "no known price" : formatUsd(costUsd);
  return `${formatTokens(input)} tokens in, ${formatTokens(output)} out, ${cache}, ${price}`;
}

function compactionText({ trigger, preTokens, postTokens, at }: TranscriptFacts["compactions"][number]): string {
  const sizes = preTokens === undefined ? "" : `: ${formatTokens(preTokens)} → ${formatTokens(postTokens ?? 0)} tokens`;
  return `${at === undefined ? "" : `${localTime(at.getTime())} `}${trigger ?? ""}${sizes}`;
}

function printFact(name: string, value: string): void {
  printHanging(`${name.padEnd(11)} `, value, { head: "dim" });
}

/** `total` when only some of them are given. */
function printList(name: string, items: readonly string[], total = items.length): void {
  if (items.length === 0) return;
  printStyled(style("bold", `${name}${total > items.length ? ` (${items.length} of ${total})` : ""}`));
  for (const item of items) printHanging("  ", printableLine(item, 160));
}

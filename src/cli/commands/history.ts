/** `holdfast history`: the end of a conversation, all of it, or new entries as they arrive. */
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import { type AgentHandle, locateTranscript, type FoundSession } from "../../session/agent-handle.ts";
import { findSessionOrArchived } from "../../session/find-session.ts";
import { entryToJson } from "../../transcript/codec.ts";
import { type TranscriptDamage, findDamage } from "../../transcript/damage.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { readTail, readTranscript, readEntriesFrom } from "../../transcript/reader.ts";
import type { Counts, Flags } from "../command.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { printJson, printStyled, style, writeJsonList, writeOut } from "../output.ts";
import { renderEntry, reportProblems, sayIfArchived } from "../conversation-view.ts";
import { type TranscriptProblem, isLoss } from "../../transcript/scan.ts";
import { isFlushEntry } from "../../transcript/messages.ts";

type HistoryOptions = AgentOptions & Flags<"json" | "all" | "follow"> & Counts<"limit">;

const DEFAULT_LIMIT = 50;
const FOLLOW_POLL_MS = 250;

export async function showHistory(reference: string | undefined, options: HistoryOptions): Promise<void> {
  try {
    await showChat(reference, options);
  } catch (error) {
    const isUnknown = error instanceof HoldfastError && error.kind === "not-found";
    if (!isUnknown || reference === undefined || options.store !== undefined) throw error;
    const { findInstead, showFound } = await import("./cc/show.ts");
    await showFound(await findInstead(reference, { agent: options.agent }, error), options);
  }
}

async function showChat(reference: string | undefined, options: HistoryOptions): Promise<void> {
  await withAgent(options, async (agent) => {
    const session =
      reference === undefined ? await newestSession(agent) : await findSessionOrArchived(agent, reference);
    sayIfArchived(session);
    const { path, expected } = await locateTranscript(agent, session);
    const damage = await findDamage(path, expected);
    const exists = damage?.kind !== "not-a-file" && (await fileExists(path));
    const report = createReport(damage);
    const shown = exists ? await readShown(path, report, options) : { entries: [], complete: true, report };
    if (options.json === true) await printHistoryJson(session, path, shown);
    else await printHistory(session, shown);
    reportProblems(path, report);
    if (options.follow !== true || !exists) return;
    await follow(async () => (await locateTranscript(agent, session)).path, report.end, options);
  });
}

async function newestSession(agent: AgentHandle): Promise<FoundSession> {
  const { sessions } = await agent.store.list({ limit: 1 });
  const [newest] = sessions;
  if (newest !== undefined) return newest;
  throw new HoldfastError("not-found", "no-sessions", "There are no sessions yet", {
    hint: "Start one with `holdfast chat`.",
  });
}

type Shown = Awaited<ReturnType<typeof readShown>>;

type Report = ReturnType<typeof createReport>;

/** Complete once the last entry was read. `end` is the byte offset after it, where `--follow` continues. */
function createReport(damage: TranscriptDamage | undefined) {
  const problems: TranscriptProblem[] = damage === undefined ? [] : [{ reason: damage.reason }];
  return { problems, problemCount: problems.length, end: 0 };
}

function addTo(
  report: Report,
  found: Pick<Report, "problemCount" | "end"> & { problems: readonly TranscriptProblem[] },
) {
  report.problems.push(...found.problems);
  report.problemCount += found.problemCount;
  report.end = found.end;
}

async function readShown(path: string, report: Report, { all, limit = DEFAULT_LIMIT }: HistoryOptions) {
  if (all === true) return { entries: readAll(path, report), complete: true, report };
  for (let count = limit; ; count *= 2) {
    const { entries, complete, problems, problemCount } = await readTail(path, count);
    // Memory turns are hidden.
    const shown = entries.map(({ entry }) => entry).filter((entry) => !isFlushEntry(entry));
    if (shown.length < limit && !complete) continue;
    addTo(report, { problems, problemCount, end: entries.at(-1)?.end ?? 0 });
    return { entries: shown.slice(-limit), complete: complete && shown.length <= limit, report };
  }
}

async function* readAll(path: string, report: Report): AsyncGenerator<TranscriptEntry> {
  const reading = readTranscript(path);
  let end = 0;
  for await (const item of reading) {
    ({ end } = item);
    if (item.kind === "entry") yield item.entry;
  }
  addTo(report, { ...reading.report, end });
}

function toText(entry: TranscriptEntry): string {
  return JSON.stringify(entryToJson(entry));
}

async function printHistoryJson(session: FoundSession, path: string, shown: Shown): Promise<void> {
  const { key, entry, window, archive } = session;
  const head = { key, sessionId: window?.sessionId ?? entry.sessionId, path, archive };
  await writeJsonList(head, "entries", shown.entries, toText, (count) => {
    const { problems, problemCount } = shown.report;
    return { complete: shown.complete && !problems.some(isLoss), count, problems, problemCount };
  });
}

async function printHistory({ key, entry, window, archive }: FoundSession, shown: Shown): Promise<void> {
  const id = (window?.sessionId ?? entry.sessionId).slice(0, 8);
  const current = archive === undefined ? "current window" : "last window";
  const where = window === undefined ? current : "earlier window";
  printStyled(style("bold", `${key}  ${where} ${id}`));
  if (!shown.complete) printStyled(style("dim", "(earlier entries are hidden; --all shows them)"));
  let isEmpty = true;
  for await (const shownEntry of shown.entries) {
    const line = renderEntry(shownEntry);
    if (line === undefined) continue;
    isEmpty = false;
    await writeOut(`${line}\n`);
  }
  const isLost = shown.report.problems.some(isLoss);
  if (isEmpty) printStyled(style("dim", isLost ? "(unreadable)" : "(no messages yet)"));
}

async function follow(locate: () => Promise<string>, start: number, options: HistoryOptions): Promise<void> {
  let position = start;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  while (!stop.signal.aborted) {
    const { entries, end } = await readEntriesFrom(await locate(), position);
    position = end;
    for (const entry of entries) {
      if (isFlushEntry(entry) && options.all !== true) continue;
      if (options.json === true) printJson(entryToJson(entry));
      else {
        const line = renderEntry(entry);
        if (line !== undefined) printStyled(line);
      }
    }
    await delay(FOLLOW_POLL_MS, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}

/** `holdfast history`: the end of a conversation, or all of it, or what is added from now on. */
import { watch } from "node:fs";
import { HoldfastError } from "../../base/errors.ts";
import { type AgentHandle, locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { type FoundSession, findSession } from "../../session/find-session.ts";
import { entryToJson } from "../../transcript/codec.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { readEntriesFrom } from "../../transcript/follow.ts";
import type { TranscriptProblem } from "../../transcript/problems.ts";
import { readTail, readTranscript } from "../../transcript/reader.ts";
import { isFlushEntry } from "../../transcript/turn-mark.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { printJson, printStyled, style, talk, writeOut } from "../output.ts";
import { renderEntry } from "../transcript-view.ts";

export interface HistoryOptions extends AgentOptions {
  json?: boolean;
  limit?: number;
  all?: boolean;
  follow?: boolean;
}

const DEFAULT_LIMIT = 50;
const FOLLOW_POLL_MS = 250;

export async function showHistory(reference: string | undefined, options: HistoryOptions): Promise<void> {
  const { session, path } = await withAgent(options, async (agent) => {
    const found = reference === undefined ? await newestSession(agent) : await findSession(agent, reference);
    const { window, entry } = found;
    return {
      session: found,
      path: window === undefined ? transcriptPath(agent, entry) : await locateWindowTranscript(agent, window),
    };
  });
  const shown = options.all === true ? readAll(path) : await readEnd(path, options.limit ?? DEFAULT_LIMIT);
  if (options.json === true) await printHistoryJson(session, path, shown);
  else await printHistory(session, shown);
  const { problems, end } = shown.report();
  for (const { line, offset, reason } of problems) {
    talk(`holdfast: ${path}${line === undefined ? ` at byte ${offset}` : ` line ${line}`}: ${reason}`);
  }
  if (options.follow === true) await follow(path, end, options);
}

async function newestSession(agent: AgentHandle): Promise<FoundSession> {
  const { sessions } = await agent.store.list({ limit: 1 });
  const [newest] = sessions;
  if (newest !== undefined) return newest;
  throw new HoldfastError("not-found", "no-sessions", "There are no sessions yet", {
    hint: "Start one with `holdfast chat`.",
  });
}

/** What is shown, one entry after the other: a whole transcript may be larger than the memory. */
interface Shown {
  entries: AsyncIterable<TranscriptEntry>;
  /** False when there is more before the first of them. */
  complete: boolean;
  /** What is known when the last entry was read. */
  report(): ShownReport;
}

interface ShownReport {
  problems: readonly TranscriptProblem[];
  problemCount: number;
  /** Where the last entry ends: what comes behind it is new to whoever follows. */
  end: number;
}

/** Without the turns in which the agent saved its memory: nobody asked for them. */
async function readEnd(path: string, limit: number): Promise<Shown> {
  for (let count = limit; ; count *= 2) {
    const { entries, complete, problems, problemCount } = await readTail(path, count);
    const shown = entries.filter(({ entry }) => !isFlushEntry(entry));
    if (shown.length < limit && !complete) continue;
    return {
      entries: (async function* () {
        for (const { entry } of shown.slice(-limit)) yield entry;
      })(),
      complete: complete && shown.length <= limit,
      report: () => ({ problems, problemCount, end: entries.at(-1)?.end ?? 0 }),
    };
  }
}

function readAll(path: string): Shown {
  const reading = readTranscript(path);
  let end = 0;
  return {
    entries: (async function* () {
      for await (const item of reading) {
        end = item.end;
        if (item.kind === "entry") yield item.entry;
      }
    })(),
    complete: true,
    report: () => ({ problems: reading.report.problems, problemCount: reading.report.problemCount, end }),
  };
}

async function printHistoryJson({ key, entry, window }: FoundSession, path: string, shown: Shown): Promise<void> {
  const head = { key, sessionId: window?.sessionId ?? entry.sessionId, path, complete: shown.complete };
  await writeOut(`${JSON.stringify(head).slice(0, -1)},"entries":[`);
  let count = 0;
  for await (const shownEntry of shown.entries) {
    await writeOut(`${count === 0 ? "" : ","}${JSON.stringify(entryToJson(shownEntry))}`);
    count++;
  }
  const { problems, problemCount } = shown.report();
  await writeOut(`],${JSON.stringify({ count, problems, problemCount }).slice(1)}\n`);
}

async function printHistory({ key, entry, window }: FoundSession, shown: Shown): Promise<void> {
  const id = (window?.sessionId ?? entry.sessionId).slice(0, 8);
  const where = window === undefined ? "current window" : "earlier window";
  printStyled(style("bold", `${key}  ${where} ${id}`));
  if (!shown.complete) printStyled(style("dim", "(earlier entries are left out; --all shows them)"));
  let isEmpty = true;
  for await (const shownEntry of shown.entries) {
    const line = renderEntry(shownEntry);
    if (line === undefined) continue;
    isEmpty = false;
    await writeOut(`${line}\n`);
  }
  if (isEmpty) printStyled(style("dim", "(nothing was said yet)"));
}

/** Prints entries as they are appended, until it is interrupted. */
async function follow(path: string, start: number, options: HistoryOptions): Promise<void> {
  let position = start;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const watcher = watch(path, { signal: stop.signal });
  watcher.on("error", () => undefined);
  while (!stop.signal.aborted) {
    const { entries, end } = await readEntriesFrom(path, position);
    position = end;
    for (const entry of entries) {
      if (isFlushEntry(entry) && options.all !== true) continue;
      if (options.json === true) printJson(entryToJson(entry));
      else {
        const line = renderEntry(entry);
        if (line !== undefined) printStyled(line);
      }
    }
    await nextChange(watcher, stop.signal);
  }
}

/** A change notice or a short while, whichever comes first: not every file system sends notices. */
async function nextChange(watcher: ReturnType<typeof watch>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      watcher.off("change", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, FOLLOW_POLL_MS);
    watcher.on("change", done);
    signal.addEventListener("abort", done);
  });
}

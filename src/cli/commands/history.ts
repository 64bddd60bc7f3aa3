/** `holdfast history`: the end of a conversation, or all of it, or what is added from now on. */
import { watch } from "node:fs";
import { stat } from "node:fs/promises";
import { HoldfastError } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { type ResolvedSession, resolveSession } from "../../session/resolve.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { readEntriesFrom } from "../../transcript/follow.ts";
import { readTail, readTranscript } from "../../transcript/reader.ts";
import { type AgentOptions, withAgent } from "../context.ts";
import { printJson, printStyled, style, talk } from "../output.ts";
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
    const found = reference === undefined ? await newestSession(agent) : await resolveSession(agent, reference);
    const { window, entry } = found;
    return {
      session: found,
      path: window === undefined ? transcriptPath(agent, entry) : await locateWindowTranscript(agent, window),
    };
  });
  if (!(await fileExists(path))) {
    throw new HoldfastError("not-found", "transcript-missing", `The transcript of ${session.key} is gone: ${path}`, {
      hint: "Run `holdfast doctor` to see what else is missing.",
      data: { key: session.key, path },
    });
  }
  const shown = await readShown(path, options);
  if (options.json === true) printHistoryJson(session, path, shown);
  else printHistory(session, shown);
  for (const { line, offset, reason } of shown.problems) {
    talk(`holdfast: ${path}${line === undefined ? ` at byte ${offset}` : ` line ${line}`}: ${reason}`);
  }
  if (options.follow === true) await follow(path, options);
}

async function newestSession(agent: AgentHandle): Promise<ResolvedSession> {
  const { sessions } = await agent.store.list({ limit: 1 });
  const [newest] = sessions;
  if (newest !== undefined) return newest;
  throw new HoldfastError("not-found", "no-sessions", "There are no sessions yet", {
    hint: "Start one with `holdfast chat`.",
  });
}

interface Shown {
  entries: TranscriptEntry[];
  complete: boolean;
  problems: readonly { reason: string; line?: number; offset?: number }[];
  problemCount: number;
}

async function readShown(path: string, options: HistoryOptions): Promise<Shown> {
  if (options.all === true) {
    const reading = readTranscript(path);
    const entries: TranscriptEntry[] = [];
    for await (const item of reading) {
      if (item.kind === "entry") entries.push(item.entry);
    }
    return { entries, complete: true, ...pickProblems(reading.report) };
  }
  const tail = await readTail(path, options.limit ?? DEFAULT_LIMIT);
  return { entries: tail.entries.map(({ entry }) => entry), complete: tail.complete, ...pickProblems(tail) };
}

function pickProblems({ problems, problemCount }: Pick<Shown, "problems" | "problemCount">) {
  return { problems, problemCount };
}

function printHistoryJson({ key, entry, window }: ResolvedSession, path: string, shown: Shown): void {
  printJson({ key, sessionId: window?.sessionId ?? entry.sessionId, path, count: shown.entries.length, ...shown });
}

function printHistory({ key, entry, window }: ResolvedSession, shown: Shown): void {
  const id = (window?.sessionId ?? entry.sessionId).slice(0, 8);
  const where = window === undefined ? "current window" : "earlier window";
  printStyled(style("bold", `${key}  ${where} ${id}`));
  if (!shown.complete) printStyled(style("dim", "(earlier entries are left out; --all shows them)"));
  const lines = shown.entries.map(renderEntry).filter((line) => line !== undefined);
  if (lines.length === 0) printStyled(style("dim", "(nothing was said yet)"));
  for (const line of lines) printStyled(line);
}

/** Prints entries as they are appended, until it is interrupted. */
async function follow(path: string, options: HistoryOptions): Promise<void> {
  let position = (await stat(path)).size;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const watcher = watch(path, { signal: stop.signal });
  watcher.on("error", () => undefined);
  while (!stop.signal.aborted) {
    const { entries, end } = await readEntriesFrom(path, position);
    position = end;
    for (const entry of entries) {
      if (options.json === true) printJson(entry);
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

/**
 * `holdfast cc watch`: keeps the list up to date. On a terminal it redraws in place; elsewhere it prints a line per
 * change, with --json an object per line. It checks on file changes and every 5 seconds, because not every file system
 * reports changes.
 */
import { type FSWatcher, watch, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { localTime } from "../../../base/clock.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { Discovery } from "../../../claude/discovery/discover.ts";
import { projectsFolder, runningFolder } from "../../../claude/native/layout.ts";
import { plural, formatAge, print, renderTable, style, talk } from "../../output.ts";
import { withClaude, runningText, sessionTitle, shortPath } from "./claude-side.ts";
import { type ListOptions, sessionTable, toQuery } from "./list.ts";
import { shortId } from "../../../base/ids.ts";
import { printableLine } from "../../../base/text.ts";

const INTERVAL_MS = 5000;
/** A burst of changes counts as one. */
const QUIET_MS = 250;
const MAX_FOLDERS = 64;

export async function watchSessions(options: ListOptions): Promise<void> {
  const { repoPath, choice } = toQuery({ ...options, json: false });
  const stop = new AbortController();
  const onStop = (): void => stop.abort();
  for (const signal of STOPPING) process.once(signal, onStop);
  const changes = createChanges(stop.signal);
  using view =
    process.stdout.isTTY && options.json !== true ? createScreen(options, changes) : createChangeLines(options);
  await withClaude(options, async (side) => {
    do {
      let found = await side.discover(repoPath, choice);
      const native = [projectsFolder(side.claudeHome), runningFolder(side.claudeHome)];
      // Changes before a new folder was watched would be missed.
      if (changes.watch([...native, ...foldersOf(found)])) found = await side.discover(repoPath, choice);
      if (!stop.signal.aborted) view.show(found);
    } while (await changes.next());
  });
  for (const signal of STOPPING) process.off(signal, onStop);
}

const STOPPING = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface View extends Disposable {
  show(found: Discovery): void;
}

function foldersOf({ sessions }: Discovery): string[] {
  const paths = sessions.flatMap(({ transcriptPath }) =>
    transcriptPath === undefined ? [] : [dirname(transcriptPath)],
  );
  return [...new Set(paths)].slice(0, MAX_FOLDERS);
}

type Changes = ReturnType<typeof createChanges>;

function createChanges(signal: AbortSignal) {
  const watchers = new Map<string, FSWatcher>();
  let change = new AbortController();
  const wake = (): void => change.abort();
  return {
    wake,
    /** Adds folders to watch; true if one of them is new. */
    watch(folders: readonly string[]): boolean {
      const before = watchers.size;
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { signal }, wake);
          // A removed folder is no longer watched.
          watcher.on("error", () => watchers.delete(folder));
          watchers.set(folder, watcher);
        } catch {
          // Missing, or too many watchers: the interval covers it.
        }
      }
      return watchers.size > before;
    },
    /** Resolves at the next change or after 5 seconds; false once stopped. */
    async next(): Promise<boolean> {
      await pause(INTERVAL_MS, AbortSignal.any([signal, change.signal]));
      if (change.signal.aborted) await pause(QUIET_MS, signal);
      change = new AbortController();
      return !signal.aborted;
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

const OPEN_SCREEN = "\u001b[?1049h\u001b[?25l";
const CLOSE_SCREEN = "\u001b[?25h\u001b[?1049l";

/** Writes each frame at once, so that nothing flickers. */
function createScreen(options: ListOptions, changes: Changes): View {
  const { stdout } = process;
  let isOpen = true;
  const close = (): void => {
    if (isOpen) writeSync(stdout.fd, CLOSE_SCREEN);
    isOpen = false;
    stdout.off("resize", changes.wake);
    process.off("exit", close);
  };
  stdout.on("resize", changes.wake);
  process.on("exit", close);
  stdout.write(OPEN_SCREEN);
  return {
    show({ sessions, total, activeCount, repoPath }) {
      const { columns, row } = sessionTable(options.all === true, Date.now());
      const where = repoPath === undefined ? "all repos" : shortPath(repoPath);
      const head = `${printableLine(where)}: ${plural(total, "session")}, ${activeCount} running`;
      const foot = style("dim", `${localTime(Date.now())}  Ctrl-C quits`);
      const shown = sessions.slice(0, Math.max(1, stdout.rows - 4));
      const table = shown.length === 0 ? [] : renderTable(columns, shown.map(row));
      stdout.write(`\u001b[H${[head, ...table, foot].map((line) => `\u001b[2K${line}`).join("\r\n")}\u001b[J`);
    },
    [Symbol.dispose]: close,
  };
}

function createChangeLines(options: ListOptions): View {
  let known: Map<string, string> | undefined;
  const show = ({ sessions, total, activeCount }: Discovery): void => {
    if (known === undefined && options.json !== true) talk(`${plural(total, "session")}, ${activeCount} running.`);
    const states = new Map(sessions.map((session) => [session.sessionId, stateOf(session)]));
    for (const session of sessions) {
      if (known === undefined || known.get(session.sessionId) === states.get(session.sessionId)) continue;
      const change = known.has(session.sessionId) ? "changed" : "new";
      if (options.json === true) process.stdout.write(`${JSON.stringify({ change, session })}\n`);
      else print(changeLine(change, session));
    }
    known = states;
  };
  return { show, [Symbol.dispose]: () => undefined };
}

function stateOf({ lastModified, isRunning, running }: DiscoveredSession): string {
  return [lastModified.getTime(), isRunning, running?.pid, running?.status, running?.waitingFor].join(" ");
}

function changeLine(change: string, session: DiscoveredSession): string {
  const age = formatAge(Date.now() - session.lastModified.getTime());
  const what = printableLine(sessionTitle(session), 80);
  return `${change} ${shortId(session.sessionId)} ${runningText(session)}, ${plural(session.userTurns, "turn")}, ${age}: ${what}`;
}

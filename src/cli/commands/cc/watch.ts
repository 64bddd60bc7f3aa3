/**
 * `holdfast cc watch`: the list, kept up to date. On a terminal it is redrawn in place; elsewhere each
 * change is a line (with --json an object a line). It looks when a file changes and every few seconds,
 * because not every file system tells of changes.
 */
import { type FSWatcher, watch, writeSync } from "node:fs";
import { dirname } from "node:path";
import { localTime } from "../../../base/clock.ts";
import { printableLine } from "../../../base/printable.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import type { Discovery } from "../../../claude/discovery/discover.ts";
import { projectsFolder, runningFolder } from "../../../claude/native/layout.ts";
import { formatAge, print, renderTable, style, talk } from "../../output.ts";
import { withClaude } from "./claude-side.ts";
import { type ListOptions, sessionTable, toQuery } from "./list.ts";
import { plural, runningText, sessionTitle, shortId, shortPath } from "./session-view.ts";

const INTERVAL_MS = 5000;
/** A burst of changes is one change. */
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
      // What changed before its folder was watched would be missed.
      if (changes.look([...native, ...foldersOf(found)])) found = await side.discover(repoPath, choice);
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

interface Changes {
  /** Also watches these folders; true when one of them is new. */
  look(folders: readonly string[]): boolean;
  /** As if something had changed. */
  wake: () => void;
  /** Resolves at the next change or after a while; false when it is over. */
  next(): Promise<boolean>;
}

function createChanges(signal: AbortSignal): Changes {
  const watchers = new Map<string, FSWatcher>();
  let wake: (() => void) | undefined;
  let hasChanged = false;
  const onChange = (): void => {
    hasChanged = true;
    wake?.();
  };
  signal.addEventListener("abort", () => wake?.());
  return {
    wake: onChange,
    look(folders) {
      const before = watchers.size;
      for (const folder of folders) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { signal }, onChange);
          // A folder that is removed is simply not watched any more.
          watcher.on("error", () => watchers.delete(folder));
          watchers.set(folder, watcher);
        } catch {
          // Not there yet, or too many are watched: the interval sees to it.
        }
      }
      return watchers.size > before;
    },
    async next() {
      if (!hasChanged) await pause(INTERVAL_MS, signal, (resolve) => (wake = resolve));
      if (hasChanged) await pause(QUIET_MS, signal);
      hasChanged = false;
      return !signal.aborted;
    },
  };
}

async function pause(ms: number, signal: AbortSignal, onStart?: (resolve: () => void) => void): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    onStart?.(done);
  });
}

const OPEN_SCREEN = "\u001b[?1049h\u001b[?25l";
const CLOSE_SCREEN = "\u001b[?25h\u001b[?1049l";

/** Whole frames in one write each, so that nothing flickers. */
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
      const foot = style("dim", `${localTime(Date.now())}  Ctrl-C leaves`);
      const shown = sessions.slice(0, Math.max(1, stdout.rows - 4));
      const table = shown.length === 0 ? [] : renderTable(columns, shown.map(row));
      stdout.write(`\u001b[H${[head, ...table, foot].map((line) => `\u001b[2K${line}`).join("\r\n")}\u001b[J`);
    },
    [Symbol.dispose]: close,
  };
}

/** The first look says how many there are; afterwards only what is new or different. */
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

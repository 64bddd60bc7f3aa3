/**
 * `holdfast cc`: the session picker on a terminal, the list elsewhere. Keys work while transcripts are read, and the
 * list updates without moving the selection.
 */
import { basename } from "node:path";
import { type Key, type Interface, emitKeypressEvents } from "node:readline";
import { lazy } from "../../base/async.ts";
import { errorMessage, ERROR_KINDS, HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { RefreshProgress } from "../../claude/index/native-index.ts";
import { isFolder, withClaude, shortPath } from "../commands/cc/claude-side.ts";
import { type ListOptions, type ListQuery, assertFolder, listNative, toQuery } from "../commands/cc/list.ts";
import { loadSetup } from "../context.ts";
import { style, print } from "../output.ts";
import { drawPicker, layoutOf, type Frame, type Size } from "./draw-picker.ts";
import {
  type PickerChoice,
  type PickerItem,
  type FoundContent,
  createPickerState,
  pressKey,
  withFound,
  withItems,
  withRows,
  createKeyReader,
} from "./picker-state.ts";
import type { ClaudeSide } from "../../compose/claude.ts";
import { writeSync } from "node:fs";
import { constants } from "node:os";

export async function pickSession(options: ListOptions): Promise<void> {
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY && options.json !== true;
  if (!isInteractive) return await listNative(options);
  const query = toQuery(options);
  await withClaude(options, async (side) => {
    if (query.repoPath !== undefined && !isFolder(query.repoPath)) await assertKnown(side, query.repoPath);
    const content = createContentSearch();
    let begin: PickerBegin = { query: "" };
    try {
      for (;;) {
        const terminal = openTerminal();
        const { choice, query: typed } = await runPicker(
          terminal,
          sourcesFor(side, query, options),
          content.find,
          begin,
        ).finally(() => terminal[Symbol.dispose]());
        const problem = await act(side, choice);
        if (problem === undefined) return;
        begin = { query: typed, problem };
      }
    } finally {
      await content.close();
    }
  });
}

/** Returns why a session cannot be opened. */
async function act(side: ClaudeSide, choice: Picked): Promise<string | undefined> {
  if (choice.action === "leave") process.exitCode = ERROR_KINDS.interrupted.exitCode;
  else if (choice.action === "show-id") print(choice.session.sessionId);
  else {
    const { attachSession } = await import("../commands/cc/attach.ts");
    try {
      await attachSession(side, choice.session, { fork: choice.action === "fork" });
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      return [error.message, error.hint].filter((text) => text !== undefined).join(" ");
    }
  }
  return undefined;
}

const REFRESH_MS = 100;
const FOUND = 200;

/** Searches the content of sessions. Opened at the first search; each search reads a little more of new transcripts. */
function createContentSearch() {
  const opening = lazy(async () => {
    const [{ openPersonSearch }, setup] = await Promise.all([import("../../compose/search.ts"), loadSetup()]);
    return await openPersonSearch({ ...setup, logger: silentLogger });
  });
  return {
    find: async (query: string): Promise<FoundContent> => {
      const opened = await opening.get();
      await opened.refresh({ budgetMs: REFRESH_MS });
      const { sessions } = opened.index.sessions({
        person: true,
        text: query,
        kinds: ["native"],
        limit: FOUND,
        passages: 1,
      });
      const all = sessions.filter(({ hasAll }) => hasAll);
      const passages = all.map(({ sessionId, passages: [best] }) => [
        sessionId,
        best?.snippet.replaceAll("**", "") ?? "",
      ]);
      return { query, passages: new Map(passages as [string, string][]) };
    },
    close: async () => (await opening.made())?.close(),
  };
}

async function assertKnown(side: ClaudeSide, repoPath: string): Promise<void> {
  const { total } = await side.discover(repoPath, { limit: 1 });
  if (total === 0) assertFolder(repoPath);
}

/** The repo first, then all repos. An empty repo is skipped unless it was named. */
function sourcesFor(
  side: ClaudeSide,
  { repoPath, choice }: ListQuery,
  options: ListOptions,
): [PickerSource, ...PickerSource[]] {
  const { limit: _, ...filters } = choice;
  const wanted = options.limit === undefined ? filters : { ...filters, limit: options.limit };
  const everywhere = toSource(side, undefined, wanted, false);
  return repoPath === undefined
    ? [everywhere]
    : [toSource(side, repoPath, wanted, options.repo === undefined), everywhere];
}

function toSource(side: ClaudeSide, repoPath: string | undefined, choice: ListQuery["choice"], skipIfEmpty: boolean) {
  return {
    isAll: repoPath === undefined,
    /** If it has no sessions, show the next source. */
    skipIfEmpty,
    read: async (onProgress: (text: string) => void): Promise<PickerPage> => {
      const show = ({ filesDone, filesTotal }: RefreshProgress): void =>
        onProgress(`Reading transcripts: ${filesDone} of ${filesTotal}`);
      const found = await side.discover(repoPath, { ...choice, refresh: { onProgress: show } });
      return { sessions: found.sessions, name: found.repoPath === undefined ? "all repos" : shortPath(found.repoPath) };
    },
  };
}

type PickerSource = ReturnType<typeof toSource>;

interface PickerPage {
  /** Name of the repo, or "all repos". */
  name: string;
  sessions: readonly DiscoveredSession[];
}

type Picked = Exclude<PickerChoice, { action: "scope" }>;

interface PickerBegin {
  query: string;
  /** Why the last choice was not possible. Shown until a key is pressed. */
  problem?: string | undefined;
}

const TYPING_MS = 120;

/** Shows the first source; Tab switches to the next. */
async function runPicker(
  terminal: Terminal,
  sources: readonly [PickerSource, ...PickerSource[]],
  find: (query: string) => Promise<FoundContent>,
  begin: PickerBegin,
): Promise<{ choice: Picked; query: string }> {
  const { promise: picked, resolve, reject } = Promise.withResolvers<Picked>();
  const readKey = createKeyReader();
  let [source] = sources;
  let name = "";
  let state = createPickerState([], layoutOf(terminal.size()).list.rows, begin.query);
  let { problem } = begin;
  let typing: NodeJS.Timeout | undefined;
  let notice: string | undefined = "Looking for sessions …";
  let isOver = false;

  const draw = (): void => {
    if (isOver) return;
    const view = { state, scope: name, showRepo: source.isAll, notice: problem ?? notice, now: Date.now() };
    terminal.draw(drawPicker(view, terminal.size(), style));
  };
  const show = (page: PickerPage): void => {
    ({ name } = page);
    state = withItems(state, page.sessions.map(toItem));
    draw();
  };
  const nextSource = (): void => {
    source = sources[(sources.indexOf(source) + 1) % sources.length] ?? source;
    start();
  };
  const load = async (): Promise<void> => {
    const shown = source;
    const isShown = (): boolean => shown === source && !isOver;
    const page = await shown.read((text) => {
      if (!isShown()) return;
      notice = text;
      draw();
    });
    if (!isShown()) return;
    if (page.sessions.length === 0 && shown.skipIfEmpty) return nextSource();
    notice = undefined;
    show(page);
  };
  const start = (): void => {
    load().catch((error: unknown) => {
      // Sessions on the screen can still be used.
      if (state.items.length === 0) reject(error);
      notice = errorMessage(error);
      draw();
    });
  };

  const showFound = (found: FoundContent): void => {
    state = withFound(state, found);
    draw();
  };
  /** Without an index, the facts of the sessions still match. */
  const searchContent = (): void => {
    clearTimeout(typing);
    const { query } = state;
    if (query.trim() === "") return;
    typing = setTimeout(() => {
      void find(query).then(showFound, () => undefined);
    }, TYPING_MS);
  };
  const onKey = (text: string | undefined, raw: Key): void => {
    const key = readKey(text, raw);
    if (key === undefined) return;
    const step = pressKey(state, key);
    const isSameQuery = step.state.query === state.query;
    ({ state } = step);
    problem = undefined;
    if (!isSameQuery) searchContent();
    if (step.choice === undefined) draw();
    else if (step.choice.action === "scope") nextSource();
    else resolve(step.choice);
  };
  const onResize = (): void => {
    state = withRows(state, layoutOf(terminal.size()).list.rows);
    draw();
  };
  // An error is thrown after the screen is closed, where the person can read it.
  terminal.listen(
    (text, raw) => guard(() => onKey(text, raw), reject),
    () => guard(onResize, reject),
  );
  draw();
  start();
  searchContent();
  try {
    const choice = await picked;
    return { choice, query: state.query };
  } finally {
    isOver = true;
    clearTimeout(typing);
  }
}

function guard(action: () => void, onError: (error: unknown) => void): void {
  try {
    action();
  } catch (error) {
    onError(error);
  }
}

function toItem(session: DiscoveredSession): PickerItem {
  return { id: session.sessionId, search: searchText(session), session };
}

/** Everything that a person may search for. */
function searchText(session: DiscoveredSession): string {
  const { sessionId, title, label, firstMessage, lastPrompt, lastTask, prompts, branches, repoPath, agentId } = session;
  const texts = [title, label, firstMessage, lastPrompt, lastTask, ...prompts, ...branches];
  return [sessionId, ...texts, basename(repoPath), repoPath, agentId, session.isRunning ? "running" : ""]
    .filter((text) => text !== undefined)
    .join("\n")
    .toLowerCase();
}

/**
 * The terminal in picker mode: raw keys and the alternate screen. It is restored on every exit: a choice, an error, a
 * signal, the end of the process.
 */
type Terminal = ReturnType<typeof openTerminal>;

type OnKey = (text: string | undefined, key: Key) => void;

const ESCAPE = "\u001b[";
// Alternate screen, no line wrapping, bracketed paste.
const ENTER = `${ESCAPE}?1049h${ESCAPE}?7l${ESCAPE}?2004h${ESCAPE}2J`;
const LEAVE = `${ESCAPE}?2004l${ESCAPE}?7h${ESCAPE}?25h${ESCAPE}?1049l`;
// Synchronized output: the terminal shows the frame at once.
const BEGIN_FRAME = `${ESCAPE}?2026h`;
const END_FRAME = `${ESCAPE}?2026l`;

/** Without more bytes in this time, an escape byte is the Escape key. */
const ESCAPE_MS = 60;

function openTerminal() {
  const { stdin, stdout } = process;
  let isOpen = true;
  let listener: OnKey | undefined;
  let resized: (() => void) | undefined;
  const onKeypress: OnKey = (text, key) => listener?.(text, key);
  const onResize = (): void => resized?.();
  /** The terminal is gone. */
  const onEnd = (): void => onKeypress(undefined, { name: "escape" });
  /** After a stop (Ctrl-Z) the shell has changed the terminal. */
  const onContinue = (): void => {
    stdin.setRawMode(true);
    stdout.write(ENTER);
    onResize();
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off("keypress", onKeypress);
    stdin.off("end", onEnd);
    stdout.off("resize", onResize);
    process.off("exit", close);
    process.off("SIGCONT", onContinue);
    for (const signal of EXIT_SIGNALS) process.off(signal, onSignal);
    // Synchronous: at exit, buffered output is lost.
    writeSync(stdout.fd, LEAVE);
    stdin.setRawMode(false);
    stdin.pause();
  };
  const onSignal = (signal: (typeof EXIT_SIGNALS)[number]): void => {
    close();
    process.exit(128 + constants.signals[signal]);
  };

  // Node reads only this member; a real readline interface would echo lines.
  emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on("keypress", onKeypress);
  stdin.on("end", onEnd);
  stdout.on("resize", onResize);
  process.on("exit", close);
  process.on("SIGCONT", onContinue);
  for (const signal of EXIT_SIGNALS) process.on(signal, onSignal);
  stdout.write(ENTER);
  return {
    size: (): Size => ({ columns: Math.max(20, stdout.columns), rows: Math.max(4, stdout.rows) }),
    draw({ lines, cursor }: Frame): void {
      if (!isOpen) return;
      // Erase first: after a full line the cursor is still on its last character.
      const body = lines.map((line) => `${ESCAPE}2K${line}`).join("\r\n");
      const place = `${ESCAPE}${cursor.row + 1};${cursor.column + 1}H`;
      stdout.write(`${BEGIN_FRAME}${ESCAPE}?25l${ESCAPE}H${body}${place}${ESCAPE}?25h${END_FRAME}`);
    },
    listen: (onKey: OnKey, whenResized: () => void): void => {
      listener = onKey;
      resized = whenResized;
    },
    [Symbol.dispose]: close,
  };
}

const EXIT_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

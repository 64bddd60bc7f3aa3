/**
 * `holdfast cc`: the session picker on a terminal, the list elsewhere. Sessions in the index appear at once; transcripts
 * are read in the background, and the list updates without moving the selection.
 */
import { basename } from "node:path";
import type { Key } from "node:readline";
import { errorMessage, ERROR_KINDS } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { RefreshProgress } from "../../claude/index/native-index.ts";
import { isFolder, withClaude, shortPath } from "../commands/cc/claude-side.ts";
import { type ListOptions, type ListQuery, assertFolder, listNative, toQuery } from "../commands/cc/list.ts";
import { style, print } from "../output.ts";
import { drawPicker, layoutOf } from "./draw-picker.ts";
import {
  type PickerChoice,
  type PickerItem,
  createPickerState,
  pressKey,
  withItems,
  withRows,
  createKeyReader,
} from "./picker-state.ts";
import type { Terminal } from "./terminal.ts";
import type { ClaudeSide, DiscoverChoice } from "../../compose/claude.ts";

export async function pickSession(options: ListOptions): Promise<void> {
  const isInteractive = process.stdin.isTTY && process.stdout.isTTY && options.json !== true;
  if (!isInteractive) return await listNative(options);
  const query = toQuery(options);
  await withClaude(options, async (side) => {
    const { openTerminal } = await import("./terminal.ts");
    if (query.repoPath !== undefined && !isFolder(query.repoPath)) await assertKnown(side, query.repoPath);
    const terminal = openTerminal();
    const picked = await runPicker(terminal, sourcesFor(side, query, options)).finally(() =>
      terminal[Symbol.dispose](),
    );
    if (picked.action === "leave") process.exitCode = ERROR_KINDS.interrupted.exitCode;
    else if (picked.action === "show-id") print(picked.session.sessionId);
    else {
      const { attachSession } = await import("../commands/cc/attach.ts");
      await attachSession(side, picked.session, { fork: picked.action === "fork" });
    }
  });
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

/** Limit for the first frame; the full list follows. */
const FIRST_PAGE = 200;

function toSource(side: ClaudeSide, repoPath: string | undefined, choice: ListQuery["choice"], skipIfEmpty: boolean) {
  const read = async (more: DiscoverChoice): Promise<PickerPage> => {
    const { sessions, repoPath: root } = await side.discover(repoPath, { ...choice, ...more });
    return { sessions, name: root === undefined ? "all repos" : shortPath(root) };
  };
  return {
    isAll: repoPath === undefined,
    /** If it has no sessions, show the next source. */
    skipIfEmpty,
    /** Sessions from the index. */
    known: async () => await read({ limit: Math.min(choice.limit ?? FIRST_PAGE, FIRST_PAGE), refresh: false }),
    /** Sessions after reading changed transcripts. */
    refreshed: async (onProgress: (text: string) => void) => {
      const show = ({ filesDone, filesTotal }: RefreshProgress): void =>
        onProgress(`Reading transcripts: ${filesDone} of ${filesTotal}`);
      return await read({ refresh: { onProgress: show } });
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

/** Shows the first source; Tab switches to the next. */
async function runPicker(terminal: Terminal, sources: readonly [PickerSource, ...PickerSource[]]): Promise<Picked> {
  const { promise: picked, resolve, reject } = Promise.withResolvers<Picked>();
  const readKey = createKeyReader();
  let [source] = sources;
  let name = "";
  let state = createPickerState([], layoutOf(terminal.size()).list.rows);
  let notice: string | undefined = "Looking for sessions …";
  let isOver = false;

  const draw = (): void => {
    if (isOver) return;
    const view = { state, scope: name, showRepo: source.isAll, notice, now: Date.now() };
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
    const known = await shown.known();
    if (!isShown()) return;
    notice = "Reading transcripts …";
    show(known);
    const fresh = await shown.refreshed((text) => {
      if (!isShown()) return;
      notice = text;
      draw();
    });
    if (!isShown()) return;
    if (fresh.sessions.length === 0 && shown.skipIfEmpty) return nextSource();
    notice = undefined;
    show(fresh);
  };
  const start = (): void => {
    load().catch((error: unknown) => {
      // Sessions on the screen can still be used.
      if (state.items.length === 0) reject(error);
      notice = errorMessage(error);
      draw();
    });
  };

  const onKey = (text: string | undefined, raw: Key): void => {
    const key = readKey(text, raw);
    if (key === undefined) return;
    const step = pressKey(state, key);
    ({ state } = step);
    if (step.choice === undefined) draw();
    else if (step.choice.action === "scope") nextSource();
    else resolve(step.choice);
  };
  const onResize = (): void => {
    state = withRows(state, layoutOf(terminal.size()).list.rows);
    draw();
  };
  // An error is thrown after the screen is closed, where the person can read it.
  terminal.onKey((text, raw) => guard(() => onKey(text, raw), reject));
  terminal.onResize(() => guard(onResize, reject));
  draw();
  start();
  try {
    return await picked;
  } finally {
    isOver = true;
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

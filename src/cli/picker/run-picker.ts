/**
 * Shows the picker until somebody chooses. What the index knows is painted at once; the transcripts are
 * read behind it, and the list changes under the hand without moving what is marked.
 */
import { basename } from "node:path";
import type { Key } from "node:readline";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { errorMessage } from "../../base/errors.ts";
import { style } from "../output.ts";
import { drawPicker, layoutOf } from "./draw-picker.ts";
import type { Paint } from "./paint.ts";
import { createKeyReader } from "./keys.ts";
import { type PickerItem, createPickerState, pressKey, withItems, withRows } from "./picker-state.ts";
import type { Terminal } from "./terminal.ts";

export interface PickerSource {
  isAll: boolean;
  /** True: where nothing is found, the next source is shown instead. */
  mayGiveWay: boolean;
  /** What is known at once. */
  known(): Promise<PickerPage>;
  /** The same after looking at the files; `onProgress` says what goes on. */
  refreshed(onProgress: (text: string) => void): Promise<PickerPage>;
}

export interface PickerPage {
  /** What the list is of: a repo or all of them. */
  name: string;
  sessions: readonly DiscoveredSession[];
}

export type Picked = { action: "resume" | "fork" | "show-id"; session: DiscoveredSession } | { action: "leave" };

/** The first source is shown first, Tab goes to the next. */
export async function runPicker(
  terminal: Terminal,
  sources: readonly [PickerSource, ...PickerSource[]],
): Promise<Picked> {
  const { promise: picked, resolve, reject } = Promise.withResolvers<Picked>();
  const readKey = createKeyReader();
  let [source] = sources;
  let name = "";
  let state = createPickerState([], layoutOf(terminal.size()).list.rows);
  let notice: string | undefined = "Looking for sessions …";
  let isOver = false;

  const draw = (): void => {
    if (isOver) return;
    const view = { state, scope: name, showRepo: source.isAll, now: Date.now() };
    terminal.draw(drawPicker(notice === undefined ? view : { ...view, notice }, terminal.size(), paint));
  };
  const show = (page: PickerPage): void => {
    ({ name } = page);
    state = withItems(state, page.sessions.map(toItem));
    draw();
  };
  const goOn = (): void => {
    source = sources[(sources.indexOf(source) + 1) % sources.length] ?? source;
    start();
  };
  const load = async (): Promise<void> => {
    const shown = source;
    const isShown = (): boolean => shown === source && !isOver;
    const known = await shown.known();
    if (!isShown()) return;
    notice = "Looking at the transcripts …";
    show(known);
    const fresh = await shown.refreshed((text) => {
      if (!isShown()) return;
      notice = text;
      draw();
    });
    if (!isShown()) return;
    if (fresh.sessions.length === 0 && shown.mayGiveWay) return goOn();
    notice = undefined;
    show(fresh);
  };
  const start = (): void => {
    load().catch((error: unknown) => {
      // What is on the screen can still be used; without anything there is nothing to wait for.
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
    else if (step.choice.action === "leave") resolve({ action: "leave" });
    else if (step.choice.action === "scope") goOn();
    else {
      const { action, id } = step.choice;
      const item = state.items.find((one) => one.id === id);
      if (item !== undefined) resolve({ action, session: item.session });
    }
  };
  const onResize = (): void => {
    state = withRows(state, layoutOf(terminal.size()).list.rows);
    draw();
  };
  // An error must reach the person, not the screen that is about to vanish.
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

const paint: Paint = (format, text) => style(format, text);

function toItem(session: DiscoveredSession): PickerItem {
  return { id: session.sessionId, search: searchText(session), session };
}

/** Everything a person may remember of a session. */
function searchText(session: DiscoveredSession): string {
  const { sessionId, title, label, firstMessage, lastPrompt, lastTask, prompts, branches, repoPath, agentId } = session;
  const texts = [title, label, firstMessage, lastPrompt, lastTask, ...prompts, ...branches];
  return [sessionId, ...texts, basename(repoPath), repoPath, agentId, session.isRunning ? "running" : ""]
    .filter((text) => text !== undefined)
    .join("\n")
    .toLowerCase();
}

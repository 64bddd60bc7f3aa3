/**
 * The windows of a session, brought into line with what its key points at. `sessions.json` decides
 * which window is current: OpenClaw may have moved the key, and a crash between the two files may
 * have left a window open that the key never came to. No session id is forgotten on the way.
 */
import { isDeepStrictEqual } from "node:util";
import type { SessionEntry } from "../session-entry.ts";
import type { Window } from "../store.ts";
import { type WindowMove, openedWindow, transcriptName } from "../window-moves.ts";
import { type EntryMap, changedAt } from "./entry-map.ts";
import type { Sidecar } from "./sidecar.ts";

/** Oldest first, the current one last. The very array of the sidecar when there is nothing to mend. */
export function windowsOf(key: string, entries: EntryMap, sidecar: Sidecar): readonly Window[] {
  const known = sidecar.windows[key] ?? [];
  const current = entries.current(key);
  const older = entries.older(key);
  if (current !== undefined && older.length === 0 && isInLine(known, current)) return known;
  const windows = [...closedWindows(key, known, current, older), ...currentWindow(key, known, current)];
  return isDeepStrictEqual(windows, known) ? known : windows;
}

/** The windows after an update has moved the key; the very same array when it stayed where it was. */
export function moveWindows(move: WindowMove, windows: readonly Window[]): readonly Window[] {
  const isNext = (window: Window): boolean => window.sessionId === move.to;
  const closed = windows
    .filter((window) => !isNext(window))
    .map((window) => leaveWindow(closeWindow(window, move.now), move));
  const moved = [...closed, openedWindow(move, windows.find(isNext))];
  return isDeepStrictEqual(moved, windows) ? windows : moved;
}

function isInLine(known: readonly Window[], current: SessionEntry): boolean {
  const last = known.at(-1);
  if (last?.sessionId !== current.sessionId || last.closedAt !== undefined) return false;
  const transcript = transcriptName(current);
  if (transcript !== undefined && transcript !== last.transcript) return false;
  return known.every((window) => window === last || window.closedAt !== undefined);
}

function closedWindows(
  key: string,
  known: readonly Window[],
  current: SessionEntry | undefined,
  older: readonly SessionEntry[],
): Window[] {
  const closed = known.filter((window) => window.sessionId !== current?.sessionId);
  const ids = new Set([current?.sessionId, ...closed.map((window) => window.sessionId)]);
  for (const entry of older) {
    if (ids.has(entry.sessionId)) continue;
    ids.add(entry.sessionId);
    closed.push(seenWindow(key, entry, "initial"));
  }
  return closed
    .map((window) => closeWindow(window, current === undefined ? window.openedAt : changedAt(current)))
    .toSorted((a, b) => a.openedAt - b.openedAt);
}

function currentWindow(key: string, known: readonly Window[], current: SessionEntry | undefined): Window[] {
  if (current === undefined) return [];
  const same = known.find((window) => window.sessionId === current.sessionId);
  if (same === undefined) return [seenWindow(key, current, known.length === 0 ? "initial" : "switch")];
  const { closedAt: _closedAt, ...open } = same;
  const transcript = transcriptName(current);
  return [transcript === undefined ? open : { ...open, transcript }];
}

/** A window that another program opened, known only by the entry that it left. */
function seenWindow(key: string, entry: SessionEntry, reason: "initial" | "switch"): Window {
  const transcript = transcriptName(entry);
  const named = transcript === undefined ? {} : { transcript };
  return { key, sessionId: entry.sessionId, openedAt: changedAt(entry), reason, ...named };
}

function leaveWindow(window: Window, { from, leaving }: WindowMove): Window {
  return window.sessionId === from && leaving !== undefined ? { ...window, state: leaving } : window;
}

function closeWindow(window: Window, at: number): Window {
  return window.closedAt === undefined ? { ...window, closedAt: Math.max(window.openedAt, at) } : window;
}

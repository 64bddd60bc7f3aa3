/**
 * Both files of a `json` store as one state, and the commit to the next state. A window is written to the sidecar
 * before the key points to it, and removed only after the key is gone, so a crash leaves too many windows, never too
 * few. `sessions.json` decides which window is current: OpenClaw may have moved the key.
 */
import { isDeepStrictEqual } from "node:util";
import { faultPoint } from "../../base/faults.ts";
import type { SessionEntry } from "../session-entry.ts";
import { type KeyOwner, type WindowMove, openedWindow, ownKeyOrUndefined, transcriptName } from "../store-rules.ts";
import type { Window } from "../store.ts";
import { type EntryMap, changedAt, createEntryMap } from "./entry-map.ts";
import { type JsonDocument, readDocument, writeDocument } from "./json-document.ts";
import { sessionsFileLost } from "./session-store-file.ts";
import {
  type Sidecar,
  copySidecar,
  emptySidecar,
  parseSidecar,
  sameMembers,
  sameSidecar,
  sidecarPath,
  sidecarToJson,
} from "./sidecar.ts";

/** Shared between readers; do not change it. */
export interface StoreState {
  readonly entries: EntryMap;
  readonly sidecar: Sidecar;
}

/** The next state. A change that throws must not have changed it. */
export interface StoreDraft {
  readonly before: StoreState;
  readonly entries: EntryMap;
  readonly sidecar: Sidecar;
  /** Windows of deleted sessions. */
  readonly removedWindows: Window[];
}

export function openStateFiles(sessionsFile: string, owner: KeyOwner) {
  const sidecarFile = sidecarPath(sessionsFile);
  let entriesRead: { value: object; entries: EntryMap } | undefined;
  let sidecarRead: { value: object | undefined; sidecar: Sidecar } | undefined;

  const entriesOf = ({ value }: JsonDocument): EntryMap => {
    if (entriesRead === undefined || entriesRead.value !== value) {
      entriesRead = { value, entries: createEntryMap(value, owner) };
    }
    return entriesRead.entries;
  };
  const sidecarOf = (document: JsonDocument | undefined): Sidecar => {
    const value = document?.value;
    if (sidecarRead === undefined || sidecarRead.value !== value) {
      sidecarRead = { value, sidecar: value === undefined ? emptySidecar() : parseSidecar(sidecarFile, value) };
    }
    return sidecarRead.sidecar;
  };
  const writeSidecar = async (sidecar: Sidecar): Promise<void> => {
    const value = sidecarToJson(sidecar);
    await writeDocument(sidecarFile, value);
    sidecarRead = { value, sidecar };
    faultPoint("json.sidecar.written");
  };
  const writeEntries = async (entries: EntryMap): Promise<void> => {
    await writeDocument(sessionsFile, entries.sessions);
    entriesRead = { value: entries.sessions, entries };
    faultPoint("json.written");
  };

  return {
    read(options: { fresh?: boolean | undefined } = {}): StoreState {
      // In the opposite order of the writes, so that a referenced window is always found.
      const document = readDocument(sessionsFile, options);
      if (document === undefined) throw sessionsFileLost(sessionsFile, "this store, which was open,");
      const entries = entriesOf(document);
      return { entries, sidecar: sidecarOf(readDocument(sidecarFile, options)) };
    },
    /** Writes the draft durably. The caller holds the lock. */
    async commit({ before, entries, sidecar, removedWindows }: StoreDraft): Promise<StoreState> {
      recordWindows(entries, sidecar, owner);
      const first = removedWindows.length === 0 ? sidecar : withWindows(sidecar, removedWindows, before.sidecar);
      if (!sameSidecar(before.sidecar, first)) await writeSidecar(first);
      if (!sameMembers(before.entries.sessions, entries.sessions)) {
        await writeEntries(entries).catch(async (error: unknown) => {
          // Undo the first write. If this fails too, the next commit repairs it.
          await writeSidecar(before.sidecar).catch(() => undefined);
          throw error;
        });
      }
      if (first !== sidecar) await writeSidecar(sidecar);
      return { entries, sidecar };
    },
  };
}

export function createDraft(before: StoreState): StoreDraft {
  return { before, entries: before.entries.fork(), sidecar: copySidecar(before.sidecar), removedWindows: [] };
}

/** Adds windows to the sidecar that only `sessions.json` knows. */
function recordWindows(entries: EntryMap, sidecar: Sidecar, owner: KeyOwner): void {
  for (const key of keysWithWindows(entries, sidecar, owner)) {
    const windows = windowsOf(key, entries, sidecar);
    if (windows.length > 0) sidecar.windows[key] = windows;
    else delete sidecar.windows[key];
  }
}

/** True if `sessions.json` has windows that are not recorded yet. */
export function hasUnrecordedWindows({ entries, sidecar }: StoreState, owner: KeyOwner): boolean {
  return [...keysWithWindows(entries, sidecar, owner)].some(
    (key) => windowsOf(key, entries, sidecar) !== sidecar.windows[key],
  );
}

export function keysWithWindows(entries: EntryMap, sidecar: Sidecar, owner: KeyOwner): Set<string> {
  return new Set([...entries.keys(), ...Object.keys(sidecar.windows).filter((key) => isOwnKey(key, owner))]);
}

/** Keys in the sidecar are canonical already. */
export function isOwnKey(key: string, owner: KeyOwner): boolean {
  return ownKeyOrUndefined(key, owner) === key;
}

/** The sidecar with the windows of deleted sessions that are still in `sessions.json`. */
function withWindows(sidecar: Sidecar, removed: readonly Window[], before: Sidecar): Sidecar {
  const copy = copySidecar(sidecar);
  for (const [key, windows] of Map.groupBy(removed, (window) => window.key)) {
    const ids = new Set(windows.map(({ sessionId }) => sessionId));
    const since = (sidecar.windows[key] ?? []).filter(({ sessionId }) => !ids.has(sessionId));
    const all = [...windows, ...since];
    const known = before.windows[key];
    copy.windows[key] = known !== undefined && isDeepStrictEqual(all, known) ? known : all;
  }
  return copy;
}

/** Oldest first, the current one last. The same array as in the sidecar if nothing needs repair. */
export function windowsOf(key: string, entries: EntryMap, sidecar: Sidecar): readonly Window[] {
  const known = sidecar.windows[key] ?? [];
  const current = entries.current(key);
  const older = entries.older(key);
  if (current !== undefined && older.length === 0 && isInLine(known, current)) return known;
  const windows = [...closedWindows(key, known, current, older), ...currentWindow(key, known, current)];
  return isDeepStrictEqual(windows, known) ? known : windows;
}

/** The windows after an update. The same array if nothing changed. */
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

/** A window that another program opened, known only by its entry. */
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

/**
 * Both files of a `json` store as one state, and the commit that moves them to the next. Order of
 * the writes: a window is in the sidecar before the key points at it, and leaves the sidecar only
 * after the key is gone. A crash in between therefore leaves more windows than needed, never fewer.
 */
import { isDeepStrictEqual } from "node:util";
import { faultPoint } from "../../base/faults.ts";
import type { Window } from "../store.ts";
import { type KeyOwner, ownSessionKey } from "../store-key.ts";
import { type EntryMap, createEntryMap } from "./entry-map.ts";
import { type JsonDocument, readDocument, writeDocument } from "./json-document.ts";
import { windowsOf } from "./session-windows.ts";
import { sessionsFileLost } from "./sessions-file.ts";
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

/** What was read; shared between readers, not to be changed. */
export interface StoreState {
  readonly entries: EntryMap;
  readonly sidecar: Sidecar;
}

/** A state that changes are made to. A change that throws must not have changed anything. */
export interface StoreDraft {
  readonly before: StoreState;
  readonly entries: EntryMap;
  readonly sidecar: Sidecar;
  /** Windows of deleted sessions. */
  readonly removedWindows: Window[];
}

export interface StateFiles {
  read(options?: { fresh?: boolean }): StoreState;
  /** Makes the draft durable. The caller holds the lock. */
  commit(draft: StoreDraft): Promise<StoreState>;
  owns(key: string): boolean;
}

export function openStateFiles(sessionsFile: string, owner: KeyOwner): StateFiles {
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
    read(options = {}) {
      // In the order opposite to the writes, so that a window that is pointed at is always found.
      const document = readDocument(sessionsFile, options);
      if (document === undefined) throw sessionsFileLost(sessionsFile, "this store, which was open,");
      const entries = entriesOf(document);
      return { entries, sidecar: sidecarOf(readDocument(sidecarFile, options)) };
    },
    async commit({ before, entries, sidecar, removedWindows }) {
      recordWindows(entries, sidecar, owner);
      const first = removedWindows.length === 0 ? sidecar : withWindows(sidecar, removedWindows, before.sidecar);
      if (!sameSidecar(before.sidecar, first)) await writeSidecar(first);
      if (!sameMembers(before.entries.sessions, entries.sessions)) {
        await writeEntries(entries).catch(async (error: unknown) => {
          // What was refused must not have happened; if this fails too, the next commit mends it.
          await writeSidecar(before.sidecar).catch(() => undefined);
          throw error;
        });
      }
      if (first !== sidecar) await writeSidecar(sidecar);
      return { entries, sidecar };
    },
    owns: (key) => isOwnKey(key, owner),
  };
}

export function createDraft(before: StoreState): StoreDraft {
  return { before, entries: before.entries.fork(), sidecar: copySidecar(before.sidecar), removedWindows: [] };
}

/** Puts every window into the sidecar that only `sessions.json` tells of. */
function recordWindows(entries: EntryMap, sidecar: Sidecar, owner: KeyOwner): void {
  for (const key of keysWithWindows(entries, sidecar, owner)) {
    const windows = windowsOf(key, entries, sidecar);
    if (windows.length > 0) sidecar.windows[key] = windows;
    else delete sidecar.windows[key];
  }
}

/** Whether `sessions.json` tells of windows that are not recorded yet. */
export function hasUnrecordedWindows({ entries, sidecar }: StoreState, owner: KeyOwner): boolean {
  return [...keysWithWindows(entries, sidecar, owner)].some(
    (key) => windowsOf(key, entries, sidecar) !== sidecar.windows[key],
  );
}

export function keysWithWindows(entries: EntryMap, sidecar: Sidecar, owner: KeyOwner): Set<string> {
  return new Set([...entries.keys(), ...Object.keys(sidecar.windows).filter((key) => isOwnKey(key, owner))]);
}

/** Keys in the sidecar are canonical already. */
function isOwnKey(key: string, owner: KeyOwner): boolean {
  try {
    return ownSessionKey(key, owner) === key;
  } catch {
    return false;
  }
}

/** The sidecar while the sessions of these windows are still in `sessions.json`. */
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

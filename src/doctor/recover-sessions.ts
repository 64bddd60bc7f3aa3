/**
 * Rebuilds the sessions of a lost store from entries and windows in `sessions.json` and the damaged files, and from the
 * transcripts, which name their sessions. If two sources differ, the newer one counts; no window is dropped.
 */
import { join } from "node:path";
import { entryForNewWindow } from "../session/entry.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { SalvagedParts, SalvagedSession } from "../store/store-repair.ts";
import { type TranscriptSummary, entryFile, windowFile } from "./session-files.ts";
import { type KeyOwner, ownKeyOrUndefined } from "../store/store-rules.ts";

export interface Remains {
  owner: KeyOwner;
  sessionsFolder: string;
  /** Entries of `sessions.json` by canonical key. */
  listed: ReadonlyMap<string, readonly SessionEntry[]>;
  salvaged: SalvagedParts;
  transcripts: readonly TranscriptSummary[];
  /** Archived transcripts that belong to no archived session. */
  archived: readonly TranscriptSummary[];
}

interface Draft {
  key: string;
  entries: SessionEntry[];
  /** By session id. */
  windows: Map<string, Window>;
  /** Time of the last entry, by session id. */
  lastAt: Map<string, number>;
  epoch: number;
}

export function recoverSessions(remains: Remains): SalvagedSession[] {
  const drafts = collectKnown(remains);
  addTranscripts(drafts, remains);
  const sessions = [...drafts.values()].flatMap((draft) => finish(draft, remains.sessionsFolder));
  return withUniqueLabels(sessions);
}

type Drafts = Map<string, Draft>;

function draftOf(drafts: Drafts, key: string): Draft {
  const draft = drafts.get(key) ?? { key, entries: [], windows: new Map(), lastAt: new Map(), epoch: 0 };
  drafts.set(key, draft);
  return draft;
}

function collectKnown({ owner, listed, salvaged }: Remains): Drafts {
  const drafts: Drafts = new Map();
  for (const [key, entries] of listed) draftOf(drafts, key).entries.push(...entries);
  for (const [key, entry] of salvaged.entries) {
    if (ownKeyOrUndefined(key, owner) === key) draftOf(drafts, key).entries.push(entry);
  }
  for (const window of salvaged.windows) {
    if (ownKeyOrUndefined(window.key, owner) !== window.key) continue;
    draftOf(drafts, window.key).windows.set(window.sessionId, window);
  }
  for (const [key, epoch] of salvaged.epochs) {
    const draft = drafts.get(key);
    if (draft !== undefined) draft.epoch = epoch;
  }
  return drafts;
}

function addTranscripts(drafts: Drafts, { owner, transcripts, archived }: Remains): void {
  const named = namedFiles(drafts);
  for (const summary of transcripts) {
    const key = named.get(summary.name) ?? markedKey(summary, owner) ?? freshKey(summary, owner, drafts);
    if (key !== undefined) addWindow(draftOf(drafts, key), summary, {});
  }
  for (const summary of archived) {
    const key = named.get(summary.name) ?? markedKey(summary, owner);
    const draft = key === undefined ? undefined : drafts.get(key);
    // Without a session the archive check finds it later.
    if (draft !== undefined) addWindow(draft, summary, { archive: summary.name });
  }
}

function namedFiles(drafts: Drafts): Map<string, string> {
  const named = new Map<string, string>();
  for (const { key, entries, windows } of drafts.values()) {
    const files = [...entries.map(entryFile), ...[...windows.values()].map(windowFile)];
    for (const file of files) if (file !== undefined) named.set(file, key);
  }
  return named;
}

/** The key in the transcript, if it belongs to this agent. */
export function markedKey({ mark }: TranscriptSummary, owner: KeyOwner): string | undefined {
  return mark === undefined ? undefined : ownKeyOrUndefined(mark.key, owner);
}

/** A new session for a transcript whose session is unknown; not needed if it has no messages. */
function freshKey({ hasMessages, sessionId }: TranscriptSummary, owner: KeyOwner, drafts: Drafts): string | undefined {
  return hasMessages ? recoveredKey(sessionId, owner, (key) => drafts.has(key)) : undefined;
}

export function recoveredKey(
  sessionId: string,
  owner: KeyOwner,
  isTaken: (key: string) => boolean,
): string | undefined {
  const prefix = `agent:${owner.agentId}:recovered:`;
  const short = ownKeyOrUndefined(`${prefix}${sessionId.slice(0, 8)}`, owner);
  return short === undefined || isTaken(short) ? ownKeyOrUndefined(`${prefix}${sessionId}`, owner) : short;
}

function addWindow(draft: Draft, summary: TranscriptSummary, place: Pick<Window, "archive">): void {
  const { name, sessionId, mark, openedAt, lastAt, epoch } = summary;
  const reason = mark?.reason ?? "restore";
  const known = draft.windows.get(sessionId) ?? { key: draft.key, sessionId, openedAt, reason };
  draft.windows.set(sessionId, { ...known, transcript: name, ...place });
  draft.lastAt.set(sessionId, Math.max(lastAt, draft.lastAt.get(sessionId) ?? 0));
  draft.epoch = Math.max(draft.epoch, epoch);
}

function finish(draft: Draft, sessionsFolder: string): SalvagedSession[] {
  for (const entry of draft.entries) {
    if (!draft.windows.has(entry.sessionId)) draft.windows.set(entry.sessionId, windowOfEntry(draft.key, entry));
  }
  const entry = currentEntry(draft, sessionsFolder);
  if (entry === undefined) return [];
  const inOrder = [...draft.windows.values()].toSorted((a, b) => a.openedAt - b.openedAt);
  const closed = inOrder.flatMap((window, index) =>
    window.sessionId === entry.sessionId ? [] : [closeWindow(window, inOrder[index + 1], draft.lastAt)],
  );
  const current = inOrder.filter(({ sessionId }) => sessionId === entry.sessionId).map(asCurrent);
  return [{ key: draft.key, entry, windows: [...closed, ...current], epoch: draft.epoch }];
}

/** Without a known end, a window was open until the next one. */
function closeWindow(window: Window, next: Window | undefined, lastAt: ReadonlyMap<string, number>): Window {
  const closedAt = Math.max(window.openedAt, lastAt.get(window.sessionId) ?? 0, next?.openedAt ?? 0);
  return { closedAt, ...window };
}

function asCurrent({ closedAt: _closedAt, archive: _archive, ...window }: Window): Window {
  return window;
}

/** A window that is known only from an entry: another tool made it, or its transcript is gone. */
function windowOfEntry(key: string, entry: SessionEntry): Window {
  const { sessionId, updatedAt: openedAt } = entry;
  const transcript = entry.sessionFile === undefined ? undefined : entryFile(entry);
  return { key, sessionId, openedAt, reason: "restore", transcript };
}

/** The newest entry, unless a window was opened after it was written. */
function currentEntry({ entries, windows, lastAt }: Draft, sessionsFolder: string): SessionEntry | undefined {
  const known = entries.toSorted((a, b) => b.updatedAt - a.updatedAt)[0];
  const inUse = [...windows.values()].filter(({ archive }) => archive === undefined);
  const newest = inUse.toSorted((a, b) => b.openedAt - a.openedAt)[0];
  const seenAt = (sessionId: string): number => lastAt.get(sessionId) ?? 0;
  const isKnown = known !== undefined && (newest === undefined || newest.openedAt <= known.updatedAt);
  if (isKnown) return { ...known, updatedAt: Math.max(known.updatedAt, seenAt(known.sessionId)) };
  const file = newest === undefined ? undefined : windowFile(newest);
  if (newest === undefined || file === undefined) return known && { ...known };
  const now = Math.max(newest.openedAt, seenAt(newest.sessionId));
  return entryForNewWindow(known, { sessionId: newest.sessionId, sessionFile: join(sessionsFolder, file), now });
}

/** A label is unique: the session used last keeps it. */
function withUniqueLabels(sessions: readonly SalvagedSession[]): SalvagedSession[] {
  const newestFirst = sessions.toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt);
  const taken = new Set<string>();
  for (const { entry } of newestFirst) {
    if (entry.label === undefined) continue;
    if (taken.has(entry.label)) delete entry.label;
    else taken.add(entry.label);
  }
  return newestFirst;
}

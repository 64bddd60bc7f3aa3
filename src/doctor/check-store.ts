/** Checks of an agent's store and of its view, `sessions.json`, and the recovery of a lost store. */
import { join } from "node:path";
import { setAside } from "../base/files.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { readManifests } from "../session/archive.ts";
import type { SalvagedSession, SalvagedParts } from "../store/store-repair.ts";
import type { AgentScope, Diagnosis } from "./finding.ts";
import { inParallel } from "../base/async.ts";
import { ownKeyOrUndefined, type KeyOwner } from "../store/store-rules.ts";
import {
  type TranscriptSummary,
  entriesByKey,
  isEntry,
  readSessionsFile,
  summarizeTranscript,
  windowFile,
  entryFile,
} from "./session-files.ts";
import { entryForNewWindow } from "../session/entry.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import { createDocumentFiles } from "../store/document-files.ts";
import { listTranscriptFiles } from "../transcript/paths.ts";

/** A damaged or lost store is rebuilt from `sessions.json` and the transcripts. */
export async function* checkStore(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const { repair: store } = scope;
  const damage = await store.diagnose();
  if (damage === undefined) return;
  const diagnosis = { severity: "error", message: withHint(damage.message, damage.hint), path: store.path } as const;
  const fix = "set the damaged files aside and rebuild the store from sessions.json and the transcripts";
  const repair = async (): Promise<void> => void (await store.rebuild(await recover(scope)));
  yield damage.canRebuild ? { ...diagnosis, fix, repair } : diagnosis;
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}. ${hint}`;
}

async function recover({ layout, repair, agentId, mainKey }: AgentScope): Promise<SalvagedSession[]> {
  const owner = { agentId, mainKey };
  const { records } = await readManifests(createDocumentFiles(layout.archiveFolder));
  const ofArchivedSessions = new Set(records.flatMap(({ windows }) => windows.map(windowFile)));
  // Transcripts of archived sessions are not recovered, wherever an interrupted move has left them.
  const summarize = async (folder: string): Promise<TranscriptSummary[]> => {
    const names = (await listTranscriptFiles(folder)).filter((name) => !ofArchivedSessions.has(name));
    return await inParallel(names, async (name) => await summarizeTranscript(join(folder, name)));
  };
  return recoverSessions({
    owner,
    sessionsFolder: layout.sessionsFolder,
    listed: entriesByKey(await readSessionsFile(layout.sessionsFile), owner),
    salvaged: await repair.salvage(),
    transcripts: await summarize(layout.sessionsFolder),
    archived: await summarize(layout.archiveFolder),
  });
}

/** Entries in `sessions.json` that Holdfast ignores: other agents' keys, invalid values and double spellings. */
export async function* checkKeys(scope: AgentScope): AsyncGenerator<Diagnosis> {
  const path = scope.layout.sessionsFile;
  const file = await readSessionsFile(path);
  if (file.state !== "read") return;
  for (const [key, value] of Object.entries(file.sessions)) {
    const own = ownKeyOrUndefined(key, scope);
    if (own === undefined) {
      const message = "Not a session of this agent; it is kept but not shown. Move it to the agent it belongs to";
      yield { severity: "warning", message, key, path };
    } else if (!isEntry(value)) {
      const message = "The value of this key is not a session entry; it is kept but not shown. Correct or remove it";
      yield { severity: "warning", message, key, path };
    } else if (own !== key) {
      yield { severity: "info", message: `Another spelling of ${own}: both are one session`, key, path };
    }
  }
}

/** Whether `sessions.json` shows what the `sqlite` store holds. Other tools read it; Holdfast never does. */
export async function* checkView({ layout, repair: store }: AgentScope, agent: AgentHandle): AsyncGenerator<Diagnosis> {
  const path = layout.sessionsFile;
  const rewriteView = store.rewriteView?.bind(store);
  if (rewriteView === undefined) return;
  const message = await viewProblem(path, agent);
  if (message === undefined) return;
  yield {
    severity: "warning",
    message,
    path,
    fix: "write it again",
    repair: async () => {
      await keepForeignContent(path, agent);
      await rewriteView();
      if ((await viewProblem(path, agent)) === undefined) return;
      // The store has written the current view already, so another program wrote this file.
      await setAside(path, "replaced", agent.clock.now());
      await rewriteView();
    },
  };
}

/** Sets the view aside if it is damaged or has sessions that the store does not have. */
async function keepForeignContent(path: string, { store, clock }: AgentHandle): Promise<void> {
  const view = await readSessionsFile(path);
  if (view.state === "unreadable") await setAside(path, "corrupt", clock.now());
  if (view.state !== "read") return;
  const { sessions } = await store.list({ fields: [] });
  const known = new Set(sessions.map(({ key }) => key));
  if (Object.keys(view.sessions).some((key) => !known.has(key))) await setAside(path, "replaced", clock.now());
}

/** A running process writes the view a little later than the store. */
const GRACE_MS = 10_000;

async function viewProblem(path: string, { store, clock }: AgentHandle): Promise<string | undefined> {
  const { sessions } = await store.list({ fields: [] });
  const view = await readSessionsFile(path);
  if (view.state === "missing") return sessions.length === 0 ? undefined : "The view for other tools is missing";
  if (view.state === "unreadable") return `The view for other tools cannot be read: ${view.reason}`;
  const isCurrent =
    Object.keys(view.sessions).length === sessions.length &&
    sessions.every(({ key, entry }) => {
      const shown = view.sessions[key];
      return isEntry(shown) && shown.sessionId === entry.sessionId && shown.updatedAt === entry.updatedAt;
    });
  const changedAt = Math.max(0, ...sessions.map(({ entry }) => entry.updatedAt));
  if (isCurrent || Math.abs(clock.now() - changedAt) < GRACE_MS) return undefined;
  return "The view for other tools is out of date";
}

/**
 * Rebuilds the sessions of a lost store from entries and windows in `sessions.json` and the damaged files, and from the
 * transcripts, which name their sessions. If two sources differ, the newer one counts; no window is dropped.
 */
interface Remains {
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

function recoverSessions(remains: Remains): SalvagedSession[] {
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

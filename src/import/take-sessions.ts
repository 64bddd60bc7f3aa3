/**
 * Puts found sessions into an agent's home. Order of the writes: transcripts, closed windows, entry. So after a crash no
 * session is without its windows, and the next import finishes it. Nothing here is overwritten:
 * - A session that already exists keeps its entry and its current window; imported windows become older ones.
 * - A session that was archived or deleted here stays so.
 */
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { readFileIfPresent, readFolderIfPresent } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type AgentHandle, locateWindowTranscript } from "../session/agent-handle.ts";
import { readManifests, writeManifest } from "../session/archive.ts";
import { withSessionLease } from "../session/lease.ts";
import { type SessionEntry, WINDOW_STATE_FIELDS, windowStateOf } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import { type KeyOwner, ownKeyOrUndefined } from "../store/store-rules.ts";
import type { ImportItem } from "./report.ts";
import {
  type FoundTranscript,
  type ImportedWindow,
  type KnownEntries,
  addKnown,
  countMessages,
  lineMarks,
  stringOf,
  timeOf,
  toLines,
  toWindows,
} from "./transcripts.ts";

export interface FoundSession {
  key: string;
  /** As OpenClaw stored it. */
  entry: JsonRecord;
  /** A transcript comes before those that repeat its entries. */
  transcripts: FoundTranscript[];
  /** For a session that was archived or deleted in OpenClaw. */
  archived?: { at: number; reason: string } | undefined;
  /** Where it was found. */
  path: string;
  /** A remark for the report. Optional. */
  note?: string | undefined;
}

export interface TakerOptions {
  /** Undefined in a dry run, if the agent has no store yet. */
  agent: AgentHandle | undefined;
  owner: KeyOwner;
  dryRun: boolean;
  add: (item: ImportItem) => void;
}

/** A session of the home. */
interface KeyState {
  /** Undefined if it does not exist yet. */
  sessionId: string | undefined;
  known: KnownEntries;
  /** Entries and windows that this run has counted. */
  counted: Set<string>;
  isReported: boolean;
}

export type SessionTaker = Awaited<ReturnType<typeof createSessionTaker>>;

export async function createSessionTaker({ agent, owner, dryRun, add }: TakerOptions) {
  const { agentId } = owner;
  const states = new Map<string, KeyState>();
  const windows = (await agent?.store.findWindows("", Number.MAX_SAFE_INTEGER)) ?? [];
  const keys = new Map(windows.map(({ sessionId, key }) => [sessionId, key]));
  const used = new Set(keys.keys());
  const manifests = agent === undefined ? [] : (await readManifests(agent.store.transcripts.manifests)).records;
  const archived = new Set(manifests.flatMap((record) => record.windows.map(({ sessionId }) => sessionId)));
  const filesOf = createFileFinder();

  const stateOf = async (key: string): Promise<KeyState> => {
    const known: KnownEntries = new Map();
    const state = states.get(key) ?? { sessionId: undefined, known, counted: new Set(), isReported: false };
    if (agent === undefined || states.has(key)) return state;
    state.sessionId = (await agent.store.get(key))?.sessionId;
    for (const window of await agent.store.windows(key)) {
      const path = await locateWindowTranscript(agent, window);
      const place = { sessionId: window.sessionId, fileName: basename(path) };
      for (const file of await filesOf(path)) {
        const text = (await readFileIfPresent(file))?.toString("utf8") ?? "";
        addKnown(known, toLines(text), place);
      }
    }
    return state;
  };

  const take = async (key: string, found: FoundSession): Promise<void> => {
    const state = await stateOf(key);
    states.set(key, state);
    const kind = found.archived === undefined ? "session" : "archived session";
    const item = { kind, agentId, name: key, label: stringOf(found.entry["label"]) } as const;
    const ids = found.transcripts.map(({ sessionId }) => sessionId);
    const isLive = found.archived === undefined;
    if (isLive && state.sessionId === undefined && ids.some((id) => archived.has(id))) {
      return add({ ...item, outcome: "here", reason: "archived or deleted here" });
    }
    if (isLive) for (const id of ids) if (!keys.has(id)) keys.set(id, key);
    const taking = await convert(found, key, state, used);
    const { figures, currentId } = taking;
    const isKnown = taking.windows.length === 0 && (state.sessionId !== undefined || !isLive);
    if (isKnown || (!isLive && taking.windows.some(({ sessionId }) => archived.has(sessionId)))) {
      const here = { windows: { ...figures.windows, taken: 0 }, messages: { ...figures.messages, taken: 0 } };
      const repeated = { kind: "file" as const, name: found.path, reason: `its messages are in ${key}` };
      add({ ...item, ...(isLive && state.isReported ? repeated : {}), outcome: "here", ...here });
    } else {
      const isOlder = isLive && state.sessionId !== undefined;
      const notes = [isOlder && !state.isReported ? KEPT : undefined, found.note];
      if (!dryRun && agent !== undefined) notes.push(...(await write(agent, key, found, taking)));
      const reason = notes.filter((note) => note !== undefined).join("; ") || undefined;
      add({ ...item, outcome: "taken", reason, ...figures });
      for (const { sessionId } of taking.windows) (isLive ? used : archived).add(sessionId);
    }
    if (!isLive) return;
    state.isReported = true;
    state.sessionId ??= currentId;
    used.add(currentId);
  };

  return {
    /** The session that has this window, in the home or in this import. */
    keyOf: (sessionId: string): string | undefined => keys.get(sessionId),
    skip: (path: string, reason: string): void => add({ kind: "file", name: path, agentId, outcome: "left", reason }),
    take: async (found: FoundSession): Promise<void> => {
      const key = ownKeyOrUndefined(found.key, owner);
      const left = { kind: "session" as const, agentId, name: found.key, outcome: "left" as const };
      if (key === undefined) return add({ ...left, reason: `not a session of the agent ${agentId}` });
      try {
        await take(key, found);
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        add({ ...left, name: key, reason: error.message, isProblem: true });
      }
    },
  };
}

const KEPT = "a session with this key was already here and keeps its settings; the imported windows were added to it";

/** A transcript with the originals that a compaction, a migration or a repair kept: their entries were taken too. */
function createFileFinder(): (path: string) => Promise<string[]> {
  const listings = new Map<string, string[]>();
  return async (path) => {
    const folder = dirname(path);
    const names = listings.get(folder) ?? (await readFolderIfPresent(folder)).map(({ name }) => name);
    listings.set(folder, names);
    const kept = names.filter(
      (name) => name.startsWith(`${basename(path)}.`) && /\.(?:bak\.|damaged-|torn-)/.test(name),
    );
    return [path, ...kept.map((name) => join(folder, name))];
  };
}

interface Taking {
  /** With the entries that are not here yet. */
  windows: ImportedWindow[];
  /** The session id to continue with. */
  currentId: string;
  figures: Record<"windows" | "messages", { found: number; taken: number }>;
}

async function convert(
  { entry, transcripts }: FoundSession,
  key: string,
  { sessionId, known, counted }: KeyState,
  used: ReadonlySet<string>,
): Promise<Taking> {
  const windows: ImportedWindow[] = [];
  const isNew = (name: string): boolean => !counted.has(name) && counted.add(name).size > 0;
  const found = { windows: 0, messages: 0 };
  let currentId = stringOf(entry["sessionId"]);
  for (const transcript of transcripts) {
    const content = await transcript.read();
    const isTaken = (id: string): boolean => used.has(id) || windows.some((window) => window.sessionId === id);
    const added = toWindows(transcript, { ...content, key, known, isTaken });
    windows.push(...added);
    found.messages += countMessages(content.lines.filter((line) => lineMarks([line]).some(isNew)));
    const places = lineMarks(content.lines).map((mark) => known.get(mark)?.sessionId ?? "");
    found.windows += [...new Set(places)].filter((place) => isNew(`window ${place}`)).length;
    const current = added.find(({ isCurrent }) => isCurrent)?.sessionId ?? places.at(-1);
    if (transcript.isCurrent) currentId = current ?? currentId;
  }
  currentId ??= transcripts[0]?.sessionId ?? key;
  const isEmpty = sessionId === undefined && !windows.some((window) => window.sessionId === currentId);
  if (sessionId === undefined && isNew(`window ${currentId}`)) found.windows++;
  const messages = windows.reduce((sum, window) => sum + window.messages, 0);
  const figures = {
    windows: { found: found.windows, taken: windows.length + Number(isEmpty) },
    messages: { found: found.messages, taken: messages },
  };
  return { windows, currentId, figures };
}

/** Resolves to remarks for the report. */
async function write(agent: AgentHandle, key: string, found: FoundSession, taking: Taking): Promise<string[]> {
  const { windows, currentId } = taking;
  const { store } = agent;
  const { archived } = found;
  for (const { fileName, content } of windows) {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    await store.transcripts.put(fileName, bytes, archived === undefined ? "sessions" : "archive");
  }
  const current = windows.find(({ sessionId }) => sessionId === currentId);
  const sessionFile = current && (await store.transcripts.locate(current.fileName));
  const { entry, notes } = await fitEntry(agent, key, toEntry(found, taking, sessionFile));
  const closed = (window: ImportedWindow): Window => ({ ...rowOf(key, window), closedAt: window.lastAt });
  if (archived !== undefined) {
    const rows = windows.map((window) => (window === current ? rowOf(key, window) : closed(window)));
    const { at, reason } = archived;
    await writeManifest(agent, { version: 1, archivedAt: at, reason, key, entry, windows: rows });
    return notes;
  }
  for (const window of windows) if (window !== current) await store.putWindow(closed(window));
  const isThere = (await store.get(key)) !== undefined;
  const opened = { windowReason: current?.reason, openedAt: current?.openedAt ?? entry.updatedAt };
  const next = (now: SessionEntry | undefined): SessionEntry | undefined => {
    if (now === undefined) return entry;
    return current !== undefined && isUnused(now, entry) ? { ...entry, ...now, ...windowFieldsOf(entry) } : undefined;
  };
  const update = async (): Promise<SessionEntry | undefined> => await store.update(key, next, opened);
  // A turn may be about to use an existing session.
  const after = await (isThere ? withSessionLease(agent, key, { waitMs: 2000 }, update) : update());
  if (current !== undefined && after?.sessionId !== currentId) {
    await store.putWindow({ ...closed(current), state: windowStateOf(entry) });
  }
  return notes;
}

/** An earlier import brought this session, no turn has used it here, and OpenClaw has used it since. */
function isUnused(stored: SessionEntry & JsonRecord, { updatedAt }: SessionEntry): boolean {
  const { transcriptEnd, openedByTurn, importedFrom } = stored;
  const isUntouched = transcriptEnd === undefined && openedByTurn === undefined && importedFrom !== undefined;
  return isUntouched && updatedAt > stored.updatedAt;
}

function windowFieldsOf(entry: SessionEntry): Partial<SessionEntry> & { sessionId: string } {
  const { sessionId, sessionFile, updatedAt, lastInteractionAt } = entry;
  const state = Object.fromEntries(WINDOW_STATE_FIELDS.map((field) => [field, entry[field]]));
  return { ...state, sessionId, sessionFile, updatedAt, lastInteractionAt };
}

function rowOf(key: string, { sessionId, openedAt, reason, fileName }: ImportedWindow): Window {
  return { key, sessionId, openedAt, reason, transcript: fileName };
}

/** OpenClaw's fields under our names, with everything else kept. */
function toEntry(
  { entry, archived, path }: FoundSession,
  taking: Taking,
  sessionFile: string | undefined,
): SessionEntry {
  const { windows, currentId: sessionId } = taking;
  const latest = windows.reduce((time, { lastAt }) => Math.max(time, lastAt), 0);
  const { sessionFile: _elsewhere, ...fields } = entry;
  const file = sessionFile === undefined ? {} : { sessionFile };
  const updatedAt = timeOf(entry["updatedAt"]) ?? archived?.at ?? latest;
  const all: JsonRecord = { ...routeOf(entry), ...fields, importedFrom: path, sessionId, ...file, updatedAt };
  return all as SessionEntry;
}

/** Since 2026.7, OpenClaw has the route in `delivery`. */
function routeOf({ delivery }: JsonRecord): JsonRecord {
  if (!isRecord(delivery) || !isRecord(delivery["context"])) return {};
  const { channel, to, accountId, threadId } = delivery["context"];
  const last = { lastChannel: channel, lastTo: to, lastAccountId: accountId, lastThreadId: threadId };
  return { deliveryContext: delivery["context"], ...last, origin: delivery["origin"] };
}

/** Moves values that our entries cannot hold to `openclaw`, so that nothing is lost. */
async function fitEntry(agent: AgentHandle, key: string, entry: SessionEntry) {
  const { validateEntryChanges } = await import("../store/entry-schema.ts");
  const notes: string[] = [];
  let fitting = entry as SessionEntry & JsonRecord;
  const moveAway = (field: string, note: string): void => {
    const { [field]: value, openclaw, ...rest } = fitting;
    fitting = { ...(rest as SessionEntry), openclaw: { ...(isRecord(openclaw) ? openclaw : {}), [field]: value } };
    notes.push(`${note}; kept as openclaw.${field}`);
  };
  for (;;) {
    try {
      validateEntryChanges(undefined, fitting);
      break;
    } catch (error) {
      const [field] = error instanceof HoldfastError ? String(error.data["field"]).split(".") : [];
      if (field === undefined || !Object.hasOwn(fitting, field)) throw error;
      moveAway(field, `${field} has a value that Holdfast does not know`);
    }
  }
  const { label } = fitting;
  const [other] = label === undefined ? [] : (await agent.store.list({ label, limit: 1 })).sessions;
  if (other !== undefined && other.key !== key) moveAway("label", `the label "${label}" belongs to ${other.key} here`);
  return { entry: fitting as SessionEntry, notes };
}

/**
 * Puts found sessions into an agent's home. Order of the writes: transcripts, closed windows, entry. So after a crash no
 * session is without its windows, and the next import finishes it. Nothing here is overwritten:
 * - A session that already exists keeps its entry and its current window; imported windows become older ones.
 * - A session that was archived or deleted here stays so.
 */
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, readFileIfPresent, readFolderIfPresent, writeFileDurable } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type AgentHandle, locateWindowTranscript, windowTranscriptName } from "../session/agent-handle.ts";
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
  type TranscriptContent,
  countMessages,
  lineId,
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

interface KeyState {
  stored: SessionEntry | undefined;
  known: KnownEntries;
  /** Entries that were counted in this run. */
  counted: Set<string>;
  isReported: boolean;
}

export type SessionTaker = Awaited<ReturnType<typeof createSessionTaker>>;

export async function createSessionTaker({ agent, owner, dryRun, add }: TakerOptions) {
  const { agentId } = owner;
  const states = new Map<string, KeyState>();
  const keys = new Map<string, string>();
  const used = new Set<string>();
  const archived = new Set<string>();
  if (agent !== undefined) {
    for (const { key, sessionId } of await agent.store.findWindows("", Number.MAX_SAFE_INTEGER)) {
      used.add(sessionId);
      keys.set(sessionId, key);
    }
    for (const { windows } of (await readManifests(agent)).records) {
      for (const { sessionId } of windows) archived.add(sessionId);
    }
  }

  const stateOf = async (key: string): Promise<KeyState> => {
    const state = states.get(key) ?? { ...(await readState(agent, key)), counted: new Set(), isReported: false };
    states.set(key, state);
    return state;
  };

  const takeLive = async (key: string, found: FoundSession): Promise<void> => {
    const state = await stateOf(key);
    const ids = found.transcripts.map(({ sessionId }) => sessionId);
    const item = { kind: "session" as const, agentId, name: key, label: stringOf(found.entry["label"]) };
    if (state.stored === undefined && ids.some((id) => archived.has(id))) {
      add({ ...item, outcome: "here", reason: "archived or deleted here" });
      return;
    }
    for (const id of ids) if (!keys.has(id)) keys.set(id, key);
    const converted = await convert(found, key, { state, isTaken: (id) => used.has(id) });
    const { windows, currentId, figures } = converted;
    const isRepeated = state.isReported;
    state.isReported = true;
    if (windows.length === 0 && state.stored !== undefined) {
      if (!isRepeated) add({ ...item, outcome: "here", ...figures });
      else
        add({
          kind: "file",
          agentId,
          name: found.path,
          outcome: "here",
          reason: `its messages are in ${key}`,
          ...figures,
        });
      return;
    }
    const isOlder = state.stored !== undefined;
    const unwritten = { notes: [], isOlder };
    const { notes, ...outcome } =
      dryRun || agent === undefined ? unwritten : await write(agent, key, { found, windows, currentId });
    const reasons = [...(outcome.isOlder && !isRepeated ? [KEPT] : []), ...(found.note ? [found.note] : []), ...notes];
    add({ ...item, outcome: "taken", reason: reasons.length === 0 ? undefined : reasons.join("; "), ...figures });
    for (const { sessionId } of windows) used.add(sessionId);
    used.add(currentId);
    state.stored ??= { sessionId: currentId, updatedAt: 0 };
  };

  const takeArchived = async (key: string, found: FoundSession): Promise<void> => {
    const state: KeyState = { stored: undefined, known: new Map(), counted: new Set(), isReported: false };
    const { windows, currentId, figures } = await convert(found, key, { state, isTaken: (id) => used.has(id) });
    const isHere = windows.some(({ sessionId }) => archived.has(sessionId));
    const item = { kind: "archived session" as const, agentId, name: key, label: stringOf(found.entry["label"]) };
    if (isHere) {
      const here = { found: figures.windows.found, taken: 0 };
      add({ ...item, outcome: "here", windows: here, messages: { ...figures.messages, taken: 0 } });
      return;
    }
    if (!dryRun && agent !== undefined) await writeArchived(agent, key, { found, windows, currentId });
    for (const { sessionId } of windows) archived.add(sessionId);
    add({ ...item, outcome: "taken", ...figures });
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
        await (found.archived === undefined ? takeLive(key, found) : takeArchived(key, found));
      } catch (error) {
        if (!(error instanceof HoldfastError)) throw error;
        add({ ...left, name: key, reason: error.message, isProblem: true });
      }
    },
  };
}

const KEPT = "a session with this key was already here: it continues, and the imported windows are older ones";

async function readState(agent: AgentHandle | undefined, key: string): Promise<Pick<KeyState, "stored" | "known">> {
  const known: KnownEntries = new Map();
  if (agent === undefined) return { stored: undefined, known };
  for (const window of await agent.store.windows(key)) {
    const path = await locateWindowTranscript(agent, window);
    const place = { sessionId: window.sessionId, fileName: windowTranscriptName(window) };
    for (const file of await filesOf(path)) {
      const text = (await readFileIfPresent(file))?.toString("utf8") ?? "";
      for (const line of toLines(text)) {
        const id = lineId(line);
        if (id !== undefined) known.set(id, place);
      }
    }
  }
  return { stored: await agent.store.get(key), known };
}

/** With the originals that a compaction, a migration or a repair kept: their entries were taken too. */
async function filesOf(path: string): Promise<string[]> {
  const kept = new RegExp(`^\\.(?:bak\\.|damaged-|torn-)`);
  const items = await readFolderIfPresent(dirname(path));
  const names = items.map(({ name }) => name).filter((name) => name.startsWith(basename(path)));
  return names
    .filter((name) => name === basename(path) || kept.test(name.slice(basename(path).length)))
    .map((name) => join(dirname(path), name));
}

interface Converted {
  windows: ImportedWindow[];
  /** The session id to continue with. */
  currentId: string;
  figures: Record<"windows" | "messages", { found: number; taken: number }>;
}

async function convert(
  { entry, transcripts }: FoundSession,
  key: string,
  { state, isTaken }: { state: KeyState; isTaken: (sessionId: string) => boolean },
): Promise<Converted> {
  const { known, counted } = state;
  const windows: ImportedWindow[] = [];
  const found = { windows: 0, messages: 0 };
  const countWindow = (sessionId: string): void => {
    if (!counted.has(`window ${sessionId}`)) found.windows++;
    counted.add(`window ${sessionId}`);
  };
  let currentId = stringOf(entry["sessionId"]);
  for (const transcript of transcripts) {
    const content = await transcript.read();
    const isUsed = (id: string): boolean => isTaken(id) || windows.some(({ sessionId }) => sessionId === id);
    const added = toWindows(transcript, { ...content, key, known, isTaken: isUsed });
    windows.push(...added);
    found.messages += countMessages(content.lines.filter((line) => !counted.has(lineId(line) ?? "")));
    for (const line of content.lines) {
      const id = lineId(line);
      if (id === undefined) continue;
      counted.add(id);
      const place = known.get(id);
      if (place !== undefined) countWindow(place.sessionId);
    }
    if (transcript.isCurrent) currentId = currentOf(added, content, known) ?? currentId;
  }
  currentId ??= transcripts[0]?.sessionId ?? key;
  if (state.stored === undefined) countWindow(currentId);
  const hasEmpty = state.stored === undefined && !windows.some(({ sessionId }) => sessionId === currentId);
  const taken = windows.reduce((sum, { messages }) => sum + messages, 0);
  return {
    windows,
    currentId,
    figures: {
      windows: { found: found.windows, taken: windows.length + Number(hasEmpty) },
      messages: { found: found.messages, taken },
    },
  };
}

function currentOf(added: readonly ImportedWindow[], { lines }: TranscriptContent, known: KnownEntries) {
  const last = lines.at(-1);
  const id = last === undefined ? undefined : lineId(last);
  return (
    added.find(({ isCurrent }) => isCurrent)?.sessionId ?? (id === undefined ? undefined : known.get(id)?.sessionId)
  );
}

interface Taking {
  found: FoundSession;
  windows: readonly ImportedWindow[];
  currentId: string;
}

/** Resolves to remarks for the report, and whether the imported windows are older than the session's own. */
async function write(agent: AgentHandle, key: string, { found, windows, currentId }: Taking) {
  const { store, sessionsFolder } = agent;
  return await withSessionLease(agent, key, { waitMs: 2000 }, async ({ lease }) => {
    for (const window of windows) await writeTranscript(sessionsFolder, window);
    const stored = await store.get(key);
    const current = windows.find(({ sessionId }) => sessionId === currentId);
    const { entry, notes } = await fitEntry(agent, key, toEntry(found, windows, { currentId, sessionsFolder }));
    const becomesCurrent = stored === undefined || (current !== undefined && isUnused(stored, entry));
    for (const window of windows) {
      if (becomesCurrent && window === current) continue;
      const state = window === current ? windowStateOf(entry) : undefined;
      await store.putWindow({ ...rowOf(key, window), closedAt: window.lastAt, state });
    }
    if (!becomesCurrent) return { notes, isOlder: true };
    const next = (now: SessionEntry | undefined): SessionEntry | undefined => {
      if (now?.sessionId !== stored?.sessionId) return undefined;
      return now === undefined ? entry : { ...entry, ...now, ...windowFieldsOf(entry) };
    };
    const opened = { windowReason: current?.reason, openedAt: current?.openedAt ?? entry.updatedAt };
    await store.update(key, next, { ...opened, lease });
    return { notes, isOlder: false };
  });
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

async function writeArchived(agent: AgentHandle, key: string, { found, windows, currentId }: Taking): Promise<void> {
  for (const window of windows) await writeTranscript(agent.archiveFolder, window);
  const { sessionsFolder } = agent;
  const { entry } = await fitEntry(agent, key, toEntry(found, windows, { currentId, sessionsFolder }));
  const { at, reason } = found.archived ?? { at: entry.updatedAt, reason: "archived" };
  const rows = windows.map((window): Window => {
    const row = rowOf(key, window);
    return window.sessionId === currentId ? row : { ...row, closedAt: window.lastAt };
  });
  await writeManifest(agent, { version: 1, archivedAt: at, reason, key, entry, windows: rows });
}

function rowOf(key: string, { sessionId, openedAt, reason, fileName }: ImportedWindow): Window {
  return { key, sessionId, openedAt, reason, transcript: fileName };
}

/** A file of an interrupted import may be there; any other file is never overwritten. */
async function writeTranscript(folder: string, { fileName, content }: ImportedWindow): Promise<void> {
  const path = join(folder, fileName);
  const wanted = Buffer.from(content as Uint8Array);
  const existing = await readFileIfPresent(path);
  if (existing?.equals(wanted) === true) return;
  if (existing !== undefined && !wanted.subarray(0, existing.length).equals(existing)) {
    throw new HoldfastError("conflict", "transcript-exists", `another transcript is already at ${path}`, {
      hint: "Run `holdfast doctor --fix`, which gives it back to its session, and import again.",
      data: { path },
    });
  }
  await ensurePrivateFolder(folder);
  await writeFileDurable(path, wanted);
}

/** OpenClaw's fields under our names, with everything else kept. */
function toEntry(
  { entry, archived, path }: FoundSession,
  windows: readonly ImportedWindow[],
  { currentId, sessionsFolder }: { currentId: string; sessionsFolder: string },
): SessionEntry {
  const latest = windows.reduce((time, { lastAt }) => Math.max(time, lastAt), 0);
  const current = windows.find(({ sessionId }) => sessionId === currentId);
  const { sessionFile: _elsewhere, ...fields } = entry;
  return {
    ...routeOf(entry),
    ...fields,
    importedFrom: path,
    sessionId: currentId,
    ...(current === undefined ? {} : { sessionFile: join(sessionsFolder, current.fileName) }),
    updatedAt: timeOf(entry["updatedAt"]) ?? archived?.at ?? latest,
  } as SessionEntry;
}

/** Since 2026.7, OpenClaw has the route in `delivery`. */
function routeOf({ delivery }: JsonRecord): JsonRecord {
  const context = isRecord(delivery) && isRecord(delivery["context"]) ? delivery["context"] : undefined;
  if (!isRecord(delivery) || context === undefined) return {};
  const { channel, to, accountId, threadId } = context;
  const route = { lastChannel: channel, lastTo: to, lastAccountId: accountId, lastThreadId: threadId };
  const given = Object.entries({ ...route, origin: delivery["origin"] }).filter(([, value]) => value !== undefined);
  return { deliveryContext: context, ...Object.fromEntries(given) };
}

/** Moves values that our entries cannot hold to `openclaw`, so that nothing is lost. */
async function fitEntry(agent: AgentHandle, key: string, entry: SessionEntry) {
  const { validateEntryChanges } = await import("../store/entry-schema.ts");
  const notes: string[] = [];
  let fitting = entry as SessionEntry & JsonRecord;
  const moveAway = (field: string): void => {
    const { [field]: value, openclaw, ...rest } = fitting;
    const kept = isRecord(openclaw) ? openclaw : {};
    fitting = { ...(rest as SessionEntry), openclaw: { ...kept, [field]: value } };
  };
  for (;;) {
    try {
      validateEntryChanges(undefined, fitting);
      break;
    } catch (error) {
      const [field] = error instanceof HoldfastError ? String(error.data["field"]).split(".") : [];
      if (field === undefined || !Object.hasOwn(fitting, field)) throw error;
      moveAway(field);
      notes.push(`${field} has a value that Holdfast does not know; kept as openclaw.${field}`);
    }
  }
  const [other] =
    fitting.label === undefined ? [] : (await agent.store.list({ label: fitting.label, limit: 1 })).sessions;
  if (other !== undefined && other.key !== key) {
    notes.push(`the label "${fitting.label}" belongs to ${other.key} here; kept as openclaw.label`);
    moveAway("label");
  }
  return { entry: fitting as SessionEntry, notes };
}

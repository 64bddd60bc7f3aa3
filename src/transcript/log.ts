/**
 * The only writer of transcripts. Invariants:
 * - All entries of one append reach the file in one write(), or none does. Readers never see half a line.
 * - The cost of an append depends on its size, not on the size of the file.
 * - The path is checked before every append. A replaced file (compaction, migration) is opened again, so a log may stay
 *   open while its transcript is compacted.
 * - With a fence, a log continues from the last entry of its lease: a line of a writer that lost the lease becomes a
 *   side branch. Without a fence, it continues from the last line of the file, under a file lock.
 */
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { PRIVATE_FILE, ensurePrivateFolder, syncFolder } from "../base/files.ts";
import type { JsonRecord } from "../base/json-record.ts";
import type { Durability } from "../config/config.ts";
import {
  type Fence,
  type TranscriptBacking,
  createAppender,
  inTurn,
  openForAppending,
  withWriteAccess,
} from "./appender.ts";
import { decodeEntry, encodeEntry, encodeHeader } from "./codec.ts";
import {
  type ReadContextOptions,
  type TranscriptContext,
  contextOf,
  readKeptEntries,
  withFollowing,
} from "./context.ts";
import { type ExpectedTranscript, type TranscriptEnd, isSaidByPerson, rebuildDamaged, untoldNotice } from "./damage.ts";
import { type DraftEntry, type TranscriptEntry, type TranscriptHeader, TRANSCRIPT_VERSION } from "./entries.ts";
import { type EntryIds, createEntryIds, encodeEntries, placeEntries } from "./new-entries.ts";
import type { LogState, ParkedTranscripts } from "./parked-transcripts.ts";
import { cutTornTail, openPrepared, prepareForWrite } from "./prepare.ts";
import {
  type LocatedEntry,
  type OnProblem,
  leafOfWindow,
  newestEpoch,
  scanTailWindow,
  transcriptError,
} from "./scan.ts";

export interface TranscriptLogOptions {
  path: string;
  /** When appended entries are synced to disk. Default: `turn`, that is by `sync()`. */
  durability?: Durability | undefined;
  clock?: Clock | undefined;
  /** Called before every write and again before it is acknowledged. Default: there is no lease. */
  fence?: Fence | undefined;
  /** Where the bytes are kept. Default: only in the file. */
  backing?: TranscriptBacking | undefined;
  /** Epoch of that lease, stored with each entry to recognize lines of stale holders. */
  epoch?: number | undefined;
  onProblem?: OnProblem | undefined;
  /** The expected content. A file without it is kept aside and rebuilt. Default: unknown. */
  expected?: ExpectedTranscript | undefined;
  /** Reads the context at once, and treats a gap in it as damage. Default: false. */
  isRead?: boolean | undefined;
  /** Keeps the file open after the log is closed. Only for logs with a fence. Optional. */
  parked?: ParkedTranscripts | undefined;
}

export interface TranscriptLog extends AsyncDisposable {
  readonly path: string;
  readonly header: TranscriptHeader;
  /** The parent of the next entry. Undefined if there is none. */
  readonly leafId: string | undefined;
  /** The leaf and the size of the file. Undefined if it has no entry. */
  readonly end: TranscriptEnd | undefined;
  /** The notice of lost entries, until the next message of a person is appended. */
  readonly untold: string | undefined;
  append(drafts: readonly DraftEntry[]): Promise<TranscriptEntry[]>;
  /** The same as `readContext` of the leaf, but the file is read only once. Shared; do not change the messages. */
  context(options?: Pick<ReadContextOptions, "omit">): Promise<TranscriptContext>;
  /** Syncs appended entries to disk, unless durability is `none`. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens an existing transcript for writing. Repairs a torn tail and migrates an older version. */
export async function openTranscriptLog(options: TranscriptLogOptions): Promise<TranscriptLog> {
  const settings = withDefaults(options);
  const { path } = settings;
  return await withWriteAccess(path, settings, async () => {
    await settings.backing?.refresh();
    const parked = settings.fence === undefined ? undefined : settings.parked?.take(path);
    let state = parked ?? (await openState(settings));
    if (parked === undefined && settings.expected !== undefined && settings.isRead === true) {
      try {
        state.kept = await readKeptEntries(path, state.leafId);
        if (state.kept.hasGap) state = await closeGap(settings, state);
      } catch (error) {
        await state.appender.close().catch(() => undefined);
        throw error;
      }
    }
    return createLog(withEpoch(settings, state.newestEpoch), state);
  });
}

async function openState(settings: Settings): Promise<LogState> {
  const { path } = settings;
  const { header, handle, window } = await openPrepared(path, settings, settings.onProblem ?? (() => undefined));
  const appender = createAppender(handle, path, settings);
  const ids = createEntryIds();
  const leaf = leafIn(window, ids, settings);
  return {
    header,
    appender,
    ids,
    leafId: leaf?.entry.id,
    newestEpoch: newestEpoch(window),
    kept: undefined,
    untold: untoldNotice(window),
  };
}

/** Otherwise the conversation would start after the gap. */
async function closeGap(settings: Settings, { appender, header }: LogState): Promise<LogState> {
  const damage = { kind: "gap" as const, reason: "some of its lines cannot be read" };
  await rebuildDamaged({ path: settings.path, original: appender.handle, header, damage }, settings);
  await appender.close();
  return await openState(settings);
}

export interface CreateTranscriptOptions extends TranscriptLogOptions {
  sessionId: string;
  cwd: string;
  parentSession?: string | undefined;
  entries?: readonly DraftEntry[] | undefined;
  /** An entry of another file that the ids of this one must follow. Optional. */
  after?: TranscriptEntry | undefined;
}

/** Creates the file durably and opens it. Fails if the path is taken. */
export async function createTranscript(options: CreateTranscriptOptions): Promise<TranscriptLog> {
  const settings = withDefaults(options);
  const { path, clock, backing } = settings;
  const header: TranscriptHeader = {
    type: "session",
    version: TRANSCRIPT_VERSION,
    id: options.sessionId,
    timestamp: new Date(clock.now()).toISOString(),
    cwd: options.cwd,
    parentSession: options.parentSession,
  };
  const ids = createEntryIds();
  if (options.after !== undefined) ids.continueAfter([options.after]);
  const entries = placeEntries(options.entries ?? [], undefined, ids, settings);
  await ensurePrivateFolder(dirname(path));
  return await inTurn(path, async () => {
    await settings.fence?.();
    const content = Buffer.from(encodeHeader(header) + entries.map(encodeEntry).join(""));
    await backing?.create(content);
    const appender = createAppender(await createFile(path, content, backing), path, settings);
    const newest = settings.epoch ?? Number.NEGATIVE_INFINITY;
    const leafId = entries.at(-1)?.id;
    const state = { header, appender, ids, leafId, newestEpoch: newest, kept: undefined, untold: undefined };
    return createLog(settings, state);
  });
}

/**
 * A rebuilt store counts its epochs from the beginning. The holder of its lease is still the rightful writer, and its
 * lines must not look older than earlier ones.
 */
function withEpoch(settings: Settings, newest: number): Settings {
  const { epoch } = settings;
  return epoch === undefined || epoch >= newest ? settings : { ...settings, epoch: newest + 1 };
}

type Settings = TranscriptLogOptions & { durability: Durability; clock: Clock };

function withDefaults(options: TranscriptLogOptions): Settings {
  return { ...options, durability: options.durability ?? "turn", clock: options.clock ?? systemClock };
}

async function createFile(path: string, content: Buffer, backing?: TranscriptBacking): Promise<FileHandle> {
  // The name is free, so a file with it is an outdated copy.
  const handle = await open(path, backing === undefined ? "ax+" : "w+", PRIVATE_FILE).catch((error: unknown) => {
    throw systemErrorCode(error) === "EEXIST" ? alreadyThere(path, error) : transcriptError(error, "create", path);
  });
  try {
    await handle.writeFile(content);
    await handle.sync();
    faultPoint("transcript.created");
    await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    await unlink(path).catch(() => undefined);
    throw transcriptError(error, "create", path);
  }
}

function createLog(settings: Settings, state: LogState): TranscriptLog {
  const { path, fence } = settings;
  let closed = false;
  let failed = false;
  const assertOpen = (): void => {
    if (closed) {
      throw new HoldfastError("usage", "transcript-closed", `The log of ${path} was closed`, {
        hint: "Open the transcript again.",
        data: { path },
      });
    }
  };

  const log: TranscriptLog = {
    path,
    header: state.header,
    get leafId() {
      return state.leafId;
    },
    get end() {
      return state.leafId === undefined ? undefined : { id: state.leafId, bytes: state.appender.end() };
    },
    get untold() {
      return state.untold;
    },
    async append(drafts) {
      assertOpen();
      if (drafts.length === 0) return [];
      const entries = await withWriteAccess(path, settings, async () => {
        assertOpen();
        failed = true;
        await catchUp(settings, state);
        const placed = placeEntries(drafts, state.leafId, state.ids, settings);
        const lines = encodeEntries(placed);
        await appendWherePathLeads(settings, state, Buffer.concat(lines));
        await fence?.();
        state.leafId = placed.at(-1)?.id;
        state.newestEpoch = Math.max(state.newestEpoch, settings.epoch ?? Number.NEGATIVE_INFINITY);
        state.kept &&= withFollowing(state.kept, lines.flatMap(readBack));
        if (placed.some(isSaidByPerson)) state.untold = undefined;
        failed = false;
        return placed;
      });
      emitSessionTranscriptUpdate(path);
      return entries;
    },
    async context(options) {
      return await inTurn(path, async () => {
        assertOpen();
        state.kept ??= await readKeptEntries(path, state.leafId);
        return contextOf(state.kept, options);
      });
    },
    async sync() {
      await inTurn(path, async () => {
        assertOpen();
        await state.appender.sync();
      });
    },
    async close() {
      await inTurn(path, async () => {
        if (closed) return;
        closed = true;
        const { parked } = settings;
        if (parked !== undefined && !failed && (await isSynced(settings, state))) parked.park(path, state);
        else await state.appender.close();
      });
    },
    [Symbol.asyncDispose]: async () => await log.close(),
  };
  return log;
}

/** False if the data may not be on disk, or if there is no lease. */
async function isSynced({ fence }: Settings, { appender }: LogState): Promise<boolean> {
  if (fence === undefined) return false;
  try {
    await appender.sync();
    return true;
  } catch {
    return false;
  }
}

/** The entry as readers of the file see it. */
function readBack(line: Buffer): TranscriptEntry[] {
  const { entry } = decodeEntry(JSON.parse(line.toString()) as JsonRecord);
  return entry === undefined ? [] : [entry];
}

/** Writes again if the file was replaced meanwhile, because the new file may lack the bytes. */
async function appendWherePathLeads(settings: Settings, state: LogState, bytes: Buffer): Promise<void> {
  if (settings.backing !== undefined) {
    await settings.backing.append(state.appender.end(), bytes);
    return await state.appender.append(bytes);
  }
  await state.appender.append(bytes);
  while (state.appender.compare() === "replaced") {
    await reopen(settings, state);
    state.appender.settle();
    await state.appender.append(bytes);
  }
}

async function reopen(settings: Settings, state: LogState): Promise<void> {
  state.kept = undefined;
  await prepareForWrite(settings.path, settings);
  const replaced = state.appender;
  state.appender = createAppender(await openForAppending(settings.path, settings.backing), settings.path, settings);
  await replaced.handle.close();
}

/** Handles changes that others made to the file since the last write. */
async function catchUp(settings: Settings, state: LogState): Promise<void> {
  const { path, fence, epoch, backing, onProblem } = settings;
  const change = state.appender.compare();
  if (change === "unchanged") return;
  state.kept = undefined;
  await backing?.refresh();
  if (change === "replaced" || backing !== undefined) {
    await reopen(settings, state);
  } else {
    await cutTornTail(state.appender.handle, path, settings);
  }
  state.appender.settle();
  const window = await scanTailWindow(state.appender.handle, { onProblem });
  const leaf = leafIn(window, state.ids, settings);
  // Another log of the same holder, such as for messages that are dropped while a turn runs.
  const isByHolder = epoch !== undefined && leaf?.entry.leaseEpoch === epoch;
  if (fence !== undefined && change === "changed" && backing === undefined && !isByHolder) {
    onProblem?.({ reason: "the file was changed by a process without the lease" });
  }
  const ownLeafStands = change === "changed" || window.some(({ entry }) => entry.id === state.leafId);
  if (fence !== undefined && state.leafId !== undefined && ownLeafStands && !isByHolder) return;
  state.leafId = leaf?.entry.id;
}

/** The entry to continue from. New ids follow those in the window. */
function leafIn(window: LocatedEntry[], ids: EntryIds, { onProblem }: Settings): LocatedEntry | undefined {
  ids.continueAfter(window.map(({ entry }) => entry));
  const leaf = leafOfWindow(window);
  if (leaf !== window[0]) onProblem?.({ reason: "the last lines were written by a process that had lost the lease" });
  return leaf;
}

function alreadyThere(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("conflict", "transcript-exists", `${path} exists already`, {
    hint: "Open it instead, or choose another session id.",
    data: { path },
    cause,
  });
}

export interface SessionTranscriptUpdate {
  sessionFile: string;
}

export type SessionTranscriptListener = (update: SessionTranscriptUpdate) => void;

const listeners = new Set<{ listener: SessionTranscriptListener }>();

/**
 * Calls the listener when a transcript grows in this process. Returns a function that stops it. The same function may
 * listen twice.
 */
export function onSessionTranscriptUpdate(listener: SessionTranscriptListener): () => void {
  const registration = { listener };
  listeners.add(registration);
  return () => void listeners.delete(registration);
}

export function emitSessionTranscriptUpdate(sessionFile: string): void {
  const path = sessionFile.trim();
  if (path === "") return;
  for (const { listener } of listeners) {
    try {
      listener({ sessionFile: path });
    } catch {
      // A failing listener must affect neither the writer nor the other listeners.
    }
  }
}

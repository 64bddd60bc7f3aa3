/**
 * The one way to write to a transcript. Invariants:
 * - All entries of one append reach the file in one write(), or none of them does. No reader is ever
 *   served half a line.
 * - The cost of an append depends on the size of what is appended, not on the size of the file.
 * - The path is looked at before every append. A file that was replaced (compaction, migration) is
 *   opened again, so a log may stay open while its transcript is compacted.
 * - With a fence a log continues from its own last entry, whatever others wrote meanwhile: a line of
 *   a writer who had lost the lease hangs beside the conversation, not in it. Without a fence it
 *   continues from the last line of the file, under a file lock.
 */
import { type FileHandle, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { PRIVATE_FILE, ensurePrivateFolder, syncFolder } from "../base/files.ts";
import type { JsonRecord } from "../base/json-record.ts";
import type { Durability } from "../config/config.ts";
import { type Fence, inTurn, withWriteAccess } from "./access.ts";
import { type Appender, createAppender, openAppender } from "./appender.ts";
import { decodeEntry, encodeEntry, encodeHeader } from "./codec.ts";
import {
  type ReadContextOptions,
  type TranscriptContext,
  contextOf,
  readKeptEntries,
  withFollowing,
} from "./context.ts";
import { type DraftEntry, TRANSCRIPT_VERSION, type TranscriptEntry, type TranscriptHeader } from "./entries.ts";
import { type EntryIds, createEntryIds } from "./entry-ids.ts";
import { emitSessionTranscriptUpdate } from "./events.ts";
import type { LogState } from "./log-state.ts";
import type { ParkedTranscripts } from "./parked-transcripts.ts";
import { encodeEntries, placeEntries } from "./place-entries.ts";
import { cutTornTail, openPrepared, prepareForWrite } from "./prepare.ts";
import type { OnProblem } from "./problems.ts";
import { type LocatedEntry, leafOfWindow, newestEpoch, scanTailWindow, transcriptError } from "./scan.ts";

export interface TranscriptLogOptions {
  path: string;
  /** When appended entries are forced to disk. Left out: `turn`, that is by `sync()`. */
  durability?: Durability;
  clock?: Clock;
  /** Called before every write and again before it is acknowledged. Left out: no lease is held. */
  fence?: Fence | undefined;
  /** Epoch of the lease behind the fence, stored with each entry to tell lines of stale holders. */
  epoch?: number | undefined;
  onProblem?: OnProblem | undefined;
  /** Where the file stays open when the log is closed. Left out: nowhere. Only for logs with a fence. */
  parked?: ParkedTranscripts | undefined;
}

export interface TranscriptLog extends AsyncDisposable {
  readonly path: string;
  readonly header: TranscriptHeader;
  /** The entry that the next one will follow; undefined while there is none. */
  readonly leafId: string | undefined;
  /** Resolves to the entries as they stand in the file. */
  append(drafts: readonly DraftEntry[]): Promise<TranscriptEntry[]>;
  /** What `readContext` tells of the leaf; the file is read once. The messages are shared: not to be changed. */
  context(options?: Pick<ReadContextOptions, "omit">): Promise<TranscriptContext>;
  /** Forces everything appended so far to disk, unless durability is `none`. */
  sync(): Promise<void>;
  /** Syncs and lets go of the file. */
  close(): Promise<void>;
}

/** Opens an existing transcript for writing; repairs a torn tail and migrates an older version. */
export async function openTranscriptLog(options: TranscriptLogOptions): Promise<TranscriptLog> {
  const settings = withDefaults(options);
  const { path, durability } = settings;
  return await withWriteAccess(path, settings, async () => {
    const parked = settings.fence === undefined ? undefined : settings.parked?.take(path);
    if (parked !== undefined) return createLog(withEpoch(settings, parked.newestEpoch), parked);
    const { header, handle, window } = await openPrepared(path, settings, settings.onProblem ?? (() => undefined));
    const appender = createAppender(handle, path, durability);
    const ids = createEntryIds();
    const leaf = leafIn(window, ids, settings);
    const newest = newestEpoch(window);
    const state = { header, appender, ids, leafId: leaf?.entry.id, newestEpoch: newest, kept: undefined };
    return createLog(withEpoch(settings, newest), state);
  });
}

export interface CreateTranscriptOptions extends TranscriptLogOptions {
  sessionId: string;
  cwd: string;
  parentSession?: string | undefined;
  /** Entries that come into being together with the file. */
  entries?: readonly DraftEntry[];
  /** An entry of another file that the ids of this one must follow. Left out: there is none. */
  after?: TranscriptEntry | undefined;
}

/** Creates the file, durable with its name, and opens it. Refuses a path that is taken. */
export async function createTranscript(options: CreateTranscriptOptions): Promise<TranscriptLog> {
  const settings = withDefaults(options);
  const { path, clock, durability } = settings;
  const header: TranscriptHeader = {
    type: "session",
    version: TRANSCRIPT_VERSION,
    id: options.sessionId,
    timestamp: new Date(clock.now()).toISOString(),
    cwd: options.cwd,
    ...(options.parentSession === undefined ? {} : { parentSession: options.parentSession }),
  };
  const ids = createEntryIds();
  if (options.after !== undefined) ids.continueAfter([options.after]);
  const entries = placeEntries(options.entries ?? [], undefined, ids, settings);
  await ensurePrivateFolder(dirname(path));
  return await inTurn(path, async () => {
    await settings.fence?.();
    const handle = await createFile(path, encodeHeader(header) + entries.map(encodeEntry).join(""));
    const appender = createAppender(handle, path, durability);
    const newest = settings.epoch ?? Number.NEGATIVE_INFINITY;
    const state = { header, appender, ids, leafId: entries.at(-1)?.id, newestEpoch: newest, kept: undefined };
    return createLog(settings, state);
  });
}

/**
 * A store that was lost and rebuilt counts its epochs from the beginning again. The holder of its lease
 * is the rightful writer nevertheless, and its lines must not look older than those before them.
 */
function withEpoch(settings: Settings, newest: number): Settings {
  const { epoch } = settings;
  return epoch === undefined || epoch >= newest ? settings : { ...settings, epoch: newest + 1 };
}

type Settings = TranscriptLogOptions & { durability: Durability; clock: Clock };

function withDefaults(options: TranscriptLogOptions): Settings {
  return { ...options, durability: options.durability ?? "turn", clock: options.clock ?? systemClock };
}

async function createFile(path: string, content: string): Promise<FileHandle> {
  const handle = await open(path, "ax+", PRIVATE_FILE).catch((error: unknown) => {
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

/** What may not be on disk, or belongs to nobody's lease, is opened anew. */
async function isSynced({ fence }: Settings, { appender }: LogState): Promise<boolean> {
  if (fence === undefined) return false;
  try {
    await appender.sync();
    return true;
  } catch {
    return false;
  }
}

/** As a reader of the file gets it. */
function readBack(line: Buffer): TranscriptEntry[] {
  const { entry } = decodeEntry(JSON.parse(line.toString()) as JsonRecord);
  return entry === undefined ? [] : [entry];
}

/** Writes again when the file was exchanged meanwhile: what went into the old one may not be in the new one. */
async function appendWherePathLeads(settings: Settings, state: LogState, bytes: Buffer): Promise<void> {
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
  state.appender = await openAppender(settings.path, settings.durability);
  await replaced.handle.close();
}

/** Takes note of what others did to the file since our last write. */
async function catchUp(settings: Settings, state: LogState): Promise<void> {
  const { path, fence, onProblem } = settings;
  const change = state.appender.compare();
  if (change === "unchanged") return;
  state.kept = undefined;
  if (change === "replaced") {
    await reopen(settings, state);
  } else {
    await cutTornTail(state.appender.handle, path, settings);
    if (fence !== undefined) onProblem?.({ reason: "somebody without the lease changed the file" });
  }
  const { leaf, window } = await findLeaf(state.appender, state.ids, settings);
  const ownLeafStands = change === "changed" || window.some(({ entry }) => entry.id === state.leafId);
  if (fence !== undefined && state.leafId !== undefined && ownLeafStands) return;
  state.leafId = leaf?.entry.id;
}

/** Reads the end of the file: where to continue, and which ids are taken there. */
async function findLeaf(
  appender: Appender,
  ids: EntryIds,
  settings: Settings,
): Promise<{ leaf: LocatedEntry | undefined; window: LocatedEntry[] }> {
  const { onProblem } = settings;
  appender.settle();
  const window = await scanTailWindow(appender.handle, onProblem === undefined ? {} : { onProblem });
  return { leaf: leafIn(window, ids, settings), window };
}

function leafIn(window: LocatedEntry[], ids: EntryIds, { onProblem }: Settings): LocatedEntry | undefined {
  ids.continueAfter(window.map(({ entry }) => entry));
  const leaf = leafOfWindow(window);
  if (leaf !== window[0]) onProblem?.({ reason: "the last lines come from a writer who had lost the lease" });
  return leaf;
}

function alreadyThere(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("conflict", "transcript-exists", `${path} exists already`, {
    hint: "Open it instead, or choose another session id.",
    data: { path },
    cause,
  });
}

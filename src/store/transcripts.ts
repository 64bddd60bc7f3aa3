/**
 * Transcripts and archive manifests, a part of the store contract. A transcript is known by its file name; of a path,
 * only the last part counts. Readers ask for a path and only read the file there. Every change goes through this
 * contract, so a store may keep the bytes elsewhere and have the files as copies (`TranscriptBacking`).
 *
 * `test/contract/transcripts-suite.ts` checks for every implementation:
 * - A file that `locate` names has everything that any process has written so far.
 * - A write of a holder that lost its lease is refused with kind `fenced`.
 * - Nothing is overwritten: a taken name is refused with kind `conflict`.
 */
import type { CompactOptions, CompactResult } from "../transcript/compact.ts";
import type { SetAside } from "../transcript/damage.ts";
import type { CreateTranscriptOptions, TranscriptLog, TranscriptLogOptions } from "../transcript/log.ts";
import type { Documents } from "./documents.ts";
import type { Lease } from "./queues.ts";

/** `sessions`: in use. */
export type TranscriptFolder = "sessions" | "archive";

export type TranscriptFolders = Readonly<Record<TranscriptFolder, string>>;

export interface Transcripts {
  /**
   * Path of a file for reading, which is missing if the transcript is. The parents of a fork are up to date as well.
   * `either`: in use, or else in the archive, because a crash may have stopped a move. Default: `sessions`.
   */
  locate(name: string, folder?: TranscriptFolder | "either"): Promise<string>;
  /** Names in alphabetical order. */
  list(folder: TranscriptFolder, options?: ListTranscriptsOptions): Promise<string[]>;

  /** Opens a transcript for writing, and repairs it if necessary. */
  open(name: string, options?: OpenTranscriptOptions): Promise<TranscriptLog>;
  create(name: string, start: TranscriptStart): Promise<TranscriptLog>;
  /** Creates a transcript that continues another one by reference, from its newest entry. */
  fork(name: string, parent: string, start: Omit<TranscriptStart, "entries" | "folder">): Promise<TranscriptLog>;
  /** Reduces a transcript to its last entries and keeps the original. Open logs stay usable. */
  compact(name: string, options: CompactOwnOptions): Promise<CompactResult>;
  /** Adds a complete transcript, for imports. A copy that an interrupted import has begun is completed. */
  put(name: string, content: Uint8Array, folder: TranscriptFolder): Promise<void>;
  /** Moves a transcript to this folder. Does nothing if it is not in the other one. */
  move(name: string, to: TranscriptFolder): Promise<void>;
  /** Frees the name of a missing transcript. Undefined if nothing was written and nothing is there. */
  setAsideMissing(
    name: string,
    options: { written: boolean; folder?: TranscriptFolder | undefined },
  ): Promise<SetAside | undefined>;
  /** Removes a new transcript that is not used after all. */
  discard(name: string): Promise<void>;

  /** Records of archived sessions. */
  readonly manifests: Documents;
  /** Brings all transcripts to this machine, and resolves to the folders that hold them. For search. */
  bringHere(): Promise<TranscriptFolders>;
  /** The folders, if the transcripts are files of this machine. For checks. */
  readonly folders?: TranscriptFolders | undefined;
}

export interface ListTranscriptsOptions {
  /** Only those that have changed since this instant (ms). */
  changedSince?: number | undefined;
  /** Also the originals that a rewrite or a repair has kept. Default: false. */
  kept?: boolean | undefined;
}

/** The right to write: the lease and a check of it that rejects with kind `fenced`. */
export interface LeaseHolder {
  readonly lease: Lease;
  fence(): Promise<void>;
}

export interface OpenTranscriptOptions extends Pick<
  TranscriptLogOptions,
  "expected" | "isRead" | "parked" | "onProblem"
> {
  /** Default: write without a lease, for transcripts that no session uses. */
  held?: LeaseHolder | undefined;
  folder?: TranscriptFolder | undefined;
}

export interface TranscriptStart extends Pick<CreateTranscriptOptions, "sessionId" | "cwd" | "entries"> {
  folder?: TranscriptFolder | undefined;
}

export interface CompactOwnOptions extends Pick<CompactOptions, "maxEntries" | "keepLastTurn"> {
  held: LeaseHolder;
}

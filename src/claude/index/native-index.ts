/**
 * The contract of the index over Claude Code's transcripts. The index is derived: deleting its file costs only time. An
 * unchanged file costs a stat, a grown file its new bytes, a replaced file a full read. Nothing in Claude Code's folder
 * is written.
 */
import type { SessionScan } from "../native/session-scan.ts";

export interface NativeIndex {
  /** Updates the index from the files. Two processes may do so at once. The other methods read the index only. */
  refresh(options?: RefreshOptions): Promise<RefreshReport>;
  /** Newest first, read while iterating: a page costs a page. Do not change the index meanwhile. */
  list(query?: IndexQuery): Iterable<IndexedSession>;
  get(sessionId: string): IndexedSession | undefined;
  details(sessionId: string): TranscriptDetails | undefined;
  /** The number of sessions. */
  count(): number;
  /** Every distinct list of working folders, with its number of sessions. */
  places(): IndexedPlace[];
  /** Session ids that start with `prefix`, at most `limit`. */
  findByPrefix(prefix: string, limit: number): string[];
  /** Tokens and cost. Each message counts once, also across forks. */
  usage(query: UsageQuery): UsageRow[];
  close(): void;
}

export interface RefreshOptions {
  /**
   * Reads new files for their usage only, which is faster. Lists omit these files until a refresh without this option
   * has read them again. Default: false.
   */
  usageOnly?: boolean | undefined;
  /** Called at most a few times a second while files are read. Optional. */
  onProgress?: ((progress: RefreshProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface RefreshProgress {
  filesDone: number;
  filesTotal: number;
  bytesDone: number;
  bytesTotal: number;
}

export interface RefreshReport {
  files: number;
  /** Files read in whole or in part, and the bytes read. */
  filesRead: number;
  bytesRead: number;
  removed: number;
  /** Files that could not be read. */
  failed: { path: string; reason: string }[];
}

export interface IndexQuery {
  sessionIds?: readonly string[] | undefined;
  /** Sessions in one of these project folders (names in `projects/`). */
  folders?: readonly string[] | undefined;
  modifiedSince?: number | undefined;
  limit?: number | undefined;
}

/** Where sessions worked. There are far fewer places than sessions. */
export interface IndexedPlace {
  /** The name of the project folder. */
  folder: string;
  /** Working folders, as in `IndexedSession.cwds`. */
  cwds: string[];
  sessions: number;
}

export interface IndexedSession {
  sessionId: string;
  path: string;
  /** The name of the project folder. */
  folder: string;
  sizeBytes: number;
  /** In ms. */
  modifiedAt: number;
  /** How the session was started. */
  entrypoint?: string | undefined;
  cwds: string[];
  /** The agent in the marker of the first message. */
  originMarker?: string | undefined;
  /** Includes subagents, but not messages that an older session had first. */
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
  /** Absent when none of its models has a known price. */
  costUsd?: number | undefined;
  subagentCount: number;
  /** The session that this one was forked from, if it is indexed too. */
  forkedFrom?: string | undefined;
  /** `ShownFacts` as JSON; `parseFacts` reads it. A list in JSON passes it on as it is. */
  shown: string;
}

/** The first damaged lines and the latest compactions. */
export type TranscriptDetails = Pick<SessionScan, "lines" | "unknownLines" | "damaged" | "compactions">;

export interface UsageQuery {
  by: "day" | "folder" | "model" | "session";
  /** In ms. `since` and `until` count by whole days. */
  since?: number | undefined;
  until?: number | undefined;
  sessionIds?: readonly string[] | undefined;
}

export interface UsageRow {
  /** A local day `2026-11-15`, the first working folder, a model, or a session id. */
  group: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Absent when none of the row's models has a known price. */
  costUsd?: number | undefined;
  /** Tokens of models without a known price. */
  unpricedTokens: number;
  messages: number;
}

/**
 * The contract of the index over Claude Code's transcripts. It is derived: whoever deletes its file
 * loses time, nothing else. A file that did not change costs a stat, a file that grew costs its new
 * bytes, a file that was replaced is read anew. Nothing under Claude Code's folder is written.
 */
import type { Compaction, DamagedLine } from "../native/session-scan.ts";
import type { TouchedFile } from "../discovered-session.ts";

export interface NativeIndex {
  /** Brings the index up to date with the files. Two processes may do so at once. */
  refresh(options?: RefreshOptions): Promise<RefreshReport>;
  /** Newest first. Reads the index only. */
  list(query?: IndexQuery): IndexedSession[];
  /** The same in a form that costs little, for lists of everything. Do not change the index while going through it. */
  texts(query?: IndexQuery): Iterable<IndexedText>;
  get(sessionId: string): IndexedSession | undefined;
  /** How many sessions there are. Reads the index only. */
  count(): number;
  /** Every distinct list of working folders, with how many sessions have it. Reads the index only. */
  places(): IndexedPlace[];
  /** Ids that start with `prefix`; at most `limit`. */
  findByPrefix(prefix: string, limit: number): string[];
  /** Tokens and cost, each message once, also across forks. */
  usage(query: UsageQuery): UsageRow[];
  close(): void;
}

export interface RefreshOptions {
  /** Only these project folders (names below `projects/`). Left out: all. */
  folders?: readonly string[];
  /**
   * What was used is all that will be asked for: files that are not in the index yet are read for that alone, and
   * once more by the first refresh without this. Lists leave them out until then.
   */
  usageOnly?: boolean;
  /** Called while files are read, at most a few times a second. */
  onProgress?: (progress: RefreshProgress) => void;
  signal?: AbortSignal;
}

export interface RefreshProgress {
  filesDone: number;
  filesTotal: number;
  bytesDone: number;
  bytesTotal: number;
}

export interface RefreshReport {
  files: number;
  /** Files read, whole or in part, and bytes read of them. */
  filesRead: number;
  bytesRead: number;
  removed: number;
  /** Files that could not be read, with the reason. */
  failed: { path: string; reason: string }[];
}

export interface IndexQuery {
  sessionIds?: readonly string[];
  /** Sessions that worked in one of these folders or below. */
  under?: readonly string[];
  /** Sessions that lie in one of these project folders (names below `projects/`). */
  folders?: readonly string[];
  modifiedSince?: number;
  limit?: number;
}

/** Where sessions worked: whoever decides by folder decides once per place, not once per session. */
export interface IndexedPlace {
  /** The name of the project folder. */
  folder: string;
  /** As `IndexedSession.cwds`. */
  cwds: string[];
  sessions: number;
}

/** What has to be known of a session to make its row. */
export interface IndexedFile {
  sessionId: string;
  path: string;
  /** The name of the project folder. */
  folder: string;
  sizeBytes: number;
  /** In ms. */
  modifiedAt: number;
  /** The first. */
  entrypoint?: string;
  cwds: string[];
  /** Own messages and those of its subagents, without those that an older session had first. */
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number };
  /** Missing when no model of it has a known price. */
  costUsd?: number;
  subagentCount: number;
  /** The session that this one was forked from, when both are here. */
  forkedFrom?: string;
}

export interface IndexedText extends IndexedFile {
  /** The agent that the first message names. */
  originMarker?: string;
  /** A JSON object with the members of `ShownFacts`. */
  shown: string;
}

export interface IndexedSession extends IndexedFile {
  createdAt?: number;
  lastAt?: number;
  title?: string;
  firstPrompt?: string;
  /** What the person really wrote last. */
  latestPrompt?: string;
  /** The first prompts and the last ones, oldest first, each cut. */
  prompts: string[];
  slug?: string;
  permissionMode?: string;
  /** The latest. */
  version?: string;
  branches: string[];
  /** The branch of the last line that names one. */
  lastBranch?: string;
  models: string[];
  files: TouchedFile[];
  messageCount: number;
  userTurns: number;
  lines: number;
  unknownLines: number;
  damagedLines: number;
  damaged: DamagedLine[];
  compactionCount: number;
  compactions: Compaction[];
  contextTokens: number;
}

export interface UsageQuery {
  by: "day" | "folder" | "model" | "session";
  /** In ms. */
  since?: number;
  until?: number;
  sessionIds?: readonly string[];
}

export interface UsageRow {
  /** A local day `2026-11-15`, the first working folder, a model, or a session id. */
  group: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Missing when no model of the row has a known price. */
  costUsd?: number;
  /** Tokens of models without a known price. */
  unpricedTokens: number;
  messages: number;
}

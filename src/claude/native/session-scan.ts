/**
 * The facts of a transcript up to a byte offset. A scan can be stored and continued from its offset; the result is the
 * same as that of one scan over the whole file. Every list has a limit, so a scan does not grow with the transcript:
 * it holds sums of the usage and the latest messages only, while a `UsageLedger` holds every message.
 */
import type { UsageSums } from "./usage.ts";

export interface SessionScan extends SessionFacts, ScanState {}

/** The facts that lists show. */
export interface SessionFacts {
  /** Lines that are not blank, damaged ones included. */
  lines: number;
  /** Lines of an unknown type. */
  unknownLines: number;
  damagedLines: number;
  /** The first damaged lines. */
  damaged: DamagedLine[];
  /** Lines from people, tools and the model. */
  messages: number;

  /** Earliest and latest timestamp, in ms. */
  firstAt?: number | undefined;
  lastAt?: number | undefined;

  userTurns: number;
  /** The first and the last prompts, oldest first, each cut; empty for an image. */
  prompts: string[];
  customTitle?: string | undefined;
  aiTitle?: string | undefined;
  summary?: string | undefined;
  slug?: string | undefined;
  permissionMode?: string | undefined;

  compactionCount: number;
  /** The latest compactions. */
  compactions: Compaction[];
  /** Tokens sent by the last call of the main conversation, or left by the last compaction. */
  contextTokens: number;

  /** Each in order of first appearance. */
  branches: string[];
  cwds: string[];
  entrypoints: string[];
  versions: string[];
  models: string[];
  lastBranch?: string | undefined;
  /** By path, the file touched last at the end; true when it was edited, not only read. */
  files: Map<string, boolean>;
}

/** Facts needed to continue the scan, or for single sessions. */
export interface ScanState extends UsageSums {
  /** Everything before this offset has been read. A line starts here, unless `lineOpen`. */
  offset: number;
  /** The last line was complete but had no newline. Only a newline may follow it. */
  lineOpen: boolean;
  /** The first message and the first answer. Forks of one session share them. */
  rootUuid?: string | undefined;
  firstMessageId?: string | undefined;
  /** The first timestamp in the file. A fork is written later than the lines it copies. */
  openedAt?: number | undefined;
}

export interface DamagedLine {
  offset: number;
  reason: string;
}

export interface Compaction {
  trigger?: string | undefined;
  preTokens?: number | undefined;
  postTokens?: number | undefined;
  /** In ms. */
  at?: number | undefined;
}

export const PROMPT_LENGTH = 200;

export function createSessionScan(): SessionScan {
  return {
    lines: 0,
    unknownLines: 0,
    damagedLines: 0,
    damaged: [],
    messages: 0,
    firstAt: undefined,
    lastAt: undefined,
    userTurns: 0,
    prompts: [],
    customTitle: undefined,
    aiTitle: undefined,
    summary: undefined,
    slug: undefined,
    permissionMode: undefined,
    compactionCount: 0,
    compactions: [],
    contextTokens: 0,
    branches: [],
    cwds: [],
    entrypoints: [],
    versions: [],
    models: [],
    lastBranch: undefined,
    files: new Map(),
    offset: 0,
    lineOpen: false,
    rootUuid: undefined,
    firstMessageId: undefined,
    openedAt: undefined,
    usage: [],
    recent: [],
    settledAt: 0,
  };
}

/** Custom title, else generated title, else last summary, else first prompt. Skips blank ones. */
export function sessionTitle(
  facts: Pick<SessionFacts, "customTitle" | "aiTitle" | "summary" | "prompts">,
): string | undefined {
  return [facts.customTitle, facts.aiTitle, facts.summary, facts.prompts[0]].find(
    (title) => title !== undefined && title.trim() !== "",
  );
}

/** Increase it when a scan of the same bytes gives another result. */
export const SCAN_FORMAT = 5;

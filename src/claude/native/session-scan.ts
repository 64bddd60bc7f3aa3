/**
 * The facts of a transcript up to a byte offset. A scan can be stored and continued from its offset; the result is the
 * same as that of one scan over the whole file. Every list has a limit, so a scan does not grow with the transcript:
 * it holds sums of the usage and the latest messages only, while a `UsageLedger` holds every message.
 */
import { emptySums } from "./usage.ts";

export type SessionScan = SessionFacts & ScanState;
export type SessionFacts = ReturnType<typeof emptyFacts>;
export type ScanState = ReturnType<typeof emptyState>;

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
  return { ...emptyFacts(), ...emptyState() };
}

/** The facts that lists show. */
function emptyFacts() {
  return {
    /** Lines that are not blank, damaged ones included. */
    lines: 0,
    /** Lines of an unknown type. */
    unknownLines: 0,
    damagedLines: 0,
    /** The first damaged lines. */
    damaged: [] as DamagedLine[],
    /** Lines from people, tools and the model. */
    messages: 0,
    /** Earliest and latest timestamp, in ms. */
    firstAt: undefined as number | undefined,
    lastAt: undefined as number | undefined,
    userTurns: 0,
    /** The first and the last prompts, oldest first, each cut; empty for an image. */
    prompts: [] as string[],
    customTitle: undefined as string | undefined,
    aiTitle: undefined as string | undefined,
    summary: undefined as string | undefined,
    slug: undefined as string | undefined,
    permissionMode: undefined as string | undefined,
    compactionCount: 0,
    /** The latest compactions. */
    compactions: [] as Compaction[],
    /** Tokens sent by the last call of the main conversation, or left by the last compaction. */
    contextTokens: 0,
    /** Each in order of first appearance. */
    branches: [] as string[],
    cwds: [] as string[],
    entrypoints: [] as string[],
    versions: [] as string[],
    models: [] as string[],
    lastBranch: undefined as string | undefined,
    /** Files by path, in the order of last use. True: edited. False: only read. */
    files: new Map<string, boolean>(),
  };
}

/** Facts needed to continue the scan, or for single sessions. */
function emptyState() {
  return {
    /** Everything before this offset has been read. A line starts here, unless `lineOpen`. */
    offset: 0,
    /** The last line was complete but had no newline. Only a newline may follow it. */
    lineOpen: false,
    /** The first message and the first answer. Forks of one session share them. */
    rootUuid: undefined as string | undefined,
    firstMessageId: undefined as string | undefined,
    /** The first timestamp in the file. A fork is written later than the lines it copies. */
    openedAt: undefined as number | undefined,
    ...emptySums(),
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

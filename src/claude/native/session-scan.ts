/**
 * What has been learned from a transcript up to a byte offset. A scan can be stored and continued
 * later from its offset; the result is the same as that of one scan over everything.
 *
 * Its size does not grow with the transcript: every list has a limit. What does grow, the usage of each
 * message, is kept apart (`UsageLedger`); of it a scan holds only the sums and the latest messages.
 */
import type { DayUsage, RecentMessage } from "./usage.ts";

export interface SessionScan extends SessionFacts, ScanState {}

/** What a list shows of a session. */
export interface SessionFacts {
  /** Lines that are not blank, damaged ones included. */
  lines: number;
  /** Lines of a type that this version does not know. They are also in `lineTypes`. */
  unknownLines: number;
  damagedLines: number;
  /** The first of them. */
  damaged: DamagedLine[];
  /** Lines of people, tools and the model. */
  messages: number;

  /** Earliest and latest instant on any line, in ms. */
  firstAt?: number | undefined;
  lastAt?: number | undefined;

  userTurns: number;
  /** The first things the person wrote and the last ones, oldest first, each cut; empty for a picture. */
  prompts: string[];
  customTitle?: string | undefined;
  aiTitle?: string | undefined;
  summary?: string | undefined;
  slug?: string | undefined;
  permissionMode?: string | undefined;

  compactionCount: number;
  /** The latest of them. */
  compactions: Compaction[];
  /** What the last call of the main conversation sent, or what the last compaction left. */
  contextTokens: number;

  /** Each in the order of its first appearance. */
  branches: string[];
  cwds: string[];
  entrypoints: string[];
  versions: string[];
  models: string[];
  lastBranch?: string | undefined;
  /** Path to whether it was edited (or only read); the file touched last comes last. */
  files: Map<string, boolean>;
}

/** What only the next lines need, and single sessions. */
export interface ScanState {
  /** Everything before this place has been read. A line starts here, unless `lineOpen`. */
  offset: number;
  /** The last line is whole, but its newline was missing. Nothing else may follow it. */
  lineOpen: boolean;
  /** By type; attachments and system lines by `type:subtype`. */
  lineTypes: Map<string, number>;
  sidechainLines: number;
  /** As the lines say; the file's name is what Claude Code goes by. */
  sessionId?: string | undefined;
  /** The first message of all, and the first answer. Forks of one session have them in common. */
  rootUuid?: string | undefined;
  firstMessageId?: string | undefined;
  /** The instant on the first line that has one. A fork is written later than what it copies. */
  openedAt?: number | undefined;
  /** What Claude Code notes as the last prompt; after a fork it is that of the other session. */
  notedPrompt?: string | undefined;

  /** Sums over all messages, each counted once. */
  usage: DayUsage[];
  /** The latest messages, which later lines may still be about. */
  recent: RecentMessage[];
  /** The latest instant of a message that is not in `recent`; 0 when there is none. */
  settledAt: number;
}

export interface DamagedLine {
  offset: number;
  reason: string;
}

export interface Compaction {
  trigger?: string;
  preTokens?: number;
  postTokens?: number;
  /** In ms. */
  at?: number;
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
    lineTypes: new Map(),
    sidechainLines: 0,
    sessionId: undefined,
    rootUuid: undefined,
    firstMessageId: undefined,
    openedAt: undefined,
    notedPrompt: undefined,
    usage: [],
    recent: [],
    settledAt: 0,
  };
}

/** Custom title, else the generated one, else the last summary, else the first prompt. An empty title is none. */
export function sessionTitle(
  facts: Pick<SessionFacts, "customTitle" | "aiTitle" | "summary" | "prompts">,
): string | undefined {
  return [facts.customTitle, facts.aiTitle, facts.summary, facts.prompts[0]].find(
    (title) => title !== undefined && title.trim() !== "",
  );
}

/** Raised whenever a scan of the same bytes would give something else. */
export const SCAN_FORMAT = 4;

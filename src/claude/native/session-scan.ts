/**
 * What has been learned from a transcript up to a byte offset. A scan can be stored and continued
 * later from its offset; the result is the same as that of one scan over everything.
 *
 * Its size does not grow with the transcript: every list has a limit. What does grow, the usage of each
 * message, is kept apart (`UsageLedger`), so that continuing a scan never needs the old messages.
 */
import { isRecord } from "../../base/json-record.ts";
import { parseJson } from "./object-skimmer.ts";

export interface SessionScan {
  /** Everything before this place has been read; a line starts here. */
  offset: number;
  /** Lines that are not blank, damaged ones included. */
  lines: number;
  /** By type; attachments and system lines by `type:subtype`. */
  lineTypes: Map<string, number>;
  /** Lines of a type that this version does not know. They are also in `lineTypes`. */
  unknownLines: number;
  damagedLines: number;
  /** The first of them. */
  damaged: DamagedLine[];
  sidechainLines: number;

  /** As the lines say; the file's name is what Claude Code goes by. */
  sessionId?: string | undefined;
  /** The first message of all. Forks of one session have it in common. */
  rootUuid?: string | undefined;
  /** Earliest and latest instant on any line, in ms. */
  firstAt?: number | undefined;
  lastAt?: number | undefined;

  userTurns: number;
  /** What the person wrote first, cut at `PROMPT_LENGTH`. */
  firstPrompt?: string | undefined;
  /** What the person wrote last, cut at `PROMPT_LENGTH`. */
  latestPrompt?: string | undefined;
  /** What Claude Code notes as the last prompt; after a fork it is that of the other session. */
  notedPrompt?: string | undefined;
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
  /** Path to whether it was edited (or only read); the file touched last comes last. */
  files: Map<string, boolean>;
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
    offset: 0,
    lines: 0,
    lineTypes: new Map(),
    unknownLines: 0,
    damagedLines: 0,
    damaged: [],
    sidechainLines: 0,
    userTurns: 0,
    compactionCount: 0,
    compactions: [],
    contextTokens: 0,
    branches: [],
    cwds: [],
    entrypoints: [],
    versions: [],
    models: [],
    files: new Map(),
  };
}

/** Raised whenever a scan of the same bytes would give something else. */
const SCAN_FORMAT = 1;

export function serializeScan(scan: SessionScan): string {
  return JSON.stringify({ format: SCAN_FORMAT, ...scan, lineTypes: [...scan.lineTypes], files: [...scan.files] });
}

/** Undefined when the text was written by another version: then the file is scanned from its start. */
export function restoreScan(text: string): SessionScan | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || value["format"] !== SCAN_FORMAT) return undefined;
  const { format: _, ...stored } = value as unknown as StoredScan;
  return { ...stored, lineTypes: new Map(stored.lineTypes), files: new Map(stored.files) };
}

type StoredScan = Omit<SessionScan, "lineTypes" | "files"> & {
  format: number;
  lineTypes: [string, number][];
  files: [string, boolean][];
};

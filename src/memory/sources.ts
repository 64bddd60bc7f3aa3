/** The sources of the index, the facts about a file before it is read, and those of its lines, which the index stores. */
import type { Line } from "../base/jsonl.ts";
import type { Passage } from "./passages.ts";
import type { TextWords } from "./text-words.ts";

export const SOURCE_KINDS = ["memory", "transcript", "native"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface SearchSources {
  agents?: readonly AgentSources[] | undefined;
  native?: NativeSources | undefined;
}

export interface AgentSources {
  agentId: string;
  /** Folder with AGENTS.md, MEMORY.md and memory/*.md. Undefined: skip memory. */
  workspace?: string | undefined;
  /** Folder with the transcripts. Undefined: skip transcripts. */
  sessionsFolder?: string | undefined;
  archiveFolder?: string | undefined;
}

export interface NativeSources {
  claudeHome: string;
  /** Only these project folders (names below `projects/`). Default: all. */
  folders?: readonly string[] | undefined;
  /** Session id → agent, from the registries. Markers in first prompts are found without it. */
  owners?: ReadonlyMap<string, string> | undefined;
  /** Holdfast's copies of deleted transcripts. Undefined: skip them. */
  archive?: ArchiveSources | undefined;
}

export interface ArchiveSources {
  folder: string;
  /** Sessions to search, with the names of their project folders. */
  sessions: readonly { sessionId: string; folder: string }[];
}

export interface SourceFile {
  path: string;
  /** For display: relative to the workspace, or the file name. */
  name: string;
  kind: SourceKind;
  owner?: string | undefined;
  sessionId?: string | undefined;
  subagentId?: string | undefined;
  inode: number;
  size: number;
  modifiedAt: number;
  /** Set for a compressed file in the archive. */
  copyOf?: CopiedFile | undefined;
}

interface CopiedFile {
  /** Of the original when it was copied. */
  sizeBytes: number;
  modifiedAt: number;
  /** Size of the copy before compression. */
  storedBytes: number;
  /** False: secrets were replaced, so lines may have moved. */
  isExact: boolean;
}

/** Number of bytes to read. */
export function lengthOf({ size, copyOf }: SourceFile): number {
  return copyOf?.storedBytes ?? size;
}

/** Agents may share a workspace; then each has its own row for a file. A native file has one row. */
export function holderOf({ kind, owner }: Pick<SourceFile, "kind" | "owner">): string {
  return kind === "native" ? "" : (owner ?? "");
}

export interface ReadStep {
  /** Offset of the next line. */
  end: number;
  /** Number of lines since the step before. Lines without facts have no step. */
  lines: number;
  passages: IndexedPassage[];
  /** The session's branch from here on. */
  branch?: string | undefined;
  /** A title of the session. One of the same or a higher rank replaces it. */
  title?: { text: string; rank: number } | undefined;
  /** Paths of files that were changed here, without secrets. */
  edits?: string[] | undefined;
  /** The working folder from here on. */
  folder?: string | undefined;
  damaged?: true | undefined;
  skipped?: true | undefined;
  /** Set at a native session's first prompt. `agentId`: the agent that wrote it, if known. */
  settled?: { agentId?: string | undefined } | undefined;
}

export interface IndexedPassage extends Passage {
  words: TextWords;
}

/** The facts of one line. Undefined: it has none. */
export type LineFacts = Partial<Omit<ReadStep, "passages"> & { passages: Passage[] }> | undefined;
export type LineReader = (line: Line, place: { line: number; endLine: number; offset: number }) => LineFacts;

/** What can be searched, and what is known of a file before it is read. */

export const SOURCE_KINDS = ["memory", "transcript", "native"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface SearchSources {
  agents?: readonly AgentSources[];
  native?: NativeSources;
}

export interface AgentSources {
  agentId: string;
  /** Holds AGENTS.md, MEMORY.md and memory/*.md. Left out: memory is not looked at. */
  workspace?: string;
  /** Holds the transcripts. Left out: transcripts are not looked at. */
  sessionsFolder?: string;
  archiveFolder?: string;
}

export interface NativeSources {
  claudeHome: string;
  /** Only these project folders (names below `projects/`). Left out: all. */
  folders?: readonly string[];
  /** Session id → agent, as the registries say. A marker in the first prompt is found without it. */
  owners?: ReadonlyMap<string, string>;
  /** Holdfast's copies, for what Claude Code has deleted. Left out: they are not looked at. */
  archive?: ArchiveSources;
}

export interface ArchiveSources {
  folder: string;
  /** Which of those in the folder to look at, and the names of the project folders that they came from. */
  sessions: readonly { sessionId: string; folder: string }[];
}

export interface SourceFile {
  path: string;
  /** For people: below the workspace, or the file's name. */
  name: string;
  kind: SourceKind;
  owner?: string;
  sessionId?: string;
  subagentId?: string;
  inode: number;
  size: number;
  modifiedAt: number;
  /** Of a file in the archive, which is compressed: what it is a copy of. */
  copyOf?: CopiedFile;
}

export interface CopiedFile {
  /** Of the original when it was copied. */
  sizeBytes: number;
  modifiedAt: number;
  /** Of the copy, before compression. */
  storedBytes: number;
  /** False when secrets were replaced: then lines may stand elsewhere. */
  isExact: boolean;
}

/** How much there is to be read. */
export function lengthOf({ size, copyOf }: SourceFile): number {
  return copyOf?.storedBytes ?? size;
}

/** Agents may share a workspace: each then has the file as its own. What is native has one row for all. */
export function holderOf({ kind, owner }: Pick<SourceFile, "kind" | "owner">): string {
  return kind === "native" ? "" : (owner ?? "");
}

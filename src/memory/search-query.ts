/** What can be asked of the index. */
import type { SourceKind } from "./sources.ts";

export interface SearchQuery {
  text: string;
  /** Who asks: its own memory, transcripts and native sessions are searched. */
  agentId: string;
  /** Native sessions that worked in one of these folders or below, and that no agent started, too. */
  repoRoots?: readonly string[];
  /** Only what was written in this folder or below. */
  repo?: string;
  /** Left out: all. */
  kinds?: readonly SourceKind[];
  role?: "user" | "assistant";
  /** In ms. */
  since?: number;
  sessionIds?: readonly string[];
  /** Left out: 20. */
  limit?: number;
  /** Of a snippet, in characters. Left out: 240, on one line. */
  snippet?: { length: number; keepLines: boolean };
}

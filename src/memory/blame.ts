/** Which sessions changed a file, with the prompts that led to it. For a person, who sees every session. */
import type { IndexDatabase } from "./index-database.ts";

export interface FileEdit {
  sessionId: string;
  kind: "transcript" | "native";
  agentId?: string | undefined;
  /** The transcript. */
  path: string;
  folder?: string | undefined;
  branch?: string | undefined;
  title?: string | undefined;
  /** Of the last change after this prompt, in ms. */
  at?: number | undefined;
  /** Absent if no prompt came before. */
  prompt?: string | undefined;
  entryId?: string | undefined;
}

interface EditRow {
  session_id: string;
  kind: "transcript" | "native";
  owner: string | null;
  path: string;
  folder: string | null;
  branch: string | null;
  title: string | null;
  at: number | null;
  text: string | null;
  entry_id: string | null;
}

const MAX_EDITS = 1000;

/** Newest first. `paths`: the names of one file. */
export function findEdits(database: IndexDatabase, paths: readonly string[]): FileEdit[] {
  const rows = database.all<EditRow>(
    `SELECT s.session_id, s.kind, s.owner, s.path, s.folder, s.branch, s.title, e.at, p.text, p.entry_id
     FROM edits e JOIN sources s ON s.id = e.source_id LEFT JOIN passages p ON p.id = e.prompt_id
     WHERE e.path IN (SELECT value FROM json_each(?)) ORDER BY e.at DESC LIMIT ?`,
    JSON.stringify(paths),
    MAX_EDITS,
  );
  return rows.map((row) => ({
    sessionId: row.session_id,
    kind: row.kind,
    agentId: row.owner ?? undefined,
    path: row.path,
    folder: row.folder ?? undefined,
    branch: row.branch ?? undefined,
    title: row.title ?? undefined,
    at: row.at ?? undefined,
    prompt: row.text ?? undefined,
    entryId: row.entry_id ?? undefined,
  }));
}

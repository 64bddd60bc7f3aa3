/** The rows of indexed files and their passages. Callers open the transaction. */
import { type IndexDatabase, MAX_PASSAGES, passageId } from "./index-database.ts";
import { type SourceFile, type SourceKind, holderOf } from "./sources.ts";
import type { ReadStep } from "./read-source.ts";
import { wordForms } from "./query.ts";

export interface SourceRow {
  id: number;
  path: string;
  /** The agent, for files that several agents may share; else empty. */
  holder: string;
  kind: SourceKind;
  owner: string | null;
  session_id: string | null;
  subagent_id: string | null;
  /** 1: the session's owner is known. */
  settled: number;
  inode: number;
  /** Size and modification time when the file was last read to its end. */
  size: number;
  modified_at: number;
  /** Everything before this offset is indexed. */
  offset: number;
  /** Hash of the bytes before `offset`. */
  tail: string;
  lines: number;
  passages: number;
  folder: string | null;
}

const COLUMNS =
  "id, path, holder, kind, owner, session_id, subagent_id, settled, inode, size, modified_at, offset, tail, lines, passages, folder";

export function allSources(database: IndexDatabase): SourceRow[] {
  return database.all<SourceRow>(`SELECT ${COLUMNS} FROM sources`);
}

export function findSource(database: IndexDatabase, path: string, holder: string): SourceRow | undefined {
  return database.get<SourceRow>(`SELECT ${COLUMNS} FROM sources WHERE path = ? AND holder = ?`, path, holder);
}

/** Adds an unread file. A subagent has the owner of its session. */
export function addSource(database: IndexDatabase, file: SourceFile): SourceRow {
  const session =
    file.kind === "native"
      ? database.get<{ owner: string | null; settled: number | null }>(
          "SELECT max(owner) AS owner, max(settled) AS settled FROM sources WHERE kind = 'native' AND session_id = ?",
          file.sessionId ?? "",
        )
      : undefined;
  const settled = file.subagentId === undefined ? 0 : (session?.settled ?? 0);
  database.run(
    `INSERT INTO sources (path, holder, name, kind, owner, session_id, subagent_id, settled, inode, size, modified_at,
       offset, tail, lines, passages, damaged_lines, skipped_lines)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, -1, -1, 0, '', 0, 0, 0, 0)`,
    file.path,
    holderOf(file),
    file.name,
    file.kind,
    file.owner ?? session?.owner ?? null,
    file.sessionId ?? null,
    file.subagentId ?? null,
    settled,
    file.inode,
  );
  const row = findSource(database, file.path, holderOf(file));
  if (row === undefined) throw new Error(`no row for ${file.path} within its own transaction`);
  return row;
}

export function removeSource(database: IndexDatabase, row: SourceRow): void {
  const [first, last] = [passageId(row.id, 0), passageId(row.id, MAX_PASSAGES)];
  for (const { id } of database.all<{ id: number }>("SELECT id FROM passages WHERE id BETWEEN ? AND ?", first, last)) {
    database.run("DELETE FROM words WHERE rowid = ?", id);
    database.run("DELETE FROM fragments WHERE rowid = ?", id);
  }
  database.run("DELETE FROM passages WHERE id BETWEEN ? AND ?", first, last);
  database.run("DELETE FROM source_folders WHERE source_id = ?", row.id);
  database.run("DELETE FROM sources WHERE id = ?", row.id);
  // The owner of its subagents must be read again.
  if (row.kind === "native" && row.subagent_id === null) {
    database.run("UPDATE sources SET settled = 0 WHERE kind = 'native' AND session_id = ?", row.session_id);
  }
}

/** Returns the updated row. */
export function addSteps(database: IndexDatabase, row: SourceRow, steps: readonly ReadStep[], tail: string): SourceRow {
  let { passages, folder } = row;
  for (const step of steps) {
    for (const passage of step.passages) {
      if (passages > MAX_PASSAGES) break;
      const id = passageId(row.id, passages++);
      database.run(
        "INSERT INTO passages (id, role, at, entry_id, line, end_line, offset, folder, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        passage.role ?? null,
        passage.at ?? null,
        passage.entryId ?? null,
        passage.line,
        passage.endLine,
        passage.offset,
        passage.folder ?? null,
        passage.text,
      );
      const { text, parts } = wordForms(passage.text);
      database.run("INSERT INTO words (rowid, text, parts) VALUES (?, ?, ?)", id, text, parts);
      database.run("INSERT INTO fragments (rowid, text) VALUES (?, ?)", id, fragmentText(passage.text));
    }
    if (step.folder !== undefined && step.folder !== folder) {
      folder = step.folder;
      database.run("INSERT OR IGNORE INTO source_folders (folder, source_id) VALUES (?, ?)", folder, row.id);
    }
    // Only the session itself determines the owner, also for its subagents.
    if (step.settled !== undefined && row.subagent_id === null) settleSession(database, row, step.settled.agentId);
  }
  const offset = steps.at(-1)?.end ?? row.offset;
  const lines = row.lines + steps.reduce((sum, step) => sum + step.lines, 0);
  database.run(
    `UPDATE sources SET offset = ?, tail = ?, lines = ?, passages = ?, folder = ?,
       damaged_lines = damaged_lines + ?, skipped_lines = skipped_lines + ? WHERE id = ?`,
    offset,
    tail,
    lines,
    passages,
    folder,
    steps.filter(({ damaged }) => damaged).length,
    steps.filter(({ skipped }) => skipped).length,
    row.id,
  );
  return { ...row, offset, tail, lines, passages, folder };
}

/** Marks the file as read to its end. */
export function finishSource(database: IndexDatabase, row: SourceRow, file: SourceFile): void {
  const sql = "UPDATE sources SET size = ?, modified_at = ?, inode = ? WHERE id = ?";
  database.run(sql, file.size, file.modifiedAt, file.inode, row.id);
}

export function moveSource(database: IndexDatabase, row: SourceRow, file: SourceFile): void {
  database.run("UPDATE sources SET path = ?, name = ? WHERE id = ?", file.path, file.name, row.id);
}

/** A registry wins over a prompt. */
export function setSessionOwner(database: IndexDatabase, sessionId: string, owner: string): void {
  database.run("UPDATE sources SET owner = ? WHERE kind = 'native' AND session_id = ?", owner, sessionId);
}

/** Keeps a known owner: a copy never makes a session less private. */
function settleSession(database: IndexDatabase, row: SourceRow, agentId: string | undefined): void {
  database.run(
    "UPDATE sources SET settled = 1, owner = coalesce(owner, ?) WHERE kind = 'native' AND session_id = ?",
    agentId ?? null,
    row.session_id,
  );
}

/** Normalized as in `hasTerms`. */
export function fragmentText(text: string): string {
  return text.normalize("NFC").replaceAll("\0", " ");
}

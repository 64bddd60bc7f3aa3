/**
 * The rows of indexed files and their passages. Callers open the transaction. While passages are added, statements
 * change one row each: one that may change several makes FTS5 write what it has collected in memory.
 */
import { basename, dirname, join } from "node:path";
import { redactText } from "../base/redact.ts";
import { type IndexDatabase, ABOUT_PLACE, passageId } from "./index-database.ts";
import { type IndexedPassage, type ReadStep, type SourceFile, type SourceKind, holderOf } from "./sources.ts";
import type { WordReader } from "./text-words.ts";

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
  branch: string | null;
  title: string | null;
  /** 0: no title. A title of a lower rank does not replace it. */
  title_rank: number;
  /** Id of the passage with the last prompt. */
  last_prompt: number | null;
  /** Time of the newest passage, in ms. */
  last_at: number | null;
}

const COLUMNS =
  "id, path, holder, kind, owner, session_id, subagent_id, settled, inode, size, modified_at, offset, tail, lines, " +
  "passages, folder, branch, title, title_rank, last_prompt, last_at";

/** What tells whether a file has changed. Whole rows of 10,000 files would take longer than everything else. */
export type ListedRow = Pick<SourceRow, (typeof LISTED)[number]>;

const LISTED = [
  "id",
  "path",
  "holder",
  "kind",
  "owner",
  "session_id",
  "subagent_id",
  "inode",
  "size",
  "modified_at",
  "offset",
] as const;

export function allSources(database: IndexDatabase): ListedRow[] {
  return database.all<ListedRow>(`SELECT ${LISTED.join(", ")} FROM sources`);
}

/** Rows of all agents' own files, and of the native files below these folders. */
export function ownSources(database: IndexDatabase, folders: readonly string[]): ListedRow[] {
  const own = database.all<ListedRow>(`SELECT ${LISTED.join(", ")} FROM sources WHERE kind <> 'native'`);
  return [...own, ...rowsIn(database, folders)];
}

/** Rows of native files below these folders, by path. */
export function rowsIn(database: IndexDatabase, folders: readonly string[]): ListedRow[] {
  // "0" is the character after "/".
  return database.all<ListedRow>(
    `SELECT ${LISTED.map((column) => `s.${column}`).join(", ")} FROM json_each(?) AS f CROSS JOIN sources AS s
     WHERE s.path > f.value || '/' AND s.path < f.value || '0' AND s.kind = 'native' ORDER BY s.path`,
    JSON.stringify(folders),
  );
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
  const row: Omit<SourceRow, "id"> = {
    path: file.path,
    holder: holderOf(file),
    kind: file.kind,
    owner: file.owner ?? session?.owner ?? null,
    session_id: file.sessionId ?? null,
    subagent_id: file.subagentId ?? null,
    settled: file.subagentId === undefined ? 0 : (session?.settled ?? 0),
    inode: file.inode,
    size: -1,
    modified_at: -1,
    offset: 0,
    tail: "",
    lines: 0,
    passages: 0,
    folder: null,
    branch: null,
    title: null,
    title_rank: 0,
    last_prompt: null,
    last_at: null,
  };
  // Without RETURNING, which would make FTS5 write too.
  const { id } = database.run(
    `INSERT INTO sources (path, holder, name, kind, owner, session_id, subagent_id, settled, inode, size, modified_at,
       offset, tail, lines, passages, damaged_lines, skipped_lines)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`,
    row.path,
    row.holder,
    file.name,
    row.kind,
    row.owner,
    row.session_id,
    row.subagent_id,
    row.settled,
    row.inode,
    row.size,
    row.modified_at,
    row.offset,
    row.tail,
    row.lines,
    row.passages,
  );
  return { id, ...row };
}

export function removeSource(database: IndexDatabase, row: SourceRow): void {
  const [first, last] = [passageId(row.id, 0), passageId(row.id, ABOUT_PLACE)];
  for (const { id } of database.all<{ id: number }>("SELECT id FROM passages WHERE id BETWEEN ? AND ?", first, last)) {
    database.run("DELETE FROM words WHERE rowid = ?", id);
  }
  database.run("DELETE FROM words WHERE rowid = ?", passageId(row.id, ABOUT_PLACE));
  database.run("DELETE FROM passages WHERE id BETWEEN ? AND ?", first, last);
  database.run("DELETE FROM source_folders WHERE source_id = ?", row.id);
  database.run("DELETE FROM edits WHERE source_id = ?", row.id);
  database.run("DELETE FROM vectors WHERE source_id = ?", row.id);
  database.run("DELETE FROM sources WHERE id = ?", row.id);
  const folder = row.subagent_id === null ? dirname(row.path) : join(row.path, "../../..");
  if (row.kind === "native") database.run("UPDATE folders SET memory = NULL, stamps = NULL WHERE path = ?", folder);
  // The owner of its subagents must be read again.
  if (row.kind === "native" && row.subagent_id === null) {
    database.run("UPDATE sources SET settled = 0 WHERE kind = 'native' AND session_id = ?", row.session_id);
  }
}

/** Returns the updated row. */
export function addSteps(
  database: IndexDatabase,
  row: SourceRow,
  steps: readonly ReadStep[],
  { tail, words }: { tail: string; words: WordReader },
): SourceRow {
  const next = { ...row, tail };
  let hasNewEdit = false;
  for (const step of steps) {
    for (const passage of step.passages) {
      if (next.passages >= ABOUT_PLACE) break;
      const id = passageId(row.id, next.passages++);
      addPassage(database, id, passage);
      if (passage.role === "user") next.last_prompt = id;
      next.last_at = Math.max(next.last_at ?? 0, passage.at ?? 0) || null;
    }
    if (step.folder !== undefined && step.folder !== next.folder) {
      next.folder = step.folder;
      database.run("INSERT OR IGNORE INTO source_folders (folder, source_id) VALUES (?, ?)", next.folder, row.id);
    }
    next.branch = step.branch ?? next.branch;
    if (step.title !== undefined && step.title.rank >= next.title_rank) {
      [next.title, next.title_rank] = [step.title.text, step.title.rank];
    }
    for (const path of step.edits ?? []) {
      addEdit(database, next, path, step.passages[0]?.at);
      hasNewEdit = true;
    }
    // Only the session itself determines the owner, also for its subagents.
    if (step.settled !== undefined && row.subagent_id === null) settleSession(database, row, step.settled.agentId);
  }
  next.offset = steps.at(-1)?.end ?? row.offset;
  next.lines += steps.reduce((sum, step) => sum + step.lines, 0);
  const isAboutOther = next.title !== row.title || next.branch !== row.branch || next.folder !== row.folder;
  if (row.kind !== "memory" && (hasNewEdit || isAboutOther))
    describeSource(database, next, { words, isDescribed: row.offset > 0 });
  updateSource(database, next, steps);
  return next;
}

function addPassage(database: IndexDatabase, id: number, passage: IndexedPassage): void {
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
  const { text = passage.text, parts } = passage.words;
  const isTool = passage.role === "tool";
  database.run(
    "INSERT INTO words (rowid, said, parts, tools) VALUES (?, ?, ?, ?)",
    id,
    isTool ? "" : text,
    isTool ? "" : parts,
    isTool ? `${text}\n${parts}` : "",
  );
}

function addEdit(database: IndexDatabase, row: SourceRow, path: string, at: number | undefined): void {
  const key = [row.id, path, row.last_prompt ?? passageId(row.id, ABOUT_PLACE)] as const;
  const sameEdit = "WHERE source_id = ? AND path = ? AND prompt_id = ?";
  const changedAt = at ?? row.last_at;
  const known = database.get<{ at: number | null }>(`SELECT at FROM edits ${sameEdit}`, ...key);
  if (known === undefined) {
    database.run("INSERT INTO edits (source_id, path, prompt_id, at) VALUES (?, ?, ?, ?)", ...key, changedAt);
  } else if ((changedAt ?? 0) > (known.at ?? 0)) {
    database.run(`UPDATE edits SET at = ? ${sameEdit}`, changedAt, ...key);
  }
}

const MAX_FILES = 300;

/** Makes a session findable by its title, branch, repo and changed files. */
function describeSource(
  database: IndexDatabase,
  source: SourceRow,
  { words, isDescribed }: { words: WordReader; isDescribed: boolean },
): void {
  const { id, title, branch, folder } = source;
  const files = database.all<{ path: string }>(
    "SELECT DISTINCT path FROM edits WHERE source_id = ? LIMIT ?",
    id,
    MAX_FILES,
  );
  const paths = files.map(({ path }) => (folder === null ? path : path.replace(`${folder}/`, "")));
  const about = [title, branch, folder === null ? null : redactText(basename(folder)), ...paths];
  const raw = about.filter((line) => line !== null).join("\n");
  const { text = raw, parts } = words.read(raw);
  const rowid = passageId(id, ABOUT_PLACE);
  if (isDescribed) database.run("DELETE FROM words WHERE rowid = ?", rowid);
  database.run("INSERT INTO words (rowid, about) VALUES (?, ?)", rowid, `${text}\n${parts}`);
}

function updateSource(database: IndexDatabase, row: SourceRow, steps: readonly ReadStep[]): void {
  database.run(
    `UPDATE sources SET offset = ?, tail = ?, lines = ?, passages = ?, folder = ?, branch = ?, title = ?, title_rank = ?,
       last_prompt = ?, last_at = ?, damaged_lines = damaged_lines + ?, skipped_lines = skipped_lines + ? WHERE id = ?`,
    row.offset,
    row.tail,
    row.lines,
    row.passages,
    row.folder,
    row.branch,
    row.title,
    row.title_rank,
    row.last_prompt,
    row.last_at,
    steps.filter(({ damaged }) => damaged).length,
    steps.filter(({ skipped }) => skipped).length,
    row.id,
  );
}

/** Marks the file as read to its end. */
export function finishSource(database: IndexDatabase, row: SourceRow, file: SourceFile): void {
  const sql = "UPDATE sources SET size = ?, modified_at = ?, inode = ? WHERE id = ?";
  database.run(sql, file.size, file.modifiedAt, file.inode, row.id);
}

export function moveSource(database: IndexDatabase, row: ListedRow, file: SourceFile): void {
  database.run("UPDATE sources SET path = ?, name = ? WHERE id = ?", file.path, file.name, row.id);
}

/** A registry wins over a prompt. */
export function setOwners(database: IndexDatabase, owners: ReadonlyMap<string, string>): void {
  if (owners.size === 0) return;
  const wrong = database.all<{ id: number; owner: string }>(
    `SELECT s.id, o.value AS owner FROM json_each(?) AS o JOIN sources AS s ON s.session_id = o.key
     WHERE s.kind = 'native' AND s.owner IS NOT o.value`,
    JSON.stringify(Object.fromEntries(owners)),
  );
  if (wrong.length === 0) return;
  database.transaction(() => {
    for (const { id, owner } of wrong) database.run("UPDATE sources SET owner = ? WHERE id = ?", owner, id);
  });
}

/** Keeps a known owner: a copy never makes a session less private. */
function settleSession(database: IndexDatabase, row: SourceRow, agentId: string | undefined): void {
  const sql = "SELECT id FROM sources WHERE kind = 'native' AND session_id = ?";
  for (const { id } of database.all<{ id: number }>(sql, row.session_id)) {
    database.run("UPDATE sources SET settled = 1, owner = coalesce(owner, ?) WHERE id = ?", agentId ?? null, id);
  }
}

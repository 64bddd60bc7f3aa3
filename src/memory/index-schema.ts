/**
 * The tables of the index. A passage's id holds its source in the upper bits, so that the full-text
 * tables can be confined to the sources somebody may see without a look at the passage itself.
 *
 * - `words`: whole words, stemmed, without accents; `parts` holds what the tokenizer cannot find by
 *   itself (word-forms.ts).
 * - `fragments`: three characters at a time, without positions; a find is checked against the text.
 */

/** Raised whenever the same files would be indexed differently. */
export const INDEX_VERSION = 1;

/** "HFSx" in SQLite's header: tells our file from any other. */
export const APPLICATION_ID = 0x48465378;

/** How many bits of a passage's id count within its source. */
export const PASSAGE_BITS = 24;

export function passageId(sourceId: number, place: number): number {
  return sourceId * 2 ** PASSAGE_BITS + place;
}

export const MAX_PASSAGES = 2 ** PASSAGE_BITS - 1;

export const SCHEMA = `
  CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    holder TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT,
    session_id TEXT,
    subagent_id TEXT,
    settled INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified_at REAL NOT NULL,
    offset INTEGER NOT NULL,
    tail TEXT NOT NULL,
    lines INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    folder TEXT,
    damaged_lines INTEGER NOT NULL,
    skipped_lines INTEGER NOT NULL,
    UNIQUE (path, holder)
  ) STRICT;
  CREATE INDEX sources_by_session ON sources (session_id);
  CREATE TABLE source_folders (
    source_id INTEGER NOT NULL REFERENCES sources (id),
    folder TEXT NOT NULL,
    PRIMARY KEY (source_id, folder)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    role TEXT,
    at INTEGER,
    entry_id TEXT,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    folder TEXT,
    text TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (
    text, parts, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
  );
  CREATE VIRTUAL TABLE fragments USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = "trigram"
  );
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${INDEX_VERSION};
`;

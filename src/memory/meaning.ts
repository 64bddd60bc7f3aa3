/**
 * Finds sessions by meaning, for questions whose words they do not contain. A session has one vector, of its title and
 * the beginning of what was said in it; the sessions whose vectors point in the direction of the question's come first.
 */
import type { SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import { ABOUT_PLACE, PASSAGE_BITS, type IndexDatabase, passageId } from "./index-database.ts";
import type { RowFilter } from "./source-filter.ts";

export interface Encoder {
  /** Vectors of different encoders are not comparable. */
  name: string;
  /** Takes no network, so a question may wait for it. Default: false. */
  isLocal?: boolean | undefined;
  /** A vector for each text; undefined for a text without meaning. */
  encode(
    texts: readonly string[],
    options?: { signal?: AbortSignal | undefined; attempts?: number | undefined },
  ): Promise<Encoded>;
}

export interface Encoded {
  vectors: (Float32Array | undefined)[];
  tokens?: number | undefined;
  /** US dollars. Undefined if the price is unknown. */
  costUsd?: number | undefined;
}

export interface MeaningStatus {
  encoder: string;
  /** Number of sessions with a vector, and without. */
  sessions: number;
  pending: number;
  /** Spent so far. */
  tokens: number;
  costUsd: number;
}

const BATCH = 64;
/** A session that has grown by this factor is encoded again. */
const GROWTH = 1.25;

const MISSING = `FROM sources s LEFT JOIN vectors v ON v.encoder = ? AND v.source_id = s.id
  WHERE s.subagent_id IS NULL AND s.passages > 0 AND coalesce(v.passages, 0) * ${GROWTH} < s.passages`;

/** Encodes sessions that have no vector or have grown, newest first, until none is left or the time is over. */
export async function updateVectors(
  database: IndexDatabase,
  encoder: Encoder,
  { isOver, signal }: { isOver: () => boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  while (!isOver()) {
    const sources = database.all<{ id: number; passages: number; title: string | null; branch: string | null }>(
      `SELECT s.id, s.passages, s.title, s.branch ${MISSING} ORDER BY s.last_at DESC LIMIT ${BATCH}`,
      encoder.name,
    );
    if (sources.length === 0) return;
    const texts = sources.map((source) => sessionText(database, source));
    const { vectors, tokens = 0, costUsd = 0 } = await encoder.encode(texts, { signal });
    database.transaction(() => {
      for (const [at, { id, passages }] of sources.entries()) {
        const vector = vectors[at];
        const bytes = vector === undefined ? new Uint8Array() : toBytes(vector);
        const sql = "INSERT OR REPLACE INTO vectors (encoder, source_id, passages, vector) VALUES (?, ?, ?, ?)";
        database.run(sql, encoder.name, id, passages, bytes);
      }
      database.run(
        `INSERT INTO encoders (name, tokens, cost_usd) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens, cost_usd = cost_usd + excluded.cost_usd`,
        encoder.name,
        tokens,
        costUsd,
      );
    });
    // Lets this thread notice that it should stop.
    await nextTick();
  }
}

export function meaningStatus(database: IndexDatabase, encoder: string): MeaningStatus {
  const count = (sql: string): number => database.get<{ count: number }>(sql, encoder)?.count ?? 0;
  const spent = database.get<{ tokens: number; cost_usd: number }>("SELECT * FROM encoders WHERE name = ?", encoder);
  return {
    encoder,
    sessions: count("SELECT count(*) AS count FROM vectors WHERE encoder = ?"),
    pending: count(`SELECT count(*) AS count ${MISSING}`),
    tokens: spent?.tokens ?? 0,
    costUsd: spent?.cost_usd ?? 0,
  };
}

const MAX_TEXT = 6000;
const MAX_PIECE = 400;
const MAX_PIECES = 60;

/** What people asked comes first, because it says best what a session is about. */
function sessionText(
  database: IndexDatabase,
  { id, title, branch }: { id: number; title: string | null; branch: string | null },
): string {
  const pieces = database.all<{ text: string }>(
    `SELECT text FROM (
       SELECT id, role, substr(text, 1, ${MAX_PIECE}) AS text FROM passages
       WHERE id BETWEEN ? AND ? AND coalesce(role, '') <> 'tool' ORDER BY id LIMIT ${MAX_PIECES}
     ) ORDER BY coalesce(role, '') = 'assistant', id`,
    passageId(id, 0),
    passageId(id, ABOUT_PLACE),
  );
  const parts = [title, branch, ...pieces.map(({ text }) => text)];
  return parts
    .filter((part) => part !== null)
    .join("\n")
    .slice(0, MAX_TEXT);
}

/** Only the direction counts, so a byte per number is enough. */
function toBytes(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
  return new Uint8Array(Int8Array.from(vector, (value) => Math.round((value / largest) * 127)).buffer);
}

/** Cosine of the angle to the question, by source id. */
export function similarSources(
  database: IndexDatabase,
  { name, vector }: { name: string; vector: Float32Array },
  filter: RowFilter,
): Map<number, number> {
  const values: SQLInputValue[] = [name, ...filter.values];
  const rows = database.all<{ id: number; vector: Uint8Array }>(
    `SELECT v.source_id AS id, v.vector FROM vectors v
     WHERE v.encoder = ? AND ${filter.sql(`((v.source_id << ${PASSAGE_BITS}) + ${ABOUT_PLACE})`)}`,
    ...values,
  );
  const found = new Map<number, number>();
  for (const row of rows) {
    const { buffer, byteOffset, length } = row.vector;
    if (length === vector.length) found.set(row.id, cosine(vector, new Int8Array(buffer, byteOffset, length)));
  }
  return found;
}

/** Passages that are compared one by one. */
const MAX_COMPARED = 3000;

/** The same for single passages, newest first. `encoder` is local. */
export async function similarPassages(
  database: IndexDatabase,
  encoder: Encoder,
  vector: Float32Array,
  filter: RowFilter,
): Promise<Map<number, number>> {
  const rows = database.all<{ id: number; text: string }>(
    `SELECT id, text FROM passages WHERE coalesce(role, '') <> 'tool' AND ${filter.sql("passages.id")}
     ORDER BY at DESC LIMIT ${MAX_COMPARED}`,
    ...filter.values,
  );
  const { vectors } = await encoder.encode(rows.map(({ text }) => text));
  const found = new Map<number, number>();
  for (const [at, { id }] of rows.entries()) {
    const own = vectors[at];
    if (own !== undefined) found.set(id, cosine(vector, own));
  }
  return found;
}

function cosine(a: Float32Array, b: Int8Array | Float32Array): number {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < b.length; at += 1) {
    const x = a[at] ?? 0;
    const y = b[at] ?? 0;
    product += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return product / Math.sqrt(Math.max(ofA * ofB, 1e-12));
}

/**
 * Reads the database in which OpenClaw keeps an agent's sessions since 2026.7. The file is never opened for writing, and
 * nothing is written beside it: a database with a log is copied first. Tables and columns are read if they exist, because
 * they differ between versions; a version after the newest known one is refused.
 */
import { copyFile, mkdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { HoldfastError, errorMessage, fileError } from "../base/errors.ts";
import { PRIVATE_FOLDER, fileSize, readFileIfPresent, sweepFolder, temporaryPath } from "../base/files.ts";
import { type JsonRecord, isRecord, parseJson } from "../base/json-record.ts";
import {
  type DatabaseRole,
  type SqliteConnection,
  isEmptyDatabase,
  openReadOnly,
  quickCheck,
  sqliteError,
  wrapConnection,
} from "../base/sqlite.ts";
import type { WindowReason } from "../store/store.ts";
import type { FoundSession } from "./take-sessions.ts";
import { type FoundTranscript, type Line, derivedId, recoveredKey, stringOf, toLine, toLines } from "./transcripts.ts";

/** `PRAGMA user_version` of OpenClaw 2026.9.6. */
const NEWEST_LAYOUT = 23;

/** Runs the task on one state of the database. Throws with kind `corrupt` or `unsupported` if it cannot be read. */
export async function withOpenClawDatabase<T>(path: string, task: (tables: Tables) => Promise<T>): Promise<T> {
  const before = await stampOf(path);
  const copy = await copyIfLogged(path).catch((error: unknown) => {
    throw fileError(error, "copy", path);
  });
  const assertUnchanged = async (): Promise<void> => {
    if (copy === undefined && (await stampOf(path)) !== before) throw inUse(path);
  };
  try {
    const database = await openReadOnly(copy?.path ?? path);
    const connection = wrapConnection(database, path, ROLE);
    try {
      const damage = isEmptyDatabase(database) ? "it has no tables" : quickCheck(database);
      if (damage !== undefined) throw unreadable("corrupt", "damaged", `${path} is damaged: ${damage}`);
      const result = await task(tablesOf(connection, path));
      await assertUnchanged();
      return result;
    } finally {
      connection.close();
    }
  } catch (error) {
    await assertUnchanged();
    throw sqliteError(error, path, ROLE);
  } finally {
    await copy?.remove();
  }
}

const ROLE: DatabaseRole = {
  prefix: "openclaw-database",
  hints: { damaged: "Repair it with `openclaw doctor`, or restore a backup.", unexpected: "Try again." },
};

function unreadable(kind: "corrupt" | "unsupported", what: string, message: string): HoldfastError {
  const hint = kind === "corrupt" ? ROLE.hints.damaged : "Update Holdfast and import again. Nothing was changed.";
  return new HoldfastError(kind, `openclaw-database-${what}`, message, { hint });
}

function inUse(path: string): HoldfastError {
  return new HoldfastError("locked", "openclaw-database-busy", `${path} changed while it was read`, {
    hint: "Stop OpenClaw, or import again later.",
  });
}

/** Logs whose content belongs to the database. */
const LOGS = ["-wal", "-journal"] as const;
const COPY_NAME = "holdfast-openclaw-database";

async function stampOf(path: string): Promise<string> {
  const files = ["", ...LOGS].map((ending) => stat(`${path}${ending}`).catch(() => undefined));
  return JSON.stringify((await Promise.all(files)).map((found) => [found?.size, found?.mtimeMs]));
}

/** Opening a database together with its log would write to both. */
async function copyIfLogged(path: string): Promise<{ path: string; remove: () => Promise<void> } | undefined> {
  const logs = await Promise.all(LOGS.map(async (log) => (((await fileSize(`${path}${log}`)) ?? 0) > 0 ? [log] : [])));
  if (logs.flat().length === 0) return undefined;
  await sweepFolder(tmpdir(), COPY_NAME);
  const folder = temporaryPath(join(tmpdir(), COPY_NAME));
  await mkdir(folder, { mode: PRIVATE_FOLDER });
  const target = join(folder, basename(path));
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
    const before = await stampOf(path);
    for (const ending of ["", ...logs.flat()]) await copyFile(`${path}${ending}`, `${target}${ending}`);
    if ((await stampOf(path)) === before) return { path: target, remove };
  }
  await remove();
  throw inUse(path);
}

/** OpenClaw may write while the files are copied. */
const COPY_ATTEMPTS = 10;

export type Tables = ReturnType<typeof tablesOf>;

function tablesOf(connection: SqliteConnection, path: string) {
  const columnsOf = (table: string): Set<string> =>
    new Set(connection.all<{ name: string }>(`PRAGMA table_xinfo("${table}")`).map(({ name }) => name));
  /**
   * `columns` are separated by spaces. Missing ones are null, and a missing table has no rows. Text may be stored as
   * bytes; numbers beyond the exact ones become inexact.
   */
  const select = (table: string, columns: string, rest = "", ...values: string[]): JsonRecord[] => {
    const known = columnsOf(table);
    if (known.size === 0) return [];
    const names = columns.split(" ").map((column) => `${known.has(column) ? exact(column) : "NULL"} AS ${column}`);
    return connection.all<JsonRecord>(`SELECT ${names.join(", ")} FROM "${table}" ${rest}`, ...values);
  };
  const has = (table: string, ...columns: string[]): boolean => {
    const known = columnsOf(table);
    return columns.every((column) => known.has(column));
  };
  const [version] = connection.all<{ user_version: number }>("PRAGMA user_version");
  const metas = select("schema_meta", "schema_version");
  const layout = Math.max(version?.user_version ?? 0, ...metas.map((meta) => Number(meta["schema_version"])));
  if (layout > NEWEST_LAYOUT) {
    const message = `${path} has layout ${layout}; this Holdfast reads layouts up to ${NEWEST_LAYOUT}`;
    throw unreadable("unsupported", "too-new", message);
  }
  // Layouts up to 13 had other names for two tables.
  const isOld = !has("session_nodes", "session_key");
  const nodes = isOld ? "session_entries" : "session_nodes";
  const windows = isOld ? "sessions" : "session_windows";
  const hasNodes = has(nodes, "session_key", "entry_json");
  const isKept = has("transcript_events", "event_json") || has("transcript_events", "event_zstd");
  const hasEvents = has("transcript_events", "session_id", "seq") && isKept;
  if (hasNodes !== hasEvents) {
    throw unreadable("unsupported", "unknown", `${path} has tables that this Holdfast does not know`);
  }
  const countSessions = (): number => (hasNodes ? select(nodes, "session_key").length : 0);
  return { path, select, isOld, nodes: hasNodes ? nodes : "", windows: hasNodes ? windows : "", countSessions };
}

function exact(column: string): string {
  const isLarge = `typeof(${column}) = 'integer' AND ${column} NOT BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return `CASE WHEN ${isLarge} THEN CAST(${column} AS REAL) ELSE ${column} END`;
}

/** Sessions with all their windows, transcripts of no session, then what OpenClaw deleted or reset and kept. */
export function* readDatabaseSessions(tables: Tables, agentId: string): Generator<FoundSession> {
  const { select, path } = tables;
  const nodes = select(tables.nodes, NODE_COLUMNS);
  const routes = tables.isOld ? select("session_routes", "session_key session_id updated_at") : [];
  const windows = select(tables.windows, "session_id session_key previous_session_id reason created_at");
  if (tables.isOld) for (const window of windows) Object.assign(window, ownerOf(window, nodes, routes));
  const owners = new Map(windows.map((window) => [window["session_id"], window["session_key"]]));
  const byKey = Map.groupBy(windows, (window) => String(window["session_key"]));
  const archives = select("session_transcript_archives", ARCHIVE_COLUMNS);
  const live = new Set(nodes.map((node) => node["session_key"]));
  const lost = [...byKey.keys()].filter((key) => !live.has(key)).map((key): JsonRecord => ({ session_key: key }));
  for (const node of [...nodes, ...lost]) {
    const key = String(node["session_key"]);
    const entry = entryOf(node);
    const ordered = inOrder(byKey.get(key) ?? []);
    const named = stringOf(entry["sessionId"]) ?? stringOf(ordered.at(-1)?.["session_id"]);
    const isNew = named !== undefined && !owners.has(named);
    if (isNew) owners.set(named, key);
    const own = isNew ? [...ordered, { session_id: named }] : ordered;
    // The session of another key cannot continue under two.
    const currentId = named === undefined || owners.get(named) === key ? named : derivedId(named, key);
    const resets = archives.filter((archive) => archive["session_key"] === key && archive["reason"] === "reset");
    const archivedAt = node["archived_at"];
    yield {
      key,
      entry: { ...entry, sessionId: currentId },
      transcripts: [
        ...own.map((window) => transcriptOf(tables, window, window["session_id"] === currentId)),
        ...resets.map(archivedTranscript),
      ],
      archived: typeof archivedAt === "number" ? { at: archivedAt, reason: "archived" } : undefined,
      path,
    };
  }
  for (const { session_id: id } of select("transcript_events", "session_id", "GROUP BY session_id")) {
    if (owners.has(id)) continue;
    const transcripts = [transcriptOf(tables, { session_id: id }, true)];
    yield { key: recoveredKey(agentId, String(id)), entry: {}, transcripts, path };
  }
  for (const archive of archives) {
    if (archive["reason"] === "reset" && live.has(archive["session_key"])) continue;
    const archived = { at: Number(archive["created_at"]) || 0, reason: "deleted" };
    const transcripts = [{ ...archivedTranscript(archive), isCurrent: true }];
    yield { key: String(archive["session_key"]), entry: {}, transcripts, archived, path };
  }
}

/** Messages that OpenClaw has accepted and not answered, oldest first. No transcript has them. */
export function readWaitingMessages({ select }: Tables): { key: string; text: string }[] {
  const rows = select("session_pending_inputs", "seq session_key message_json state consumed_event_id", "ORDER BY seq");
  const waiting = rows.filter((row) => row["state"] !== "cancelled" && row["consumed_event_id"] === null);
  return waiting.map((row) => {
    const message = parseJson(textOf(row["message_json"]) ?? "");
    const { content } = isRecord(message) ? message : {};
    const blocks: unknown[] = Array.isArray(content) ? content : [{ text: content }];
    const text = blocks.flatMap((block) => (isRecord(block) ? (stringOf(block["text"]) ?? []) : [])).join(" ");
    return { key: String(row["session_key"]), text };
  });
}

const NODE_COLUMNS =
  "session_key current_session_id session_id entry_json updated_at archived_at label display_name spawned_by";
const ARCHIVE_COLUMNS = "session_id session_key reason encoding archive_blob created_at";

/** In old layouts, entries and routes decide which session a window belongs to. */
function ownerOf(window: JsonRecord, nodes: readonly JsonRecord[], routes: readonly JsonRecord[]): JsonRecord {
  const { session_id: id, session_key: own } = window;
  const rank = (node: JsonRecord): number => (node["session_key"] === own ? Infinity : Number(node["updated_at"]));
  const [node] = nodes.filter((one) => one["session_id"] === id).toSorted((a, b) => rank(b) - rank(a));
  const [route] = routes.filter((one) => one["session_id"] === id).toSorted((a, b) => rank(b) - rank(a));
  const previous = node === undefined ? undefined : entryOf(node)["previousSessionId"];
  return { session_key: (node ?? route)?.["session_key"] ?? own, previous_session_id: previous };
}

/** OpenClaw uses the JSON. Columns only fill its gaps. */
function entryOf(node: JsonRecord): JsonRecord {
  const value = parseJson(textOf(node["entry_json"]) ?? "{}");
  const columns = {
    sessionId: node["current_session_id"] ?? node["session_id"],
    updatedAt: node["updated_at"],
    label: node["label"],
    displayName: node["display_name"],
    spawnedBy: node["spawned_by"],
  };
  const given = Object.entries(columns).filter(([, column]) => typeof column === "number" || stringOf(column));
  return { ...Object.fromEntries(given), ...(isRecord(value) ? value : { openclawEntry: textOf(node["entry_json"]) }) };
}

/** By creation, but never before the window that it follows. */
function inOrder(windows: readonly JsonRecord[]): JsonRecord[] {
  const byAge = windows.toSorted((a, b) => Number(a["created_at"]) - Number(b["created_at"]));
  const byId = new Map(byAge.map((window) => [window["session_id"], window]));
  const ordered = new Set<JsonRecord>();
  const visit = (window: JsonRecord, following: ReadonlySet<JsonRecord>): void => {
    const previous = byId.get(window["previous_session_id"]);
    if (previous !== undefined && !following.has(previous)) visit(previous, new Set([...following, window]));
    ordered.add(window);
  };
  for (const window of byAge) visit(window, new Set());
  return [...ordered];
}

const REASONS: Record<string, WindowReason> = {
  reset: "command",
  rollover: "idle",
  fork: "fork",
  rewind: "switch",
  switch: "switch",
  recovery: "restore",
  compaction: "restore",
};

function transcriptOf(tables: Tables, window: JsonRecord, isCurrent: boolean): FoundTranscript {
  const sessionId = String(window["session_id"]);
  const rows = (table: string, columns: string, order = ""): JsonRecord[] =>
    tables.select(table, columns, `WHERE session_id = ? ${order}`, sessionId);
  const [state] = rows("session_transcript_index_state", "leaf_event_id indexed_seq needs_rebuild");
  const [newest] = rows("transcript_events", "seq", "ORDER BY seq DESC LIMIT 1");
  const isIndexed = state?.["needs_rebuild"] !== 1 && state?.["indexed_seq"] === newest?.["seq"];
  return {
    sessionId,
    reason: REASONS[String(window["reason"])] ?? (stringOf(window["previous_session_id"]) ? "switch" : "initial"),
    openedAt: Number(window["created_at"]) || 0,
    isCurrent,
    leafId: isIndexed ? stringOf(state?.["leaf_event_id"]) : undefined,
    read: async () => {
      const events = rows("transcript_events", "event_json event_zstd", "ORDER BY seq");
      const lines = events.map(({ event_json: json, event_zstd: packed }) => eventLine(textOf(json) ?? unpack(packed)));
      return { lines: lines.length > 0 ? lines : await coldLines(tables, sessionId) };
    },
  };
}

function textOf(value: unknown): string | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : stringOf(value);
}

/** One line, whatever the layout of the JSON. */
function eventLine(text: string): Line {
  const line = toLine(text);
  if (!line.text.includes("\n")) return line;
  return toLine(line.record === undefined ? JSON.stringify(line.text) : JSON.stringify(line.record));
}

function archivedTranscript(archive: JsonRecord): FoundTranscript {
  const { encoding, archive_blob: blob } = archive;
  return {
    sessionId: String(archive["session_id"]),
    reason: "initial",
    openedAt: Number(archive["created_at"]) || 0,
    isCurrent: false,
    read: async () => {
      const text = encoding === "zstd" ? unpack(blob) : Buffer.from(blob as Uint8Array).toString("utf8");
      return await Promise.resolve({ lines: toLines(text) });
    },
  };
}

/** A transcript that OpenClaw moved out of the table of events, into another table or a file. */
async function coldLines({ select, path }: Tables, sessionId: string): Promise<Line[]> {
  const columns = "archive_name archive_blob";
  const [cold] = select("session_transcript_cold_archives", columns, "WHERE session_id = ?", sessionId);
  if (cold === undefined) return [];
  if (cold["archive_blob"] !== null) return toLines(unpack(cold["archive_blob"]));
  const name = basename(String(cold["archive_name"]));
  for (const folder of ["../sessions/cold", "../sessions", "cold", "."]) {
    const content = await readFileIfPresent(join(dirname(path), folder, name));
    if (content !== undefined) return toLines(unpack(content));
  }
  const message = `the transcript ${sessionId} is in the file ${name}, which is missing`;
  throw new HoldfastError("not-found", "openclaw-transcript-missing", message, { hint: "Restore the file." });
}

/** Undoes zstd. */
export function unpack(packed: unknown): string {
  try {
    return zstdDecompressSync(packed as Uint8Array).toString("utf8");
  } catch (error) {
    throw unreadable("corrupt", "damaged", `a compressed transcript cannot be read: ${errorMessage(error)}`);
  }
}

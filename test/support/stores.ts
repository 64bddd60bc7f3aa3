/** Stores opened by kind, the files of a `json` store, and damage to a `sqlite` store. */
import { readFile, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { silentLogger } from "../../src/base/log.ts";
import { agentLayout, mediaCopiesFolder } from "../../src/config/layout.ts";
import type { StoreOptions } from "../../src/store/create-store.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { SqliteStoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store, StoreKind } from "../../src/store/store.ts";
import type { TranscriptFolder } from "../../src/store/transcripts.ts";
import { type TemporaryFolder, temporaryFolder } from "./temp-folder.ts";

export interface OpenStoreOptions extends Partial<
  Pick<SqliteStoreOptions, "agentId" | "clock" | "logger" | "historyLimit" | "pendingFile">
> {
  home: string;
}

export async function openStore(kind: StoreKind, { home, ...options }: OpenStoreOptions): Promise<Store> {
  const { agentId = "main" } = options;
  const layout = agentLayout(home, agentId);
  if (kind === "postgres") {
    const [{ createPostgresStore }, { openNode }, { databaseOf }] = await Promise.all([
      import("../../src/store/postgres/postgres-store.ts"),
      import("../../src/store/postgres/node.ts"),
      import("./postgres.ts"),
    ]);
    const node = await openNode({ url: databaseOf(home) }, options.logger ?? silentLogger);
    return await createPostgresStore({
      ...options,
      node,
      agentId,
      copiesFolder: layout.copiesFolder,
      mediaFolder: mediaCopiesFolder(home),
    });
  }
  if (kind === "json") {
    const { createJsonStore } = await import("../../src/store/json/json-store.ts");
    return await createJsonStore({ ...options, path: layout.sessionsFile, agentId });
  }
  const { createSqliteStore } = await import("../../src/store/sqlite/sqlite-store.ts");
  const viewPath = layout.sessionsFile;
  return await createSqliteStore({ ...options, path: layout.database, viewPath, agentId, execution: "inline" });
}

/** Where a file store keeps the transcripts of an agent. */
export function foldersOf({ store }: { store: Store }): Readonly<Record<TranscriptFolder, string>> {
  const { folders } = store.transcripts;
  if (folders === undefined) throw new Error("This store keeps no transcripts in files.");
  return folders;
}

export const MAIN = "agent:main:main";

export interface JsonStoreFiles extends AsyncDisposable {
  folder: TemporaryFolder;
  path: string;
  sidecar: string;
  open(more?: Partial<StoreOptions>): Promise<Store>;
  /** Replaces the file, like OpenClaw. */
  writeSessions(sessions: object): Promise<void>;
  readSessions(): Promise<Record<string, SessionEntry>>;
}

export async function jsonStoreFiles(): Promise<JsonStoreFiles> {
  const folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const opened: Store[] = [];
  return {
    folder,
    path,
    sidecar: folder.join("sessions.holdfast.json"),
    open: async (more = {}) => {
      const { createJsonStore } = await import("../../src/store/json/json-store.ts");
      const store = await createJsonStore({ path, agentId: "main", ...more });
      opened.push(store);
      return store;
    },
    writeSessions: async (sessions) => await writeFile(path, JSON.stringify(sessions)),
    readSessions: async () => JSON.parse(await readFile(path, "utf8")) as Record<string, SessionEntry>,
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function windowIds(store: Store, key = "main"): Promise<string[]> {
  return (await store.windows(key)).map(
    (window) => `${window.sessionId}${window.closedAt === undefined ? " open" : ""}`,
  );
}

/** Damages a stored hand-off. Default: keeps the first half of its text. */
export function tearHandoff(databasePath: string, key: string, tear = firstHalf): string {
  using database = new DatabaseSync(databasePath);
  const row = database.prepare("SELECT state FROM handoffs WHERE key = ?").get(key);
  if (row === undefined) throw new Error(`${key} has no hand-off`);
  const torn = tear(String(row["state"]));
  database.prepare("UPDATE handoffs SET state = ? WHERE key = ?").run(torn, key);
  return torn;
}

function firstHalf(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2));
}

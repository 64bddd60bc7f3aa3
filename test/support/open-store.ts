/** Opens a store by its name, for tests that run in child processes. */
import { agentLayout } from "../../src/config/layout.ts";
import type { SqliteStoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store, StoreKind } from "../../src/store/store.ts";

export interface OpenStoreOptions extends Partial<
  Pick<SqliteStoreOptions, "agentId" | "clock" | "logger" | "historyLimit" | "pendingFile">
> {
  home: string;
}

export async function openStore(kind: StoreKind, { home, ...options }: OpenStoreOptions): Promise<Store> {
  const { agentId = "main" } = options;
  const layout = agentLayout(home, agentId);
  if (kind === "json") {
    const { createJsonStore } = await import("../../src/store/json/json-store.ts");
    return await createJsonStore({ ...options, path: layout.sessionsFile, agentId });
  }
  const { createSqliteStore } = await import("../../src/store/sqlite/sqlite-store.ts");
  const viewPath = layout.sessionsFile;
  return await createSqliteStore({ ...options, path: layout.database, viewPath, agentId, execution: "inline" });
}

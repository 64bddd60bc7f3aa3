/** Opens a store by its name, for tests that run in child processes. */
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { agentLayout } from "../../src/config/layout.ts";
import type { Store, StoreKind } from "../../src/store/store.ts";

export interface OpenStoreOptions {
  home: string;
  agentId?: string;
  clock?: Clock;
}

export async function openStore(kind: StoreKind, options: OpenStoreOptions): Promise<Store> {
  const { home, agentId = "main", clock = systemClock } = options;
  const layout = agentLayout(home, agentId);
  if (kind === "json") {
    const { createJsonStore } = await import("../../src/store/json/json-store.ts");
    return await createJsonStore({ path: layout.sessionsFile, agentId, clock });
  }
  const { createSqliteStore } = await import("../../src/store/sqlite/sqlite-store.ts");
  const viewPath = layout.sessionsFile;
  return await createSqliteStore({ path: layout.database, viewPath, agentId, clock, execution: "inline" });
}

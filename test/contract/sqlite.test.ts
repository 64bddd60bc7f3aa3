import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll } from "vitest";
import { agentLayout } from "../../src/config/layout.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { tearHandoff } from "../support/stores.ts";
import { describeStoreConcurrency } from "./concurrency-suite.ts";
import { describeDamagedHandoffs } from "./damaged-handoffs-suite.ts";
import { type MakeStore, type StoreFixture, createStoreFixture } from "./store-fixture.ts";
import { describeStoreContract } from "./store-suite.ts";

const makeStore = async (execution: "inline" | "thread"): Promise<StoreFixture> =>
  await createStoreFixture(async ({ home, ...options }) => {
    const { database, sessionsFolder } = agentLayout(home, options.agentId);
    return await createSqliteStore({ ...options, path: database, transcriptsFolder: sessionsFolder, execution });
  });

let shared: StoreFixture | undefined;
afterAll(async () => await shared?.[Symbol.asyncDispose]());

/** Starting threads takes longer than a test, so the tests share one store, which is emptied after each of them. */
async function shareStore(): Promise<StoreFixture> {
  if (shared !== undefined && (await isClosed(shared.store))) {
    await shared[Symbol.asyncDispose]();
    shared = undefined;
  }
  const fixture = (shared ??= await makeStore("thread"));
  const startedAt = fixture.clock.now();
  const opened: Store[] = [];
  const keep = (store: Store): Store => {
    opened.push(store);
    return store;
  };
  return {
    ...fixture,
    reopen: async (options) => keep(await fixture.reopen(options)),
    openOther: async (agentId) => keep(await fixture.openOther(agentId)),
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) await store.close();
      await empty(fixture.home);
      fixture.clock.set(startedAt);
    },
  };
}

async function isClosed(store: Store): Promise<boolean> {
  return await store.get("main").then(
    () => false,
    () => true,
  );
}

/** Ids are not used again, as if the rows had been deleted one by one. */
async function empty(home: string): Promise<void> {
  const { database: path, sessionsFolder } = agentLayout(home, "main");
  await rm(sessionsFolder, { recursive: true, force: true });
  using database = new DatabaseSync(path);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  for (const { name } of tables) {
    if (name !== "sqlite_sequence" && name !== "view_state") database.exec(`DELETE FROM ${String(name)}`);
  }
  const agents = dirname(dirname(path));
  for (const agentId of await readdir(agents))
    if (agentId !== "main") await rm(join(agents, agentId), { recursive: true });
}

const WAYS: [name: string, make: MakeStore][] = [
  ["sqlite, inline", async () => await makeStore("inline")],
  ["sqlite, thread", shareStore],
];

for (const [name, make] of WAYS) {
  describeStoreContract(name, make);
  describeDamagedHandoffs(name, make, ({ home }, key, text) => {
    tearHandoff(agentLayout(home, "main").database, key, () => text);
  });
}

describeStoreConcurrency("sqlite");

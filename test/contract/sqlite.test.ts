import { agentLayout } from "../../src/config/layout.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { tearHandoff } from "../support/stores.ts";
import { describeStoreConcurrency } from "./concurrency-suite.ts";
import { describeDamagedHandoffs } from "./damaged-handoffs-suite.ts";
import { type StoreFixture, createStoreFixture } from "./store-fixture.ts";
import { describeStoreContract } from "./store-suite.ts";

for (const execution of ["inline", "thread"] as const) {
  const makeStore = async (): Promise<StoreFixture> =>
    await createStoreFixture(async ({ home, ...options }) => {
      const { database } = agentLayout(home, options.agentId);
      return await createSqliteStore({ ...options, path: database, execution });
    });
  describeStoreContract(`sqlite, ${execution}`, makeStore);
  describeDamagedHandoffs(`sqlite, ${execution}`, makeStore, ({ home }, key, text) => {
    tearHandoff(agentLayout(home, "main").database, key, () => text);
  });
}

describeStoreConcurrency("sqlite");

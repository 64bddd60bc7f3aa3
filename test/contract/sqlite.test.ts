import { agentLayout } from "../../src/config/layout.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { describeStoreConcurrency } from "./concurrency-suite.ts";
import { createStoreFixture } from "./store-fixture.ts";
import { describeStoreContract } from "./store-suite.ts";

for (const execution of ["inline", "thread"] as const) {
  describeStoreContract(`sqlite, ${execution}`, () =>
    createStoreFixture(async ({ home, agentId, clock }) => {
      const { database } = agentLayout(home, agentId);
      return await createSqliteStore({ path: database, agentId, clock, execution });
    }),
  );
}

describeStoreConcurrency("sqlite");

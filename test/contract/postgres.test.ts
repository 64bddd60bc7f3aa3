import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import { openNode } from "../../src/store/postgres/node.ts";
import { createPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { type TestDatabase, freshDatabase, useDatabase } from "../support/postgres.ts";
import { type TestClock, createTestClock } from "../support/time.ts";
import { describeStoreConcurrency } from "./concurrency-suite.ts";
import { describeDamagedHandoffs } from "./damaged-handoffs-suite.ts";
import { describeSharedMedia } from "./media-suite.ts";
import { type StoreFixture, createStoreFixture } from "./store-fixture.ts";
import { describeStoreContract } from "./store-suite.ts";

let shared: TestDatabase | undefined;
let nextCopies = 0;
afterAll(async () => await shared?.[Symbol.asyncDispose]());

/** All tests share one database, which is emptied after each of them. Every handle is a node of its own. */
async function makeStore(): Promise<StoreFixture> {
  const database = (shared ??= await databaseWithTestClock());
  const clock = createServerClock(database);
  const fixture = await createStoreFixture(
    async ({ home, ...options }) => {
      await useDatabase(home, database);
      const node = await openNode({ url: database.url }, silentLogger);
      // Every handle has copies of its own, as another machine would.
      const copies = join(home, `copies-${nextCopies++}`);
      return await createPostgresStore({ ...options, node, copiesFolder: copies, mediaFolder: join(copies, "media") });
    },
    { clock },
  );
  return {
    ...fixture,
    [Symbol.asyncDispose]: async () => {
      await fixture[Symbol.asyncDispose]();
      await empty(database);
    },
  };
}

/** The test moves the clock of the server, which decides about leases. */
async function databaseWithTestClock(): Promise<TestDatabase> {
  const database = await freshDatabase();
  await database.run(`CREATE OR REPLACE FUNCTION holdfast.now_ms() RETURNS double precision LANGUAGE sql VOLATILE
    AS $$ SELECT pg_read_file('${clockFile(database)}')::double precision $$`);
  return database;
}

function createServerClock(database: TestDatabase): TestClock {
  const clock = createTestClock();
  const show = (): void => {
    const file = clockFile(database);
    writeFileSync(`${file}.new`, String(clock.now()), { mode: 0o644 });
    renameSync(`${file}.new`, file);
  };
  show();
  return {
    now: () => clock.now(),
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal);
      show();
    },
    set: (ms) => {
      clock.set(ms);
      show();
    },
    advance: (ms) => {
      clock.advance(ms);
      show();
    },
  };
}

function clockFile({ folder, name }: TestDatabase): string {
  return join(folder, `${name}.clock`);
}

/** Ids are not used again, as if the rows had been deleted one by one. */
async function empty(database: TestDatabase): Promise<void> {
  const tables =
    "leases entries windows handoffs pending inbox outbox changes nodes transcripts contents parts documents take_overs";
  // One message.
  await database.run(
    tables
      .split(" ")
      .map((table) => `DELETE FROM holdfast.${table}`)
      .join("; "),
  );
}

describeStoreContract("postgres", makeStore);
describeSharedMedia(makeStore, async () => ((await shared?.run("SELECT 1 FROM holdfast.contents")) ?? []).length);
describeDamagedHandoffs("postgres", makeStore, async (_fixture, key, text) => {
  await shared?.run("UPDATE holdfast.handoffs SET state = $1 WHERE key = $2", text, key);
});
describeStoreConcurrency("postgres", async (home) => {
  const database = await freshDatabase();
  await useDatabase(home, database);
  return database;
});

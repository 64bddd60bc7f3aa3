/**
 * Stores far larger than usual: SQLite with a million entries. A `sessions.json` of that size works too but takes
 * half a minute and gigabytes of memory, so this one has a tenth of it.
 */
import { writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { createJsonStore } from "../../src/store/json/json-store.ts";
import { createSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const MILLION = 1_000_000;
const TENTH = MILLION / 10;
const PATIENCE = { timeout: 60_000 };

it("a sessions.json of a hundred thousand entries is read in place", PATIENCE, async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const lines = Array.from({ length: TENTH }, (_, index) => {
    const number = index + 1;
    return `"agent:main:${number}":{"sessionId":"s${number}","updatedAt":${number},"unknown":true}`;
  });
  await writeFile(path, `{${lines.join(",\n")}}`);
  const store = await createJsonStore({ path, agentId: "main" });
  expect(await look(store, TENTH)).toEqual(everything(TENTH));
  await store.close();
});

it("SQLite holds a million entries and changes one without the others", PATIENCE, async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("agent.sqlite");
  await (await createSqliteStore({ path, agentId: "main", execution: "inline" })).close();
  fill(path);
  const store = await createSqliteStore({ path, agentId: "main", execution: "inline" });
  expect(await look(store, MILLION)).toEqual(everything(MILLION));
  await store.update("agent:main:7", (entry) => entry && { ...entry, updatedAt: MILLION + 1, inputTokens: 7 });
  const { sessions } = await store.list({ limit: 1 });
  expect(sessions).toMatchObject([{ key: "agent:main:7", entry: { inputTokens: 7 } }]);
  await store.close();
});

/** One entry from the middle, how many there are, and the newest two. */
async function look(store: Store, count: number) {
  const { total, sessions } = await store.list({ limit: 2 });
  return { middle: await store.get(`agent:main:${count / 2}`), total, newest: sessions.map(({ key }) => key) };
}

function everything(count: number) {
  return {
    middle: { sessionId: `s${count / 2}`, updatedAt: count / 2, unknown: true },
    total: count,
    newest: [`agent:main:${count}`, `agent:main:${count - 1}`],
  };
}

/** Straight into the table: a million updates would take too long for a test. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA synchronous = OFF;
    DROP INDEX entries_by_update;
    INSERT INTO entries (key, version, session_id, updated_at, kind, search, listing, entry)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MILLION})
      SELECT 'agent:main:' || n, n, 's' || n, n, 'direct', '', '{}',
        jsonb('{"sessionId":"s' || n || '","updatedAt":' || n || ',"unknown":true}')
      FROM numbers;
    CREATE INDEX entries_by_update ON entries (updated_at DESC, key, listing);
  `);
  database.close();
}

/**
 * Creates and upgrades the tables. Many nodes may start at once: a lock lets one of them upgrade, and the others find it
 * done. Versions of two neighbouring releases work side by side: a step only adds, and a later release removes.
 */
import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import { dataFile } from "../../base/package.ts";
import type { ProcessIdentity } from "../../base/processes.ts";
import type { Connection } from "./connection.ts";
import { type ServerState, checkServer, newerSchema, olderNodes, storeError } from "./postgres-errors.ts";

/** The files of each version, in `data/postgres`. A published file is never changed: add the next version instead. */
export type SchemaSteps = readonly (readonly string[])[];

export const STEPS: SchemaSteps = [
  ["1-tables.sql", "1-leases.sql", "1-sessions.sql", "1-queues.sql", "1-transcripts.sql"],
];

/** Any number that no other program uses in the same database. */
const MIGRATION_LOCK = 482_716_092;

/** Resolves to the oldest running transaction, from which on changes are new. */
export async function migrate({ withClient, location }: Connection, steps = STEPS): Promise<string> {
  try {
    return await withClient(async (client) => {
      const { rows } = await client.query<ServerState & { hasStore: boolean; xmin: string }>(SERVER_STATE);
      const [server] = rows;
      if (server === undefined) throw new Error("The server does not describe itself.");
      checkServer(server, location);
      const version = async (): Promise<number> => {
        const found = await client.query<{ version: number }>("SELECT max(version) AS version FROM holdfast.schema");
        const newest = found.rows[0]?.version ?? 0;
        // The next version only adds to this one.
        if (newest > steps.length + 1) throw newerSchema(location, newest, steps.length + 1);
        return newest;
      };
      if (server.hasStore && (await version()) >= steps.length) return server.xmin;
      // One message is one transaction, also through a pooler.
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      try {
        await client.query(`
          CREATE SCHEMA IF NOT EXISTS holdfast;
          CREATE TABLE IF NOT EXISTS holdfast.schema (version integer PRIMARY KEY, at timestamptz DEFAULT now())`);
        const before = await version();
        if (before > 0) await requireNeighbours(client, steps.length, location);
        for (let next = before + 1; next <= steps.length; next++) {
          for (const file of steps[next - 1] ?? [])
            await client.query(await readFile(new URL(file, dataFile("postgres/")), "utf8"));
          await client.query("INSERT INTO holdfast.schema (version) VALUES ($1)", [next]);
        }
        await client.query("COMMIT");
        return server.xmin;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      }
    });
  } catch (error) {
    throw storeError(error, location);
  }
}

/** A node that runs must know the new version or the one before. */
async function requireNeighbours(client: ClientBase, version: number, location: string): Promise<void> {
  const { rows } = await client.query<{ process: string }>(
    `SELECT process FROM holdfast.nodes
     WHERE coalesce((process::json ->> 'schema')::integer, 1) < $1 AND NOT holdfast.node_is_dead(id)`,
    [version - 1],
  );
  const hosts = rows.map(({ process }) => (JSON.parse(process) as ProcessIdentity).host);
  if (hosts.length > 0) throw olderNodes(location, [...new Set(hosts)]);
}

const SERVER_STATE = `
  SELECT current_setting('server_version_num')::integer AS version, current_setting('fsync') AS fsync,
    current_setting('synchronous_commit') AS "synchronousCommit", pg_is_in_recovery() AS "isStandby",
    to_regclass('holdfast.schema') IS NOT NULL AS "hasStore", pg_snapshot_xmin(pg_current_snapshot())::text AS xmin`;

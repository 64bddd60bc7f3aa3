/** What `doctor` can say about a database. It repairs none: PostgreSQL and its backups do that. */
import { HoldfastError } from "../../base/errors.ts";
import { type StoreRepair, toDamage } from "../store-repair.ts";
import { type PostgresSettings, shownUrl } from "./connection.ts";
import type { PostgresNode } from "./node.ts";

/** `open` makes the connections, and creates the tables if they are missing. */
export function createPostgresRepair({ url }: PostgresSettings, open: () => Promise<PostgresNode>): StoreRepair {
  const location = shownUrl(url, "store.url");
  return {
    kind: "postgres",
    path: location,
    diagnose: async () => {
      try {
        await (await open()).close();
        return undefined;
      } catch (error) {
        return toDamage(error);
      }
    },
    salvage: async () => await Promise.reject(notRepairable(location)),
    rebuild: async () => await Promise.reject(notRepairable(location)),
  };
}

function notRepairable(location: string): HoldfastError {
  const message = `The store ${location} is a PostgreSQL database, which Holdfast does not repair`;
  const hint = "Use the tools of PostgreSQL, or restore a backup. Nothing was changed.";
  return new HoldfastError("unsupported", "store-not-local", message, { hint, data: { location } });
}

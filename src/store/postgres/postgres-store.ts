/**
 * The `postgres` store: one database for many machines. Reads and writes are single statements. The database's clock
 * decides when a lease ends, and the lease of a dead node is free at once.
 */
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { createListeners } from "../change-feed.ts";
import { type StoreOptions, createStore, modifyByVersion } from "../create-store.ts";
import { copyEntry } from "../store-rules.ts";
import type { Store } from "../store.ts";
import { createCluster } from "./cluster.ts";
import { listAsJson, listSessions } from "./list-query.ts";
import { createPostgresMedia } from "./media.ts";
import type { PostgresNode } from "./node.ts";
import { listHandoffs, postgresReads, unattendedKeys } from "./reads.ts";
import { createPostgresTranscripts } from "./transcripts.ts";
import { postgresWrites } from "./writes.ts";

export interface PostgresStoreOptions extends StoreOptions {
  /** Closed with the store. */
  node: PostgresNode;
  /** For copies of transcripts. */
  copiesFolder: string;
  /** For copies of files. All agents share it. */
  mediaFolder: string;
}

/** Short, because a node that was cut off holds its sessions for so long. It is renewed three times as often. */
const LEASE_TTL_MS = 6000;
/** A node without its database stops its work so long before another one takes over. */
const LEASE_MARGIN_MS = 1000;

export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { node, agentId, copiesFolder: folder, clock = systemClock, logger = silentLogger } = options;
  const reads = postgresReads(node, agentId, clock);
  const { write, takeKnown } = postgresWrites(node, agentId, clock);
  const feed = createListeners(logger, () => node.changes.listen(agentId, (changes) => feed.tell(changes)));

  return await createStore(options, {
    kind: "postgres",
    location: node.location,
    leaseTtlMs: LEASE_TTL_MS,
    leaseMarginMs: LEASE_MARGIN_MS,
    onDoubt: node.onDoubt,
    refusesLeasesCheaply: true,
    unattendedKeys: async (limit) => await unattendedKeys(node, agentId, limit),
    read: async (task) => await task(reads),
    write,
    modify: modifyByVersion(reads, write, takeKnown),
    copyEntry,
    list: async (query) => await listSessions(node, agentId, query),
    listJson: async (query) => await listAsJson(node, agentId, query),
    listHandoffs: async (limit) => await listHandoffs(node, agentId, { limit }),
    cluster: createCluster(node),
    transcripts: createPostgresTranscripts({ node, agentId, folder, clock, logger }),
    media: createPostgresMedia(node, options.mediaFolder),
    onChange: feed.listen,
    close: async () => {
      feed.close();
      await node.close();
    },
  });
}

/** Reads for commands that need no store. The node is closed afterwards. */
import { programSessions } from "../session-entry.ts";
import type { KeptHandoff } from "../store.ts";
import type { PostgresNode } from "./node.ts";
import { listHandoffs } from "./reads.ts";

export interface HandoffQuery {
  agentId: string;
  prefix: string;
  limit: number;
}

/** Newest first. */
export async function readPostgresHandoffs(node: PostgresNode, query: HandoffQuery): Promise<KeptHandoff[]> {
  try {
    return await listHandoffs(node, query.agentId, query);
  } finally {
    await node.close();
  }
}

/** Maps sessions of other programs to session keys, also for earlier windows. */
export async function readPostgresProgramSessions(node: PostgresNode, agentId: string): Promise<Map<string, string>> {
  try {
    const rows = await node.query(
      `SELECT key, entry AS ids FROM holdfast.entries WHERE agent = $1 AND entry LIKE '%SessionId%'
       UNION ALL SELECT key, state FROM holdfast.windows WHERE agent = $1 AND state LIKE '%SessionId%'`,
      [agentId],
      { isRepeatable: true },
    );
    return new Map(
      rows.flatMap(({ key, ids }) =>
        programSessions(JSON.parse(String(ids)) as object).map((id): [string, string] => [id, String(key)]),
      ),
    );
  } finally {
    await node.close();
  }
}

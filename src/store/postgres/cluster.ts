/** What `status` and `doctor` show about the nodes and their server. */
import type { ProcessIdentity } from "../../base/processes.ts";
import type { Cluster, ClusterNode, ClusterState } from "../cluster.ts";
import type { PostgresNode } from "./node.ts";

export function createCluster(node: PostgresNode): Cluster {
  const { query } = node;
  let hear: ((event: unknown) => void) | undefined;
  const one = async <T>(sql: string): Promise<T> => (await query(sql, [], { isRepeatable: true }))[0] as T;
  return {
    metrics: node.metrics,
    broadcast: (event) => node.broadcasts.send(event, hear),
    onBroadcast: (listener) => {
      hear = listener;
      return node.broadcasts.listen(listener);
    },
    describe: async () => {
      const rows = await query(NODES, [], { isRepeatable: true });
      const nodes = (rows as unknown as NodeRow[]).map(toNode);
      const { oldest, takeOvers } = await one<{ oldest: number | null; takeOvers: number }>(WORK);
      const server = await one<ServerRow>(SERVER);
      return {
        nodes,
        oldestQueuedMs: oldest === null ? undefined : Math.max(0, oldest),
        takeOvers,
        problems: problemsOf(nodes, server),
      };
    },
  };
}

interface NodeRow {
  process: string;
  version: string;
  alive: boolean;
  seenMs: number;
  uptimeMs: number;
  running: number;
  connections: string[] | null;
}

function toNode({ process, alive, connections, ...row }: NodeRow): ClusterNode {
  const { host, pid } = JSON.parse(process) as ProcessIdentity;
  // poll:<agent>:<channel>:<account>
  const accounts = (connections ?? []).map((key) => key.split(":").slice(2).join(" "));
  return { host, pid, isAlive: alive, ...row, connections: accounts };
}

interface ServerRow {
  synchronousCommit: string;
  idleTransactions: number;
  deadLeases: number;
}

function problemsOf(nodes: readonly ClusterNode[], server: ServerRow): ClusterState["problems"] {
  const versions = new Set(nodes.filter(({ isAlive }) => isAlive).map(({ version }) => version));
  const problems: string[] = [];
  if (versions.size > 1) {
    problems.push(`Nodes of several versions run: ${[...versions].toSorted().join(", ")}. Finish the upgrade`);
  }
  if (server.synchronousCommit === "off") {
    problems.push("synchronous_commit is off: a crash of the server loses acknowledged messages");
  }
  if (server.idleTransactions > 0) {
    problems.push(
      `${server.idleTransactions} transactions of the database have been idle for over a minute; they delay take-overs and cleaning`,
    );
  }
  if (server.deadLeases > 0) {
    problems.push(`${server.deadLeases} leases of dead nodes are waiting for a gateway that takes them over`);
  }
  return problems;
}

const NODES = `
  SELECT process, version, NOT holdfast.node_is_dead(id) AS alive,
    floor(extract(epoch FROM clock_timestamp() - seen_at) * 1000)::integer AS "seenMs",
    floor(extract(epoch FROM clock_timestamp() - started_at) * 1000)::float8 AS "uptimeMs",
    (SELECT count(*)::integer FROM holdfast.leases WHERE node = nodes.id AND holder IS NOT NULL
      AND key NOT LIKE 'delivery:%' AND key NOT LIKE 'poll:%') AS running,
    (SELECT json_agg(key ORDER BY key) FROM holdfast.leases WHERE node = nodes.id AND holder IS NOT NULL
      AND key LIKE 'poll:%') AS connections
  FROM holdfast.nodes ORDER BY 3 DESC, started_at`;

const WORK = `
  SELECT (SELECT holdfast.now_ms() - min(received_at) FROM holdfast.inbox WHERE state = 'queued') AS oldest,
    (SELECT count(*)::integer FROM holdfast.take_overs WHERE at > clock_timestamp() - interval '1 day') AS "takeOvers"`;

const SERVER = `
  SELECT current_setting('synchronous_commit') AS "synchronousCommit",
    (SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'
      AND state_change < clock_timestamp() - interval '1 minute') AS "idleTransactions",
    (SELECT count(*)::integer FROM holdfast.leases AS lease WHERE holder IS NOT NULL AND holdfast.lease_is_free(lease)
      AND expires_at < holdfast.now_ms() - 60000) AS "deadLeases"`;

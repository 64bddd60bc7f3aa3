/**
 * The state of this process and its stores as Prometheus text, for `GET /metrics`. Counters start with the process;
 * gauges are read when asked. An agent whose store fails has no samples, so an alert on missing samples finds it.
 */
import type { RpcParts } from "../rpc/rpc-parts.ts";
import type { ClusterState } from "../store/cluster.ts";

export async function renderMetrics(parts: RpcParts): Promise<string> {
  const { running, counts } = parts.pipeline.status();
  const families: Family[] = [
    gauge("info", "The version, as a label.", [{ labels: { version: parts.version }, value: 1 }]),
    gauge("start_time_seconds", "When the process started.", parts.startedAt / 1000),
    gauge("memory_bytes", "Resident memory of the process.", process.memoryUsage.rss()),
    gauge("turns_running", "Turns that run in this process.", running.length),
    counter("turns_total", "Turns that ended in this process.", counts.turns),
    counter("turns_failed_total", "Turns that failed.", counts.failed),
    counter("messages_admitted_total", "Messages that were accepted.", counts.admitted),
    counter("messages_duplicate_total", "Messages that came a second time.", counts.duplicates),
    counter("messages_dropped_total", "Messages that a full queue or /stop dropped.", counts.dropped),
    counter("deliveries_total", "Replies that were delivered.", counts.delivered),
    counter("deliveries_repeated_total", "Replies that may have arrived twice.", counts.mayRepeat ?? 0),
    ...(await storeFamilies(parts)),
    ...(await clusterFamilies(parts)),
    ...(await indexFamilies(parts)),
  ];
  return families.map(renderFamily).join("");
}

interface Sample {
  labels?: Readonly<Record<string, string>> | undefined;
  value: number;
}

interface Family {
  name: string;
  type: "gauge" | "counter";
  help: string;
  samples: readonly Sample[];
}

function gauge(name: string, help: string, value: number | readonly Sample[]): Family {
  return { name, type: "gauge", help, samples: typeof value === "number" ? [{ value }] : value };
}

function counter(name: string, help: string, value: number): Family {
  return { name, type: "counter", help, samples: [{ value }] };
}

async function storeFamilies({ agents, clock }: RpcParts): Promise<Family[]> {
  const waiting: Sample[] = [];
  const oldest: Sample[] = [];
  const outbox: Sample[] = [];
  const givenUp: Sample[] = [];
  for (const { agent } of agents.opened()) {
    const { agentId, store } = agent;
    const labels = { agent: agentId };
    try {
      const [pending, routes, lost] = await Promise.all([
        store.inbox.pending(),
        store.outbox.routes(),
        store.inbox.givenUp(MAX_GIVEN_UP),
      ]);
      const queued = pending.filter(({ state }) => state === "queued");
      const since = queued.reduce((first, { receivedAt }) => Math.min(first, receivedAt), clock.now());
      waiting.push({ labels, value: queued.length });
      oldest.push({ labels, value: Math.max(0, clock.now() - since) / 1000 });
      givenUp.push({ labels, value: lost.length });
      for (const { channel, accountId, waiting: value } of routes) {
        outbox.push({ labels: { ...labels, channel, account: accountId }, value });
      }
    } catch {
      // `/health` reports the failure.
    }
  }
  return [
    gauge("queue_messages", "Messages that wait for a turn, in any process.", waiting),
    gauge("queue_oldest_seconds", "Age of the oldest of them.", oldest),
    gauge("messages_given_up", "Messages that were given up after crashes and are still in the store.", givenUp),
    gauge("outbox_messages", "Replies that wait for delivery.", outbox),
  ];
}

const MAX_GIVEN_UP = 1000;

/** All agents share one database. */
async function clusterFamilies({ agents }: RpcParts): Promise<Family[]> {
  const [first] = agents.opened();
  const cluster = first?.agent.store.cluster;
  if (cluster === undefined) return [];
  const { connections, unreachableMs = 0 } = cluster.metrics();
  const known = await cluster.describe().catch(() => undefined);
  return [
    gauge("pool_connections", "Connections of this process to the database.", connections.total),
    gauge("pool_waiting", "Statements that wait for a connection.", connections.waiting),
    gauge("store_outage_seconds", "How long the database has not answered.", unreachableMs / 1000),
    ...(known === undefined ? [] : nodeFamilies(known)),
  ];
}

function nodeFamilies({ nodes, takeOvers }: ClusterState): Family[] {
  const living = nodes.filter(({ isAlive }) => isAlive).length;
  return [
    gauge("nodes", "Living nodes of the cluster.", living),
    gauge("take_overs_24h", "Sessions and accounts that were taken over from another node in 24 hours.", takeOvers),
  ];
}

async function indexFamilies({ search }: RpcParts): Promise<Family[]> {
  const status = await search.status().catch(() => undefined);
  if (status === undefined) return [];
  return [
    gauge("index_files", "Files in the search index.", status.files),
    gauge("index_bytes", "Size of the search index.", status.bytes),
    gauge("index_pending_bytes", "Bytes that the search index has not read yet.", status.pendingBytes),
  ];
}

function renderFamily({ name, type, help, samples }: Family): string {
  const full = `holdfast_${name}`;
  const lines = samples.map(({ labels = {}, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${full}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}\n`;
  });
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join("")}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
}

/**
 * One process as a node of the cluster. All stores of the process share it, and with it its connections.
 *
 * A node is registered when it first takes a lease or listens for changes; short commands never are. It then has one
 * direct connection with a session lock that says that it lives, and beats several times a second. If the direct connection
 * breaks, the beat keeps the node alive until it is connected again.
 */
import { randomInt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { lazy } from "../../base/async.ts";
import type { Logger } from "../../base/log.ts";
import { packageVersion } from "../../base/package.ts";
import { currentProcess } from "../../base/processes.ts";
import { createBatches } from "./batches.ts";
import { type Broadcasts, LIVE_CHANNEL, createBroadcasts } from "./broadcasts.ts";
import { type ChangeHub, createChangeHub } from "./changes.ts";
import {
  type Connection,
  type PostgresSettings,
  type Row,
  type Value,
  openConnection,
  shownUrl,
} from "./connection.ts";
import { STEPS, migrate } from "./migrations.ts";
import { poolerOnDirectUrl, storeError } from "./postgres-errors.ts";
import { type RenewLeases, createRenewals } from "./renewals.ts";

export interface PostgresNode extends Pick<Connection, "location" | "query" | "metrics"> {
  readonly changes: ChangeHub;
  readonly broadcasts: Broadcasts;
  readonly renew: RenewLeases;
  /** A read of rows without binary columns, together with others. `$1` is the first value. */
  read(sql: string, values: readonly Value[]): Promise<Row[]>;
  /** Calls a function that writes, together with others, and publishes its changes. Resolves to its result. */
  write(call: WriteCall): Promise<unknown>;
  /** The id of this node, which is registered with the first call. */
  id(): Promise<number>;
  /** See `Leases.onDoubt`. */
  readonly onDoubt: (listener: () => void) => () => void;
  close(): Promise<void>;
}

export interface WriteCall {
  /** Of a function in the schema `holdfast`. */
  name: string;
  agentId: string;
  /** Of the session or the item. Writes with the same key run in turn. */
  key: string | number;
  /** The parameters of the function after the agent. */
  values: readonly Value[];
  isRepeatable: boolean;
}

/** Some execute while another waits for the disk. More would make smaller batches. */
const WRITES_AT_ONCE = 3;
const READS_AT_ONCE = 2;
/** In `1-leases.sql` too. */
const NODE_LOCKS = 482_716_093;
/** Twice within the time after which a node without its lock is dead. */
const BEAT_MS = 250;
const BEAT_ANSWER_MS = 1000;
/** Less than the 700 ms of `node_is_dead`, because timers can be late. */
const DOUBT_MS = 450;
const TIDY_MS = 1000;
/** Well within the time that a restarted server gives the nodes. */
const RECONNECT_MS = [10, 50, 100, 200];

/** `steps`: the versions of the tables that this node knows. */
export async function openNode(settings: PostgresSettings, logger: Logger, steps = STEPS): Promise<PostgresNode> {
  const connection = await openConnection(settings);
  const { query, location } = connection;
  const xmin = await migrate(connection, steps).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const directLocation = shownUrl(settings.directUrl ?? settings.url, "store.directUrl");
  let direct: Client | undefined;
  let timers: NodeJS.Timeout[] = [];
  let ownId: number | undefined;
  let othersSeen = true;
  let isClosed = false;

  const doubters = new Set<() => void>();
  /** When the last answered beat was sent, by the monotonic clock. */
  let seenAt = performance.now();
  let doubt: NodeJS.Timeout | undefined;
  const tellDoubters = (): void => doubters.forEach((listener) => listener());
  /** Without its lock, a node lives from beat to beat. */
  const expectDoubt = (): void => {
    clearTimeout(doubt);
    if (direct !== undefined || isClosed) return;
    doubt = setTimeout(tellDoubters, Math.max(0, seenAt + DOUBT_MS - performance.now())).unref();
  };

  let isBeating = false;
  /** Beats fail several times a second during an outage, which is logged once. */
  let isOutReported = false;

  const beat = async (id: number): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const sentAt = performance.now();
    try {
      const [row] = await query("SELECT holdfast.beat($1) AS others", [id], {
        isRepeatable: true,
        // A pause between attempts could outlast the moment that other nodes give this one after a restart.
        isRetried: false,
        answerMs: BEAT_ANSWER_MS,
      });
      othersSeen = row?.["others"] === true;
      seenAt = sentAt;
      expectDoubt();
      isOutReported = false;
    } catch (error) {
      if (!isClosed && !isOutReported) logger.warn("This node cannot report to the database; trying again", { error });
      isOutReported = true;
    } finally {
      isBeating = false;
    }
  };
  const tidy = async (): Promise<void> => {
    await query("SELECT holdfast.tidy()", [], { isRepeatable: true }).catch(() => undefined);
  };
  const connectDirectly = async (): Promise<Client> => {
    const client = new Client(connection.direct);
    client.on("error", () => undefined);
    try {
      await client.connect();
      await refusePooler(client, directLocation);
      await client.query(`LISTEN holdfast; LISTEN ${LIVE_CHANNEL}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw storeError(error, directLocation);
    }
    client.on("notification", ({ channel, payload = "" }) => {
      if (channel === LIVE_CHANNEL) broadcasts.receive(payload);
      else changes.look();
    });
    return client;
  };
  const keepConnected = (client: Client, id: number): void => {
    direct = client;
    expectDoubt();
    client.once("end", () => void reconnect(id));
  };
  const reconnect = async (id: number): Promise<void> => {
    direct = undefined;
    expectDoubt();
    for (let tries = 0; ; tries++) {
      if (isClosed) return;
      void beat(id);
      try {
        const client = await connectDirectly();
        await client.query(`SELECT pg_advisory_lock(${NODE_LOCKS}, $1)`, [id]);
        if (isClosed) return await client.end();
        keepConnected(client, id);
        changes.look();
        return;
      } catch (error) {
        if (tries === RECONNECT_MS.length) logger.warn("The direct connection to the database is lost", { error });
        await delay(RECONNECT_MS[tries] ?? RECONNECT_MS.at(-1));
      }
    }
  };
  const registration = lazy(async (): Promise<number> => {
    const client = await connectDirectly();
    const added = await client.query<{ id: number }>(
      "INSERT INTO holdfast.nodes (process, version) VALUES ($1, $2) RETURNING id",
      [JSON.stringify({ ...currentProcess(), schema: steps.length }), packageVersion()],
    );
    const id = added.rows[0]?.id ?? 0;
    await client.query(`SELECT pg_advisory_lock(${NODE_LOCKS}, $1)`, [id]);
    keepConnected(client, id);
    timers = [setInterval(() => void beat(id), BEAT_MS).unref(), setInterval(() => void tidy(), TIDY_MS).unref()];
    await beat(id);
    await query("SELECT holdfast.tidy_contents()", [], { isRepeatable: true });
    return (ownId = id);
  });
  const writer = randomInt(2 ** 47);
  const changes = createChangeHub({
    query,
    register: async () => await registration.get(),
    writer,
    xmin,
    hasOthers: () => othersSeen,
    logger,
  });
  const broadcasts = createBroadcasts({ query, writer, hasOthers: () => othersSeen });
  const read = createBatches({
    query,
    statement: (expressions) => `SELECT array_to_json(ARRAY[${expressions}]) AS results`,
    maxRunning: READS_AT_ONCE,
  });
  const write = createBatches({
    query,
    statement: (expressions) => `SELECT * FROM holdfast.publish(${writer}, ARRAY[${expressions}])`,
    maxRunning: WRITES_AT_ONCE,
    onAnswer: (row) => changes.committed(row),
    onLost: () => changes.answerLost(),
  });

  return {
    location,
    query,
    metrics: connection.metrics,
    changes,
    broadcasts,
    renew: createRenewals(query),
    read: async (sql, values) => {
      const call = { sql: `(SELECT json_agg(found) FROM (${sql}) AS found)`, values, isRepeatable: true };
      return ((await read(call)) ?? []) as Row[];
    },
    write: async ({ name, agentId, key, values, isRepeatable }) => {
      const places = [agentId, ...values].map((_, index) => `$${index + 1}`).join(", ");
      const sql = `holdfast.${name}(${places})`;
      return await write({ sql, values: [agentId, ...values], isRepeatable, subject: `${agentId} ${key}` });
    },
    id: async () => await registration.get(),
    onDoubt: (listener) => {
      doubters.add(listener);
      return () => doubters.delete(listener);
    },
    close: async () => {
      if (isClosed) return;
      await registration.made();
      await Promise.all([changes.close(), broadcasts.close()]);
      isClosed = true;
      for (const timer of timers) clearInterval(timer);
      clearTimeout(doubt);
      if (ownId !== undefined) {
        await query("DELETE FROM holdfast.nodes WHERE id = $1", [ownId], { isRepeatable: true }).catch(() => undefined);
      }
      await direct?.end().catch(() => undefined);
      await connection.close();
    },
  };
}

/** A pooler invents the process id that it reports when a client connects. */
async function refusePooler(client: Client, location: string): Promise<void> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const { processID } = client as Client & { processID?: number };
  if (rows[0]?.pid !== processID) throw poolerOnDirectUrl(location);
}

/** Nodes by their settings, so that all agents of a process share one. The last user closes it. */
export function createNodePool() {
  const nodes = new Map<string, { opening: Promise<PostgresNode>; users: number }>();
  return {
    open: async (settings: PostgresSettings, logger: Logger): Promise<PostgresNode> => {
      const name = JSON.stringify(settings);
      const shared = nodes.get(name) ?? { opening: openNode(settings, logger), users: 0 };
      nodes.set(name, shared);
      shared.users++;
      const leave = (): boolean => {
        if (--shared.users > 0) return false;
        if (nodes.get(name) === shared) nodes.delete(name);
        return true;
      };
      try {
        const node = await shared.opening;
        return { ...node, close: async () => void (leave() && (await node.close())) };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

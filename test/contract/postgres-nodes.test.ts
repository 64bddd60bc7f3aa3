/** Several processes on one PostgreSQL: leases, liveness, changes and lost connections. */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createLogger, silentLogger } from "../../src/base/log.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { createNodePool, openNode } from "../../src/store/postgres/node.ts";
import { createPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { STEPS, type SchemaSteps } from "../../src/store/postgres/migrations.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { Store } from "../../src/store/store.ts";
import { startChild } from "../support/child.ts";
import {
  type TestDatabase,
  freshDatabase,
  restartServer,
  startServer,
  stopServer,
  urlOf,
  useDatabase,
} from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { folderWith, temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";
import { acquire } from "./leases-suite.ts";
import { entry, put, refusal } from "./store-fixture.ts";

const KEY = "agent:main:main";
const LONG_MS = 3_600_000;

interface OpenOptions {
  agentId?: string;
  directUrl?: string;
  steps?: SchemaSteps;
  clock?: Clock;
}

async function open(
  url: string,
  { agentId = "main", directUrl, steps, clock }: OpenOptions = {},
): Promise<Store & AsyncDisposable> {
  const node = await openNode({ url, directUrl }, silentLogger, steps);
  // These tests write no transcript.
  const store = await createPostgresStore({
    agentId,
    node,
    clock,
    copiesFolder: "/dev/null/none",
    mediaFolder: "/dev/null/none",
  });
  return Object.assign(store, { [Symbol.asyncDispose]: async () => await store.close() });
}

/** As a release may do it: new columns and tables, and a function that also works for callers of the old one. */
const EXPANDING_STEP = `
  ALTER TABLE holdfast.leases ADD COLUMN reason text;
  ALTER TABLE holdfast.inbox ADD COLUMN priority integer NOT NULL DEFAULT 0;
  CREATE TABLE holdfast.notes (key text PRIMARY KEY, text text NOT NULL);
  CREATE OR REPLACE FUNCTION holdfast.release_lease(p_agent text, p_key text, p_holder text) RETURNS holdfast.written
  LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE holdfast.leases SET holder = NULL, reason = 'released'
      WHERE agent = p_agent AND key = p_key AND holder = p_holder;
    RETURN (to_json(FOUND), NULL)::holdfast.written;
  END $$`;

describe("nodes of a postgres store", () => {
  it("lets 12 nodes create the tables at once", async () => {
    await using database = await freshDatabase({ isEmpty: true });
    const nodes = await Promise.all(
      Array.from({ length: 12 }, async () => await openNode({ url: database.url, poolSize: 1 }, silentLogger)),
    );
    await Promise.all(nodes.map((node) => node.close()));
    expect(await database.run("SELECT version FROM holdfast.schema")).toEqual([{ version: 1 }]);
  });

  it("works beside nodes of the release before and after it, and beside no others", async () => {
    await using database = await freshDatabase();
    await using folder = await folderWith({
      "next.sql": EXPANDING_STEP,
      "later.sql": "CREATE TABLE holdfast.later ()",
    });
    const next = [...STEPS, [folder.join("next.sql")]];
    const later = [...next, [folder.join("later.sql")]];
    await using first = await open(database.url);
    const talk = async (store: Store, key: string): Promise<void> => {
      const lease = await acquire(store, key, LONG_MS);
      await put(store, key, entry(`id-${key}`));
      const address = { channel: "web", accountId: "default", chatId: key, messageId: key };
      const { item } = await store.inbox.admit({ key, address, payload: {}, receivedAt: 1 });
      await store.inbox.claim(lease);
      await store.inbox.finish(lease, [item.id], []);
      await store.leases.release(lease);
    };
    await talk(first, "before");
    const held = await acquire(first, "held", LONG_MS);

    await using upgraded = await open(database.url, { steps: next });
    for (const [name, store] of Object.entries({ first, upgraded })) await talk(store, name);
    expect((await first.leases.renew(held, { ttlMs: LONG_MS }))?.epoch).toBe(held.epoch);
    await using late = await open(database.url);
    await talk(late, "late");
    expect((await upgraded.list()).total).toBe(4);

    // Two steps at once are too much for the first node.
    const tooOld = await refusal(open(database.url, { steps: later }));
    expect(tooOld).toEqual({ kind: "conflict", code: "store-nodes-too-old" });
    await Promise.all([first.close(), late.close()]);
    await using newest = await open(database.url, { steps: later });
    for (const [name, store] of Object.entries({ upgraded, newest })) await talk(store, `${name} again`);
    expect(await refusal(open(database.url))).toEqual({ kind: "unsupported", code: "store-too-new" });
  });

  it("takes over the sessions of a killed process within a second or so, and of no living one", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    await useDatabase(folder.path, database);
    await using store = await open(database.url);
    await using living = await open(database.url);
    await acquire(living, "busy", LONG_MS);
    await startChild("store", {
      kind: "postgres",
      home: folder.path,
      task: "die-with-lease",
      leased: "main",
    }).ended();
    const diedAt = performance.now();
    await until(async () => (await store.leases.acquire("main", { ttlMs: 1000 })).acquired, "a take-over");
    expect(performance.now() - diedAt).toBeLessThan(5000);
    expect((await store.leases.acquire("busy", { ttlMs: 1 })).acquired).toBe(false);
  });

  it("counts a node as dead without its lock and its beat, not without one of them", async () => {
    await using database = await freshDatabase();
    const node = await addNode(database);
    const isDead = async (): Promise<unknown> => await judgeNode(database, node);
    // The server of the tests may have started just now.
    const nobody = node + 1;
    await until(async () => (await judgeNode(database, nobody)) === true, "a server that does not wait for its nodes");
    await database.run("UPDATE holdfast.nodes SET seen_at = clock_timestamp()");
    expect(await isDead()).toBe(false);
    await database.run("UPDATE holdfast.nodes SET seen_at = seen_at - interval '1 second'");
    // A server that has just started gives all nodes a moment.
    await until(isDead, "the death of a node");
    await using session = await freshConnection(database);
    await session.run("SELECT pg_advisory_lock(482716093, $1)", node);
    expect(await isDead()).toBe(false);
    await session.run("SELECT pg_advisory_unlock_all()");
    expect(await isDead()).toBe(true);
  });

  it("doubts itself before another node takes over, and not if it only loses its lock", async () => {
    await using database = await freshDatabase();
    await using proxy = await startTcpProxy({ port: Number(new URL(database.url).port) });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    await using cutOff = await open(url.href);
    await using other = await open(database.url);
    await acquire(cutOff, "main", LONG_MS);
    const doubts: number[] = [];
    cutOff.leases.onDoubt?.(() => doubts.push(performance.now()));
    await database.run(`SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND datname = current_database()`);
    await delay(1000);
    expect(doubts).toEqual([]);
    expect((await other.leases.acquire("main", { ttlMs: 1 })).acquired).toBe(false);
    // Its connections are closed, and new ones hang.
    proxy.swallow();
    proxy.cut();
    await until(async () => (await other.leases.acquire("main", { ttlMs: LONG_MS })).acquired, "the take-over");
    expect(doubts).toHaveLength(1);
    proxy.heal();
  });

  it("beats, and connects again when its direct connection was closed", async () => {
    await using database = await freshDatabase();
    await using holder = await open(database.url);
    const lease = await acquire(holder, "main", LONG_MS);
    const beats = async (): Promise<string> => JSON.stringify(await database.run("SELECT seen_at FROM holdfast.nodes"));
    const held = async () => await database.run(`${LOCKS} AND mode = 'ExclusiveLock'`, database.name);
    for (let round = 0; round < 3; round++) {
      const before = await beats();
      const [lock] = await held();
      await database.run("SELECT pg_terminate_backend($1)", lock?.["pid"]);
      await until(async () => {
        const [next] = await held();
        return next !== undefined && next["pid"] !== lock?.["pid"];
      }, "a new lock");
      await until(async () => (await beats()) !== before, "a beat");
    }
    expect(await held()).toHaveLength(1);
    expect(await holder.leases.current("main")).toEqual(lease);
  });

  it("forgets changes after a minute, and nodes after a day", async () => {
    await using database = await freshDatabase();
    await database.run("INSERT INTO holdfast.nodes (process, version) VALUES ('{}', ''), ('{}', '')");
    await database.run("UPDATE holdfast.nodes SET seen_at = seen_at - interval '2 days' WHERE id = 1");
    for (const key of ["old", "new"]) await database.run(RECORD, key);
    await database.run("UPDATE holdfast.changes SET at = at - interval '2 minutes' WHERE seq = 1");
    await database.run("SELECT holdfast.tidy()");
    expect(await database.run("SELECT seq::integer FROM holdfast.changes")).toEqual([{ seq: 2 }]);
    expect(await database.run("SELECT id FROM holdfast.nodes")).toEqual([{ id: 2 }]);
  });

  it("never has two holders, and never commits a write of an old epoch after a newer one", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    await useDatabase(folder.path, database);
    const task = { kind: "postgres", home: folder.path, task: "contend", ttlMs: 150 } as const;
    const children = ["a", "b", "c"].map((name) => startChild("store", { ...task, name }));
    const history = (): HistoryLine[] => children.flatMap((child) => child.lines) as HistoryLine[];
    await Promise.all(children.map((child) => child.line()));
    // Each is paused in turn for longer than its lease, wherever it is.
    for (let round = 0; round < 100; round++) {
      const child = children[round % children.length];
      child?.kill("SIGSTOP");
      await delay(220);
      child?.kill("SIGCONT");
      await delay(40);
      if (round >= 15 && history().filter(({ fenced }) => fenced).length >= 3) break;
    }
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.ended()));
    expect(history().some(({ fenced }) => fenced)).toBe(true);
    await checkHistory(database, history());
  });

  it("lets a take-over wait for a write that has passed the fence", async () => {
    await using database = await freshDatabase();
    await using holder = await open(database.url);
    await using other = await open(database.url);
    const lease = await acquire(holder, "main", 1);
    await database.run(LOCK_MAIN);
    const writing = holder.update("main", () => entry("s-1"), { lease });
    await until(
      async () => (await database.run(`${LOCKS} AND NOT granted`, database.name)).length > 0,
      "a waiting write",
    );
    const order: string[] = [];
    const taking = acquire(other).then(({ epoch }) => order.push(`epoch ${epoch}`));
    await delay(300);
    expect(order).toEqual([]);
    await database.run("SELECT pg_advisory_unlock_all()");
    await Promise.all([writing.then(() => order.push("written")), taking]);
    expect(order.toSorted()).toEqual(["epoch 2", "written"]);
  });

  it("tells other nodes about changes, with the route of a delivery", async () => {
    await using database = await freshDatabase();
    await using one = await open(database.url);
    await using two = await open(database.url);
    const told: unknown[] = [];
    two.onChange((change) => told.push(change));
    await put(one, "main", entry("s-1"));
    const target = { channel: "telegram", accountId: "work", to: "42" };
    await one.outbox.enqueue("main", [{ idempotencyKey: "i", target, payload: 1 }]);
    await until(() => told.length >= 2, "two changes");
    expect(told).toEqual([
      { what: "entry", key: KEY },
      { what: "outbox", key: KEY, route: { channel: "telegram", accountId: "work" } },
    ]);
  });

  it("tells other nodes what is going on, while someone watches there", async () => {
    await using database = await freshDatabase();
    await using one = await open(database.url);
    await using two = await open(database.url);
    const heard: unknown[] = [];
    const own: unknown[] = [];
    for (const store of [one, two]) await acquire(store, `of ${store === one ? "one" : "two"}`, LONG_MS);
    const texts = ["plain", "a\0b \ud800 ü 🐦", "long 🐦 ".repeat(10_000)];
    one.cluster?.onBroadcast((event) => own.push(event));
    one.cluster?.broadcast("nobody watches yet");
    const stop = two.cluster?.onBroadcast((event) => heard.push(event));
    await until(() => {
      one.cluster?.broadcast("first");
      return heard.includes("first");
    }, "the first broadcast");
    for (const text of texts) one.cluster?.broadcast({ text });
    await until(() => heard.length > 0 && heard.at(-1) !== "first", "the others");
    expect(heard.filter((event) => event !== "first")).toEqual(texts.map((text) => ({ text })));
    expect(own).toEqual([]);
    stop?.();
    one.cluster?.broadcast("nobody watches any more");
    await delay(200);
    expect(heard.at(-1)).toEqual({ text: texts.at(-1) });
  });

  it("writes many sessions in a few commits, of which a refused write fails alone", async () => {
    await using database = await freshDatabase();
    await using store = await open(database.url);
    await using other = await open(database.url, { agentId: "other" });
    const keys = Array.from({ length: 40 }, (_, index) => `k${index}`);
    const leases = await Promise.all(keys.map(async (key) => await acquire(store, key, LONG_MS)));
    const stale = leases.map((lease, index) => (index % 13 === 5 ? { ...lease, epoch: 0 } : lease));
    const written = await Promise.allSettled([
      ...keys.map(async (key, index) => await store.update(key, () => entry(key), { lease: stale[index] })),
      put(other, "main", entry("other")),
    ]);
    const refused = written.flatMap((write) => (write.status === "rejected" ? [write.reason as unknown] : []));
    expect(refused).toEqual([5, 18, 31].map(() => expect.objectContaining({ kind: "fenced" }) as unknown));
    expect((await store.list({ limit: 1 })).total).toBe(37);
    expect((await other.list()).total).toBe(1);
    const commits = await database.run("SELECT count(DISTINCT xmin::text)::integer AS count FROM holdfast.leases");
    expect(commits[0]?.["count"]).toBeLessThan(5);
  });

  it("sees what another node changed, also if it knows an older entry", async () => {
    await using database = await freshDatabase();
    await using store = await open(database.url);
    await using other = await open(database.url);
    await put(store, KEY, entry("id"));
    const address = { channel: "web", accountId: "default", chatId: KEY, messageId: "1" };
    await store.inbox.admit({ key: KEY, address, payload: {}, receivedAt: 1 });
    const attempt = await store.leases.acquire(KEY, { ttlMs: LONG_MS, claim: true });
    if (!attempt.acquired || attempt.claimed === undefined) throw new Error("The message was not claimed");
    const { lease, claimed } = attempt;
    await other.update(KEY, add({ model: "one" }));
    await store.update(KEY, add({ label: "two" }), { lease });
    await other.update(KEY, add({ displayName: "three" }));
    await store.inbox.finish(lease, [claimed.id], [], { entry: add({ totalTokens: 4 }) });
    const all = { model: "one", label: "two", displayName: "three", totalTokens: 4 };
    expect(await store.get(KEY)).toMatchObject(all);
    expect(await store.update(KEY, () => undefined)).toMatchObject(all);
  });

  it("repeats a delivery at its time, whatever the clock of the node says that tried it", async () => {
    await using database = await freshDatabase();
    await using ahead = await open(database.url, { clock: { ...systemClock, now: nowAhead } });
    await using other = await open(database.url);
    const target = { channel: "web", accountId: "default", to: "ada" };
    const [item] = await ahead.outbox.enqueue(KEY, [{ idempotencyKey: "one", target, payload: {} }]);
    const id = item?.id ?? 0;
    await ahead.outbox.startSending(id, 0);
    await ahead.outbox.retry(id, nowAhead() + 300, "no answer");
    expect(await other.outbox.due(Date.now(), 1)).toEqual([]);
    const [route] = await other.outbox.routes();
    expect(Math.abs((route?.dueAt ?? 0) - Date.now())).toBeLessThan(10_000);
    await until(async () => (await other.outbox.due(Date.now(), 1)).length === 1, "the next attempt");
    expect((await ahead.outbox.due(nowAhead(), 1)).length).toBe(1);
  });

  it("reports a change that commits after a later one", async () => {
    await using database = await freshDatabase();
    await using second = await freshConnection(database);
    await using store = await open(database.url);
    const keys: string[] = [];
    store.onChange(({ key }) => keys.push(key));
    await second.run("BEGIN");
    await second.run(RECORD, "slow");
    await database.run(RECORD, "fast");
    await delay(1200);
    await second.run("COMMIT");
    await until(() => keys.length === 2, "both changes");
    expect(keys).toEqual(["slow", "fast"]);
  });

  it("uses at most nine connections per process, for all agents together", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const config = { ...DEFAULT_CONFIG, store: { kind: "postgres" as const, view: false, url: database.url } };
    const logger = createLogger({ level: "silent" });
    const agents = await Promise.all(
      ["main", "second", "third"].map(
        async (agentId) => await openAgent({ home: folder.path, config, agentId, logger }),
      ),
    );
    await Promise.all(
      agents.flatMap(({ store, agentId }) =>
        Array.from({ length: 40 }, async (_, index) => {
          const key = `agent:${agentId}:k${index}`;
          await store.leases.acquire(key, { ttlMs: 1000 });
          await put(store, key, entry("s-1"));
        }),
      ),
    );
    const [row] = await database.run(
      "SELECT count(*)::integer AS connections FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = $1",
      database.name,
    );
    expect(row?.["connections"]).toBeLessThanOrEqual(9);
    expect(agents[0]?.store.location).toBe(new URL(database.url).href.replace(/:[^:]*@/, "@"));
    await Promise.all(agents.map(({ store }) => store.close()));
    await until(async () => (await database.run(CONNECTED, database.name)).length === 0, "no connection");
  });

  it("opens a shared node again after its last user has closed it", async () => {
    await using database = await freshDatabase();
    const pool = createNodePool();
    const [one, two] = await Promise.all([1, 2].map(() => pool.open({ url: database.url }, silentLogger)));
    expect(await one?.id()).toBe(await two?.id());
    await one?.close();
    expect(await two?.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    await two?.close();
    const third = await pool.open({ url: database.url }, silentLogger);
    expect(await third.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    await third.close();
  });
});

/** The clock of a node that is five minutes ahead. */
const nowAhead = (): number => Date.now() + 300_000;

function add(field: object) {
  return (before: SessionEntry | undefined) => ({ ...(before ?? entry("id")), ...field });
}

const RECORD =
  "INSERT INTO holdfast.changes (writer, list) VALUES (1, json_build_array(json_build_array('main', 'entry', $1::text)))";
/** Holds up writes of the session's entry, after their fence. */
const LOCK_MAIN = `SELECT pg_advisory_lock(hashtextextended('main ${KEY}', 0))`;
const LOCKS = `SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
  WHERE locktype = 'advisory' AND datname = $1`;
const CONNECTED = "SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = $1";

describe("lost connections of a postgres store", () => {
  it("repeats reads and repeatable writes, also over a restart of all connections", async () => {
    await using database = await freshDatabase();
    await using store = await open(database.url);
    const address = { channel: "web", accountId: "default", chatId: "c", messageId: "m" };
    await put(store, "main", entry("s-1"));
    for (let round = 0; round < 5; round++) {
      await database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast' AND datname = $1",
        database.name,
      );
      expect((await store.get("main"))?.sessionId).toBe("s-1");
      const { item } = await store.inbox.admit({ key: "main", address, payload: 1, receivedAt: 1 });
      expect(item.state).toBe("queued");
    }
    expect(await store.inbox.pending()).toHaveLength(1);
  });

  it("survives a restart of the server, with its leases and its listeners", async () => {
    await using folder = await temporaryFolder({ onDisk: true });
    let server = await startServer(`${folder.path}-server`);
    try {
      const url = urlOf(server, "postgres");
      await using one = await open(url);
      await using two = await open(url);
      const keys: string[] = [];
      two.onChange(({ key }) => keys.push(key));
      const lease = await acquire(one, "main", LONG_MS);
      server = await restartServer(server, "SIGINT");
      // No node is dead yet, although none has its lock.
      await using session = await freshConnection({ url });
      expect(await judgeNode(session, 999)).toBe(false);
      await one.leases.assertCurrent(lease);
      expect((await two.leases.acquire("main", { ttlMs: 1 })).acquired).toBe(false);
      await one.update("main", () => entry("s-1"), { lease });
      await until(() => keys.includes(KEY), "a change");
    } finally {
      stopServer(server);
    }
  });

  it("says that the outcome is unknown if the connection breaks during a write", async () => {
    await using database = await freshDatabase();
    await using proxy = await startTcpProxy({ port: Number(new URL(database.url).port) });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    await using store = await open(url.href);
    await put(store, "main", entry("s-1"));
    const told: string[] = [];
    store.onChange(({ what, key }) => told.push(`${what} ${key}`));
    await database.run(LOCK_MAIN);
    const writing = put(store, "main", entry("s-2"));
    const refused = refusal(writing);
    await until(
      async () => (await database.run(`${LOCKS} AND NOT granted`, database.name)).length > 0,
      "a waiting write",
    );
    proxy.cut();
    expect(await refused).toEqual({ kind: "unavailable", code: "store-outcome-unknown" });
    // Its change may have been made, so it is reported.
    await until(() => told.includes(`entry ${KEY}`), "the change");
    await database.run("SELECT pg_advisory_unlock_all()");
    await put(store, "main", entry("s-3"));
    expect((await store.get("main"))?.sessionId).toBe("s-3");
  });

  it("repeats a write after a deadlock or a serialization failure", async () => {
    await using database = await freshDatabase();
    await using store = await open(database.url);
    await database.run(`
      CREATE SEQUENCE tries;
      CREATE FUNCTION fail_twice() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('tries') <= 2 THEN
          RAISE EXCEPTION 'again' USING ERRCODE = (ARRAY['40001', '40P01'])[currval('tries')];
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER fail_twice BEFORE INSERT ON holdfast.entries FOR EACH ROW EXECUTE FUNCTION fail_twice()`);
    await put(store, "main", entry("s-1"));
    expect((await store.get("main"))?.sessionId).toBe("s-1");
    expect(await database.run("SELECT last_value::integer AS tries FROM tries")).toEqual([{ tries: 3 }]);
  });

  it("fences a node that was cut off without notice, when its network is back", { timeout: 60_000 }, async () => {
    await using database = await freshDatabase();
    await using proxy = await startTcpProxy({ port: Number(new URL(database.url).port) });
    const url = new URL(database.url);
    url.port = String(proxy.port);
    await using cutOff = await open(url.href);
    await using other = await open(database.url);
    const lease = await acquire(cutOff, "main", 1500);
    proxy.swallow();
    const late = refusal(cutOff.update("main", () => entry("late"), { lease }));
    const taken = await until(async () => {
      const attempt = await other.leases.acquire("main", { ttlMs: LONG_MS });
      return attempt.acquired && attempt.lease;
    }, "a take-over");
    expect(taken.epoch).toBe(lease.epoch + 1);
    proxy.heal();
    expect(await late).toEqual({ kind: "fenced", code: "lease-lost" });
    expect(await other.get("main")).toBeUndefined();
  });
});

/** A second session, for transactions that stay open. */
async function freshConnection(
  database: Pick<TestDatabase, "url">,
): Promise<Pick<TestDatabase, "run"> & AsyncDisposable> {
  const { Client } = await import("pg");
  const client = new Client(database.url);
  await client.connect();
  return {
    run: async (sql, ...values) => (await client.query<Record<string, unknown>>(sql, values)).rows,
    [Symbol.asyncDispose]: async () => await client.end(),
  };
}

async function addNode({ run }: Runs): Promise<number> {
  const [node] = await run("INSERT INTO holdfast.nodes (process, version) VALUES ('{}', '') RETURNING id");
  return Number(node?.["id"]);
}

async function judgeNode({ run }: Runs, id: number): Promise<unknown> {
  return (await run("SELECT holdfast.node_is_dead($1) AS dead", id))[0]?.["dead"];
}

interface Runs {
  run: (sql: string, ...values: unknown[]) => Promise<Record<string, unknown>[]>;
}

interface HistoryLine {
  name: string;
  epoch: number;
  acquired?: boolean;
  line?: string;
  fenced?: boolean;
}

/** Compares what the processes were told with what is stored. */
async function checkHistory(database: TestDatabase, history: readonly HistoryLine[]): Promise<void> {
  const epochs = history.filter(({ acquired }) => acquired).map(({ epoch }) => epoch);
  expect(new Set(epochs).size).toBe(epochs.length);
  expect(epochs.length).toBeGreaterThan(3);
  await using store = await open(database.url);
  const { lines } = (await store.get("main")) as unknown as { lines: string[] };
  const stored = lines.map((line) => Number(line.split(" ")[1]));
  expect(stored).toEqual(stored.toSorted((a, b) => a - b));
  const acknowledged = history.flatMap(({ line }) => line ?? []);
  expect(acknowledged.filter((line) => !lines.includes(line))).toEqual([]);
  expect(new Set(lines).size).toBe(lines.length);
}

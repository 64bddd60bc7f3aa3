/** Two gateways with homes of their own over one PostgreSQL. */
import { readdir, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { TOO_LATE, within } from "../../src/base/async.ts";
import { createEchoEngine } from "../../src/engine/echo/echo.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { RpcEvent } from "../../src/rpc/protocol.ts";
import { connectRpc } from "../../src/rpc/client.ts";
import { createLogger } from "../../src/base/log.ts";
import { type OpenedGateway, openGateway } from "../../src/compose/turns.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { runCliShared } from "../support/cli.ts";
import { type FakeTelegram, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { ADA, message } from "../support/fake-telegram/updates.ts";
import { type TestDatabase, freshDatabase } from "../support/postgres.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";

const KEY = "agent:main:main";
let opened: OpenedGateway[] = [];

afterEach(async () => {
  await Promise.all(opened.map(async (gateway) => await gateway.close()));
  opened = [];
});

/** Keeps its conversation on the disk of its machine, as Claude Code does. */
function createLocalEngine(): Engine {
  const echo = createEchoEngine();
  return {
    ...echo,
    keepsConversation: true,
    async *run(turn, signal) {
      yield { type: "session", id: turn.engineSessionId ?? "native-1" };
      yield* echo.run(turn, signal);
    },
  };
}

interface NodeOptions {
  engine?: string;
  telegram?: FakeTelegram;
}

async function openNode(home: string, url: string, { engine, telegram }: NodeOptions = {}): Promise<OpenedGateway> {
  const store = { ...DEFAULT_CONFIG.store, kind: "postgres" as const, url };
  const accounts = telegram && { default: { apiRoot: telegram.url, allowFrom: ["*"] } };
  const config = {
    ...DEFAULT_CONFIG,
    store,
    agents: engine === undefined ? {} : { main: { engine } },
    channels: { ...DEFAULT_CONFIG.channels, telegram: accounts ?? {} },
  };
  const logger = createLogger({ level: "silent" });
  const gateway = await openGateway({
    home,
    config,
    port: 0,
    channels: true,
    logger,
    engines: { local: createLocalEngine },
    env: { ...process.env, TELEGRAM_BOT_TOKEN: telegram?.token },
  });
  opened.push(gateway);
  return gateway;
}

async function call({ url, token }: OpenedGateway, method: string, params: object) {
  const response = await fetch(`${url}/rpc/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(params),
  });
  return { status: response.status, ...((await response.json()) as { payload?: unknown; error?: unknown }) };
}

const runningOf = async (database: TestDatabase): Promise<number> =>
  (await database.run("SELECT 1 FROM holdfast.inbox WHERE state = 'running'")).length;

describe("two gateways over one database", { timeout: 60_000 }, () => {
  it("a caller of one gets the answer of the other, and both see the session", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const one = await openNode(folder.join("one"), database.url);
    const two = await openNode(folder.join("two"), database.url);
    const first = call(one, "agent", { message: "sleep:1500", sessionKey: KEY });
    await until(async () => (await runningOf(database)) === 1, "the first turn");
    const second = await call(two, "agent", { message: "hello", sessionKey: KEY });
    expect(second.payload).toMatchObject({
      result: { payloads: [{ text: "[echo] message 2 of this window: hello" }] },
    });
    expect((await first).payload).toMatchObject({ status: "ok" });
    for (const gateway of [one, two]) {
      const { payload } = await call(gateway, "chat.history", { sessionKey: KEY });
      expect((payload as { messages: unknown[] }).messages).toHaveLength(4);
      const headers = { Authorization: `Bearer ${gateway.token}` };
      const metrics = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
      // Both are in this process, which is one node.
      expect(metrics).toMatch(/^holdfast_nodes 1$/m);
      expect(metrics).toMatch(/^holdfast_pool_connections [1-9]$/m);
    }
  });

  it("a page of one sees the turns of the other while they run, each end once", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const one = await openNode(folder.join("one"), database.url);
    const two = await openNode(folder.join("two"), database.url);
    const client = await connectRpc({ url: one.url, token: one.token, client: { name: "page" } });
    const seen: RpcEvent[] = [];
    client.onEvent((event) => seen.push(event));
    await client.call("events.subscribe", { sessionKeys: [KEY] });
    // The first one also waits for the answer, and learns of its end from the store.
    const turn = call(two, "agent", { message: "sleep:500", sessionKey: KEY, idempotencyKey: "a" });
    await until(() => seen.some(({ type }) => type === "turn.started"), "the beginning");
    expect(await runningOf(database)).toBe(1);
    await call(one, "agent", { message: "sleep:500", sessionKey: KEY, idempotencyKey: "a" });
    await turn;
    await until(() => seen.some(({ type }) => type === "turn.ended"), "the end");
    await delay(500);
    const types = seen.map(({ type }) => type);
    expect(types.filter((type) => type === "turn.ended")).toHaveLength(1);
    expect(types.indexOf("turn.text")).toBeGreaterThan(types.indexOf("turn.started"));
    expect(types.lastIndexOf("turn.text")).toBeLessThan(types.indexOf("turn.ended"));
    client.close();
  });

  it("status shows the nodes and take-overs, and doctor the problems of the cluster", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const home = folder.join("one");
    const node = await openNode(home, database.url);
    await openNode(folder.join("two"), database.url);
    const config = { store: { kind: "postgres", url: database.url } };
    await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
    // Nodes are one per process and database, so this one is made up: it died long ago with a session.
    await database.run(`INSERT INTO holdfast.nodes (process, version, seen_at)
      VALUES ('{"host":"elsewhere","pid":7}', '0.0.1', clock_timestamp() - interval '1 hour')`);
    await database.run(`INSERT INTO holdfast.leases (agent, key, epoch, holder, process, node, expires_at)
      SELECT 'main', 'agent:main:left', 4, 'x', process, id, 0 FROM holdfast.nodes WHERE version = '0.0.1'`);
    const doctor = await runCliShared(["doctor", "--json"], { home });
    expect(doctor.json()).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          check: "cluster",
          message: expect.stringMatching(/^1 leases of dead nodes/) as string,
        }),
      ]) as unknown,
    });
    await call(node, "agent", { message: "hello", sessionKey: "agent:main:left" });
    const { payload } = await call(node, "status", {});
    expect(payload).toMatchObject({
      cluster: {
        takeOvers: 1,
        problems: [],
        nodes: [
          { pid: process.pid, isAlive: true },
          { host: "elsewhere", pid: 7, isAlive: false, running: 0 },
        ],
      },
    });
    const status = await runCliShared(["status"], { home });
    expect(status.stdout).toMatch(
      /Nodes \(1 take-overs in 24 hours, nothing waits\):\n.*VERSION[^]*elsewhere 7 \(dead\)/,
    );
  });

  it("leaves a session of Claude Code to the machine that has it, while a gateway runs there", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const node = await openNode(folder.join("one"), database.url, { engine: "local" });
    await call(node, "agent", { message: "hello", sessionKey: KEY });
    const [stored] = await database.run("SELECT entry::json ->> 'sdkSessionHost' AS host FROM holdfast.entries");
    expect(stored).toEqual({ host: hostname() });
    await database.run("UPDATE holdfast.entries SET entry = replace(entry, $1, $2)", `"${hostname()}"`, '"elsewhere"');
    await database.run(`INSERT INTO holdfast.nodes (process, version, seen_at)
      VALUES ('{"host":"elsewhere","pid":7}', '0.0.1', clock_timestamp() + interval '1 hour')`);
    const answer = call(node, "agent", { message: "again", sessionKey: KEY });
    expect(await within(2500, answer)).toBe(TOO_LATE);
    expect(await database.run("SELECT state FROM holdfast.inbox ORDER BY id")).toEqual([
      { state: "done" },
      { state: "queued" },
    ]);
    await database.run("UPDATE holdfast.nodes SET seen_at = seen_at - interval '2 hours' WHERE version = '0.0.1'");
    expect((await answer).payload).toMatchObject({ status: "ok" });
  });

  it("every node reads what people attach, and sends what an agent of another node attaches", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    await using telegram = await startFakeTelegram();
    const heard = async (words: string): Promise<string> =>
      await until(() => telegram.shown(ADA.id).find((text) => text.includes(words)), words, 20_000);
    const one = await openNode(folder.join("one"), database.url, { telegram });
    telegram.addFile("notes", Buffer.from("the heron nests at dawn\n"), "documents/notes.txt");
    const document = { file_id: "notes", file_unique_id: "n", file_name: "notes.txt", mime_type: "text/plain" };
    telegram.deliver(message({ caption: "keep this", document: { ...document, file_size: 24 } }));
    const [, path = ""] = /\[media attached: (\S+) \(text\/plain\)\]/.exec(await heard("keep this")) ?? [];
    expect(path.startsWith(folder.join("one"))).toBe(true);

    const two = await openNode(folder.join("two"), database.url, { telegram });
    await one.close();
    opened = [two];
    // Nothing of the first machine is left.
    await rm(folder.join("one"), { recursive: true });
    telegram.say(`tool:read_file ${path}`);
    expect(await heard("the heron nests at dawn")).not.toContain(folder.join("one"));

    const three = await openNode(folder.join("three"), database.url, { telegram });
    const report = folder.join("three", "report.txt");
    await writeFile(report, "all herons are well");
    const params = { channel: "telegram", to: String(ADA.id), media: [report], idempotencyKey: "report" };
    await until(async () => (await call(three, "message.send", params)).status === 200, "the channel");
    const { files } = await telegram.waitFor(({ method }) => method === "sendDocument");
    expect(files["document"]).toMatchObject({ name: "report.txt", bytes: Buffer.from("all herons are well") });
    // The second node is connected, so it sent its own copy.
    const copies = await readdir(folder.join("two/cache/media"), { recursive: true });
    expect(copies.some((name) => name.endsWith("/report.txt"))).toBe(true);
  });

  it("a node that stops hands its queue over", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const one = await openNode(folder.join("one"), database.url);
    await openNode(folder.join("two"), database.url);
    await call(one, "chat.send", { message: "sleep:300", sessionKey: KEY, idempotencyKey: "a" });
    for (const id of ["b", "c"]) await call(one, "chat.send", { message: id, sessionKey: KEY, idempotencyKey: id });
    await one.close();
    opened = opened.filter((gateway) => gateway !== one);
    const done = async (): Promise<unknown[]> =>
      await database.run("SELECT 1 FROM holdfast.inbox WHERE state = 'done'");
    await until(async () => (await done()).length === 3, "all answers");
    expect(await database.run("SELECT 1 FROM holdfast.inbox WHERE attempts > 1")).toEqual([]);
  });

  it("a node without its database refuses messages, says so, and resumes by itself", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const direct = new URL(database.url);
    await using proxy = await startTcpProxy({ port: Number(direct.port) });
    direct.port = String(proxy.port);
    const node = await openNode(folder.join("one"), direct.href);
    const say = async (id: string) =>
      await call(node, "chat.send", { message: "hello", sessionKey: KEY, idempotencyKey: id });
    expect((await say("a")).status).toBe(200);
    proxy.swallow();
    const health = async (): Promise<number> => (await fetch(`${node.url}/health`)).status;
    await until(async () => (await health()) === 503, "bad health", 45_000);
    expect(await say("b")).toMatchObject({ status: 503, error: { code: "store-unreachable", retryable: true } });
    proxy.heal();
    await until(async () => (await say("c")).status === 200, "an admission", 45_000);
    await until(async () => (await health()) === 200, "health", 45_000);
  });
});

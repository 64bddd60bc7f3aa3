/** What each mistake in the configuration gets: an error that says what to do. */
import { chmodSync, chownSync, copyFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { freshDatabase, startServer, stopServer, urlOf } from "../../../test/support/postgres.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { until } from "../../../test/support/time.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { openAgent, openStoreRepair } from "../../compose/agent.ts";
import type { PostgresSettings } from "./connection.ts";
import { openNode } from "./node.ts";
import { checkServer } from "./postgres-errors.ts";

/** The error of opening a node with these settings and registering it. */
async function refusalOf(settings: PostgresSettings): Promise<HoldfastError> {
  let node: Awaited<ReturnType<typeof openNode>> | undefined;
  try {
    node = await openNode(settings, silentLogger);
    await node.id();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  } finally {
    await node?.close();
  }
  throw new Error("It was accepted.");
}

describe("bad configuration of the postgres store", () => {
  it.each(["localhost", "postgres://user:secret@host:port/x", ""])("refuses %j as a URL", async (url) => {
    const error = await refusalOf({ url });
    expect(error).toMatchObject({ kind: "usage", code: "store-url-invalid" });
    expect(`${error.message} ${error.hint}`).toContain("store.url");
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("refuses a configuration without a URL", async () => {
    await using folder = await temporaryFolder();
    const config = { ...DEFAULT_CONFIG, store: { kind: "postgres" as const, view: false } };
    await expect(openAgent({ home: folder.path, config, logger: silentLogger })).rejects.toMatchObject({
      kind: "usage",
      code: "store-url-missing",
    });
  });

  it("lets doctor say what is wrong with the database, and offers no repair", async () => {
    await using folder = await temporaryFolder();
    await using database = await freshDatabase();
    const diagnose = async (url: string) => {
      const config = { ...DEFAULT_CONFIG, store: { kind: "postgres" as const, view: false, url } };
      return await (await openStoreRepair({ home: folder.path, config, agentId: "main" })).diagnose();
    };
    expect(await diagnose(database.url)).toBeUndefined();
    await database.run("INSERT INTO holdfast.schema (version) VALUES (99)");
    const damage = await diagnose(database.url);
    expect(damage).toMatchObject({ canRebuild: false, hint: expect.stringContaining("Upgrade Holdfast") as unknown });
  });

  it("says which server cannot be reached, without the password", async () => {
    const error = await refusalOf({ url: "postgres://ada:secret@127.0.0.1:9/holdfast" });
    expect(error).toMatchObject({ kind: "unavailable", code: "store-unreachable" });
    expect(error.message).toContain("postgres://ada@127.0.0.1:9/holdfast");
    expect(error.message).not.toContain("secret");
  });

  it("refuses a wrong password and a missing database, and reads the password from a file", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const url = new URL(database.url);
    const { password } = url;
    url.password = "wrong";
    expect(await refusalOf({ url: url.href })).toMatchObject({ kind: "forbidden", code: "store-login-refused" });
    const missing = new URL(database.url);
    missing.pathname = "/nowhere";
    expect(await refusalOf({ url: missing.href })).toMatchObject({ code: "store-database-missing" });
    const passwordFile = folder.join("password");
    expect(await refusalOf({ url: url.href, passwordFile })).toMatchObject({ code: "store-password-file" });
    await writeFile(passwordFile, `${password}\n`);
    const node = await openNode({ url: url.href, passwordFile }, silentLogger);
    expect(await node.id()).toBeGreaterThan(0);
    await node.close();
  });

  it("encrypts as sslmode says, and names what is wrong with a certificate", async () => {
    await using database = await freshDatabase();
    await using folder = await temporaryFolder();
    const passwordFile = folder.join("password");
    const plain = new URL(database.url);
    await writeFile(passwordFile, `${decodeURIComponent(plain.password)}\n`, { mode: 0o600 });
    plain.password = "";
    plain.hostname = "localhost";
    const settings = (query: string) => ({ url: `${plain.href}?${query}`, passwordFile });
    const encryption = async (query: string): Promise<unknown> => {
      const node = await openNode(settings(query), silentLogger);
      const [row] = await node.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", []);
      expect(await node.id()).toBeGreaterThan(0);
      await node.close();
      return row?.["ssl"];
    };
    expect(await refusalOf(settings("sslmode=require"))).toMatchObject({ kind: "unsupported", code: "store-no-tls" });

    const [certificate, other] = [placeCertificate(database.folder), `${CERTIFICATES}other.pem`];
    await database.run(`ALTER SYSTEM SET ssl_cert_file = '${certificate}'`);
    await database.run(`ALTER SYSTEM SET ssl_key_file = '${certificate}.key'`);
    await database.run("ALTER SYSTEM SET ssl = on");
    await database.run("SELECT pg_reload_conf()");
    await until(async () => (await database.run("SHOW ssl"))[0]?.["ssl"] === "on", "the server to offer TLS");
    await until(async () => (await encryption("sslmode=require").catch(() => false)) === true, "TLS");
    expect(await encryption("sslmode=disable")).toBe(false);
    expect(await encryption(`sslmode=verify-full&sslrootcert=${certificate}`)).toBe(true);
    for (const query of ["sslmode=verify-full", `sslmode=verify-full&sslrootcert=${other}`]) {
      const error = await refusalOf(settings(query));
      expect(error).toMatchObject({ kind: "forbidden", code: "store-certificate" });
      expect(error.hint).toContain("sslrootcert");
    }
    // Right authority, but another host: only `verify-full` looks at the name.
    plain.hostname = "127.0.0.1";
    expect(await refusalOf(settings(`sslmode=verify-full&sslrootcert=${certificate}`))).toMatchObject({
      code: "store-certificate",
    });
    expect(await encryption(`sslmode=verify-ca&sslrootcert=${certificate}`)).toBe(true);
  });

  it.each([
    ["sslmode=prefer", "store-url-invalid", "verify-full"],
    ["sslmode=verify-ca", "store-url-invalid", "sslrootcert"],
    ["sslrootcert=/etc/ca.pem", "store-url-invalid", "verify-full"],
    ["sslmode=verify-full&sslrootcert=/none/ca.pem", "store-certificate-file", "Correct the path"],
  ])("refuses %s", async (query, code, hint) => {
    const error = await refusalOf({ url: `postgres://ada@127.0.0.1:9/holdfast?${query}` });
    expect(error).toMatchObject({ kind: "usage", code, hint: expect.stringContaining(hint) as unknown });
  });

  it("refuses a user without rights", async () => {
    await using database = await freshDatabase({ isEmpty: true });
    const role = `guest_${database.name}`;
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'guest'`);
    const url = new URL(database.url);
    url.username = role;
    url.password = "guest";
    expect(await refusalOf({ url: url.href })).toMatchObject({ kind: "forbidden", code: "store-no-rights" });
    await database.run(`DROP ROLE ${role}`);
  });

  it("refuses a server that loses acknowledged writes", async () => {
    await using folder = await temporaryFolder({ onDisk: true });
    const server = await startServer(`${folder.path}-server`, { fsync: "off" });
    try {
      const error = await refusalOf({ url: urlOf(server, "postgres") });
      expect(error).toMatchObject({ kind: "unsupported", code: "store-not-durable", data: { setting: "fsync" } });
    } finally {
      stopServer(server);
    }
  });

  it("refuses asynchronous commits", async () => {
    await using database = await freshDatabase();
    await database.run(`ALTER DATABASE ${database.name} SET synchronous_commit = off`);
    expect(await refusalOf({ url: database.url })).toMatchObject({
      code: "store-not-durable",
      data: { setting: "synchronous_commit" },
    });
  });

  it("refuses an old server and a standby", () => {
    const good = { version: 150_004, fsync: "on", synchronousCommit: "on", isStandby: false };
    checkServer(good, "here");
    expect(() => checkServer({ ...good, version: 140_011 }, "here")).toThrow("PostgreSQL 14; Holdfast needs 15");
    expect(() => checkServer({ ...good, isStandby: true }, "here")).toThrow("standby");
  });

  it("refuses a pooler as the direct connection, and accepts it for all others", async () => {
    await using database = await freshDatabase();
    await using pooler = await startTcpProxy({ port: Number(new URL(database.url).port), rewrite: inventProcessId });
    const pooled = new URL(database.url);
    pooled.port = String(pooler.port);
    const error = await refusalOf({ url: pooled.href });
    expect(error).toMatchObject({ kind: "unsupported", code: "store-direct-url-pooled" });
    expect(error.hint).toContain("store.directUrl");
    const node = await openNode({ url: pooled.href, directUrl: database.url }, silentLogger);
    expect(await node.id()).toBeGreaterThan(0);
    await node.close();
  });

  it("refuses a newer schema", async () => {
    await using database = await freshDatabase();
    await database.run("INSERT INTO holdfast.schema (version) VALUES (99)");
    const error = await refusalOf({ url: database.url });
    expect(error).toMatchObject({ kind: "unsupported", code: "store-too-new", data: { version: 99 } });
    expect(error.hint).toContain("Upgrade Holdfast");
  });
});

/** Certificates for `localhost` and `other` that sign themselves, valid until 2126. Only for tests. */
const CERTIFICATES = fileURLToPath(new URL("../../../test/fixtures/postgres/", import.meta.url));

/** The certificate for `localhost` with its key beside it, both for the server to read. */
function placeCertificate(folder: string): string {
  const path = join(folder, "localhost.pem");
  const { uid, gid } = statSync(folder);
  for (const file of [path, `${path}.key`]) {
    copyFileSync(`${CERTIFICATES}${file.slice(folder.length + 1)}`, file);
    chmodSync(file, 0o600);
    chownSync(file, uid, gid);
  }
  return path;
}

/** As PgBouncer does: the message `K` (12 bytes, process id, secret key) has a process id that no server has. */
function inventProcessId(chunk: Buffer): Buffer {
  const start = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (start !== -1) chunk.writeInt32BE(123_456_789, start + 5);
  return chunk;
}

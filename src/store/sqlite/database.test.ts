import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { refusal } from "../../../test/contract/store-fixture.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { agentLayout } from "../../config/layout.ts";
import type { Store } from "../store.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const layoutIn = (folder: TemporaryFolder) => agentLayout(folder.path, "main");

async function openIn(folder: TemporaryFolder): Promise<Store> {
  const { database, sessionsFile } = layoutIn(folder);
  return await createSqliteStore({ path: database, viewPath: sessionsFile, agentId: "main" });
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

async function place(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

describe("opening a sqlite store", () => {
  it("creates private files and folders", async () => {
    await using folder = await temporaryFolder();
    const { database, root } = layoutIn(folder);
    const store = await openIn(folder);
    await store.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    expect(await mode(root)).toBe(0o700);
    for (const path of [database, `${database}-wal`, `${database}-shm`]) expect(await mode(path)).toBe(0o600);
    await store.close();
    expect(await mode(layoutIn(folder).sessionsFile)).toBe(0o600);
  });

  it.each([
    ["text", Buffer.from("this is not a database, but it is longer than a header".repeat(50))],
    ["zeros", Buffer.alloc(8_192)],
    ["a cut-off database", undefined],
  ])("refuses a file of %s and leaves it alone", async (_name, content) => {
    await using folder = await temporaryFolder();
    const { database } = layoutIn(folder);
    if (content === undefined) {
      const store = await openIn(folder);
      await store.close();
      await writeFile(database, (await readFile(database)).subarray(0, 5_000));
    } else {
      await place(database, content);
    }
    const before = await readFile(database);
    expect((await refusal(openIn(folder))).kind).toBe("corrupt");
    expect(await readFile(database)).toEqual(before);
  });

  it("refuses a store of a newer version and changes nothing", async () => {
    await using folder = await temporaryFolder();
    const { database } = layoutIn(folder);
    await mkdir(dirname(database), { recursive: true });
    const newer = new DatabaseSync(database);
    newer.exec("CREATE TABLE entries (key TEXT, shape TEXT); PRAGMA user_version = 999");
    newer.close();
    const before = await readFile(database);
    expect(await refusal(openIn(folder))).toEqual({ kind: "unsupported", code: "store-too-new" });
    expect(await readFile(database)).toEqual(before);
  });

  it("migrates a store of an older version with all its data", async () => {
    await using folder = await temporaryFolder();
    const created = await openIn(folder);
    await created.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    const address = { channel: "telegram", accountId: "default", chatId: "1", messageId: "1" };
    const { item } = await created.inbox.admit({ key: "main", address, payload: "hi", receivedAt: 1 });
    await created.close();
    const older = new DatabaseSync(layoutIn(folder).database);
    older.exec(`
      DROP TABLE pending; DROP TABLE handoffs; DROP INDEX inbox_given_up; ALTER TABLE inbox DROP COLUMN turn;
      ALTER TABLE inbox DROP COLUMN ending; PRAGMA user_version = 2;
    `);
    older.close();
    const [store, second] = await Promise.all([openIn(folder), openIn(folder)]);
    expect(await store.get("main")).toEqual({ sessionId: "s-1", updatedAt: 1 });
    expect(await store.handoffs.list()).toEqual([]);
    await second.handoffs.update("main", () => "kept");
    expect(await store.handoffs.get("main")).toBe("kept");
    expect(await store.inbox.pending()).toEqual([item]);
    await store.close();
    await second.close();
  });

  it("refuses the database of another program and changes nothing", async () => {
    await using folder = await temporaryFolder();
    const { database } = layoutIn(folder);
    await mkdir(dirname(database), { recursive: true });
    const foreign = new DatabaseSync(database);
    foreign.exec("CREATE TABLE recipes (name TEXT)");
    foreign.close();
    const before = await readFile(database);
    expect(await refusal(openIn(folder))).toEqual({ kind: "unsupported", code: "not-a-store" });
    expect(await readFile(database)).toEqual(before);
  });

  it.each([
    ["sessions.json", '{"agent:main:main":{"sessionId":"s-1","updatedAt":1}}'],
    ["sessions.json", '{"agent:main:main":{"sess'],
    ["s-1.jsonl", '{"type":"session"}\n'],
  ])("treats a missing or empty file next to %s as a lost store", async (name, content) => {
    await using folder = await temporaryFolder();
    const { database, sessionsFolder } = layoutIn(folder);
    await place(`${sessionsFolder}/${name}`, content);
    const lost = { kind: "corrupt", code: "store-lost" };
    expect(await refusal(openIn(folder))).toEqual(lost);
    await expect(stat(database)).rejects.toThrow("ENOENT");
    await place(database, "");
    expect(await refusal(openIn(folder))).toEqual(lost);
    expect((await stat(database)).size).toBe(0);
  });

  it("treats a missing file next to its write-ahead log as a lost store", async () => {
    await using folder = await temporaryFolder();
    const { database } = layoutIn(folder);
    await place(`${database}-wal`, "pages of a database that is gone");
    expect(await refusal(openIn(folder))).toEqual({ kind: "corrupt", code: "store-lost" });
  });

  it("treats an empty file with nothing next to it as a new store", async () => {
    await using folder = await temporaryFolder();
    const { database, sessionsFile } = layoutIn(folder);
    await place(database, "");
    await place(sessionsFile, "{}\n");
    const store = await openIn(folder);
    expect(await store.list()).toEqual({ sessions: [], total: 0 });
    await store.close();
  });

  it("reports an unusable folder", async () => {
    await using folder = await temporaryFolder();
    await place(folder.join("agents"), "a file where a folder is needed");
    expect(await refusal(openIn(folder))).toEqual({ kind: "usage", code: "not-a-folder" });
  });
});

import { readdir, stat, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../test/support/pending-database.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createSystemEvents } from "./system-events.ts";

describe("openPendingDatabase", () => {
  it("makes files that only their owner can read", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    await createSystemEvents({ database, now: () => 5 }).enqueueSystemEvent("k", "x");
    const names = (await readdir(folder.path)).filter((name) => name.startsWith("pending.sqlite"));
    expect(names).toContain("pending.sqlite-wal");
    for (const name of names) expect((await stat(folder.join(name))).mode & 0o777).toBe(0o600);
  });

  it("sets a damaged file aside, says so, and goes on", async () => {
    await using folder = await temporaryFolder();
    await writeFile(folder.join("pending.sqlite"), "this is no database".repeat(500));
    using database = await openTestDatabase(folder);
    const events = createSystemEvents({ database, now: () => 5 });
    expect(await events.enqueueSystemEvent("k", "x")).toBe(true);
    const kept = (await readdir(folder.path)).filter((name) => name.includes(".damaged-"));
    expect(kept).toHaveLength(1);
    expect(database.logged.join("")).toContain(kept[0]);
  });

  it("refuses a file of another program or a newer version, and leaves it alone", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("pending.sqlite");
    const foreign = new DatabaseSync(path);
    foreign.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')");
    foreign.close();
    await expect(openTestDatabase(folder)).rejects.toMatchObject({ kind: "unsupported", code: "pending-format" });
    const again = new DatabaseSync(path);
    expect(again.prepare("SELECT text FROM notes").all()).toMatchObject([{ text: "mine" }]);
    again.close();
  });

  it("waits for another writer without holding up everything else", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const other = new DatabaseSync(folder.join("pending.sqlite"));
    other.exec("BEGIN IMMEDIATE");
    const startedAt = performance.now();
    let isKept = false;
    const keeping = createSystemEvents({ database, now: () => 5 })
      .enqueueSystemEvent("k", "x")
      .then((kept) => (isKept = kept));
    await delay(100);
    expect(performance.now() - startedAt).toBeLessThan(3000);
    expect(isKept).toBe(false);
    other.close();
    expect(await keeping).toBe(true);
  });

  it("undoes a transaction that fails", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const failing = database.transaction("disk", () => {
      database.run("INSERT INTO queues (kind, key, last_id) VALUES ('k', 'x', 1)");
      throw new Error("stop");
    });
    await expect(failing).rejects.toThrow("stop");
    expect(database.all("SELECT * FROM queues")).toEqual([]);
  });
});

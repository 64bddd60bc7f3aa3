/** What the store `sqlite` does beyond the contract that all stores share. */
import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { type FaultPoint, installFaultAction } from "../../base/faults.ts";
import type { Store, StoreChange } from "../store.ts";
import { foreignChanges } from "./changes.ts";
import { connect } from "./database.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const pathIn = (folder: TemporaryFolder) => folder.join("agent.sqlite");
const openIn = (folder: TemporaryFolder) => createSqliteStore({ path: pathIn(folder), agentId: "main" });

async function put(store: Store, key: string, more: Record<string, unknown> = {}): Promise<void> {
  await store.update(key, () => ({ sessionId: `s-${key}`, updatedAt: 1, ...more }));
}

function countRows(folder: TemporaryFolder, table: string): number {
  using database = new DatabaseSync(pathIn(folder), { readOnly: true });
  return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
}

afterEach(() => installFaultAction(undefined));

describe("the store of a server", () => {
  it("commits in its own thread until many writes come at once", async () => {
    await using folder = await temporaryFolder();
    const store = await createSqliteStore({ path: pathIn(folder), agentId: "main", execution: "thread" });
    let commits = 0;
    installFaultAction((point) => {
      if (point === "sqlite.batch.committed") commits += 1;
    });
    await put(store, "one");
    await put(store, "two");
    expect(commits).toBe(2);
    await Promise.all(Array.from({ length: 20 }, (_, index) => put(store, `k${index}`)));
    commits = 0;
    await put(store, "three");
    expect(commits).toBe(0);
    expect((await store.list()).total).toBe(23);
    await store.close();
  });

  it("lists while a write waits for the lock of another process, and writes its view afterwards", async () => {
    await using folder = await temporaryFolder();
    const viewPath = folder.join("sessions.json");
    const store = await createSqliteStore({ path: pathIn(folder), agentId: "main", viewPath, execution: "thread" });
    await put(store, "before");
    using other = new DatabaseSync(pathIn(folder));
    other.exec("BEGIN IMMEDIATE");
    const writing = put(store, "waits").then(
      () => "written",
      () => "refused",
    );
    for (let look = 0; look < 10; look++) {
      const listing = store.list().then(({ total }) => `${total} listed`);
      expect(await Promise.race([listing, writing])).toBe("1 listed");
      await delay(30);
    }
    other.exec("ROLLBACK");
    expect(await writing).toBe("written");
    await store.close();
    expect(await readFile(viewPath, "utf8")).toContain("s-waits");
  });
});

describe("sqlite store", () => {
  it("stores a large value once, as long as an entry uses it", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    const systemPromptReport = { text: "x".repeat(2_000) };
    for (const key of ["one", "two", "three"]) await put(store, key, { systemPromptReport });
    expect(countRows(folder, "contents")).toBe(1);
    await put(store, "one", { systemPromptReport: { text: "y".repeat(2_000) } });
    expect(countRows(folder, "contents")).toBe(2);
    await put(store, "one");
    await store.delete("two");
    expect(countRows(folder, "contents")).toBe(1);
    await store.delete("three");
    expect(countRows(folder, "contents")).toBe(0);
    expect(countRows(folder, "entry_contents")).toBe(0);
    await store.close();
  });

  it("commits waiting commands together", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    await put(store, "first");
    const points: FaultPoint[] = [];
    installFaultAction((point) => points.push(point));
    await Promise.all(Array.from({ length: 50 }, (_, index) => put(store, `k${index}`)));
    expect(points.filter((point) => point === "sqlite.batch.committed").length).toBeLessThan(5);
    expect((await store.list()).total).toBe(51);
    await store.close();
  });

  it.each(["sqlite.batch.begun", "sqlite.batch.applied"] as const)(
    "changes nothing and continues when a batch fails at %s",
    async (failing) => {
      await using folder = await temporaryFolder();
      const store = await openIn(folder);
      await put(store, "before");
      installFaultAction((point) => {
        if (point === failing) throw new Error("injected");
      });
      const results = await Promise.allSettled([put(store, "one"), put(store, "two")]);
      expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
      installFaultAction(undefined);
      await put(store, "after");
      const { sessions } = await store.list({ sort: "key" });
      expect(sessions.map((session) => session.key)).toEqual(["agent:main:after", "agent:main:before"]);
      await store.close();
    },
  );

  it("makes progress against a faster process", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    const rival = connect(pathIn(folder), "rival");
    await put(store, "main", { inputTokens: 0 });
    let calls = 0;
    const updated = await store.update("main", (current) => {
      // The rival gets in between reading and writing, unless it is made to wait.
      if (++calls <= 3) {
        rival.transaction(() => rival.run("UPDATE entries SET version = version + 1000"));
      }
      return current && { ...current, inputTokens: (current.inputTokens ?? 0) + 1 };
    });
    expect(calls).toBe(4);
    expect(updated?.inputTokens).toBe(1);
    rival.close();
    await store.close();
  });

  it("keeps every hand-off against a faster process", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    const rival = connect(pathIn(folder), "rival");
    await store.handoffs.update("main", () => 0);
    const seen: unknown[] = [];
    const updated = await store.handoffs.update("main", (state) => {
      if (seen.push(state) <= 3) {
        rival.transaction(() => rival.run("UPDATE handoffs SET version = version + 1000, state = state + 10"));
      }
      return (state as number) + 1;
    });
    expect(seen).toEqual([0, 10, 20, 30]);
    expect(updated).toBe(31);
    expect(await store.handoffs.get("main")).toBe(31);
    rival.close();
    await store.close();
  });

  it("lists the newest of many hand-offs without reading the others", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    using database = new DatabaseSync(pathIn(folder));
    const plan = database
      .prepare(
        "EXPLAIN QUERY PLAN SELECT key, updated_at, state FROM handoffs ORDER BY updated_at DESC, version DESC LIMIT 1",
      )
      .all();
    expect(plan.map(({ detail }) => detail)).toEqual(["SCAN handoffs USING INDEX handoffs_by_update"]);
    await store.close();
  });

  it("keeps the change table short, and sends everything to a listener that fell behind", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    await put(store, "main");
    const database = connect(pathIn(folder), "other");
    database.transaction(() => {
      for (let index = 0; index < 15_000; index++) database.recordChange({ what: "lease", key: "agent:main:x" });
    });
    await store.leases.acquire("busy", { ttlMs: 1_000 });
    await store.handoffs.update("left", () => ({}));
    await put(store, "two");
    expect(countRows(folder, "changes")).toBeLessThan(12_000);
    const told = new Set(foreignChanges(database, 5, "nobody").map(({ what, key }: StoreChange) => `${what} ${key}`));
    expect(told).toEqual(
      new Set(["entry agent:main:main", "entry agent:main:two", "lease agent:main:busy", "handoff agent:main:left"]),
    );
    database.close();
    await store.close();
  });
});

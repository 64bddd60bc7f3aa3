import { describe, expect, it } from "vitest";
import { openTestDatabase } from "../../../test/support/pending-database.ts";
import { spawnPendingChild } from "../../../test/support/run-pending-child.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { type GroupHistory, createGroupHistory } from "./group-history.ts";
import type { PendingDatabase } from "./pending-database.ts";

const open = (database: PendingDatabase, options: { limit?: number; maxKeys?: number } = {}): GroupHistory =>
  createGroupHistory({ database, now: () => 5, ...options });

const say = async (history: GroupHistory, key: string, ...bodies: string[]): Promise<void> => {
  for (const body of bodies) await history.append(key, { sender: "A", body });
};

const bodies = async (history: GroupHistory, key: string, id = "look", epoch = 1): Promise<string[]> =>
  (await history.take(key, { id, epoch })).map(({ body }) => body);

describe("GroupHistory", () => {
  it("is there after a restart, in order and complete", async () => {
    await using folder = await temporaryFolder();
    const entry = { sender: "Ada", body: "x\ny", timestamp: 7, messageId: "m1" };
    {
      using database = await openTestDatabase(folder);
      const history = open(database);
      await history.append("g", entry);
      await say(history, "g", "2");
    }
    using database = await openTestDatabase(folder);
    expect(await open(database).take("g", { id: "t", epoch: 1 })).toEqual([entry, { sender: "A", body: "2" }]);
    expect(await bodies(open(database), "other")).toEqual([]);
  });

  it("keeps 50 entries per key unless told otherwise, the newest ones", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const numbers = Array.from({ length: 60 }, (_, index) => String(index));
    await say(open(database), "g", ...numbers);
    expect(await bodies(open(database), "g")).toEqual(numbers.slice(10));
    await say(open(database, { limit: 2 }), "h", "1", "2", "3");
    expect(await bodies(open(database), "h")).toEqual(["2", "3"]);
    await say(open(database, { limit: 0 }), "off", "1");
    expect(await bodies(open(database), "off")).toEqual([]);
  });

  it("lets the keys go that got nothing for longest", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const history = open(database, { maxKeys: 2 });
    await say(history, "a", "1");
    await say(history, "b", "1");
    await say(history, "a", "2");
    await say(history, "c", "1");
    expect(await bodies(history, "b")).toEqual([]);
    expect(await bodies(history, "a")).toEqual(["1", "2"]);
    expect(await bodies(history, "c")).toEqual(["1"]);
  });

  it("takes a message once", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const history = open(database);
    expect(await history.append("g", { sender: "A", body: "1", messageId: "m" })).toBe(true);
    expect(await history.append("g", { sender: "A", body: "1", messageId: "m" })).toBe(false);
    expect(await history.append("h", { sender: "A", body: "1", messageId: "m" })).toBe(true);
    expect(await bodies(history, "g")).toEqual(["1"]);
  });

  it("forgets after the reply what the reply has seen, and nothing else", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const history = open(database);
    await say(history, "g", "before");
    expect(await bodies(history, "g", "t1")).toEqual(["before"]);
    await say(history, "g", "during");
    expect(await bodies(history, "g", "t1")).toEqual(["before"]);
    expect(await history.clear("g", "t1")).toBe(true);
    expect(await history.clear("g", "t1")).toBe(false);
    expect(await bodies(history, "g", "t2")).toEqual(["during"]);
    await history.forget("g");
    expect(await bodies(history, "g", "t3")).toEqual([]);
  });

  it("cuts what is longer than any chat message", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const history = open(database);
    await say(history, "g", `${"x".repeat(4095)}😀${"y".repeat(100)}`);
    const [body = ""] = await bodies(history, "g");
    expect(body).toMatch(/^x{4095}\ufffd… \(101 more characters\)$/);
  });

  it("has everything that was acknowledged when its process is killed", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("pending.sqlite");
    let acknowledged = 0;
    for (const enough of [1, 20, 60]) {
      const child = spawnPendingChild({ path, task: "append", start: acknowledged });
      const said = await child.killAfter(acknowledged + enough);
      acknowledged = Number(said.at(-1)) + 1;
    }
    using database = await openTestDatabase(folder);
    const kept = (await bodies(open(database), "group")).map(Number);
    expect(acknowledged).toBeGreaterThan(80);
    expect(kept.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, index) => index));
    expect(kept.length - acknowledged).toBeLessThanOrEqual(1);
  });
});

/** Cases specific to this store: damaged files, or only one of two files written. */
import { readFileSync } from "node:fs";
import { readFile, readdir, rm, writeFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "vitest";
import { entry, put } from "../../../test/contract/store-fixture.ts";
import { MAIN, jsonStoreFiles, windowIds } from "../../../test/support/stores.ts";
import { installFaultAction } from "../../base/faults.ts";
import { createLogger } from "../../base/log.ts";

afterEach(() => installFaultAction(undefined));

describe("a damaged sessions.json", () => {
  it.each(["", "{", "[]"])("never becomes an empty store: %j", async (damaged) => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await Promise.all(Array.from({ length: 100 }, (_, index) => put(store, `k${index}`, entry(`s-${index}`))));
    await writeFile(files.path, damaged);
    const corrupt = { kind: "corrupt", code: "store-corrupt" };
    await expect(files.open()).rejects.toMatchObject(corrupt);
    await expect(store.get("k1")).rejects.toMatchObject(corrupt);
    await expect(store.list()).rejects.toMatchObject(corrupt);
    await expect(put(store, "k1", entry("s-1", { model: "m" }))).rejects.toMatchObject(corrupt);
    await expect(store.leases.acquire("k1", { ttlMs: 1000 })).rejects.toMatchObject(corrupt);
    expect(await readFile(files.path, "utf8")).toBe(damaged);
    expect((await readdir(files.folder.path)).toSorted()).toEqual(["sessions.holdfast.json", "sessions.json"]);
  });

  it("keeps and reports values that are not entries, and does not overwrite them", async () => {
    await using files = await jsonStoreFiles();
    const sessions = { text: "x", [`${MAIN}-2`]: null, nameless: { updatedAt: 5 }, good: entry("s-1") };
    await files.writeSessions(sessions);
    const lines: string[] = [];
    const store = await files.open({ logger: createLogger({ write: (line) => void lines.push(line) }) });
    expect((await store.list()).sessions.map(({ key }) => key)).toEqual(["agent:main:good"]);
    expect(await store.get("text")).toBeUndefined();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ keys: ["text", `${MAIN}-2`, "nameless"] });
    await expect(put(store, `${MAIN}-2`, entry("s"))).rejects.toMatchObject({ kind: "corrupt", code: "entry-corrupt" });
    await put(store, "agent:main:other", entry("s-2"));
    expect(await files.readSessions()).toEqual({ ...sessions, "agent:main:other": entry("s-2") });
  });
});

describe("invalid fields of an entry", () => {
  const FIELDS = [
    "updatedAt",
    "sessionFile",
    "label",
    "channel",
    "lastChannel",
    "deliveryContext",
    "chatType",
    "subject",
  ];

  it.each([[null], [5], ["x"], [[]], [{}]])("do not block anything: %j", async (nonsense) => {
    await using files = await jsonStoreFiles();
    const broken = Object.fromEntries([["sessionId", "s-1"], ...FIELDS.map((field) => [field, nonsense] as const)]);
    await files.writeSessions({ [MAIN]: broken, main: broken, other: entry("s-2") });
    const store = await files.open();
    expect((await store.list({ text: "agent:main" })).total).toBe(2);
    expect((await store.list({ activeSince: 1, channel: "none", label: "none", kind: "group" })).total).toBe(0);
    expect(await store.get("main")).toEqual(broken);
    expect(await windowIds(store)).toEqual(["s-1 open"]);
    await put(store, "other", entry("s-3"));
    expect(await files.readSessions()).toMatchObject({ [MAIN]: broken, main: broken });
    await store.update("main", (current) => current && { ...current, updatedAt: 7 });
    expect((await store.get("main"))?.updatedAt).toBe(7);
  });
});

describe("the sidecar", () => {
  it.each([
    "",
    "{",
    '{"version":1}',
    '{"version":1,"nextId":1,"windows":{"k":5},"leases":{},"inbox":{},"outbox":{}}',
    '{"version":2,"nextId":1,"windows":{},"leases":{},"inbox":{},"outbox":{}}',
    '{"version":2,"nextId":1,"windows":{},"leases":{},"inbox":{},"outbox":{},"handoffs":{"k":{"state":{}}}}',
    "{}",
  ])("is never overwritten when damaged: %j", async (damaged) => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    await writeFile(files.sidecar, damaged);
    const corrupt = { kind: "corrupt", data: { path: files.sidecar } };
    await expect(files.open()).rejects.toMatchObject(corrupt);
    await expect(put(store, "main", entry("s-2"))).rejects.toMatchObject(corrupt);
    expect(await readFile(files.sidecar, "utf8")).toBe(damaged);
    expect(await files.readSessions()).toEqual({ [MAIN]: entry("s-1") });
  });

  it("stays untouched if a newer Holdfast wrote it", async () => {
    await using files = await jsonStoreFiles();
    await files.writeSessions({});
    await writeFile(files.sidecar, '{"version":99,"rooms":{}}');
    await expect(files.open()).rejects.toMatchObject({ kind: "unsupported", code: "store-too-new" });
    expect(await readdir(files.folder.path)).toEqual(["sessions.holdfast.json", "sessions.json"]);
  });

  it("is read in version 1, without hand-offs, and written in the newest version", async () => {
    await using files = await jsonStoreFiles();
    const window = { key: MAIN, sessionId: "s-1", openedAt: 1, reason: "initial" };
    const first = { version: 1, windows: { [MAIN]: [window] }, leases: {}, inbox: {}, outbox: {}, nextId: 7 };
    await files.writeSessions({ [MAIN]: entry("s-1") });
    await writeFile(files.sidecar, JSON.stringify(first));
    const store = await files.open();
    expect(await store.handoffs.list()).toEqual([]);
    expect(await windowIds(store)).toEqual(["s-1 open"]);
    expect(JSON.parse(await readFile(files.sidecar, "utf8"))).toEqual(first);
    await store.handoffs.update("main", () => ({ project: "one" }));
    const handoffs = { [MAIN]: { updatedAt: expect.any(Number), state: { project: "one" } } };
    expect(JSON.parse(await readFile(files.sidecar, "utf8"))).toEqual({
      ...first,
      version: 3,
      handoffs,
      history: {},
      systemEvents: {},
    });
  });

  it("is not created by reading", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    expect(await store.list()).toEqual({ sessions: [], total: 0 });
    expect(await readdir(files.folder.path)).toEqual(["sessions.json"]);
    await files.writeSessions({ [MAIN]: entry("s-1") });
    expect(await windowIds(store)).toEqual(["s-1 open"]);
    expect(await readdir(files.folder.path)).toEqual(["sessions.json"]);
  });

  it("is not written when only an entry changes", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    const before = await readFile(files.sidecar, "utf8");
    const writes: string[] = [];
    installFaultAction((point) => void (point.startsWith("json.") && writes.push(point)));
    await put(store, "main", entry("s-1", { model: "m" }));
    expect(writes).toEqual(["json.loaded", "json.written"]);
    expect(await readFile(files.sidecar, "utf8")).toBe(before);
  });
});

describe("a write that fails between the two files", () => {
  it("leaves entry and windows unchanged", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    const windows = await store.windows("main");
    let writes = 0;
    installFaultAction((point) => {
      if (point !== "file.temp-written" || ++writes !== 2) return;
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    await expect(put(store, "main", entry("s-2"))).rejects.toMatchObject({ code: "disk-full" });
    expect(await store.windows("main")).toEqual(windows);
    const second = await files.open();
    expect(await second.windows("main")).toEqual(windows);
    expect(await second.get("main")).toEqual(entry("s-1"));
  });

  it("refuses a store whose sessions.json is gone, on open and while open", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1", { label: "mine" }));
    await rm(files.path);
    await expect(store.get("main")).rejects.toMatchObject({ kind: "corrupt", code: "store-lost" });
    await expect(put(store, "main", entry("s-2"))).rejects.toMatchObject({ code: "store-lost" });
    await expect(files.open()).rejects.toMatchObject({ kind: "corrupt", code: "store-lost" });
    await rm(files.sidecar);
    await writeFile(files.folder.join("s-1.jsonl"), "{}\n");
    await expect(files.open()).rejects.toMatchObject({ kind: "corrupt", code: "store-lost" });
  });

  it("writes back under the key that the file uses, so that OpenClaw sees the change", async () => {
    await using files = await jsonStoreFiles();
    await files.writeSessions({ "agent:main:telegram:direct:1": entry("s-1") });
    const store = await files.open();
    await store.update("agent:main:telegram:dm:1", (current) => current && { ...current, label: "ours" });
    expect(await files.readSessions()).toEqual({ "agent:main:telegram:direct:1": entry("s-1", { label: "ours" }) });
    expect((await store.list()).sessions.map(({ key }) => key)).toEqual(["agent:main:telegram:dm:1"]);
  });

  it("never leaves an entry without its windows, not even while deleting both", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    await put(store, "main", entry("s-2"));
    const states: string[] = [];
    installFaultAction((point) => {
      if (point !== "json.written" && point !== "json.sidecar.written") return;
      const [sessions, sidecar] = [files.path, files.sidecar].map((path) => readFileSync(path, "utf8"));
      states.push(`entry ${sessions?.includes("s-2")}, old window ${sidecar?.includes("s-1")}`);
    });
    await store.delete("main");
    expect(states).toEqual(["entry false, old window true", "entry false, old window false"]);
  });

  it("is repaired after a crash: the key decides which window is open", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    const sessions = await readFile(files.path, "utf8");
    await put(store, "main", entry("s-2"));
    await store.close();
    await writeFile(files.path, sessions);
    const reopened = await files.open();
    expect(await windowIds(reopened)).toEqual(["s-2", "s-1 open"]);
    await put(reopened, "main", entry("s-3"));
    expect(await windowIds(reopened)).toEqual(["s-2", "s-1", "s-3 open"]);
  });
});

describe("numbers that JavaScript cannot hold", () => {
  it("stay unchanged when their entry is updated", async () => {
    await using files = await jsonStoreFiles();
    await writeFile(files.path, `{"${MAIN}":{"sessionId":"s-1","updatedAt":1,"snowflake":1234567890123456789}}`);
    const store = await files.open();
    await store.update("main", (current) => current && { ...current, model: "m" });
    expect(await readFile(files.path, "utf8")).toContain('"snowflake": 1234567890123456789');
    expect(JSON.stringify(await store.get("main"))).toContain('"snowflake":1234567890123456789');
  });
});

it("refuses to be used inside its own update", async () => {
  await using files = await jsonStoreFiles();
  const store = await files.open();
  let nested: Promise<unknown> | undefined;
  await store.update("main", () => {
    nested = put(store, "other", entry("s-2"));
    nested.catch(() => undefined);
    return entry("s-1");
  });
  await expect(nested).rejects.toMatchObject({ code: "lock-reentered" });
});

import { readFileSync } from "node:fs";
import { copyFile, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import { installFaultAction } from "../../base/faults.ts";
import { createLogger } from "../../base/log.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { Store } from "../store.ts";
import { type JsonStoreOptions, createJsonStore } from "./json-store.ts";

const MAIN = "agent:main:main";

function entry(sessionId: string, more: object = {}): SessionEntry {
  return { sessionId, updatedAt: 1000, ...more };
}

interface Fixture extends AsyncDisposable {
  folder: TemporaryFolder;
  path: string;
  sidecar: string;
  open(more?: Partial<JsonStoreOptions>): Promise<Store>;
  /** What OpenClaw would do: replaces the file without knowing of Holdfast. */
  writeSessions(sessions: object): Promise<void>;
  readSessions(): Promise<Record<string, SessionEntry>>;
}

async function fixture(): Promise<Fixture> {
  const folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const opened: Store[] = [];
  return {
    folder,
    path,
    sidecar: folder.join("sessions.holdfast.json"),
    open: async (more = {}) => {
      const store = await createJsonStore({ path, agentId: "main", ...more });
      opened.push(store);
      return store;
    },
    writeSessions: async (sessions) => await writeFile(path, JSON.stringify(sessions)),
    readSessions: async () => JSON.parse(await readFile(path, "utf8")) as Record<string, SessionEntry>,
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function put(store: Store, key: string, value: SessionEntry): Promise<void> {
  await store.update(key, () => value);
}

async function windowIds(store: Store, key = "main"): Promise<string[]> {
  return (await store.windows(key)).map(
    (window) => `${window.sessionId}${window.closedAt === undefined ? " open" : ""}`,
  );
}

afterEach(() => installFaultAction(undefined));

describe("a damaged sessions.json", () => {
  it.each(["", "{", "[]"])("never becomes an empty store: %j", async (damaged) => {
    await using files = await fixture();
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

  it("keeps values that are no entries, tells of them and does not write over them", async () => {
    await using files = await fixture();
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

describe("nonsense in the fields of an entry", () => {
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

  it.each([[null], [5], ["x"], [[]], [{}]])("stands in nobody's way: %j", async (nonsense) => {
    await using files = await fixture();
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
  ])("is never written over when it is damaged: %j", async (damaged) => {
    await using files = await fixture();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    await writeFile(files.sidecar, damaged);
    const corrupt = { kind: "corrupt", data: { path: files.sidecar } };
    await expect(files.open()).rejects.toMatchObject(corrupt);
    await expect(put(store, "main", entry("s-2"))).rejects.toMatchObject(corrupt);
    expect(await readFile(files.sidecar, "utf8")).toBe(damaged);
    expect(await files.readSessions()).toEqual({ [MAIN]: entry("s-1") });
  });

  it("is left alone when a newer Holdfast wrote it", async () => {
    await using files = await fixture();
    await files.writeSessions({});
    await writeFile(files.sidecar, '{"version":3,"rooms":{}}');
    await expect(files.open()).rejects.toMatchObject({ kind: "unsupported", code: "store-too-new" });
    expect(await readdir(files.folder.path)).toEqual(["sessions.holdfast.json", "sessions.json"]);
  });

  it("is read in its first version, which had no hand-offs, and written in the newest", async () => {
    await using files = await fixture();
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
    expect(JSON.parse(await readFile(files.sidecar, "utf8"))).toEqual({ ...first, version: 2, handoffs });
  });

  it("is not made by reading", async () => {
    await using files = await fixture();
    const store = await files.open();
    expect(await store.list()).toEqual({ sessions: [], total: 0 });
    expect(await readdir(files.folder.path)).toEqual(["sessions.json"]);
    await files.writeSessions({ [MAIN]: entry("s-1") });
    expect(await windowIds(store)).toEqual(["s-1 open"]);
    expect(await readdir(files.folder.path)).toEqual(["sessions.json"]);
  });

  it("is not written when only an entry changes", async () => {
    await using files = await fixture();
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

async function realFile(): Promise<Fixture & { store: Store }> {
  const files = await fixture();
  const url = new URL("../../../test/fixtures/openclaw/v2026.1.30/after-rpc/sessions.json", import.meta.url);
  await copyFile(fileURLToPath(url), files.path);
  return { ...files, store: await files.open() };
}

describe("two keys of one session in a real file", () => {
  const NEWER = "3ff36eb3-0993-4fd1-8649-5a4ec0f983aa";
  const OLDER = "0ce85868-7b98-4541-abaf-87da3fa6f579";

  it("are one session with two windows", async () => {
    await using files = await realFile();
    const { store } = files;
    expect((await store.list({ sort: "key" })).sessions.map(({ key }) => key)).toEqual([
      "agent:main:discord:channel:123",
      MAIN,
    ]);
    expect((await store.get("main"))?.sessionId).toBe(NEWER);
    expect(await windowIds(store)).toEqual([OLDER, `${NEWER} open`]);
    expect(await store.findWindows(OLDER.slice(0, 8), 5)).toMatchObject([
      { key: MAIN, sessionId: OLDER, transcript: `${OLDER}.jsonl` },
    ]);
  });

  it("are updated under the canonical key; the other stays as it is", async () => {
    await using files = await realFile();
    const before = await files.readSessions();
    const updated = await files.store.update("main", (current) => current && { ...current, thinkingLevel: "high" });
    expect(updated).toEqual({ ...before[MAIN], thinkingLevel: "high" });
    expect(await files.readSessions()).toEqual({ ...before, [MAIN]: updated });
    expect(await windowIds(files.store)).toEqual([OLDER, `${NEWER} open`]);
  });

  it("follow the one that OpenClaw changed last, and an update wins over it again", async () => {
    await using files = await realFile();
    const before = await files.readSessions();
    const later = { ...entry(OLDER), ...before["main"], updatedAt: 1_900_000_000_000 };
    await files.writeSessions({ ...before, main: later });
    expect(await files.store.get("main")).toEqual(later);
    expect(await windowIds(files.store)).toEqual([NEWER, `${OLDER} open`]);
    await put(files.store, "main", entry("s-next"));
    expect(await files.store.get("main")).toEqual(entry("s-next", { updatedAt: later.updatedAt }));
    expect(new Set(await windowIds(files.store))).toEqual(new Set([NEWER, OLDER, "s-next open"]));
    expect((await files.readSessions())["main"]).toEqual(later);
  });

  it("are deleted together", async () => {
    await using files = await realFile();
    const deleted = await files.store.delete("main");
    expect(deleted?.windows.map((window) => window.sessionId)).toEqual([OLDER, NEWER]);
    expect(Object.keys(await files.readSessions())).toEqual(["agent:main:discord:channel:123"]);
    expect(await windowIds(files.store)).toEqual([]);
  });

  it("lose the older window when it is removed", async () => {
    await using files = await realFile();
    expect(await files.store.removeWindow("main", OLDER)).toBe(true);
    expect(await windowIds(files.store)).toEqual([`${NEWER} open`]);
    expect(Object.keys(await files.readSessions())).not.toContain("main");
  });
});

describe("what OpenClaw does meanwhile", () => {
  it("is read again under the lock, even when the file looks the same", async () => {
    await using files = await fixture();
    const store = await files.open();
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const write = async (model: string) => {
      await files.writeSessions({ [MAIN]: entry("s-1", { model }) });
      await utimes(files.path, anHourAgo, anHourAgo);
    };
    await write("a");
    expect((await store.get("main"))?.model).toBe("a");
    await write("b");
    const updated = await store.update("main", (current) => current && { ...current, label: "l" });
    expect(updated).toEqual(entry("s-1", { model: "b", label: "l" }));
  });

  it("moves the key: the window is noticed, the old one closed", async () => {
    await using files = await fixture();
    const clock = createTestClock(5000);
    const store = await files.open({ clock });
    await put(store, "main", entry("s-1"));
    await files.writeSessions({ [MAIN]: entry("s-2", { updatedAt: 9000, sessionFile: "/x/s-2.jsonl" }) });
    expect(await store.windows("main")).toEqual([
      { key: MAIN, sessionId: "s-1", openedAt: 5000, closedAt: 9000, reason: "initial" },
      { key: MAIN, sessionId: "s-2", openedAt: 9000, reason: "switch", transcript: "s-2.jsonl" },
    ]);
    await put(store, "elsewhere", entry("s-x"));
    await files.writeSessions({ [MAIN]: entry("s-3", { updatedAt: 9500 }) });
    expect(await windowIds(store)).toEqual(["s-1", "s-2", "s-3 open"]);
  });

  it("is recorded at once while somebody listens", async () => {
    await using files = await fixture();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    const keys: string[] = [];
    store.onChange(({ what, key }) => keys.push(`${what} ${key}`));
    await files.writeSessions({ [MAIN]: entry("s-2", { updatedAt: Date.now() + 1000 }) });
    await vi.waitFor(async () => expect(await readFile(files.sidecar, "utf8")).toContain("s-2"), 5000);
    expect(keys).toContain(`entry ${MAIN}`);
    await files.writeSessions({ [MAIN]: entry("s-3", { updatedAt: Date.now() + 2000 }) });
    expect(await windowIds(store)).toEqual(["s-1", "s-2", "s-3 open"]);
  });

  it("deletes the entry: its windows stay", async () => {
    await using files = await fixture();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    await files.writeSessions({});
    expect(await store.get("main")).toBeUndefined();
    expect(await windowIds(store)).toEqual(["s-1"]);
    await put(store, "main", entry("s-2"));
    expect(await windowIds(store)).toEqual(["s-1", "s-2 open"]);
  });

  it("keeps the sessions of another agent in the same file: they are neither seen nor lost", async () => {
    await using files = await fixture();
    const foreign = { "agent:other:main": entry("s-other", { label: "Work" }) };
    await files.writeSessions(foreign);
    const store = await files.open();
    const other = await files.open({ agentId: "other" });
    await put(store, "main", entry("s-1", { label: "Work" }));
    await put(other, "second", entry("s-2"));
    expect((await store.list()).total).toBe(1);
    expect(await store.findWindows("s-other", 5)).toEqual([]);
    expect(await other.windows("main")).toMatchObject([{ sessionId: "s-other" }]);
    await put(store, "main", entry("s-3", { label: "Work" }));
    expect(await windowIds(other, "second")).toEqual(["s-2 open"]);
    expect(await files.readSessions()).toMatchObject(foreign);
  });
});

describe("a write that fails between the two files", () => {
  it("leaves entry and windows as they were", async () => {
    await using files = await fixture();
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

  it("refuses a store whose sessions.json was lost, at opening and while it is open", async () => {
    await using files = await fixture();
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
    await using files = await fixture();
    await files.writeSessions({ "agent:main:telegram:direct:1": entry("s-1") });
    const store = await files.open();
    await store.update("agent:main:telegram:dm:1", (current) => current && { ...current, label: "ours" });
    expect(await files.readSessions()).toEqual({ "agent:main:telegram:direct:1": entry("s-1", { label: "ours" }) });
    expect((await store.list()).sessions.map(({ key }) => key)).toEqual(["agent:main:telegram:dm:1"]);
  });

  it("never leaves an entry without its windows, not even on the way to deleting both", async () => {
    await using files = await fixture();
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

  it("is mended from the state that a crash leaves: the key decides which window is open", async () => {
    await using files = await fixture();
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
  it("stay as they were when their entry is updated", async () => {
    await using files = await fixture();
    await writeFile(files.path, `{"${MAIN}":{"sessionId":"s-1","updatedAt":1,"snowflake":1234567890123456789}}`);
    const store = await files.open();
    await store.update("main", (current) => current && { ...current, model: "m" });
    expect(await readFile(files.path, "utf8")).toContain('"snowflake": 1234567890123456789');
    expect(JSON.stringify(await store.get("main"))).toContain('"snowflake":1234567890123456789');
  });
});

it("refuses to be used inside its own update", async () => {
  await using files = await fixture();
  const store = await files.open();
  let nested: Promise<unknown> | undefined;
  await store.update("main", () => {
    nested = put(store, "other", entry("s-2"));
    nested.catch(() => undefined);
    return entry("s-1");
  });
  await expect(nested).rejects.toMatchObject({ code: "lock-reentered" });
});

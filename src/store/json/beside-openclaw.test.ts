/** A `sessions.json` that OpenClaw uses at the same time. */
import { copyFile, readFile, utimes } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { entry, put } from "../../../test/contract/store-fixture.ts";
import { type JsonStoreFiles, MAIN, jsonStoreFiles, windowIds } from "../../../test/support/stores.ts";
import { createTestClock } from "../../../test/support/time.ts";
import type { Store } from "../store.ts";

async function realFile(): Promise<JsonStoreFiles & { store: Store }> {
  const files = await jsonStoreFiles();
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

  it("are updated under the canonical key; the other stays unchanged", async () => {
    await using files = await realFile();
    const before = await files.readSessions();
    const updated = await files.store.update("main", (current) => current && { ...current, thinkingLevel: "high" });
    expect(updated).toEqual({ ...before[MAIN], thinkingLevel: "high" });
    expect(await files.readSessions()).toEqual({ ...before, [MAIN]: updated });
    expect(await windowIds(files.store)).toEqual([OLDER, `${NEWER} open`]);
  });

  it("follow OpenClaw's latest change until the next update", async () => {
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

  it("lose the older key when its window is removed", async () => {
    await using files = await realFile();
    expect(await files.store.removeWindow("main", OLDER)).toBe(true);
    expect(await windowIds(files.store)).toEqual([`${NEWER} open`]);
    expect(Object.keys(await files.readSessions())).not.toContain("main");
  });
});

describe("concurrent changes by OpenClaw", () => {
  it("are read again under the lock, even if the file looks the same", async () => {
    await using files = await jsonStoreFiles();
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

  it("to the session id open a window and close the old one", async () => {
    await using files = await jsonStoreFiles();
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

  it("are recorded at once while there is a listener", async () => {
    await using files = await jsonStoreFiles();
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

  it("that delete an entry keep its windows", async () => {
    await using files = await jsonStoreFiles();
    const store = await files.open();
    await put(store, "main", entry("s-1"));
    await files.writeSessions({});
    expect(await store.get("main")).toBeUndefined();
    expect(await windowIds(store)).toEqual(["s-1"]);
    await put(store, "main", entry("s-2"));
    expect(await windowIds(store)).toEqual(["s-1", "s-2 open"]);
  });

  it("to another agent's sessions in the same file are neither visible nor lost", async () => {
    await using files = await jsonStoreFiles();
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

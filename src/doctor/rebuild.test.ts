/** Rebuilding damaged and lost stores. */
import { open, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDoctorHome, reset, say } from "../../test/support/doctor-home.ts";
import { fill, repair, sessionIds, snapshot } from "../../test/support/doctor-checks.ts";
import { tearHandoff } from "../../test/support/stores.ts";

describe("rebuilding a lost sqlite store", () => {
  it("brings back every key, window and label from the view and the transcripts", async () => {
    await using home = await createDoctorHome("sqlite");
    const before = await fill(home, 50);
    await rm(home.layout.database);
    await repair(home);
    const after = await snapshot(home);
    expect(after).toEqual(before);
    expect(Object.keys(after.entries)).toHaveLength(50);
  });

  it("brings back keys and windows from the transcripts alone", async () => {
    await using home = await createDoctorHome("sqlite");
    const before = await fill(home, 10);
    await rm(home.layout.database);
    await rm(home.layout.sessionsFile);
    await repair(home);
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    for (const [key, entry] of Object.entries(after.entries)) {
      const { sessionId, sessionFile } = before.entries[key] ?? {};
      expect(entry).toMatchObject({ sessionId, sessionFile });
    }
  });

  it("keeps the readable part of a damaged database, with queued messages and hand-offs", async () => {
    await using home = await createDoctorHome("sqlite");
    await fill(home, 3);
    const address = { channel: "telegram", accountId: "default", chatId: "1", messageId: "1" };
    await home.use(async ({ store }) => {
      const receivedAt = home.clock.now();
      await store.inbox.admit({ key: "agent:main:telegram:dm:1", address, payload: { text: "hi" }, receivedAt });
      for (const key of ["one", "two", "one"]) await store.handoffs.update(key, (state) => [...asList(state), key]);
    });
    // A damaged view is kept beside the new one.
    tearHandoff(home.layout.database, "agent:main:two");
    const handoffs = await home.use(async ({ store }) => await store.handoffs.list());
    const before = await snapshot(home, { withState: true });
    await breakIndex(home.layout.database);
    await rm(home.layout.sessionsFile);
    await repair(home);
    expect(await snapshot(home, { withState: true })).toEqual(before);
    await home.use(async ({ store }) => {
      expect(await store.inbox.pending()).toMatchObject([{ address, payload: { text: "hi" } }]);
      expect(await store.handoffs.list()).toEqual(handoffs);
      expect(await store.handoffs.update("one", (state) => [...asList(state), "again"])).toEqual([
        "one",
        "one",
        "again",
      ]);
    });
    expect(await readdir(home.layout.root)).toContainEqual(expect.stringMatching(/^agent\.sqlite\.corrupt-/));
  });

  it.each([
    ["empty", async (path: string) => await truncate(path, 0)],
    ["cut off", async (path: string) => await truncate(path, 5000)],
    ["garbage", async (path: string) => await writeFile(path, "not a database at all".repeat(500))],
  ])("sets a database that is %s aside and replaces it", async (_name, damage) => {
    await using home = await createDoctorHome("sqlite");
    const before = await fill(home, 3);
    await damage(home.layout.database);
    const damaged = await readFile(home.layout.database);
    await repair(home);
    expect(await snapshot(home)).toEqual(before);
    const aside = (await readdir(home.layout.root)).filter((name) => name.includes(".corrupt-"));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(home.layout.root, aside[0] ?? ""))).toEqual(damaged);
  });

  it("uses a window that was opened after the view was written", async () => {
    await using home = await createDoctorHome("sqlite");
    await fill(home, 1);
    const key = "agent:main:telegram:dm:0";
    const view = await readFile(home.layout.sessionsFile);
    home.clock.advance(60_000);
    const newest = await home.use(async (agent) => {
      const sessionId = await reset(agent, key);
      await say(agent, key, "after the reset");
      return sessionId;
    });
    await writeFile(home.layout.sessionsFile, view);
    await rm(home.layout.database);
    await repair(home);
    const { entries, windows } = await snapshot(home);
    expect(entries[key]).toMatchObject({ sessionId: newest, label: "label 0" });
    expect(windows[key]).toHaveLength(4);
    expect(windows[key]?.at(-1)).toMatchObject({ sessionId: newest });
  });

  it("continues with higher epochs, so that new lines are not stale", async () => {
    await using home = await createDoctorHome("sqlite");
    const key = "agent:main:telegram:dm:0";
    await home.use(async (agent) => {
      for (const text of ["one", "two", "three"]) await say(agent, key, text);
    });
    await rm(home.layout.database);
    await repair(home);
    const attempt = await home.use(async ({ store }) => await store.leases.acquire(key, { ttlMs: 1000 }));
    expect(attempt.acquired && attempt.lease.epoch).toBe(4);
  });

  it("does not touch a store of a newer version", async () => {
    await using home = await createDoctorHome("sqlite");
    await fill(home, 1);
    const { DatabaseSync } = await import("node:sqlite");
    const database = new DatabaseSync(home.layout.database);
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = await readFile(home.layout.database);
    const report = await home.doctor({ fix: true });
    expect(report).toMatchObject({ ok: false, fixed: 0 });
    expect(report.findings).toMatchObject([{ check: "store", message: expect.stringContaining("version 99") }]);
    expect(await readFile(home.layout.database)).toEqual(before);
  });
});

describe("the view of a sqlite store", () => {
  it.each([
    ["missing", async (path: string) => await rm(path)],
    ["damaged", async (path: string) => await writeFile(path, '{"agent:main:')],
    ["changed by somebody else", async (path: string) => await writeFile(path, '{"agent:main:x": {}}')],
  ])("is written again when it is %s", async (name, damage) => {
    await using home = await createDoctorHome("sqlite");
    await fill(home, 2);
    const before: unknown = JSON.parse(String(await readFile(home.layout.sessionsFile)));
    await damage(home.layout.sessionsFile);
    const found = await home.doctor();
    expect(found.findings.map(({ check }) => check)).toContain("view");
    await home.doctor({ fix: true });
    expect(await home.doctor()).toMatchObject({ ok: true });
    expect(JSON.parse(String(await readFile(home.layout.sessionsFile)))).toEqual(before);
    const kept = (await readdir(home.layout.sessionsFolder)).filter((file) => file.startsWith("sessions.json."));
    expect(kept).toHaveLength(name === "missing" ? 0 : 1);
  });
});

describe("rebuilding a json store", () => {
  it.each([
    ["missing", async (path: string) => await rm(path)],
    ["empty", async (path: string) => await truncate(path, 0)],
    ["cut off", async (path: string) => await truncate(path, 300)],
  ])("brings sessions back when sessions.json is %s", async (_name, damage) => {
    await using home = await createDoctorHome("json");
    const before = await fill(home, 10);
    await damage(home.layout.sessionsFile);
    await repair(home);
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    expect(sessionIds(after)).toEqual(sessionIds(before));
  });

  it("brings windows and epochs back when the sidecar is damaged", async () => {
    await using home = await createDoctorHome("json");
    const before = await fill(home, 5);
    await truncate(join(home.layout.sessionsFolder, "sessions.holdfast.json"), 100);
    await repair(home);
    const after = await snapshot(home);
    expect(after.entries).toEqual(before.entries);
    expect(after.windows).toEqual(before.windows);
    const key = "agent:main:telegram:dm:0";
    const attempt = await home.use(async ({ store }) => await store.leases.acquire(key, { ttlMs: 1000 }));
    expect(attempt.acquired && attempt.lease.epoch).toBe(4);
  });

  it("keeps the readable part of a damaged sidecar", async () => {
    await using home = await createDoctorHome("json");
    const before = await fill(home, 3);
    const address = { channel: "telegram", accountId: "default", chatId: "1", messageId: "1" };
    await home.use(async ({ store, clock }) => {
      await store.inbox.admit({ key: "main", address, payload: "hi", receivedAt: clock.now() });
      for (const key of ["one", "two", "one"]) await store.handoffs.update(key, (state) => [...asList(state), key]);
    });
    const handoffs = await home.use(async ({ store }) => await store.handoffs.list());
    const path = join(home.layout.sessionsFolder, "sessions.holdfast.json");
    const { leases: _leases, ...rest } = JSON.parse(String(await readFile(path))) as Record<string, object>;
    const damaged = { ...rest, windows: 5, handoffs: { ...rest["handoffs"], "agent:main:three": "no hand-off" } };
    await writeFile(path, JSON.stringify(damaged));
    await repair(home);
    expect((await snapshot(home)).windows).toEqual(before.windows);
    await home.use(async ({ store, clock }) => {
      expect(await store.handoffs.list()).toEqual(handoffs);
      const second = { ...address, messageId: "2" };
      const { item } = await store.inbox.admit({
        key: "main",
        address: second,
        payload: "ho",
        receivedAt: clock.now(),
      });
      expect(item.id).toBe(2);
      expect((await store.inbox.pending()).map(({ payload }) => payload)).toEqual(["hi", "ho"]);
    });
  });

  it("keeps hand-offs when sessions.json is lost", async () => {
    await using home = await createDoctorHome("json");
    await fill(home, 1);
    await home.use(async ({ store }) => await store.handoffs.update("main", () => ({ project: "one" })));
    await rm(home.layout.sessionsFile);
    await repair(home);
    expect(await home.use(async ({ store }) => await store.handoffs.get("main"))).toEqual({ project: "one" });
  });

  it("brings everything back from transcripts when both files are gone", async () => {
    await using home = await createDoctorHome("json");
    const before = await fill(home, 5);
    await rm(home.layout.sessionsFile);
    await rm(join(home.layout.sessionsFolder, "sessions.holdfast.json"));
    await repair(home);
    expect((await snapshot(home)).windows).toEqual(before.windows);
  });
});

function asList(state: unknown): unknown[] {
  return (state ?? []) as unknown[];
}

/** Damages the pages of one index, so that the tables can still be read. */
async function breakIndex(path: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  const page = Number(
    database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'entries_by_update'").get()?.["rootpage"],
  );
  const size = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  await using file = await open(path, "r+");
  await file.write(Buffer.alloc(size, 0x55), 0, size, (page - 1) * size);
}

/** Stores that were damaged or lost, built again from what is left. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, open, readFile, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { FaultPoint } from "../base/faults.ts";
import { fileExists } from "../base/files.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { DoctorChildTask } from "../../test/support/doctor-child.ts";
import { type DoctorHome, doctorHome, fingerprint, openHome, reset, say } from "../../test/support/doctor-home.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { STORE_KINDS } from "../../test/support/test-agent.ts";

interface Snapshot {
  entries: Record<string, SessionEntry>;
  windows: Record<string, Window[]>;
}

/** Sessions with three windows each, every third one labelled. */
async function fill(home: DoctorHome, count: number): Promise<Snapshot> {
  await home.use(async (agent) => {
    for (let index = 0; index < count; index++) {
      const key = `agent:main:telegram:dm:${index}`;
      for (let window = 0; window < 3; window++) {
        home.clock.advance(1000);
        if (window > 0) await reset(agent, key);
        await say(agent, key, `message ${index}.${window}`);
      }
      const label = index % 3 === 0 ? { label: `label ${index}` } : {};
      await agent.store.update(key, (entry) => entry && { ...entry, ...label, updatedAt: agent.clock.now() });
    }
  });
  return await snapshot(home);
}

/** The state of closed windows is in no transcript and in no view: only a damaged file may still yield it. */
async function snapshot(home: Pick<DoctorHome, "use">, options: { withState?: boolean } = {}): Promise<Snapshot> {
  return await home.use(async (agent) => {
    const { sessions } = await agent.store.list({ sort: "key" });
    const windows: Record<string, Window[]> = {};
    for (const { key } of sessions) {
      const list = await agent.store.windows(key);
      windows[key] = options.withState === true ? list : list.map(({ state: _state, ...window }) => window);
    }
    return { entries: Object.fromEntries(sessions.map(({ key, entry }) => [key, entry])), windows };
  });
}

/** Mends, and sees that nothing is left to mend. */
async function mend(home: Pick<DoctorHome, "home" | "doctor">): Promise<void> {
  const before = await fingerprint(home.home);
  expect(await home.doctor()).toMatchObject({ ok: false });
  expect(await fingerprint(home.home)).toBe(before);
  const report = await home.doctor({ fix: true });
  expect(report.findings.filter(({ fixed, severity }) => fixed !== true && severity !== "info")).toEqual([]);
  expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
}

describe("rebuilding a lost sqlite store", () => {
  it("brings back every key, window and label from the view and the transcripts", async () => {
    await using home = await doctorHome("sqlite");
    const before = await fill(home, 50);
    await rm(home.layout.database);
    await mend(home);
    const after = await snapshot(home);
    expect(after).toEqual(before);
    expect(Object.keys(after.entries)).toHaveLength(50);
  });

  it("brings back keys and windows from the transcripts alone", async () => {
    await using home = await doctorHome("sqlite");
    const before = await fill(home, 10);
    await rm(home.layout.database);
    await rm(home.layout.sessionsFile);
    await mend(home);
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    for (const [key, entry] of Object.entries(after.entries)) {
      const { sessionId, sessionFile } = before.entries[key] ?? {};
      expect(entry).toMatchObject({ sessionId, sessionFile });
    }
  });

  it("takes over what a damaged database still yields, with queued messages and hand-offs", async () => {
    await using home = await doctorHome("sqlite");
    await fill(home, 3);
    const address = { channel: "telegram", accountId: "default", chatId: "1", messageId: "1" };
    await home.use(async ({ store }) => {
      const receivedAt = home.clock.now();
      await store.inbox.admit({ key: "agent:main:telegram:dm:1", address, payload: { text: "hi" }, receivedAt });
      for (const key of ["one", "two", "one"]) await store.handoffs.update(key, (state) => [...asList(state), key]);
    });
    const handoffs = await home.use(async ({ store }) => await store.handoffs.list());
    const before = await snapshot(home, { withState: true });
    await breakIndex(home.layout.database);
    await rm(home.layout.sessionsFile);
    await mend(home);
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
  ])("replaces a database that is %s and keeps it aside", async (_name, damage) => {
    await using home = await doctorHome("sqlite");
    const before = await fill(home, 3);
    await damage(home.layout.database);
    const damaged = await readFile(home.layout.database);
    await mend(home);
    expect(await snapshot(home)).toEqual(before);
    const aside = (await readdir(home.layout.root)).filter((name) => name.includes(".corrupt-"));
    expect(aside).toHaveLength(1);
    expect(await readFile(join(home.layout.root, aside[0] ?? ""))).toEqual(damaged);
  });

  it("takes the window that was opened after the view was written", async () => {
    await using home = await doctorHome("sqlite");
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
    await mend(home);
    const { entries, windows } = await snapshot(home);
    expect(entries[key]).toMatchObject({ sessionId: newest, label: "label 0" });
    expect(windows[key]).toHaveLength(4);
    expect(windows[key]?.at(-1)).toMatchObject({ sessionId: newest });
  });

  it("goes on with higher epochs, so that new lines do not look stale", async () => {
    await using home = await doctorHome("sqlite");
    const key = "agent:main:telegram:dm:0";
    await home.use(async (agent) => {
      for (const text of ["one", "two", "three"]) await say(agent, key, text);
    });
    await rm(home.layout.database);
    await mend(home);
    const attempt = await home.use(async ({ store }) => await store.leases.acquire(key, { ttlMs: 1000 }));
    expect(attempt.acquired && attempt.lease.epoch).toBe(4);
  });

  it("does not touch a store of a newer version", async () => {
    await using home = await doctorHome("sqlite");
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
    await using home = await doctorHome("sqlite");
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
    await using home = await doctorHome("json");
    const before = await fill(home, 10);
    await damage(home.layout.sessionsFile);
    await mend(home);
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    expect(sessionIds(after)).toEqual(sessionIds(before));
  });

  it("brings windows and epochs back when the sidecar is damaged", async () => {
    await using home = await doctorHome("json");
    const before = await fill(home, 5);
    await truncate(join(home.layout.sessionsFolder, "sessions.holdfast.json"), 100);
    await mend(home);
    const after = await snapshot(home);
    expect(after.entries).toEqual(before.entries);
    expect(after.windows).toEqual(before.windows);
    const key = "agent:main:telegram:dm:0";
    const attempt = await home.use(async ({ store }) => await store.leases.acquire(key, { ttlMs: 1000 }));
    expect(attempt.acquired && attempt.lease.epoch).toBe(4);
  });

  it("takes over what is whole of a sidecar that is not", async () => {
    await using home = await doctorHome("json");
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
    await mend(home);
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
    await using home = await doctorHome("json");
    await fill(home, 1);
    await home.use(async ({ store }) => await store.handoffs.update("main", () => ({ project: "one" })));
    await rm(home.layout.sessionsFile);
    await mend(home);
    expect(await home.use(async ({ store }) => await store.handoffs.get("main"))).toEqual({ project: "one" });
  });

  it("brings everything back from transcripts when both files are gone", async () => {
    await using home = await doctorHome("json");
    const before = await fill(home, 5);
    await rm(home.layout.sessionsFile);
    await rm(join(home.layout.sessionsFolder, "sessions.holdfast.json"));
    await mend(home);
    expect((await snapshot(home)).windows).toEqual(before.windows);
  });
});

const SET_ASIDE: [FaultPoint, number][] = [1, 2, 3].map((occurrence) => ["doctor.set-aside", occurrence]);
const BEFORE_RENAME: [FaultPoint, number][] = [["file.temp-synced", 1]];

describe.each(STORE_KINDS)("a rebuild that is killed on the way, on %s", (kind) => {
  const steps: [FaultPoint, number][] = [
    ["doctor.rebuilt", 1],
    ...(kind === "sqlite" ? SET_ASIDE : BEFORE_RENAME),
    ["doctor.replaced", 1],
  ];
  it.each(steps)("at %s (%i) is done by the next run", async (point, occurrence) => {
    await using home = await doctorHome(kind);
    const before = await fill(home, 3);
    await truncate(kind === "sqlite" ? home.layout.database : home.layout.sessionsFile, 100);
    await runChild({ home: home.home, kind, point, occurrence });
    const killed = await home.doctor();
    expect(killed.findings.some(({ check }) => check === "store")).toBe(point !== "doctor.replaced");
    await home.doctor({ fix: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    expect(sessionIds(after)).toEqual(sessionIds(before));
    const leftovers = await readdir(home.home, { recursive: true });
    expect(leftovers.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe.each(STORE_KINDS)("a folder of OpenClaw, with the store %s", (kind) => {
  const FIXTURE = fileURLToPath(new URL("../../test/fixtures/openclaw/v2026.1.30/after-rpc", import.meta.url));

  it("is taken into use with every conversation in it", async () => {
    await using folder = await temporaryFolder();
    const home = openHome(folder.path, kind);
    await mkdir(home.layout.root, { recursive: true });
    await cp(FIXTURE, home.layout.sessionsFolder, { recursive: true });
    await mend(home);
    const { entries, windows } = await snapshot(home);
    expect(Object.fromEntries(Object.entries(windows).map(([key, list]) => [key, list.map(idOf).toSorted()]))).toEqual({
      "agent:main:main": ["0ce85868-7b98-4541-abaf-87da3fa6f579", "3ff36eb3-0993-4fd1-8649-5a4ec0f983aa"],
      "agent:main:discord:channel:123": ["bb3f1609-cb60-42d5-b31c-f5a2695be5ca"],
      "agent:main:recovered:11111111": ["11111111-1111-4111-8111-111111111111"],
      "agent:main:recovered:b083ce80": ["b083ce80-7643-4db8-b061-b135059208d6"],
    });
    expect(entries["agent:main:discord:channel:123"]).toHaveProperty("skillsSnapshot");
    const names = await readdir(home.layout.sessionsFolder);
    expect(names).toContain("d13a7928-dab7-48a0-a8c3-776cea07037a.jsonl.deleted.2026-11-15T18-06-39.971Z");
    expect(await fileExists(home.layout.sessionsFile)).toBe(true);
  });
});

function asList(state: unknown): unknown[] {
  return (state ?? []) as unknown[];
}

function idOf({ sessionId }: Window): string {
  return sessionId;
}

function sessionIds({ entries }: Snapshot): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([key, { sessionId }]) => [key, sessionId]));
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

async function runChild(task: DoctorChildTask): Promise<void> {
  const script = fileURLToPath(new URL("../../test/support/doctor-child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (signal !== "SIGKILL") throw new Error(`The child was not killed at ${task.point} (code ${code}): ${errors}`);
}

import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createOpenClawHome, readHome, snapshotOf } from "../../test/support/openclaw-home.ts";
import { listArchives } from "../session/archive.ts";
import { openWindow, resetSession } from "../session/window.ts";
import { foldersOf } from "../../test/support/stores.ts";

const MAIN = "agent:main:main";
const DISCORD = "agent:main:discord:channel:123";
const FIRST = "474a08c8-9321-445a-b7c7-800fd0d94d00";

describe("a database of OpenClaw 2026.9.6", () => {
  it("gives every key, window, label and message, and leaves the file as it is", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const before = await snapshotOf(openClaw.from);
    const { ok, counts } = await openClaw.run();
    expect(ok).toBe(true);
    expect(counts).toMatchObject({
      sessions: { found: 3, taken: 3, here: 0, left: 0 },
      archivedSessions: { found: 1, taken: 1 },
      windows: { found: 5, taken: 5 },
      messages: { found: 21, taken: 21 },
    });
    expect(await snapshotOf(openClaw.from)).toEqual(before);

    await using agent = await openClaw.open();
    const sessions = await readHome(agent);
    expect(Object.keys(sessions)).toEqual([DISCORD, "agent:main:explicit:11111111-1111-4111-8111-111111111111", MAIN]);
    // The reset at the end of the conversation begins a window of its own.
    expect(sessions[MAIN]?.map(([, texts]) => texts.length)).toEqual([16, 0]);
    expect(sessions[MAIN]?.[0]?.[0]).toBe(FIRST);
    expect(sessions[MAIN]?.[0]?.[1].slice(0, 2)).toEqual(["hello", "Fake reply #2: I heard you."]);
    expect(sessions[DISCORD]).toEqual([["7ba40619-8c63-40e6-a20d-145f06b6aeb8", ["Fake reply #17: I heard you."]]]);
    const main = await agent.store.get(MAIN);
    expect(main).toMatchObject({ label: "my label", displayName: "Hello", totalTokensVersion: 1, chatType: "direct" });
    expect(await agent.store.get(DISCORD)).toMatchObject({ lastChannel: "discord", origin: { provider: "webchat" } });
    const [archived] = await listArchives(agent);
    expect(archived).toMatchObject({ key: `${DISCORD}:thread:abc`, reason: "deleted", archivedAt: 1_794_766_099_634 });
    expect((await agent.store.windows(MAIN)).map(({ openedAt }) => openedAt)).toEqual([
      1_794_765_184_574, 1_794_766_093_708,
    ]);
  });

  it("changes nothing when it is imported again", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    await openClaw.run();
    const before = await snapshotOf(openClaw.home);
    const { counts } = await openClaw.run();
    expect(Object.values(counts).map(({ taken, left }) => taken + left)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await snapshotOf(openClaw.home)).toEqual(before);
  });

  it("comes before files that repeat its messages; other files are sessions of their own", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "exports"] });
    const { counts, items } = await openClaw.run();
    expect(counts).toMatchObject({
      sessions: { found: 5, taken: 5 },
      windows: { found: 7, taken: 7 },
      messages: { found: 26, taken: 26 },
    });
    expect(items.find(({ kind }) => kind === "file")).toMatchObject({
      name: join(openClaw.sessions, `${FIRST}.jsonl`),
      outcome: "here",
      reason: `its messages are in ${MAIN}`,
    });
  });

  it("is only described by a dry run", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    const { counts } = await openClaw.run({ dryRun: true });
    expect(await readdir(join(openClaw.home, ".."))).toEqual(["openclaw"]);
    expect((await openClaw.run()).counts).toEqual(counts);
  });

  it("is read with its log while OpenClaw has it open, without touching it", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const connection = new DatabaseSync(openClaw.database);
    connection.exec(`PRAGMA journal_mode = WAL; UPDATE session_nodes SET label = NULL,
      entry_json = json_set(entry_json, '$.label', 'from the log') WHERE session_key = '${MAIN}'`);
    const before = await snapshotOf(openClaw.from);
    expect(Object.keys(before)).toContain(`${openClaw.database}-wal`);
    expect((await openClaw.run()).ok).toBe(true);
    expect(await snapshotOf(openClaw.from)).toEqual(before);
    connection.close();
    await using agent = await openClaw.open();
    expect((await agent.store.get(MAIN))?.label).toBe("from the log");
  });

  it("is reported and left alone if it is newer or damaged; the rest is imported", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    openClaw.change("PRAGMA user_version = 24");
    const newer = await openClaw.run({ dryRun: true });
    expect(newer).toMatchObject({ ok: false, counts: { sessions: { taken: 4 }, archivedSessions: { taken: 1 } } });
    expect(newer.items[0]).toMatchObject({ kind: "database", outcome: "left", isProblem: true });
    expect(newer.items[0]?.reason).toMatch(/has layout 24; this Holdfast reads layouts up to 23\. Update Holdfast/);

    const bytes = await readFile(openClaw.database);
    const damages = [
      bytes.subarray(0, 20_000),
      Buffer.from("not a database"),
      Buffer.alloc(0),
      bytes.fill(7, 4096, 40_000),
    ];
    for (const damage of damages) {
      await writeFile(openClaw.database, damage);
      const damaged = await openClaw.run({ dryRun: true });
      expect(damaged).toMatchObject({ ok: false, counts: { sessions: { taken: 4 } } });
      expect(damaged.items[0]).toMatchObject({ kind: "database", outcome: "left", isProblem: true });
      expect(await readFile(openClaw.database)).toEqual(damage);
    }
    expect(await openClaw.run()).toMatchObject({ ok: false, counts: { sessions: { taken: 4 } } });
  });

  it("is read by its tables, also under their first names and without later columns", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    openClaw.change(
      "PRAGMA foreign_keys = OFF; PRAGMA user_version = 7",
      "DROP TABLE schema_meta; DROP TABLE session_transcript_archives; DROP TABLE session_transcript_index_state",
      "CREATE TABLE session_entries AS SELECT session_key, current_session_id AS session_id, entry_json, updated_at FROM session_nodes",
      "CREATE TABLE sessions AS SELECT session_id, session_key, created_at FROM session_windows",
      "CREATE TABLE events AS SELECT session_id, seq, event_json, created_at FROM transcript_events",
      "DROP TABLE session_nodes; DROP TABLE session_windows; DROP TABLE transcript_events",
      "ALTER TABLE events RENAME TO transcript_events",
    );
    expect((await openClaw.run()).counts).toMatchObject({
      sessions: { taken: 3 },
      windows: { taken: 4 },
      messages: { taken: 19 },
    });
    openClaw.change("DROP TABLE transcript_events");
    expect((await openClaw.run()).items[0]?.reason).toMatch(/tables that this Holdfast does not know/);
  });

  it("may hold compressed events, and transcripts moved to files", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const connection = new DatabaseSync(openClaw.database);
    connection.exec("PRAGMA ignore_check_constraints = 1");
    const rows = connection.prepare("SELECT session_id, seq, event_json FROM transcript_events").all();
    const pack = connection.prepare(
      "UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE session_id = ? AND seq = ?",
    );
    for (const { session_id, seq, event_json } of rows)
      pack.run(zstdCompressSync(String(event_json)), session_id ?? "", seq ?? 0);
    const cold = rows
      .filter(({ session_id }) => session_id === FIRST)
      .map(({ event_json }) => `${String(event_json)}\n`);
    connection.exec(`DELETE FROM transcript_events WHERE session_id = '${FIRST}'`);
    connection.exec(`INSERT INTO session_transcript_cold_archives VALUES
      ('${FIRST}', 'g', 'cold.jsonl.zst', '${"0".repeat(64)}', 21, 1, 1, 20, 1, 'file', NULL)`);
    connection.close();
    const missing = await openClaw.run();
    expect(missing).toMatchObject({ ok: false, counts: { sessions: { taken: 2, left: 1 } } });
    await mkdir(join(openClaw.sessions, "cold"));
    await writeFile(join(openClaw.sessions, "cold/cold.jsonl.zst"), zstdCompressSync(cold.join("")));
    expect(await openClaw.run()).toMatchObject({
      ok: true,
      counts: { sessions: { taken: 1, here: 2 }, messages: { taken: 16 } },
    });
  });
});

function message(id: string, parentId: string, content: string): Record<string, unknown> {
  return { type: "message", id, parentId, message: { role: "user", content, timestamp: 1 } };
}

describe("windows of a database", () => {
  const NEXT = "99999999-0000-4000-8000-000000000001";

  /** A rewind, as OpenClaw makes it: a new window with a copy of all events, and the leaf moved back. */
  const rewind = (leaf: string): string[] => [
    `INSERT INTO session_windows (session_id, session_key, previous_session_id, reason, created_at, updated_at)
      SELECT '${NEXT}', session_key, session_id, 'rewind', created_at + 9, updated_at FROM session_windows WHERE session_id = '${FIRST}'`,
    `INSERT INTO transcript_events (session_id, seq, event_json, created_at)
      SELECT '${NEXT}', seq, event_json, created_at FROM transcript_events WHERE session_id = '${FIRST}'`,
    event(50, { type: "leaf", id: "leaf-1", parentId: "fe6f7003", targetId: leaf }),
    `UPDATE session_nodes SET current_session_id = '${NEXT}', updated_at = updated_at + 10,
      entry_json = json_set(entry_json, '$.sessionId', '${NEXT}', '$.updatedAt', updated_at + 10) WHERE session_key = '${MAIN}'`,
  ];
  const event = (seq: number, value: Record<string, unknown>): string =>
    `INSERT INTO transcript_events (session_id, seq, event_json, created_at)
      VALUES ('${NEXT}', ${seq}, '${JSON.stringify({ timestamp: "2026-11-15T19:00:00.000Z", ...value })}', 1)`;
  // The answer to "hello".
  const ANSWER = "json_extract(event_json, '$.message.content[0].text') = 'Fake reply #2: I heard you.'";

  const answerId = (path: string): string => {
    const connection = new DatabaseSync(path, { readOnly: true });
    const row = connection
      .prepare(`SELECT json_extract(event_json, '$.id') AS id FROM transcript_events WHERE ${ANSWER}`)
      .get();
    connection.close();
    return String(row?.["id"]);
  };

  it("that a rewind made continue the earlier one, and no message is there twice", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const answer = answerId(openClaw.database);
    openClaw.change(...rewind(answer), event(51, message("new-1", answer, "another way")));
    const { counts } = await openClaw.run();
    expect(counts).toMatchObject({ windows: { taken: 6 }, messages: { found: 22, taken: 22 } });
    await using agent = await openClaw.open();
    const windows = (await readHome(agent))[MAIN];
    expect(windows?.map(([, texts]) => texts.length)).toEqual([16, 0, 3]);
    expect(windows?.at(-1)).toEqual([NEXT, ["hello", "Fake reply #2: I heard you.", "another way"]]);
  });

  it("that grow after an import are continued by the next one, unless they were used here", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    await openClaw.run();
    const answer = answerId(openClaw.database);
    openClaw.change(...rewind(answer), event(51, message("new-1", answer, "another way")));
    expect((await openClaw.run()).counts).toMatchObject({ windows: { taken: 1 }, messages: { taken: 1 } });
    {
      await using agent = await openClaw.open();
      expect((await agent.store.get(MAIN))?.sessionId).toBe(NEXT);
      await resetSession(agent, MAIN);
    }
    openClaw.change(event(52, message("new-2", "new-1", "and more")));
    expect((await openClaw.run()).items.find(({ name }) => name === MAIN)?.reason).toMatch(/already here/);
    await using agent = await openClaw.open();
    const windows = (await readHome(agent))[MAIN];
    expect(windows?.flatMap(([, texts]) => texts).filter((text) => text === "and more")).toHaveLength(1);
    expect(windows?.at(-1)?.[1]).toEqual([]);
    expect((await openClaw.run()).counts).toMatchObject({ windows: { taken: 0 }, messages: { taken: 0 } });
  });
});

describe("a home that is in use", () => {
  it("keeps its own session, and the imported windows are older ones", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const own = await (async () => {
      await using agent = await openClaw.open();
      return await openWindow(agent, { key: MAIN, previous: undefined, reason: "initial" });
    })();
    const { items } = await openClaw.run();
    expect(items.find(({ name }) => name === MAIN)).toMatchObject({
      outcome: "taken",
      reason: expect.stringContaining("already here") as string,
    });
    await using agent = await openClaw.open();
    expect(await agent.store.get(MAIN)).toEqual(own);
    const windows = await agent.store.windows(MAIN);
    expect(windows.map(({ sessionId, closedAt }) => [sessionId, closedAt !== undefined])).toEqual([
      [FIRST, true],
      [expect.any(String), true],
      [own?.sessionId, false],
    ]);
  });

  it("keeps labels and archived sessions as they are", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    {
      await using agent = await openClaw.open();
      await openWindow(agent, {
        key: "agent:main:x",
        previous: undefined,
        reason: "initial",
        complete: (entry) => ({ ...entry, label: "my label" }),
      });
    }
    await openClaw.run();
    await using agent = await openClaw.open();
    expect(await agent.store.get(MAIN)).toMatchObject({ openclaw: { label: "my label" } });
    expect((await agent.store.get(MAIN))?.label).toBeUndefined();
    const { archiveSession } = await import("../session/archive.ts");
    await archiveSession(agent, DISCORD);
    const { items } = await openClaw.run();
    expect(items.find(({ name }) => name === DISCORD)).toMatchObject({
      outcome: "here",
      reason: "archived or deleted here",
    });
    expect(await agent.store.get(DISCORD)).toBeUndefined();
  });
});

describe("files of OpenClaw 2026.1.30", () => {
  it("are taken byte for byte, with deleted, shortened and forgotten transcripts", async () => {
    await using openClaw = await createOpenClawHome({ with: ["files"] });
    const { ok, counts } = await openClaw.run();
    expect(ok).toBe(true);
    expect(counts).toMatchObject({
      sessions: { found: 4, taken: 4 },
      archivedSessions: { taken: 1 },
      windows: { found: 7, taken: 7 },
      messages: { found: 14, taken: 14 },
    });
    await using agent = await openClaw.open();
    expect(
      Object.fromEntries(
        Object.entries(await readHome(agent)).map(([key, windows]) => [key, windows.map(([, texts]) => texts.length)]),
      ),
    ).toEqual({
      [DISCORD]: [2, 2],
      [MAIN]: [2, 0],
      "agent:main:recovered:11111111-1111-4111-8111-111111111111": [2],
      "agent:main:recovered:b083ce80-7643-4db8-b061-b135059208d6": [4],
    });
    for (const name of await readdir(openClaw.sessions)) {
      if (!name.endsWith(".jsonl")) continue;
      expect(await readFile(join(foldersOf(agent).sessions, name))).toEqual(
        await readFile(join(openClaw.sessions, name)),
      );
    }
  });

  it("may hold sessions of several agents, under keys of any spelling", async () => {
    await using openClaw = await createOpenClawHome();
    const entries = {
      "agent:work:telegram:direct:7": { sessionId: "w", updatedAt: 5 },
      "Agent:Main:Main": { sessionId: "m", updatedAt: 5 },
    };
    await writeFile(join(openClaw.sessions, "sessions.json"), JSON.stringify(entries));
    expect((await openClaw.run()).counts).toMatchObject({ sessions: { found: 2, taken: 2 }, windows: { taken: 2 } });
    await using main = await openClaw.open();
    await using work = await openClaw.open("work");
    expect((await main.store.get(MAIN))?.sessionId).toBe("m");
    expect((await work.store.get("agent:work:telegram:dm:7"))?.sessionId).toBe("w");
  });

  it("are left alone as a whole if sessions.json cannot be read", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    await writeFile(join(openClaw.sessions, "sessions.json"), '{"agent:main:main": {"sess');
    const { ok, items, counts } = await openClaw.run();
    expect(ok).toBe(false);
    expect(counts).toMatchObject({ sessions: { taken: 3 } });
    expect(items.find(({ kind }) => kind === "file")).toMatchObject({ outcome: "left", isProblem: true });
  });
});

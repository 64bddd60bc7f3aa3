/** Databases of other OpenClaw versions, and of unusual content. Each holds what its comment says. */
import { copyFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { type OpenClawHome, createOpenClawHome, readHome, snapshotOf } from "../../test/support/openclaw-home.ts";

const NEW = `
  CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
    updated_at INTEGER NOT NULL);
  CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT,
    reason TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL);
  CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, event_zstd BLOB,
    created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq));
  PRAGMA user_version = 20;`;

/** Layouts 4 to 13. */
const OLD = `
  CREATE TABLE sessions (session_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE session_entries (session_key TEXT PRIMARY KEY, session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
    updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE session_routes (session_key TEXT PRIMARY KEY, session_id TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
  CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL,
    created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT;
  PRAGMA user_version = 13;`;

const A = "agent:main:telegram:direct:1";
const B = "agent:main:telegram:direct:2";

function say(id: string, parentId: string | null | undefined, content: string, more: object = {}): object {
  return { type: "message", id, parentId, message: { role: "user", content, timestamp: 1 }, ...more };
}

function header(id: string): object {
  return { type: "session", version: 3, id, timestamp: "2026-07-20T10:00:00.000Z", cwd: "/" };
}

function fill(openClaw: OpenClawHome, layout: string, work: (database: Writer) => void): void {
  const database = new DatabaseSync(openClaw.database);
  database.exec(layout);
  work({
    insert: (table, row) => {
      const names = Object.keys(row);
      const marks = names.map(() => "?").join(", ");
      database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`).run(...Object.values(row));
    },
    exec: (sql) => database.exec(sql),
    events: (session_id, ...events) => {
      const insert = database.prepare(
        "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, 1)",
      );
      for (const [seq, event] of [header(session_id), ...events].entries())
        insert.run(session_id, seq, JSON.stringify(event));
    },
  });
  database.close();
}

interface Writer {
  insert: (table: string, row: Record<string, string | number | null | Uint8Array>) => void;
  exec: (sql: string) => void;
  events: (sessionId: string, ...events: object[]) => void;
}

function node(key: string, id: string, entry: object = {}) {
  return {
    session_key: key,
    current_session_id: id,
    entry_json: JSON.stringify({ sessionId: id, ...entry }),
    updated_at: 9,
  };
}

function window(id: string, key: string, created_at: number, previous: string | null = null) {
  return { session_id: id, session_key: key, previous_session_id: previous, created_at, updated_at: created_at };
}

/** Imports twice; the second import finds everything here. */
async function importedTexts(openClaw: OpenClawHome): Promise<Record<string, [string, string[]][]>> {
  const before = await snapshotOf(openClaw.from);
  const { items } = await openClaw.run();
  expect(items.filter(({ isProblem }) => isProblem === true)).toEqual([]);
  expect(await snapshotOf(openClaw.from)).toEqual(before);
  const home = await snapshotOf(openClaw.home);
  const { counts } = await openClaw.run();
  expect(Object.values(counts).map(({ taken }) => taken)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await snapshotOf(openClaw.home)).toEqual(home);
  await using agent = await openClaw.open();
  return await readHome(agent);
}

it("layout 13: a window belongs to the entry or the route that names it", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, OLD, ({ insert, events }) => {
    insert("sessions", { session_id: "s1", session_key: A, created_at: 5, updated_at: 5 });
    insert("sessions", { session_id: "s2", session_key: "agent:main:old", created_at: 3, updated_at: 6 });
    insert("sessions", { session_id: "s3", session_key: "agent:main:other", created_at: 7, updated_at: 7 });
    const entry = JSON.stringify({ sessionId: "s2", previousSessionId: "s1", label: "Ada" });
    insert("session_entries", { session_key: A, session_id: "s2", entry_json: entry, updated_at: 9 });
    insert("session_routes", { session_key: B, session_id: "s3", updated_at: 8 });
    events("s1", say("a1", null, "first"));
    events("s2", say("b1", null, "second"), say("b2", "b1", "third"));
    events("s3", say("c1", null, "of a route"));
  });
  expect(await importedTexts(openClaw)).toEqual({
    "agent:main:telegram:dm:1": [
      ["s1", ["first"]],
      ["s2", ["second", "third"]],
    ],
    "agent:main:telegram:dm:2": [["s3", ["of a route"]]],
  });
  await using agent = await openClaw.open();
  expect(await agent.store.get("agent:main:telegram:dm:1")).toMatchObject({ label: "Ada", sessionId: "s2" });
});

it("keeps transcripts that no window names, and the current one of a session", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, events }) => {
    insert("session_nodes", node(A, "s2"));
    insert("session_windows", window("s1", A, 5));
    events("s1", say("a1", null, "first"));
    events("s2", say("b1", null, "current"));
    events("s9", say("c1", null, "forgotten"));
  });
  expect(await importedTexts(openClaw)).toEqual({
    "agent:main:recovered:s9": [["s9", ["forgotten"]]],
    "agent:main:telegram:dm:1": [
      ["s1", ["first"]],
      ["s2", ["current"]],
    ],
  });
});

it("takes a session that two keys name once", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, events }) => {
    insert("session_nodes", node(A, "s1"));
    insert("session_nodes", node(B, "s1"));
    insert("session_windows", window("s1", A, 5));
    events("s1", say("a1", null, "once"));
  });
  const texts = await importedTexts(openClaw);
  expect(texts["agent:main:telegram:dm:1"]).toEqual([["s1", ["once"]]]);
  expect(
    Object.values(texts)
      .flat(2)
      .filter((part) => part.includes("once")),
  ).toHaveLength(1);
});

it("tells entries apart that have the same id in different windows", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, events }) => {
    insert("session_nodes", node(A, "s2"));
    insert("session_windows", window("s1", A, 5));
    insert("session_windows", window("s2", A, 6, "s1"));
    events("s1", say("m1", null, "one"), say("m2", "m1", "two"));
    events(
      "s2",
      say("m1", null, "three"),
      say("m2", "m1", "four"),
      { type: "reset", id: "r1", parentId: "m2" },
      say("m3", "r1", "five"),
    );
  });
  const windows = (await importedTexts(openClaw))["agent:main:telegram:dm:1"];
  expect(windows?.map(([, texts]) => texts)).toEqual([["one", "two"], ["three", "four"], ["five"]]);
});

it("continues where OpenClaw would: not at a side entry, and across entries without a parent", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, events }) => {
    insert("session_nodes", node(A, "s1"));
    insert("session_nodes", node(B, "s2"));
    insert("session_windows", window("s1", A, 5));
    insert("session_windows", window("s2", B, 5));
    events("s1", say("m1", null, "one"), say("m2", "m1", "two"), say("m3", "m1", "beside", { appendMode: "side" }));
    const loose = ["one", "two"].map((text, at) => say(`m${at}`, undefined, text));
    const after = ["three", "four"].map((text, at) => say(`n${at}`, undefined, text));
    events("s2", ...loose, { type: "reset", id: "r1", parentId: "m1" }, ...after, {
      type: "leaf",
      id: "l1",
      parentId: "n1",
      targetId: "n1",
    });
  });
  expect(await importedTexts(openClaw)).toMatchObject({
    "agent:main:telegram:dm:1": [["s1", ["one", "two"]]],
    "agent:main:telegram:dm:2": [
      ["s2", ["one", "two"]],
      [expect.any(String), ["three", "four"]],
    ],
  });
});

it("reads values in other forms: blobs, computed columns, large numbers, broken entries", async () => {
  await using openClaw = await createOpenClawHome();
  const layout = NEW.replace("entry_json TEXT NOT NULL", "entry_json ANY, label TEXT AS ('from a column') VIRTUAL");
  fill(openClaw, layout, ({ insert, events, exec }) => {
    const entry = new TextEncoder().encode(JSON.stringify({ sessionId: "s1", displayName: "Ada" }));
    insert("session_nodes", { session_key: A, current_session_id: "s1", entry_json: entry, updated_at: 9 });
    insert("session_nodes", { session_key: B, current_session_id: "s2", entry_json: "{broken", updated_at: 9 });
    insert("session_windows", window("s1", A, 5));
    insert("session_windows", window("s2", B, 5));
    events("s1", say("m1", null, "one"));
    events("s2", say("m1", null, "two"));
    exec("UPDATE transcript_events SET event_json = CAST(event_json AS BLOB)");
    exec("UPDATE session_windows SET created_at = 9223372036854775807");
  });
  expect(await importedTexts(openClaw)).toEqual({
    "agent:main:telegram:dm:1": [["s1", ["one"]]],
    "agent:main:telegram:dm:2": [["s2", ["two"]]],
  });
  await using agent = await openClaw.open();
  expect(await agent.store.get("agent:main:telegram:dm:1")).toMatchObject({
    displayName: "Ada",
    label: "from a column",
  });
});

it("undoes an unfinished write of a database without a write-ahead log", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, events }) => {
    insert("session_nodes", node(A, "s1"));
    insert("session_windows", window("s1", A, 5));
    events("s1", say("m1", null, "finished"));
  });
  const { database } = openClaw;
  const connection = new DatabaseSync(database);
  connection.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN");
  connection.exec("UPDATE transcript_events SET event_json = replace(event_json, 'finished', 'half')");
  const filler = "x".repeat(4000);
  for (let seq = 10; seq < 200; seq++)
    connection
      .prepare("INSERT INTO transcript_events VALUES ('s1', ?, ?, NULL, 1)")
      .run(seq, JSON.stringify(say(`f${seq}`, "m1", filler)));
  // As a killed process leaves it.
  await copyFile(database, `${database}.copy`);
  await copyFile(`${database}-journal`, `${database}.copy-journal`);
  connection.exec("ROLLBACK");
  connection.close();
  await copyFile(`${database}.copy`, database);
  await copyFile(`${database}.copy-journal`, `${database}-journal`);
  expect(await importedTexts(openClaw)).toEqual({ "agent:main:telegram:dm:1": [["s1", ["finished"]]] });
});

it("takes nothing from a database of a time before sessions were in it", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, "CREATE TABLE auth_profile_store (id TEXT); PRAGMA user_version = 1", () => undefined);
  const { ok, counts } = await openClaw.run();
  expect([ok, counts["sessions"]?.found]).toEqual([true, 0]);
});

it("reports messages that OpenClaw had not answered", async () => {
  await using openClaw = await createOpenClawHome();
  fill(openClaw, NEW, ({ insert, exec, events }) => {
    insert("session_nodes", node(A, "s1"));
    insert("session_windows", window("s1", A, 5));
    events("s1", say("a1", null, "first"));
    exec(`CREATE TABLE session_pending_inputs (seq INTEGER PRIMARY KEY, session_key TEXT NOT NULL,
      message_json TEXT NOT NULL, state TEXT NOT NULL, consumed_event_id TEXT)`);
    const wait = (content: unknown, state: string, consumed_event_id: string | null = null): void =>
      insert("session_pending_inputs", {
        session_key: A,
        message_json: JSON.stringify({ role: "user", content }),
        state,
        consumed_event_id,
      });
    wait("Fix the\nwebhook", "queued");
    wait([{ type: "text", text: "And test it" }], "interrupted");
    wait("Never mind", "cancelled");
    wait("Answered", "queued", "a1");
  });
  const { items, ok } = await openClaw.run();
  expect(ok).toBe(true);
  expect(items.filter(({ kind }) => kind === "waiting message")).toMatchObject(
    ["Fix the webhook", "And test it"].map((text) => ({
      name: A,
      outcome: "left",
      reason: `OpenClaw had not answered “${text}”; send it again`,
    })),
  );
});

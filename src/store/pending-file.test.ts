import { copyFile, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openStore } from "../../test/support/stores.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { createLogger } from "../base/log.ts";

/** As Holdfast 0.x made it. */
const OLD_TABLES = `
  CREATE TABLE items (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL, mark TEXT,
    at REAL NOT NULL, value TEXT NOT NULL
  ) STRICT;
  CREATE TABLE queues (
    kind TEXT NOT NULL, key TEXT NOT NULL, last_id INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0, turn TEXT,
    epoch INTEGER NOT NULL DEFAULT 0, up_to INTEGER NOT NULL DEFAULT 0, told INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = 1212567662;
  PRAGMA user_version = 1;
  PRAGMA journal_mode = WAL;
`;

function makeOldFile(path: string): void {
  using database = new DatabaseSync(path);
  database.exec(OLD_TABLES);
  database.exec(`
    INSERT INTO items (kind, key, mark, at, value) VALUES
      ('history', 'agent:main:g', 'm1', 1, '{"sender":"Ada","body":"hi","messageId":"m1"}'),
      ('event', 'agent:main:main', NULL, 2, 'first'),
      ('event', 'agent:main:main', NULL, 3, 'second'),
      ('event', 'agent:main:main', NULL, 4, 'third');
    INSERT INTO queues (kind, key, last_id, dropped, turn, epoch, up_to, told) VALUES
      ('history', 'agent:main:g', 1, 0, NULL, 0, 0, 0),
      ('event', 'agent:main:main', 4, 3, 't1', 7, 3, 2);
  `);
}

describe.each(STORE_KINDS)("a pending.sqlite beside a %s store", (kind) => {
  it("is migrated and removed, also when a crash repeats the migration", async () => {
    await using folder = await temporaryFolder();
    const [pendingFile, copy] = [folder.join("pending.sqlite"), folder.join("copy")];
    makeOldFile(pendingFile);
    await copyFile(pendingFile, copy);
    const first = await openStore(kind, { home: folder.path, pendingFile });
    await first.systemEvents.enqueueSystemEvent("main", "fourth");
    await first.close();
    await copyFile(copy, pendingFile);
    const store = await openStore(kind, { home: folder.path, pendingFile });
    expect((await readdir(folder.path)).filter((name) => name.startsWith("pending"))).toEqual([]);
    expect(await store.history.take("g", { id: "t", epoch: 1 })).toEqual([
      { sender: "Ada", body: "hi", messageId: "m1" },
    ]);
    const repeated = await store.systemEvents.drainSystemEvents("main", { id: "t1", epoch: 8 });
    expect(repeated).toMatchObject({ events: [{ at: 2, text: "first" }, { text: "second" }], dropped: 2 });
    await store.systemEvents.acknowledgeSystemEvents("main", "t1");
    const next = await store.systemEvents.drainSystemEvents("main", { id: "t2", epoch: 8 });
    expect(next).toMatchObject({ events: [{ text: "third" }, { text: "fourth" }], dropped: 1 });
    await store.close();
  });

  it("stays if it cannot be read", async () => {
    await using folder = await temporaryFolder();
    const pendingFile = folder.join("pending.sqlite");
    const logged: string[] = [];
    const logger = createLogger({ write: (line) => void logged.push(line) });
    const open = async () => await (await openStore(kind, { home: folder.path, pendingFile, logger })).close();
    const noDatabase = "this is not a database".repeat(500);
    await writeFile(pendingFile, noDatabase);
    await open();
    expect(logged.at(-1)).toContain("could not be read");
    expect(await readFile(pendingFile, "utf8")).toBe(noDatabase);
    await rm(pendingFile);
    {
      using foreign = new DatabaseSync(pendingFile);
      foreign.exec("CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('mine')");
    }
    await open();
    expect(logged.at(-1)).toContain("could not be read");
    using again = new DatabaseSync(pendingFile);
    expect(again.prepare("SELECT text FROM notes").all()).toMatchObject([{ text: "mine" }]);
  });
});

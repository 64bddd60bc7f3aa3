/** `holdfast migrate`: a home moves to PostgreSQL, is used there, and moves back. docs/cluster.md describes it. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { closing } from "../../src/base/async.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { runCli } from "../support/cli.ts";
import { TEXT, createCliHome } from "../support/cli-home.ts";
import { snapshotOf } from "../support/openclaw-home.ts";
import { freshDatabase } from "../support/postgres.ts";

describe("holdfast migrate", () => {
  it("copies a home to PostgreSQL and back, and a second run copies nothing", async () => {
    await using folder = await createCliHome();
    await using database = await freshDatabase({ isEmpty: true });
    const { url } = database;
    const home = folder.path;
    const run = async (...args: string[]) => await runCli(args, { home });
    const received = folder.join("channels/telegram/default/media");
    await mkdir(received, { recursive: true, mode: 0o700 });
    await writeFile(join(received, "notes.txt"), "the heron nests at dawn", { mode: 0o600 });
    await run("config", "set", "channels.telegram.default", "{}");
    const before = await run("history", "work", "--json");
    const files = await snapshotOf(folder.join("agents"));

    const dry = await run("migrate", "sqlite-to-postgres", "--url", url, "--dry-run", "--json");
    const expected = { sessions: one(1), windows: one(2), transcripts: one(2) };
    expect(dry.json()).toMatchObject({ dryRun: true, agents: [{ agentId: "main", counts: expected }], files: one(1) });
    expect(await database.run("SELECT count(*)::int AS n FROM holdfast.entries")).toEqual([{ n: 0 }]);

    const moved = await run("migrate", "sqlite-to-postgres", "--url", url, "--json");
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    expect(moved.json()).toMatchObject({ ok: true, agents: [{ counts: expected }] });
    const again = await run("migrate", "sqlite-to-postgres", "--url", url, "--json");
    const none = { sessions: { found: 1, copied: 0 }, windows: { found: 2, copied: 0 } };
    expect(again.json()).toMatchObject({ agents: [{ counts: { ...none, transcripts: { found: 2, copied: 0 } } }] });
    expect(again.json()).toMatchObject({ files: { found: 1, copied: 0 } });
    expect(await snapshotOf(folder.join("agents"))).toEqual(files);

    await writeFile(folder.join("config.json"), JSON.stringify({ store: { kind: "postgres", url } }), { mode: 0o600 });
    const there = await run("history", "work", "--json");
    expect(entriesOf(there.json())).toEqual(entriesOf(before.json()));
    const said = await runCli(["chat", "--local", "--session", "work"], { home, input: "more words\n" });
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("more words") });

    const found = await run("search", "more words", "--json");
    expect(found.json()).toMatchObject({ results: [{ sessionId: TEXT }] });

    const path = await admitWithFile(home, url, join(received, "notes.txt"));

    const back = folder.join("back");
    await mkdir(back);
    const returned = await runCli(["migrate", "postgres-to-sqlite", "--url", url, "--json"], { home: back });
    expect(returned.json()).toMatchObject({ ok: true, agents: [{ counts: { windows: one(2) } }] });
    const { stdout } = await runCli(["history", "work"], { home: back });
    expect(stdout).toContain("more words");
    // The file came along, although its message names a path of the other machine.
    expect(returned.json()).toMatchObject({ agents: [{ counts: { files: one(1) } }] });
    const copy = await locateFile(back, path);
    expect(copy.startsWith(join(back, "media"))).toBe(true);
    expect(await readFile(copy, "utf8")).toBe("the heron nests at dawn");
  });

  it("refuses an unknown direction and a missing database", async () => {
    await using folder = await createCliHome();
    const home = folder.path;
    const unknown = await runCli(["migrate", "to-the-moon"], { home });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("sqlite-to-postgres")]);
    const missing = await runCli(["migrate", "sqlite-to-postgres"], { home });
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("--url")]);
  });
});

/** A message with a file waits. Resolves to the path that it names. */
async function admitWithFile(home: string, url: string, file: string): Promise<string> {
  const config = { ...DEFAULT_CONFIG, store: { kind: "postgres" as const, view: false, url } };
  const { store } = await openAgent({ home, config });
  await using _closing = closing(store);
  const path = await store.media.keep(file);
  const address = { channel: "telegram", accountId: "default", chatId: "1", messageId: "with a file" };
  await store.inbox.admit({ key: "work", address, payload: { ctx: { MediaPaths: [path] } }, receivedAt: 1 });
  return path;
}

async function locateFile(home: string, path: string): Promise<string> {
  const { store } = await openAgent({ home, config: DEFAULT_CONFIG });
  await using _closing = closing(store);
  return await store.media.locate(path);
}

const one = (found: number) => ({ found, copied: found });

function entriesOf(history: unknown): unknown {
  return (history as { entries: unknown }).entries;
}

/** The index's own file: private, free of secrets, rebuilt whenever it cannot be used, shared by processes. */
import { mkdir, open, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Child, startChild } from "../../test/support/child.ts";
import {
  SESSION,
  SESSION_2,
  type SearchHome,
  answer,
  createSearchHome,
  prompt,
} from "../../test/support/search-home.ts";
import type { SearchIndex } from "./search-index.ts";

const REPO = "/repos/shop";
const count = (index: SearchIndex, text: string): number =>
  index.search({ text, agentId: "main", repoRoots: [REPO], limit: 500 }).hits.length;

const bash = (command: string) => ({ type: "tool_use", id: "t", name: "Bash", input: { command } });

it("keeps no secret in any of its files", async () => {
  await using home = await createSearchHome();
  const key = `sk-ant-${"q7Zx".repeat(8)}`;
  const token = `ghp_${"aB3d".repeat(9)}`;
  const pem = `-----BEGIN PRIVATE KEY-----\nMIIEvQ\n\nIBADANBg\n-----END PRIVATE KEY-----`;
  const text = `otter ${key} and ${token}\npassword: hunter2hunter2\n${pem}\nlast heron`;
  await home.memory("main", "MEMORY.md", `# Keys\n\n${text}\n`);
  await home.transcript("main", "s1", [text]);
  await home.native(REPO, SESSION, [
    prompt(REPO, text, { uuid: key }),
    answer(REPO, `${"word ".repeat(297)}${key} end`),
    // The command is cut inside the key.
    answer(REPO, "", { message: { role: "assistant", content: [bash(`${"x ".repeat(142)}${key}`)] } }),
  ]);
  const index = await home.refreshed();
  expect(count(index, "heron")).toBe(3);
  for (const name of await readdir(dirname(home.indexPath))) {
    const bytes = await readFile(`${dirname(home.indexPath)}/${name}`, "latin1");
    for (const secret of [key, token, "q7Zxq7Zx", "aB3daB3d", "hunter2", "MIIEvQ", "IBADANBg"]) {
      expect(bytes.toLowerCase().includes(secret.toLowerCase()), `${secret} in ${name}`).toBe(false);
    }
  }
  for (const query of [key, "q7Zxq7Zx", "hunter2hunter2", "IBADANBg"]) expect(count(index, query), query).toBe(0);
  // Line numbers refer to the file, although redacting removed some lines.
  const [hit] = index.search({ text: "heron", agentId: "main", kinds: ["memory"] }).hits;
  expect(hit).toMatchObject({ line: 1, endLine: 10 });
});

it("can be read by its owner only", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "otter");
  await home.refreshed();
  for (const name of await readdir(dirname(home.indexPath))) {
    expect((await stat(`${dirname(home.indexPath)}/${name}`)).mode & 0o077, name).toBe(0);
  }
});

describe("a file that cannot be used", () => {
  const spoilt: [name: string, spoil: (path: string) => Promise<void> | void][] = [
    ["empty", async (path) => await writeFile(path, "")],
    ["text", async (path) => await writeFile(path, "this is not a database ".repeat(500))],
    ["another program's database", (path) => useDatabase(path, "PRAGMA application_id = 7; CREATE TABLE theirs (a)")],
    ["an older version", (path) => useDatabase(path, "PRAGMA user_version = 0")],
    ["a newer version", (path) => useDatabase(path, "PRAGMA user_version = 99")],
    ["ours without a table", (path) => useDatabase(path, "DROP TABLE words")],
    [
      "a folder",
      async (path) => {
        await rm(path);
        await mkdir(path);
      },
    ],
  ];
  it.each(spoilt)("%s is rebuilt", async (_name, spoil) => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "otter");
    (await home.refreshed()).close();
    await spoil(home.indexPath);
    const index = await home.refreshed();
    expect(count(index, "otter")).toBe(1);
  });

  it("is rebuilt if the damage shows only in use", async () => {
    await using home = await createSearchHome();
    const lines = Array.from({ length: 2000 }, (_, number) => answer(REPO, `otter ${number} ${"fill ".repeat(40)}`));
    await home.native(REPO, SESSION, [prompt(REPO, "go"), ...lines]);
    const index = await home.refreshed();
    const database = new DatabaseSync(home.indexPath, { defensive: false });
    database.exec("UPDATE words_data SET block = zeroblob(50) WHERE id > 1000");
    database.close();
    const spoilt = index.search({ text: "otter", agentId: "main", repoRoots: [REPO] });
    expect(spoilt).toMatchObject({ hits: [], note: expect.stringContaining("will be rebuilt") });
    await index.refresh({ sources: home.sources() });
    expect(count(index, "otter")).toBe(500);
  });

  it("is recreated if it is deleted during use", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "otter");
    const index = await home.refreshed();
    await rm(home.indexPath);
    await index.refresh({ sources: home.sources() });
    expect(count(index, "otter")).toBe(1);
    expect((await stat(home.indexPath)).size).toBeGreaterThan(0);
  });
});

describe("several processes", () => {
  const SESSIONS = 40;

  async function manySessions(home: SearchHome): Promise<void> {
    for (let number = 0; number < SESSIONS; number++) {
      const id = `22222222-0000-4000-8000-${String(number).padStart(12, "0")}`;
      const words = Array.from({ length: 12 }, (_, turn) =>
        answer(REPO, `otter s${number}t${turn} ${"fill ".repeat(200)}`),
      );
      await home.native(REPO, id, [prompt(REPO, `begin s${number}`), ...words]);
    }
  }

  function expectAllOnce(index: SearchIndex): void {
    expect(count(index, "otter")).toBe(SESSIONS * 12);
    const { hits } = index.search({ text: "otter", agentId: "main", repoRoots: [REPO], limit: 500 });
    expect(new Set(hits.map(({ path, line }) => `${path}:${line}`)).size).toBe(SESSIONS * 12);
  }

  it("index at once and find everything once", async () => {
    await using home = await createSearchHome();
    await manySessions(home);
    const children = Array.from({ length: 3 }, () => startIndexing(home));
    for (const child of children) expect(await child.ended()).toBe(0);
    expectAllOnce(await home.refreshed());
  });

  it("search while another writes: fewer results at first, never wrong ones", async () => {
    await using home = await createSearchHome();
    await manySessions(home);
    const child = startIndexing(home);
    const index = await home.open();
    const ended = child.ended();
    const over = new AbortController();
    void ended.finally(() => over.abort());
    while (!over.signal.aborted) {
      const { sessions, indexing } = await index.ask({ text: "begin s7", person: true });
      for (const { passages } of sessions) expect(passages[0]?.snippet).toContain("**begin**");
      expect(indexing.complete).toBe(false);
      await delay(5);
    }
    expect(await ended).toBe(0);
    expectAllOnce(index);
  });

  it("search while another holds the lock: what is known, soon, and clearly partial", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(REPO, "begin")]);
    const index = await home.refreshed();
    const path = await home.native(REPO, SESSION_2, [prompt(REPO, "heron")]);
    const other = new DatabaseSync(home.indexPath);
    other.exec("BEGIN IMMEDIATE");
    const report = await index.refresh({ sources: home.sources(), budgetMs: 50 });
    expect(report).toMatchObject({ complete: false, pendingFiles: 1, pendingBytes: (await stat(path)).size });
    expect(index.search({ text: "begin", person: true }).hits).toHaveLength(1);
    expect(index.search({ text: "heron", person: true })).toMatchObject({
      hits: [],
      note: expect.stringContaining("1 file is not searchable yet"),
    });
    other.exec("ROLLBACK");
    other.close();
    expect(await index.refresh({ sources: home.sources(), budgetMs: 1000 })).toMatchObject({ complete: true });
    expect(index.search({ text: "heron", person: true }).hits).toHaveLength(1);
  });

  it("lose nothing when one is killed in the middle", async () => {
    await using home = await createSearchHome();
    await manySessions(home);
    for (const wait of [0, 10, 25, 50, 100]) {
      await rm(home.indexPath, { force: true });
      const child = startIndexing(home);
      await child.line();
      await delay(wait);
      child.kill("SIGKILL");
      expect([0, "SIGKILL"]).toContain(await child.ended());
      const index = await home.open();
      // Whatever was done can be searched at once, and is whole.
      const { hits } = index.search({ text: "begin", agentId: "main", repoRoots: [REPO], limit: 500 });
      expect(new Set(hits.map(({ path }) => path)).size).toBe(hits.length);
      await index.refresh({ sources: home.sources() });
      expectAllOnce(index);
      index.close();
      expect(integrity(home.indexPath)).toEqual(["ok"]);
    }
  });
});

function startIndexing(home: SearchHome): Child {
  return startChild("home", { task: "index", path: home.indexPath, sources: home.sources() });
}

function useDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function integrity(path: string): unknown[] {
  const database = new DatabaseSync(path);
  try {
    return database
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => row["integrity_check"]);
  } finally {
    database.close();
  }
}

it("is rebuilt wherever the file was overwritten", async () => {
  await using home = await createSearchHome();
  for (let number = 0; number < 40; number += 1) {
    await home.transcript("main", `s${number}`, [`otter number ${number} swims across river ${number * 7}`]);
  }
  const search = async (): Promise<number> => {
    const index = await home.refreshed();
    const found = count(index, "otter");
    index.close();
    return found;
  };
  expect(await search()).toBe(40);
  const { size } = await stat(home.indexPath);
  for (let offset = 0; offset < size; offset += Math.max(4096, Math.floor(size / 10))) {
    {
      await using handle = await open(home.indexPath, "r+");
      await handle.write(Buffer.alloc(4096, 0xa5), 0, 4096, offset);
    }
    expect(await search(), `overwritten at ${offset}`).toBe(40);
  }
});

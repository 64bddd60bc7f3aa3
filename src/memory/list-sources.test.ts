/** Sessions that Claude Code has deleted are found in the archive, once, by agents that may see them. */
import { appendFile, mkdir, readFile, readdir, rename, rm, stat, truncate } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startChild } from "../../test/support/child.ts";
import {
  SESSION,
  SESSION_2,
  type SearchHome,
  answer,
  appendLines,
  createSearchHome,
  prompt,
} from "../../test/support/search-home.ts";
import { createTestClock } from "../../test/support/time.ts";
import { silentLogger } from "../base/log.ts";
import { archiveNativeSessions } from "../claude/archive/archive-sessions.ts";
import { readArchive } from "../claude/archive/catalogue.ts";
import { createNativeIndex } from "../claude/index/create-native-index.ts";
import { claudeLayout } from "../config/layout.ts";
import { openIndexDatabase } from "./index-database.ts";
import { createIndexWriter } from "./index-writer.ts";
import { type SearchIndex, createSearchIndex } from "./search-index.ts";
import { listSources } from "./list-sources.ts";
import { readHere } from "./read-threads.ts";
import type { NativeSources, SearchSources } from "./sources.ts";

const REPO = "/repos/shop";

async function archive(home: SearchHome, redact = false): Promise<void> {
  const { home: root, claudeHome } = home;
  const index = createNativeIndex({ path: claudeLayout(root).index, claudeHome, threads: 0 });
  await index.refresh();
  const report = await archiveNativeSessions({
    claudeHome,
    home: root,
    index,
    daysBefore: Number.POSITIVE_INFINITY,
    redact,
  });
  index.close();
  expect(report.failed).toEqual([]);
}

async function sourcesOf(home: SearchHome, more: Partial<NativeSources> = {}): Promise<SearchSources> {
  const { archiveFolder: folder } = claudeLayout(home.home);
  return home.sources({ archive: { folder, sessions: [...(await readArchive(home.home)).values()] }, ...more });
}

async function refreshed(home: SearchHome, index: SearchIndex, more?: Partial<NativeSources>) {
  return await index.refresh({ sources: await sourcesOf(home, more) });
}

function hits(index: SearchIndex, text: string, agentId = "main") {
  return index.search({ text, agentId, repoRoots: [REPO], limit: 500 }).hits;
}

const purge = async (path: string): Promise<void> => {
  await rm(path);
  await rm(path.replace(/\.jsonl$/, ""), { recursive: true, force: true });
};

describe("a session that Claude Code has deleted", () => {
  it("is found with its subagents by an index that never saw it, and by one that was deleted", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "find the heron"), answer(REPO, "an otter instead")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "a grey heron", { isSidechain: true })]);
    await archive(home);
    await purge(path);
    const index = await home.open();
    expect(await refreshed(home, index)).toMatchObject({ complete: true, files: 2, filesRead: 2, failed: [] });
    const { archiveFolder } = claudeLayout(home.home);
    const expectFound = (): void => {
      const found = hits(index, "heron");
      expect(found).toMatchObject([
        { kind: "native", sessionId: SESSION, archived: true, role: "user", line: 1, repo: REPO, offset: 0 },
        { kind: "native", sessionId: SESSION, archived: true, subagentId: "abc", role: "assistant", line: 1 },
      ]);
      for (const hit of found) {
        expect(dirname(hit.path)).toBe(archiveFolder);
        expect(hit.name).toMatch(/^11111111-.*\.\d\.jsonl\.zst$/);
      }
      expect(hits(index, "otter")).toMatchObject([{ line: 2 }]);
    };
    expectFound();
    expect(await refreshed(home, index)).toMatchObject({ filesRead: 0, bytesRead: 0, files: 2 });
    await rm(home.indexPath);
    expect(await refreshed(home, index)).toMatchObject({ filesRead: 2 });
    expectFound();
    const query = { text: "heron", agentId: "main", repoRoots: [REPO] };
    expect(index.sessions(query).sessions).toMatchObject([{ sessionId: SESSION, archived: true, found: 2 }]);
  });

  it("is visible to agents that could see the original", async () => {
    await using home = await createSearchHome();
    const elsewhere = "/repos/elsewhere";
    const marked = await home.native(REPO, SESSION, [prompt(REPO, "[openclaw:agent=other]\n\nfind the heron")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "a grey heron", { isSidechain: true })]);
    const registered = await home.native(REPO, SESSION_2, [prompt(REPO, "heron of the registry")]);
    const third = "11111111-0000-4000-8000-000000000003";
    const far = await home.native(elsewhere, third, [prompt(elsewhere, "heron far away")]);
    await archive(home);
    for (const path of [marked, registered, far]) await purge(path);
    const index = await home.open();
    await refreshed(home, index, { owners: new Map([[SESSION_2, "other"]]) });
    expect(hits(index, "heron")).toEqual([]);
    const own = hits(index, "heron", "other").map(({ sessionId }) => sessionId ?? "");
    expect(own.toSorted()).toEqual([SESSION, SESSION, SESSION_2]);
    const { hits: there } = index.search({ text: "heron", agentId: "main", repoRoots: [elsewhere] });
    expect(there.map(({ sessionId }) => sessionId)).toEqual([third]);
  });

  it("costs no second reading when it was indexed before, and keeps the ids of its passages", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron one"), answer(REPO, "heron two")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "heron three", { isSidechain: true })]);
    const index = await home.open();
    await refreshed(home, index);
    await archive(home);
    const before = hits(index, "heron").map(({ passageId, line, offset }) => ({ passageId, line, offset }));
    await purge(path);
    expect(await refreshed(home, index)).toMatchObject({ bytesRead: 0, filesRead: 0, removed: 0, files: 2 });
    expect(hits(index, "heron")).toMatchObject(before.map((hit) => ({ ...hit, archived: true })));
    expect(await refreshed(home, index)).toMatchObject({ bytesRead: 0, removed: 0 });
    expect(hits(index, "heron")).toHaveLength(3);
  });

  it("is read from the copy if the indexed text differs", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron one")]);
    const index = await home.open();
    await refreshed(home, index);
    await appendLines(path, [answer(REPO, "heron two")]);
    await archive(home);
    await appendLines(path, [answer(REPO, "heron three")]);
    await purge(path);
    // Found until the copy has been read, and once.
    await index.refresh({ sources: await sourcesOf(home), signal: AbortSignal.abort() });
    expect(hits(index, "heron")).toMatchObject([{ line: 1, archived: true }]);
    await refreshed(home, index);
    expect(hits(index, "heron").map(({ line }) => line)).toEqual([1, 2]);
  });

  it("is read again from a newer copy", async () => {
    await using home = await createSearchHome();
    const lines = [prompt(REPO, "heron one")];
    const path = await home.native(REPO, SESSION, lines);
    await archive(home);
    await purge(path);
    const index = await home.open();
    await refreshed(home, index);
    const [before] = hits(index, "heron");
    await home.native(REPO, SESSION, [...lines, answer(REPO, "heron two")]);
    await archive(home);
    await purge(path);
    await refreshed(home, index);
    const after = hits(index, "heron");
    expect(after.map(({ line, archived }) => ({ line, archived }))).toEqual([
      { line: 1, archived: true },
      { line: 2, archived: true },
    ]);
    expect(after[0]?.path).not.toBe(before?.path);
  });

  it("is removed when the copy is gone, too", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron")]);
    await archive(home);
    await purge(path);
    const index = await home.open();
    await refreshed(home, index);
    await rm(claudeLayout(home.home).archiveFolder, { recursive: true });
    expect(await refreshed(home, index)).toMatchObject({ removed: 1 });
    expect(hits(index, "heron")).toEqual([]);
  });

  it("has a last line without a newline, which is complete", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron one")]);
    await appendFile(path, JSON.stringify(answer(REPO, "heron two")));
    const index = await home.open();
    await refreshed(home, index);
    expect(hits(index, "heron")).toHaveLength(1);
    await archive(home);
    await purge(path);
    await refreshed(home, index);
    expect(hits(index, "heron").map(({ line }) => line)).toEqual([1, 2]);
  });
});

describe("an original that is there", () => {
  it("is read instead of its copy, also if its folder is not listed", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "heron", { isSidechain: true })]);
    await archive(home);
    const index = await home.open();
    expect(await refreshed(home, index, { folders: [] })).toMatchObject({ files: 0 });
    expect(await refreshed(home, index)).toMatchObject({ files: 2, filesRead: 2 });
    expect(hits(index, "heron").filter(({ archived }) => archived)).toEqual([]);
    expect(hits(index, "heron").map((hit) => hit.path)).toContain(path);
    expect(hits(index, "heron")).toHaveLength(2);
  });

  it("replaces its copy when it comes back, in the same place or elsewhere", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron one"), answer(REPO, "heron two")]);
    await archive(home);
    await rename(path, `${path}.away`);
    const index = await home.open();
    await refreshed(home, index);
    expect(hits(index, "heron").map(({ archived }) => archived)).toEqual([true, true]);
    for (const folder of [dirname(path), join(dirname(dirname(path)), "-repos-moved")]) {
      await mkdir(folder, { recursive: true });
      const back = join(folder, `${SESSION}.jsonl`);
      await rename(`${path}.away`, back);
      for (let round = 0; round < 2; round++) {
        await refreshed(home, index);
        expect(hits(index, "heron").map((hit) => [hit.path, hit.line, hit.archived])).toEqual([
          [back, 1, undefined],
          [back, 2, undefined],
        ]);
      }
      // The file exists, although its folder is not listed.
      await refreshed(home, index, { folders: [] });
      expect(hits(index, "heron").map((hit) => hit.path)).toEqual([back, back]);
      await rename(back, `${path}.away`);
      await refreshed(home, index);
      expect(hits(index, "heron").map(({ archived }) => archived)).toEqual([true, true]);
    }
  });

  it("does not hide the copy of a subagent deleted earlier", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(REPO, "heron one")]);
    const subagent = await home.subagent(REPO, SESSION, "abc", [answer(REPO, "heron two", { isSidechain: true })]);
    await archive(home);
    await rm(subagent);
    const index = await home.open();
    await refreshed(home, index);
    const found = hits(index, "heron").map(({ subagentId, archived }) => ({ subagentId, archived }));
    expect(found).toEqual([
      { subagentId: undefined, archived: undefined },
      { subagentId: "abc", archived: true },
    ]);
  });

  it("and its copy stay distinct although both were indexed", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [prompt(REPO, "heron one")]);
    await archive(home);
    for (const isBack of [true, false]) {
      await rm(home.indexPath, { force: true });
      const index = await home.open();
      const sources = await sourcesOf(home);
      const { files: before } = await listSources(sources, []);
      await rename(path, `${path}.away`);
      const { files: after } = await listSources(sources, []);
      await rename(`${path}.away`, path);
      // As if two processes had run, one before the original was removed.
      const database = await openIndexDatabase({ path: home.indexPath, logger: silentLogger });
      const writer = createIndexWriter(database, { filesRead: 0, bytesRead: 0, damagedLines: 0, skippedLines: 0 });
      const jobs = [...before, ...after].map((file) => ({ file }));
      for await (const { part } of readHere(jobs)) if (part !== undefined) writer.add(part);
      writer.flush();
      database.close();
      expect(hits(index, "heron")).toHaveLength(2);
      if (!isBack) await rename(path, `${path}.away`);
      await refreshed(home, index);
      expect(hits(index, "heron").map(({ archived }) => archived === true)).toEqual([!isBack]);
      index.close();
    }
  });
});

it("stores no secret that a copy has", async () => {
  await using home = await createSearchHome();
  const key = `sk-ant-${"q7Zx".repeat(8)}`;
  for (const redact of [false, true]) {
    const lines = [prompt(REPO, `heron ${key}\npassword: hunter2hunter2`), answer(REPO, `otter ${key} end`)];
    const path = await home.native(REPO, SESSION, lines);
    await archive(home, redact);
    await purge(path);
    await rm(home.indexPath, { force: true });
    const index = await home.open();
    await refreshed(home, index);
    expect([hits(index, "heron"), hits(index, "otter")]).toMatchObject([[{ line: 1 }], [{ line: 2 }]]);
    const names = await readdir(dirname(home.indexPath));
    expect(names).toContain(basename(home.indexPath));
    for (const name of names.filter((file) => file.startsWith(basename(home.indexPath)))) {
      const bytes = await readFile(join(dirname(home.indexPath), name), "latin1");
      for (const secret of ["q7zxq7zx", "hunter2"]) expect(bytes.toLowerCase().includes(secret), name).toBe(false);
    }
    for (const query of [key, "q7Zxq7Zx", "hunter2hunter2"]) expect(hits(index, query)).toEqual([]);
    index.close();
  }
});

it("reads the readable part of a damaged copy, once", async () => {
  await using home = await createSearchHome();
  const filler = Array.from({ length: 3000 }, (_, number) => answer(REPO, `stork ${Math.sin(number)} ${number}`));
  const paths = [
    await home.native(REPO, SESSION, [prompt(REPO, "heron"), ...filler, answer(REPO, "otter")]),
    await home.native(REPO, SESSION_2, [prompt(REPO, "crane")]),
  ];
  await archive(home);
  for (const path of paths) await purge(path);
  const { archiveFolder } = claudeLayout(home.home);
  const part = (await readdir(archiveFolder)).find((name) => name.startsWith(SESSION) && name.endsWith(".zst")) ?? "";
  await truncate(join(archiveFolder, part), Math.floor((await stat(join(archiveFolder, part))).size * 0.8));
  const index = await home.open();
  const report = await refreshed(home, index);
  expect(report).toMatchObject({ complete: true, damagedLines: 1, failed: [] });
  expect(["heron", "otter", "crane"].map((word) => hits(index, word).length)).toEqual([1, 0, 1]);
  expect(await refreshed(home, index)).toMatchObject({ bytesRead: 0, damagedLines: 0 });
});

describe("reading that is interrupted", () => {
  const TURNS = 450;
  const long = Array.from({ length: TURNS }, (_, number) =>
    answer(REPO, `otter t${number} ${`${Math.sin(number)} word `.repeat(60)}`),
  );

  async function longSession(home: SearchHome): Promise<number> {
    const path = await home.native(REPO, SESSION, [prompt(REPO, "begin"), ...long]);
    const { size } = await stat(path);
    await archive(home);
    await purge(path);
    return size;
  }

  function expectAllOnce(index: SearchIndex): void {
    const found = hits(index, "otter");
    expect(found).toHaveLength(TURNS);
    expect(new Set(found.map(({ line, offset }) => `${line}:${offset}`)).size).toBe(TURNS);
  }

  it("continues where it stopped at the time limit", async () => {
    await using home = await createSearchHome();
    const size = await longSession(home);
    let reads = 0;
    const clock = { ...createTestClock(), now: () => 100 * reads++ };
    const index = await createSearchIndex({ path: home.indexPath, clock, logger: silentLogger });
    const sources = await sourcesOf(home);
    const first = await index.refresh({ sources, budgetMs: 350 });
    expect(first).toMatchObject({ complete: false, pendingFiles: 1 });
    expect(first.bytesRead).toBeGreaterThan(0);
    expect(first.bytesRead + first.pendingBytes).toBe(size);
    expect(hits(index, "begin")).toHaveLength(1);
    let rest = 0;
    let isComplete = false;
    for (let round = 0; round < 50 && !isComplete; round++) {
      const report = await index.refresh({ sources, budgetMs: 350 });
      rest += report.bytesRead;
      isComplete = report.complete;
    }
    expect(first.bytesRead + rest).toBe(size);
    expectAllOnce(index);
    index.close();
  });

  it("loses and repeats nothing when the process is killed", async () => {
    await using home = await createSearchHome();
    await longSession(home);
    const sources = await sourcesOf(home);
    for (const wait of [0, 15, 40, 80]) {
      await rm(home.indexPath, { force: true });
      const child = startChild("home", { task: "index", path: home.indexPath, sources });
      await child.line();
      await delay(wait);
      child.kill("SIGKILL");
      expect([0, "SIGKILL"]).toContain(await child.ended());
      const index = await home.open();
      await index.refresh({ sources });
      expectAllOnce(index);
      index.close();
    }
  });
});

/** The index follows files that grow, change, move or disappear. */
import { appendFile, mkdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SESSION, SESSION_2, answer, appendLines, createSearchHome, prompt } from "../../test/support/search-home.ts";
import { createTestClock } from "../../test/support/time.ts";
import { messageLine } from "../../test/support/transcripts.ts";
import { silentLogger } from "../base/log.ts";
import { agentLayout } from "../config/layout.ts";
import { listSources } from "./list-sources.ts";
import { type Reading, readHere, readInThreads } from "./read-threads.ts";
import { type SearchIndex, createSearchIndex } from "./search-index.ts";
import type { ReadStep, SourceFile } from "./sources.ts";

const REPO = "/repos/shop";
const count = (index: SearchIndex, text: string): number =>
  index.search({ text, agentId: "main", repoRoots: [REPO] }).hits.length;

it("reads only appended text, and keeps the ids of earlier passages", async () => {
  await using home = await createSearchHome();
  const path = await home.native(REPO, SESSION, [prompt(REPO, "otter one")]);
  const index = await home.refreshed();
  const before = index.search({ text: "otter", agentId: "main", repoRoots: [REPO] }).hits[0];
  const { size } = await stat(path);
  await appendLines(path, [answer(REPO, "otter two")]);
  const report = await index.refresh({ sources: home.sources() });
  expect(report).toMatchObject({ filesRead: 1, bytesRead: (await stat(path)).size - size, complete: true });
  const { hits } = index.search({ text: "otter", agentId: "main", repoRoots: [REPO] });
  expect(hits.map(({ line, offset }) => ({ line, offset }))).toEqual([
    { line: 1, offset: 0 },
    { line: 2, offset: size },
  ]);
  expect(hits[0]?.passageId).toBe(before?.passageId);
  expect(await index.refresh({ sources: home.sources() })).toMatchObject({ filesRead: 0, bytesRead: 0, files: 1 });
});

it("leaves a line that is being written for later", async () => {
  await using home = await createSearchHome();
  const path = await home.transcript("main", "s1", ["otter one"]);
  const line = JSON.stringify(messageLine("e7", null, "otter two"));
  await appendFile(path, line.slice(0, 60));
  const index = await home.refreshed();
  expect(count(index, "otter")).toBe(1);
  await appendFile(path, `${line.slice(60)}\n`);
  expect(await index.refresh({ sources: home.sources() })).toMatchObject({ damagedLines: 0 });
  expect(count(index, "otter")).toBe(2);
});

it("reads a replaced, rewritten or truncated file again", async () => {
  await using home = await createSearchHome();
  const path = await home.transcript("main", "s1", ["otter one", "otter two"]);
  const index = await home.refreshed();
  const [old] = index.search({ text: "otter", agentId: "main" }).hits;
  await writeFile(`${path}.new`, "");
  await appendLines(`${path}.new`, [messageLine("a", null, "heron one"), messageLine("b", null, "heron two and more")]);
  await rename(`${path}.new`, path);
  await index.refresh({ sources: home.sources() });
  expect([count(index, "otter"), count(index, "heron")]).toEqual([0, 2]);
  expect(index.search({ text: "heron", agentId: "main" }).hits.map((hit) => hit.passageId)).not.toContain(
    old?.passageId,
  );

  // In place: the same inode, longer than before.
  await writeFile(path, "");
  await appendLines(
    path,
    Array.from({ length: 9 }, (_, number) => messageLine(`c${number}`, null, "a kingfisher")),
  );
  await index.refresh({ sources: home.sources() });
  expect([count(index, "heron"), count(index, "kingfisher")]).toEqual([0, 9]);

  await truncate(path, (await stat(path)).size - 5);
  await index.refresh({ sources: home.sources() });
  expect(count(index, "kingfisher")).toBe(8);
});

it("follows edits of memory files", async () => {
  await using home = await createSearchHome();
  const path = await home.memory("main", "MEMORY.md", "# A\n\notter\n");
  const index = await home.refreshed();
  await appendFile(path, "\n# B\n\nheron\n");
  await index.refresh({ sources: home.sources() });
  expect([count(index, "otter"), count(index, "heron")]).toEqual([1, 1]);
  await writeFile(path, "# A\n\nstork\n");
  await index.refresh({ sources: home.sources() });
  expect([count(index, "otter"), count(index, "heron"), count(index, "stork")]).toEqual([0, 0, 1]);
});

it("removes deleted files, and follows archived ones", async () => {
  await using home = await createSearchHome();
  const { archiveFolder } = agentLayout(home.home, "main");
  const [gone, archived] = [
    await home.transcript("main", "s1", ["otter"]),
    await home.transcript("main", "s2", ["heron"]),
  ];
  const native = await home.native(REPO, SESSION, [prompt(REPO, "stork")]);
  const index = await home.refreshed();
  const before = index.search({ text: "heron", agentId: "main" }).hits[0];
  await mkdir(archiveFolder, { recursive: true });
  await rename(archived, join(archiveFolder, "s2.jsonl"));
  for (const path of [gone, native]) await rm(path);
  expect(await index.refresh({ sources: home.sources() })).toMatchObject({ removed: 2, bytesRead: 0 });
  expect(["otter", "heron", "stork"].map((word) => count(index, word))).toEqual([0, 1, 0]);
  const [hit] = index.search({ text: "heron", agentId: "main" }).hits;
  expect(hit).toMatchObject({ path: join(archiveFolder, "s2.jsonl"), passageId: before?.passageId });
});

it("leaves other sources alone", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "otter");
  const native = await home.native(REPO, SESSION, [prompt(REPO, "heron")]);
  await home.native("/repos/elsewhere", SESSION_2, [prompt("/repos/elsewhere", "heron")]);
  const index = await home.refreshed();
  await rm(native);
  const { agents = [] } = home.sources();
  await index.refresh({ sources: { agents } });
  expect(count(index, "heron")).toBe(1);
  await index.refresh({ sources: { native: { claudeHome: home.claudeHome, folders: ["-repos-elsewhere"] } } });
  expect(count(index, "heron")).toBe(1);
  await index.refresh({ sources: { native: { claudeHome: home.claudeHome, folders: ["-repos-shop"] } } });
  expect([count(index, "heron"), count(index, "otter")]).toEqual([0, 1]);
});

it("counts damaged lines and skips long ones", async () => {
  await using home = await createSearchHome();
  const huge = JSON.stringify(prompt(REPO, "heron ".repeat(3_000_000)));
  await home.native(REPO, SESSION, [
    prompt(REPO, "otter"),
    "{torn",
    huge,
    "",
    "[]",
    "\0\0\0",
    answer(REPO, "otter again"),
  ]);
  await home.transcript(
    "main",
    "s1",
    ["otter"],
    ['{"type":', { type: "message", id: "x" }, messageLine("z", null, "otter")],
  );
  const index = await home.open();
  expect(await index.refresh({ sources: home.sources() })).toMatchObject({
    damagedLines: 4,
    skippedLines: 1,
    complete: true,
  });
  expect([count(index, "otter"), count(index, "heron")]).toEqual([4, 0]);
});

it("reports an unreadable folder, continues, and keeps its files", async () => {
  await using home = await createSearchHome();
  await home.transcript("main", "s1", ["otter"]);
  await home.memory("main", "MEMORY.md", "heron");
  const index = await home.refreshed();
  const { sessionsFolder } = agentLayout(home.home, "main");
  await rm(sessionsFolder, { recursive: true });
  // A link to itself cannot be followed.
  await symlink(sessionsFolder, sessionsFolder);
  await home.memory("main", "AGENTS.md", "stork");
  const report = await index.refresh({ sources: home.sources() });
  expect(report.failed.map(({ path }) => path)).toContain(sessionsFolder);
  expect(["otter", "heron", "stork"].map((word) => count(index, word))).toEqual([1, 1, 1]);
});

it("stops at the time limit, newest first, and continues later", async () => {
  await using home = await createSearchHome();
  const clock = createTestClock();
  const long = Array.from({ length: 1200 }, (_, number) => answer(REPO, `otter ${number} ${"word ".repeat(60)}`));
  const path = await home.native(REPO, SESSION, [prompt(REPO, "begin"), ...long]);
  const older = await home.native(REPO, SESSION_2, [prompt(REPO, "heron")]);
  await utimes(older, 1000, 1000);
  const index = await createSearchIndex({ path: home.indexPath, clock: { ...clock, now: tick }, logger: silentLogger });
  let reads = 0;
  // Time passes with every look at the clock: a budget is over after a few of them.
  function tick(): number {
    return 100 * reads++;
  }
  const first = await index.refresh({ sources: home.sources(), budgetMs: 350 });
  expect(first).toMatchObject({ complete: false, pendingFiles: 2 });
  expect(first.bytesRead).toBeGreaterThan(0);
  expect(first.bytesRead + first.pendingBytes).toBe((await stat(path)).size + (await stat(older)).size);
  const partial = index.search({ text: "otter", agentId: "main", repoRoots: [REPO] });
  expect(partial.indexing).toMatchObject({ complete: false, pendingFiles: 2 });
  expect(partial.note).toContain("Indexing is in progress: 2 files are not searchable yet.");
  expect(partial.hits.length).toBeGreaterThan(0);

  let rest = 0;
  for (let round = 0; round < 100; round++) {
    const report = await index.refresh({ sources: home.sources(), budgetMs: 350 });
    rest += report.bytesRead;
    if (report.complete) break;
  }
  expect(first.bytesRead + rest).toBe((await stat(path)).size + (await stat(older)).size);
  expect(count(index, "heron")).toBe(1);
  expect(index.search({ text: "otter", agentId: "main", repoRoots: [REPO], limit: 5 }).note).toBeUndefined();
  expect(index.search({ text: '"otter 1199"', agentId: "main", repoRoots: [REPO] }).hits).toHaveLength(1);
  index.close();
});

it("reads the same in threads", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "# Birds\n\notter and heronQueue");
  await home.transcript("main", "s1", ["otter one", "日本語 🦦"]);
  const long = Array.from({ length: 1500 }, (_, number) => answer(REPO, `otter ${number} ${"word ".repeat(60)}`));
  await home.native(REPO, SESSION, [prompt(REPO, "begin"), "{torn", ...long]);
  await home.native(REPO, SESSION_2, [prompt(REPO, "stork")]);
  const { files } = await listSources(home.sources(), []);
  const jobs = [...files, { ...(files[0] as SourceFile), path: join(home.home, "gone.md") }].map((file) => ({ file }));
  const here = await collect(readHere(jobs));
  expect(here.found).toHaveLength(jobs.length);
  expect(here.found.every(([, { isDone }]) => isDone)).toBe(true);
  expect(here.vocabulary).toEqual(expect.arrayContaining(["heronqueue", "heron", "queue", "stork"]));
  expect(await collect(readInThreads(jobs))).toEqual(here);
});

/** What was read of each job, whatever the order of the parts. */
async function collect(readings: AsyncIterable<Reading>) {
  const found = new Map<number, { steps: ReadStep[]; tails: string[]; isDone: boolean }>();
  const vocabulary = new Set<string>();
  for await (const { job, part, isDone } of readings) {
    const before = found.get(job) ?? { steps: [], tails: [], isDone: false };
    found.set(job, {
      steps: [...before.steps, ...(part?.steps ?? [])],
      tails: [...before.tails, ...(part === undefined ? [] : [part.tail])],
      isDone,
    });
    for (const word of part?.vocabulary ?? []) vocabulary.add(word);
  }
  return { found: [...found].sort(([a], [b]) => a - b), vocabulary: [...vocabulary].sort() };
}

it("stops on abort, and reports progress", async () => {
  await using home = await createSearchHome();
  await home.memory("main", "MEMORY.md", "otter");
  const index = await home.open();
  const stopped = await index.refresh({ sources: home.sources(), signal: AbortSignal.abort() });
  expect(stopped).toMatchObject({ complete: false, pendingFiles: 1, pendingBytes: 5 });
  const progress: unknown[] = [];
  await index.refresh({ sources: home.sources(), onProgress: (now) => progress.push(now) });
  expect(progress).toEqual([{ filesDone: 1, filesTotal: 1, bytesDone: 5, bytesTotal: 5 }]);
});

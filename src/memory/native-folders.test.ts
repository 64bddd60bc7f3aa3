/** Project folders that have not changed are not listed again; every change in one is still noticed. */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import {
  SESSION,
  SESSION_2,
  type SearchHome,
  answer,
  appendLines,
  createSearchHome,
  prompt,
} from "../../test/support/search-home.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { archiveNativeSessions } from "../claude/archive/archive-sessions.ts";
import { readArchive } from "../claude/archive/catalogue.ts";
import { createNativeIndex } from "../claude/index/create-native-index.ts";
import { claudeLayout } from "../config/layout.ts";
import { createSearchIndex } from "./search-index.ts";
import type { NativeSources } from "./sources.ts";

const REPO = "/repos/shop";
const ELSEWHERE = "/repos/elsewhere";
/** Folders are only trusted when they are older than the coarsest time of a file system, subagents after an hour. */
const LATER_MS = 7_200_000;
/** Longer than the tick of a file system's clock. */
const TICK_MS = 30;

it("reads nothing of folders that are as they were", async () => {
  await using opened = await open();
  const { home, index, refresh } = opened;
  await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  await home.subagent(REPO, SESSION, "abc", [answer(REPO, "stork", { isSidechain: true })]);
  await home.native(ELSEWHERE, SESSION_2, [prompt(ELSEWHERE, "heron")]);
  expect(await refresh()).toMatchObject({ filesRead: 3, files: 3 });
  const database = new DatabaseSync(home.indexPath);
  // A row that would be read again if its folder were listed.
  database.exec("UPDATE sources SET size = 1 WHERE subagent_id IS NULL");
  database.close();
  expect(await refresh()).toMatchObject({ filesRead: 0, files: 3, complete: true });
  expect(index.counts().files).toBe(3);
});

it("notices a transcript that grows, comes, goes or moves, and a folder that goes", async () => {
  await using opened = await open();
  const { home, count, refresh } = opened;
  const path = await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  const other = await home.native(ELSEWHERE, SESSION_2, [prompt(ELSEWHERE, "heron")]);
  await refresh();
  await appendLines(path, [answer(REPO, "otter again")]);
  expect(await refresh()).toMatchObject({ filesRead: 1, files: 2 });
  expect(count("otter")).toBe(2);
  await rename(other, join(dirname(path), `${SESSION_2}.jsonl`));
  expect(await refresh()).toMatchObject({ bytesRead: 0, removed: 0, files: 2 });
  expect(count("heron")).toBe(1);
  await rm(path);
  expect(await refresh()).toMatchObject({ removed: 1, files: 1 });
  await rm(dirname(path), { recursive: true });
  expect(await refresh()).toMatchObject({ removed: 1, files: 0 });
  await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  expect(await refresh()).toMatchObject({ filesRead: 1, files: 1 });
});

it("notices a new subagent of a session that continues", async () => {
  await using opened = await open();
  const { home, count, refresh } = opened;
  const path = await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  await home.subagent(REPO, SESSION, "abc", [answer(REPO, "stork", { isSidechain: true })]);
  await refresh();
  await home.subagent(REPO, SESSION, "def", [answer(REPO, "stork too", { isSidechain: true })]);
  await appendLines(path, [answer(REPO, "otter again")]);
  expect(await refresh()).toMatchObject({ filesRead: 2, files: 3 });
  expect(count("stork")).toBe(2);
});

it("reads on in the next search what a search left undone", async () => {
  await using opened = await open();
  const { home, count, refresh } = opened;
  await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  expect(await refresh({}, 0)).toMatchObject({ complete: false, pendingFiles: 1 });
  expect(await refresh()).toMatchObject({ complete: true, filesRead: 1 });
  expect(count("otter")).toBe(1);
});

it("applies the owners of a registry to folders that are as they were", async () => {
  await using opened = await open();
  const { home, count, refresh } = opened;
  await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  await refresh();
  expect(count("otter")).toBe(1);
  await refresh({ owners: new Map([[SESSION, "other"]]) });
  expect(count("otter")).toBe(0);
});

it("finds the copy of a transcript that has gone, and the transcript when it is back", async () => {
  await using opened = await open();
  const { home, index, refresh } = opened;
  const path = await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
  await home.native(REPO, SESSION_2, [prompt(REPO, "heron")]);
  await archive(home);
  const isArchived = (): unknown[] =>
    index.search({ text: "otter", agentId: "main", repoRoots: [REPO] }).hits.map(({ archived }) => archived);
  const native = { archive: { folder: claudeLayout(home.home).archiveFolder, sessions: await archived(home) } };
  await refresh(native);
  await rename(path, `${path}.away`);
  expect(await refresh(native)).toMatchObject({ files: 2, removed: 0 });
  expect(isArchived()).toEqual([true]);
  expect(await refresh(native)).toMatchObject({ files: 1, filesRead: 0 });
  await rename(`${path}.away`, path);
  await refresh(native);
  expect(isArchived()).toEqual([undefined]);
  await rm(path);
  await rm(native.archive.folder, { recursive: true });
  expect(await refresh({ archive: { ...native.archive, sessions: [] } })).toMatchObject({ removed: 1 });
  expect(isArchived()).toEqual([]);
});

async function open() {
  const home = await createSearchHome();
  await mkdir(home.claudeHome, { recursive: true });
  const clock = { ...systemClock, now: () => Date.now() + LATER_MS };
  const index = await createSearchIndex({ path: home.indexPath, clock, logger: silentLogger });
  return {
    home,
    index,
    refresh: async (native: Partial<NativeSources> = {}, budgetMs?: number) => {
      const report = await index.refresh({ sources: home.sources(native), budgetMs });
      await delay(TICK_MS);
      return report;
    },
    count: (text: string) => index.search({ text, agentId: "main", repoRoots: ["/repos"] }).hits.length,
    [Symbol.asyncDispose]: async () => {
      index.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

async function archive({ home, claudeHome }: SearchHome): Promise<void> {
  const index = createNativeIndex({ path: claudeLayout(home).index, claudeHome, threads: 0 });
  await index.refresh();
  await archiveNativeSessions({ claudeHome, home, index, daysBefore: Number.POSITIVE_INFINITY, redact: false });
  index.close();
}

async function archived({ home }: SearchHome) {
  return [...(await readArchive(home)).values()];
}

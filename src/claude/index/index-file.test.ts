/** The index file: derived, private, shared by processes, and never a reason to fail. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdir, open, rm, stat, truncate, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { RefreshOptions, RefreshProgress } from "./native-index.ts";
import { createNativeIndex } from "./create-native-index.ts";

const SESSIONS = 300;

/** Enough for threads, with a fork in every ten sessions. */
async function corpus(sessions = SESSIONS, filler = 60_000): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  const project = folder.join("claude", "projects", "-repo");
  mkdirSync(project, { recursive: true });
  for (let number = 0; number < sessions; number += 1) {
    const original = number % 10 === 9 ? number - 1 : number;
    const lines = [original, number].map((message, index) => ({
      parentUuid: null,
      type: "assistant",
      uuid: `u${message}-${index}`,
      timestamp: new Date(1_790_000_000_000 + number * 1000 + index).toISOString(),
      cwd: "/repo",
      message: {
        id: `m${message}-${index}`,
        model: "claude-opus-4-5",
        content: [{ type: "text", text: "x".repeat(filler) }],
        usage: { input_tokens: 10, output_tokens: 1 },
      },
    }));
    writeFileSync(`${project}/${sessionId(number)}.jsonl`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  return folder;
}

const sessionId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

function openIndex(folder: TemporaryFolder, threads?: number) {
  const options = { path: folder.join("cache", "index.sqlite"), claudeHome: folder.join("claude") };
  const index = createNativeIndex({ ...options, ...(threads === undefined ? {} : { threads }) });
  return Object.assign(index, { [Symbol.dispose]: () => index.close() });
}

/** Two messages per session; every tenth session shares its first message with another. */
const totalOutput = (index: ReturnType<typeof openIndex>) =>
  index.usage({ by: "model" }).reduce((sum, { output }) => sum + output, 0);
const EXPECTED = 2 * SESSIONS - SESSIONS / 10;

it("reads the same with and without threads, and reports progress", async () => {
  await using folder = await corpus();
  const progress: RefreshProgress[] = [];
  using index = openIndex(folder, 2);
  const report = await index.refresh({ onProgress: (step) => progress.push(step) });
  expect([report.files, totalOutput(index)]).toEqual([SESSIONS, EXPECTED]);
  expect(progress.at(-1)).toMatchObject({ filesDone: report.filesRead, filesTotal: report.filesRead });
  const inThreads = [...index.list()];
  await rm(folder.join("cache"), { recursive: true });
  using alone = openIndex(folder, 0);
  await alone.refresh();
  expect([...alone.list()]).toEqual(inThreads);
});

it("is private", async () => {
  await using folder = await corpus(3, 10);
  using index = openIndex(folder);
  await index.refresh();
  const modes = ["cache", "cache/index.sqlite", "cache/index.sqlite-wal"].map((name) => stat(folder.join(name)));
  expect((await Promise.all(modes)).map(({ mode }) => (mode & 0o777).toString(8))).toEqual(["700", "600", "600"]);
});

const unusable: [string, (path: string) => Promise<void>][] = [
  ["something else", async (path) => await writeFile(path, "no database ".repeat(1000))],
  ["another program's", async (path) => useDatabase(path, "DROP TABLE identity; CREATE TABLE identity (other)")],
  ["an older version's", async (path) => useDatabase(path, `UPDATE identity SET value = '{"index":0}'`)],
  [
    "damaged",
    async (path) => {
      useDatabase(path, "PRAGMA wal_checkpoint(TRUNCATE)");
      await using handle = await open(path, "r+");
      await handle.write(Buffer.alloc(40_000, 0x5a), 0, 40_000, 4096);
    },
  ],
];

it.each(unusable)("replaces a file that is %s", async (_, spoil) => {
  await using folder = await corpus(20, 10);
  const path = folder.join("cache", "index.sqlite");
  {
    using index = openIndex(folder);
    await index.refresh();
  }
  await spoil(path);
  using index = openIndex(folder);
  await index.refresh();
  expect([[...index.list()].length, totalOutput(index)]).toEqual([20, 38]);
});

function useDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

it("stops on abort and continues later", async () => {
  await using folder = await corpus();
  using index = openIndex(folder, 1);
  const controller = new AbortController();
  const refreshing = index.refresh({ signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(refreshing).rejects.toThrow("enough");
  await expect(index.refresh({ signal: controller.signal })).rejects.toThrow("enough");
  await index.refresh();
  expect(totalOutput(index)).toBe(EXPECTED);
});

const CHILD = `
  const [url, path, claudeHome, refresh] = process.argv.slice(1);
  const { createNativeIndex } = await import(url);
  const index = createNativeIndex({ path, claudeHome, threads: 1 });
  process.stdout.write("ready");
  await index.refresh(JSON.parse(refresh));
  process.stdout.write(JSON.stringify(index.usage({ by: "model" })));
`;

function startChild(folder: TemporaryFolder, refresh: RefreshOptions = {}): ChildProcess {
  const url = new URL("create-native-index.ts", import.meta.url).href;
  const [path, claudeHome] = [folder.join("cache", "index.sqlite"), folder.join("claude")];
  return spawn(process.execPath, ["--input-type=module", "-e", CHILD, url, path, claudeHome, JSON.stringify(refresh)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

it.each([false, true])("lets two processes refresh at once (one of them for usage only: %s)", async (usageOnly) => {
  await using folder = await corpus();
  const children = [startChild(folder), startChild(folder, { usageOnly })];
  const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
  expect(codes).toEqual([0, 0]);
  using index = openIndex(folder);
  expect(await index.refresh()).toMatchObject({ filesRead: 0 });
  expect([[...index.list()].length, totalOutput(index)]).toEqual([SESSIONS, EXPECTED]);
});

it.each([
  [false, [0, 40, 80, 120]],
  [true, [20, 60, 100]],
])("is usable after a refresh was killed at any time (usage only: %s)", async (usageOnly, delays) => {
  await using folder = await corpus();
  const log = `${folder.join("cache", "index.sqlite")}-wal`;
  for (const afterMs of delays) {
    await rm(folder.join("cache"), { recursive: true, force: true });
    const child = startChild(folder, { usageOnly });
    const exited = once(child, "exit");
    while (!existsSync(log) && child.exitCode === null) await delay(1);
    await delay(afterMs);
    child.kill("SIGKILL");
    await exited;
    appendFileSync(folder.join("claude", "projects", "-repo", `${sessionId(0)}.jsonl`), "\n");
    using index = openIndex(folder, 0);
    await index.refresh({ usageOnly });
    expect(totalOutput(index)).toBe(EXPECTED);
    await index.refresh();
    expect([[...index.list()].length, totalOutput(index)]).toEqual([SESSIONS, EXPECTED]);
  }
});

it("is rebuilt wherever the file was overwritten, before it gives an answer", async () => {
  await using folder = await corpus(60, 200);
  const path = folder.join("cache", "index.sqlite");
  const read = async (): Promise<string> => {
    using index = openIndex(folder, 0);
    await index.refresh();
    const sessions = [...index.list()].map(({ sessionId: id, tokens }) => ({ id, tokens }));
    return JSON.stringify([sessions, index.usage({ by: "model" }), index.places()]);
  };
  const whole = await read();
  const { size } = await stat(path);
  for (let offset = 0; offset < size; offset += Math.max(4096, Math.floor(size / 12))) {
    {
      await using handle = await open(path, "r+");
      await handle.write(Buffer.alloc(4096, 0xa5), 0, 4096, offset);
    }
    expect(await read(), `overwritten at ${offset}`).toBe(whole);
  }
  await truncate(path, Math.floor(size / 2));
  expect(await read()).toBe(whole);
  await rm(path);
  await mkdir(path);
  expect(await read()).toBe(whole);
});

it("is replaced by the next refresh when damaged while open", async () => {
  await using folder = await corpus(60, 200);
  const path = folder.join("cache", "index.sqlite");
  {
    using index = openIndex(folder, 0);
    await index.refresh();
  }
  using index = openIndex(folder, 0);
  await writeFile(path, Buffer.alloc((await stat(path)).size, 0xa5), { flag: "r+" });
  const attempt = (): unknown => {
    try {
      return [...index.list()].length;
    } catch (error) {
      return (error as { code: unknown }).code;
    }
  };
  expect([60, "index-damaged"]).toContain(attempt());
  await index.refresh();
  expect(attempt()).toBe(60);
});

/** Changes one entry of 100, 1,000 and 10,000: the store against rewriting the whole file. */
import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createJsonStore } from "../src/store/json/json-store.ts";
import { createSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { SessionEntry } from "../src/store/session-entry.ts";
import type { Store } from "../src/store/store.ts";
import { type Result, median } from "./measure.ts";
import { sampleEntry, sampleKey } from "./sample-entry.ts";

const SIZES = [100, 1000, 10_000] as const;

export async function measureStoreUpdates(folder: string): Promise<Result[]> {
  const sqlite: number[] = [];
  const json: number[] = [];
  const rewrite: number[] = [];
  for (const size of SIZES) {
    const root = join(folder, `update-${size}`);
    const path = join(root, "sessions", "sessions.json");
    await mkdir(dirname(path), { recursive: true });
    await mkdir(join(root, "sqlite"));
    const entries = Object.fromEntries(Array.from({ length: size }, (_, i) => [sampleKey(i), sampleEntry(i)]));
    await writeWhole(path, entries);

    const jsonStore = await createJsonStore({ path, agentId: "main" });
    json.push(await timeUpdates(jsonStore, size, size > 1000 ? 5 : 20));
    await jsonStore.close();
    rewrite.push(await median(size > 1000 ? 5 : 20, async (index) => await rewriteWhole(path, sampleKey(index))));

    const sqliteStore = await createSqliteStore({
      path: join(root, "sqlite", "agent.sqlite"),
      agentId: "main",
      execution: "inline",
    });
    await fill(sqliteStore, size);
    sqlite.push(await timeUpdates(sqliteStore, size, 300));
    await sqliteStore.close();
  }
  const last = SIZES.length - 1;
  return [
    ...SIZES.flatMap((size, index): Result[] => [
      {
        work: `update 1 of ${size}, sqlite`,
        ours: at(sqlite, index),
        peer: "whole-file rewrite",
        theirs: at(rewrite, index),
      },
      {
        work: `update 1 of ${size}, json`,
        ours: at(json, index),
        peer: "whole-file rewrite",
        theirs: at(rewrite, index),
      },
    ]),
    {
      work: "sqlite update at 10,000",
      ours: at(sqlite, last),
      peer: "at 100",
      theirs: at(sqlite, 0),
      bar: { ratio: "ours/theirs", atMost: 1.5 },
    },
    {
      work: "sqlite update at 10,000",
      ours: at(sqlite, last),
      peer: "whole-file rewrite",
      theirs: at(rewrite, last),
      bar: { ratio: "theirs/ours", atLeast: 100 },
    },
  ];
}

async function timeUpdates(store: Store, size: number, runs: number): Promise<number> {
  await store.update(sampleKey(0), (entry) => entry && { ...entry, totalTokens: 0 });
  return await median(runs, async (index) => {
    const key = sampleKey((index * 7919) % size);
    await store.update(key, (entry) => entry && { ...entry, totalTokens: index + 1, updatedAt: Date.now() });
  });
}

async function fill(store: Store, size: number): Promise<void> {
  for (let start = 0; start < size; start += 500) {
    const indexes = Array.from({ length: Math.min(500, size - start) }, (_, offset) => start + offset);
    await Promise.all(indexes.map(async (index) => await store.update(sampleKey(index), () => sampleEntry(index))));
  }
}

/** OpenClaw's way to change an entry: read, change and write everything, with the durability of our store. */
async function rewriteWhole(path: string, key: string): Promise<void> {
  const entries = JSON.parse(await readFile(path, "utf8")) as Record<string, SessionEntry>;
  const entry = entries[key];
  if (entry !== undefined) entries[key] = { ...entry, updatedAt: Date.now() };
  await writeWhole(path, entries);
}

async function writeWhole(path: string, entries: Record<string, SessionEntry>): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  const handle = await open(temporary, "w", 0o600);
  await handle.writeFile(JSON.stringify(entries, undefined, 2));
  await handle.sync();
  await handle.close();
  await rename(temporary, path);
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? Number.NaN;
}

/** Leases of real processes that were killed or paused: one successor each, and the old holder stays fenced off. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Store, StoreKind } from "../../src/store/store.ts";
import { freshDatabase, useDatabase } from "../support/postgres.ts";
import { openStore } from "../support/stores.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";
import type { LeaseChildTask } from "./lease-child.ts";
import type { Lease } from "../../src/store/queues.ts";

const ROUNDS = 2;
/** Longer than any test: only the death of its holder frees this lease. */
const LONG_MS = 3_600_000;

describe.each(["sqlite", "json", "postgres"] as const)("lease takeover: %s", (kind) => {
  it("gives the lease of a killed holder to exactly one process", async () => {
    await using folder = await temporaryFolder();
    await using _database = await prepare(kind, folder.path);
    const handles = await openHandles(kind, folder.path);
    for (let round = 0; round < ROUNDS; round++) {
      await using holder = await startHolder({ kind, home: folder.path, ttlMs: LONG_MS });
      expect(await contend(handles)).toEqual([]);
      holder.child.kill("SIGKILL");
      await holder.ended;
      const winners = kind === "postgres" ? await contendUntilWon(handles) : await contend(handles);
      expect(winners.map((lease) => lease.epoch)).toEqual([holder.epoch + 1]);
      await releaseAll(handles, winners);
    }
    await Promise.all(handles.map((store) => store.close()));
  });

  it("gives the lease of a paused holder to exactly one process, and rejects the holder when it resumes", async () => {
    await using folder = await temporaryFolder();
    await using _database = await prepare(kind, folder.path);
    const handles = await openHandles(kind, folder.path);
    for (let round = 0; round < ROUNDS; round++) {
      await using holder = await startHolder({ kind, home: folder.path, ttlMs: 1 });
      holder.child.kill("SIGSTOP");
      const winners = await contend(handles);
      expect(winners.map((lease) => lease.epoch)).toEqual([holder.epoch + 1]);
      holder.child.kill("SIGCONT");
      holder.child.stdin.end();
      expect(await holder.nextLine()).toBe("fenced");
      expect(await handles[0]?.get("main")).toBeUndefined();
      await releaseAll(handles, winners);
    }
    await Promise.all(handles.map((store) => store.close()));
  });
});

async function prepare(kind: StoreKind, home: string): Promise<AsyncDisposable | undefined> {
  if (kind !== "postgres") return undefined;
  const database = await freshDatabase();
  await useDatabase(home, database);
  return database;
}

/** The database needs a moment to notice that a process has ended. */
async function contendUntilWon(handles: readonly Store[]): Promise<Lease[]> {
  return await until(async () => {
    const winners = await contend(handles);
    return winners.length > 0 && winners;
  }, "a winner");
}

async function openHandles(kind: StoreKind, home: string): Promise<Store[]> {
  return await Promise.all([1, 2, 3].map(() => openStore(kind, { home })));
}

/** All try at the same time. Returns the leases of the winners. */
async function contend(handles: readonly Store[]): Promise<Lease[]> {
  const tries = [...handles, ...handles].map((store) => store.leases.acquire("main", { ttlMs: LONG_MS }));
  const attempts = await Promise.all(tries);
  return attempts.flatMap((attempt) => (attempt.acquired ? [attempt.lease] : []));
}

async function releaseAll([store]: readonly Store[], leases: readonly Lease[]): Promise<void> {
  for (const lease of leases) await store?.leases.release(lease);
}

interface Holder extends AsyncDisposable {
  child: ChildProcessByStdio<Writable, Readable, null>;
  epoch: number;
  ended: Promise<unknown>;
  nextLine(): Promise<string | undefined>;
}

async function startHolder(task: LeaseChildTask): Promise<Holder> {
  const script = fileURLToPath(new URL("./lease-child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string | undefined> => (await lines.next()).value;
  const epoch = Number(await nextLine());
  return {
    child,
    epoch,
    ended,
    nextLine,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/**
 * A process of its own that works on a store. Its one argument is a StoreChildTask as JSON; it ends
 * with exit code 0 when the task is done (`die-with-lease` ends by SIGKILL).
 */
import { HoldfastError } from "../../src/base/errors.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import { openStore } from "./stores.ts";
import type { StoreChildTask } from "./run-store-child.ts";

const CONCURRENT_UPDATES = 50;
/** Of so many updates of entries. */
const HANDOFF_EVERY = 10;
/** Long enough that no clock of a test takes the lease for expired. */
const A_CENTURY_MS = 100 * 365 * 86_400_000;

const argument = JSON.parse(process.argv[2] ?? "") as StoreChildTask;
const store = await openStore(argument.kind, { home: argument.home });

switch (argument.task) {
  case "die-with-lease":
    await store.leases.acquire(argument.leased, { ttlMs: A_CENTURY_MS });
    process.kill(process.pid, "SIGKILL");
    break;
  case "count":
    await countUp(argument.name, argument.updates);
    await store.close();
    break;
}

/** Half of the updates count up one entry shared by all children, half of them entries of its own. */
async function countUp(name: string, updates: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < updates) {
      const index = next++;
      const key = index % 2 === 0 ? "shared" : `own-${name}-${index % 20}`;
      await whenFree(async () => await store.update(key, increment));
      if (index % HANDOFF_EVERY === 0)
        await whenFree(async () => await store.handoffs.update("shared", incrementState));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_UPDATES }, worker));
}

/** Other writers can keep a busy store locked past its time limit. Nothing was written then, so it is tried again. */
async function whenFree(task: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await task();
      return;
    } catch (error) {
      if (attempt === 5 || !(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    }
  }
}

function incrementState(state: unknown): { count: number } {
  return { count: ((state as { count: number } | undefined)?.count ?? 0) + 1 };
}

function increment(current: SessionEntry | undefined): SessionEntry {
  return {
    ...(current ?? { sessionId: "s-1" }),
    updatedAt: Date.now(),
    inputTokens: (current?.inputTokens ?? 0) + 1,
  };
}

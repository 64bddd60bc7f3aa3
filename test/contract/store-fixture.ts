/** A fresh store in a folder of its own, with more handles on the same files when a test needs them. */
import type { Clock } from "../../src/base/clock.ts";
import { HoldfastError } from "../../src/base/errors.ts";
import type { HistoryOptions } from "../../src/store/pending.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { Store } from "../../src/store/store.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { type TestClock, createTestClock } from "../support/time.ts";

export interface StoreFixture extends AsyncDisposable {
  /** The store of agent `main`. */
  store: Store;
  clock: TestClock;
  home: string;
  /** A second, independent handle on the same files, as another process would have it. */
  reopen(options?: HistoryOptions): Promise<Store>;
  /** The store of another agent in the same home. */
  openOther(agentId: string): Promise<Store>;
}

export type MakeStore = () => Promise<StoreFixture>;

export interface OpenOptions extends HistoryOptions {
  home: string;
  agentId: string;
  clock: Clock;
}

/** Builds a fixture from the way to open a store; every handle is closed when the test ends. */
export async function createStoreFixture(
  open: (options: OpenOptions) => Promise<Store>,
  { clock = createTestClock() }: { clock?: TestClock } = {},
): Promise<StoreFixture> {
  const folder = await temporaryFolder();
  const opened: Store[] = [];
  const openFor = async (agentId: string, options: HistoryOptions = {}) => {
    const store = await open({ ...options, home: folder.path, agentId, clock });
    opened.push(store);
    return store;
  };
  return {
    store: await openFor("main"),
    clock,
    home: folder.path,
    reopen: async (options) => await openFor("main", options),
    openOther: async (agentId) => await openFor(agentId),
    [Symbol.asyncDispose]: async () => {
      for (const store of opened) await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The smallest entry, with the fields that a test sets. */
export function entry(sessionId: string, more: Partial<SessionEntry> & Record<string, unknown> = {}): SessionEntry {
  return { sessionId, updatedAt: 1_000, ...more };
}

/** Puts an entry under a key, whatever was there. */
export async function put(store: Store, key: string, value: SessionEntry): Promise<void> {
  await store.update(key, () => value);
}

/** The HoldfastError of a refused operation. Fails if it was not refused, or with another error. */
export async function refusal(operation: Promise<unknown>): Promise<{ kind: string; code: string }> {
  try {
    await operation;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { kind: error.kind, code: error.code };
  }
  throw new Error("The operation was not refused.");
}

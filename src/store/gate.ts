/**
 * Every operation of a store passes the gate, which makes keys canonical, refuses keys of other agents, and refuses
 * everything once the store is closing.
 */
import type { Leased } from "./queues.ts";
import { storeClosed } from "./store-errors.ts";
import { type KeyOwner, accountLeaseKey, isAccountLease, ownSessionKey } from "./store-rules.ts";

type KeyTask<T> = (key: string) => T | Promise<T>;

/** A turn uses its key a dozen times. */
const KNOWN_KEYS = 1000;

export type Gate = ReturnType<typeof createGate>;

export function createGate(path: string, owner: KeyOwner) {
  const inside = new Set<Promise<unknown>>();
  let isClosed = false;

  const run = async <T>(task: () => T | Promise<T>): Promise<T> => {
    if (isClosed) throw storeClosed(path);
    const operation = Promise.resolve().then(task);
    inside.add(operation);
    try {
      return await operation;
    } finally {
      inside.delete(operation);
    }
  };
  const known = new Map<string, string>();
  const ownKey = (key: string): string => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const own = ownSessionKey(key, owner);
    if (known.size >= KNOWN_KEYS) known.clear();
    known.set(key, own);
    return own;
  };
  const leaseKey = (leased: Leased): string => {
    if (typeof leased === "string") return ownKey(leased);
    if ("connection" in leased) return accountLeaseKey("poll", owner.agentId, leased.connection);
    if (!("key" in leased)) return accountLeaseKey("delivery", owner.agentId, leased);
    return isAccountLease(owner.agentId, leased.key) ? leased.key : ownKey(leased.key);
  };

  return {
    run,
    withKey: <T>(key: string, task: KeyTask<T>): Promise<T> => run(() => task(ownKey(key))),
    withLeased: <T>(leased: Leased, task: KeyTask<T>): Promise<T> => run(() => task(leaseKey(leased))),
    /** Refuses new operations and waits for the running ones. */
    close: async (): Promise<void> => {
      isClosed = true;
      await Promise.allSettled(inside);
    },
  };
}

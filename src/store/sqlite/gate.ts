/**
 * Every operation of a store passes here. The gate makes keys canonical and refuses those of other
 * agents, refuses everything once the store is closing, and knows what is still under way.
 */
import { leaseKeyOf } from "../lease-key.ts";
import { type KeyOwner, ownSessionKey } from "../store-key.ts";
import { storeClosed } from "../store-errors.ts";
import type { Lease, Leased } from "../store.ts";

type Task<T> = () => T | Promise<T>;

export interface Gate {
  run<T>(task: Task<T>): Promise<T>;
  /** Hands the canonical form of the key to the task. */
  withKey<T>(key: string, task: (key: string) => T | Promise<T>): Promise<T>;
  /** Hands the key of its lease to the task. */
  withLeased<T>(leased: Leased, task: (key: string) => T | Promise<T>): Promise<T>;
  withLease<T>(lease: Lease, task: Task<T>): Promise<T>;
  /** Lets nothing more in; resolves when everything inside is done. */
  close(): Promise<void>;
}

/** A turn names its key a dozen times. */
const KNOWN_KEYS = 1000;

export function createGate(path: string, owner: KeyOwner): Gate {
  const inside = new Set<Promise<unknown>>();
  let isClosed = false;

  const run = async <T>(task: Task<T>): Promise<T> => {
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
  const withKey = <T>(key: string, task: (key: string) => T | Promise<T>) => run(() => task(ownKey(key)));
  const withLeased = <T>(leased: Leased, task: (key: string) => T | Promise<T>) =>
    run(() => task(leaseKeyOf(leased, { agentId: owner.agentId, ownKey })));

  return {
    run,
    withKey,
    withLeased,
    withLease: (lease, task) => withLeased(lease, task),
    close: async () => {
      isClosed = true;
      await Promise.allSettled(inside);
    },
  };
}

/**
 * The change feed compares states. Changes of this process come with their commit. The files are polled for changes of
 * other processes, but only while there are listeners.
 */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../base/log.ts";
import type { StoreChange } from "../store.ts";
import type { EntryMap } from "./entry-map.ts";
import type { StoreState } from "./store-state.ts";

export interface ChangeFeed {
  listen(listener: (change: StoreChange) => void): () => void;
  /** Call it with the state after a commit of this process. */
  changed(state: StoreState): void;
  close(): void;
}

export interface ChangeFeedOptions {
  read: () => StoreState;
  /** Changes whenever a file does. */
  stamp: () => string;
  /** Called when another process changed the files. */
  onForeignChange: (state: StoreState) => void;
  logger: Logger;
}

const POLL_INTERVAL_MS = 250;

export function createChangeFeed({ read, stamp, onForeignChange, logger }: ChangeFeedOptions): ChangeFeed {
  const listeners = new Set<(change: StoreChange) => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen: StoreState | undefined;
  let seenStamp = "";

  const advance = (state: StoreState): void => {
    const changes = seen === undefined ? [] : changesBetween(seen, state);
    seen = state;
    for (const change of changes) for (const listener of listeners) tell(listener, change, logger);
  };
  const poll = (): void => {
    const current = stamp();
    if (current === seenStamp) return;
    seenStamp = current;
    try {
      const state = read();
      advance(state);
      onForeignChange(state);
    } catch (error) {
      logger.warn("Changes of other processes cannot be read", { error });
    }
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    seen = undefined;
  };

  return {
    listen(listener) {
      if (timer === undefined) {
        seenStamp = stamp();
        seen = read();
        timer = setInterval(poll, POLL_INTERVAL_MS).unref();
      }
      // Wrapped, so that one function can listen twice and stop each separately.
      const own = (change: StoreChange): void => listener(change);
      listeners.add(own);
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    changed(state) {
      if (timer === undefined) return;
      seenStamp = stamp();
      advance(state);
    },
    close() {
      listeners.clear();
      stop();
    },
  };
}

function tell(listener: (change: StoreChange) => void, change: StoreChange, logger: Logger): void {
  try {
    listener(change);
  } catch (error) {
    logger.error("A listener of store changes failed", { error, ...change });
  }
}

function changesBetween(before: StoreState, after: StoreState): StoreChange[] {
  const [from, to] = [before.sidecar, after.sidecar];
  const keys: Record<StoreChange["what"], string[]> = {
    entry: [...changedEntries(before.entries, after.entries), ...changedMembers(from.windows, to.windows)],
    lease: changedMembers(from.leases, to.leases),
    inbox: changedItemKeys(from.inbox, to.inbox),
    outbox: changedItemKeys(from.outbox, to.outbox),
    handoff: changedMembers(from.handoffs, to.handoffs),
  };
  const kinds = Object.keys(keys) as StoreChange["what"][];
  return kinds.flatMap((what) => [...new Set(keys[what])].map((key) => ({ what, key })));
}

function changedEntries(before: EntryMap, after: EntryMap): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => isChanged(before.current(key), after.current(key)));
}

function changedMembers<T>(before: Record<string, T>, after: Record<string, T>): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => isChanged(before[name], after[name]));
}

function changedItemKeys<T extends { key: string }>(before: Record<string, T>, after: Record<string, T>): string[] {
  return changedMembers(before, after).flatMap((id) => (after[id] ?? before[id])?.key ?? []);
}

/** Unchanged members are mostly the same objects, which makes this cheap. */
function isChanged(a: unknown, b: unknown): boolean {
  return a !== b && !isDeepStrictEqual(a, b);
}

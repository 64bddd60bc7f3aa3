/** Finds changes by comparing states: of this process after a commit, of others when a file has changed. */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../base/log.ts";
import { createChangeFeed } from "../change-feed.ts";
import type { StoreChange } from "../store.ts";
import type { EntryMap } from "./entry-map.ts";
import type { StoreState } from "./store-state.ts";

interface StateFeedOptions {
  read: () => StoreState;
  /** Changes whenever a file does. */
  stamp: () => string;
  /** Called when another process changed the files. */
  onForeignChange: (state: StoreState) => void;
  logger: Logger;
}

export function createStateFeed({ read, stamp, onForeignChange, logger }: StateFeedOptions) {
  let seen: StoreState | undefined;
  let seenStamp = "";

  const changesTo = (state: StoreState): StoreChange[] => {
    const changes = seen === undefined ? [] : changesBetween(seen, state);
    seen = state;
    return changes;
  };
  const start = (): void => {
    seenStamp = stamp();
    seen = read();
  };
  const look = (): StoreChange[] => {
    const current = stamp();
    if (current === seenStamp) return [];
    seenStamp = current;
    const state = read();
    onForeignChange(state);
    return changesTo(state);
  };
  const feed = createChangeFeed({ start, look }, logger);

  return {
    ...feed,
    /** Call it with the state after a commit of this process. */
    changed(state: StoreState): void {
      if (!feed.hasListeners()) return;
      seenStamp = stamp();
      feed.tell(changesTo(state));
    },
  };
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

/** What a stand-in was asked, for tests that wait until something has come. */
export interface WatchedList<T> {
  /** Something was added, or changed. */
  changed(): void;
  waitFor(fits: (item: T) => boolean, timeoutMs: number): Promise<T>;
}

/** `noun`: what one of them is called. */
export function watchList<T>(items: readonly T[], noun: string): WatchedList<T> {
  const watchers = new Set<() => void>();
  return {
    changed: () => {
      for (const look of watchers) look();
    },
    waitFor: async (fits, timeoutMs) =>
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`no such ${noun} within ${timeoutMs} ms; ${items.length} others came`));
        }, timeoutMs);
        const look = (): void => {
          const found = items.find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
  };
}

/** Holds the state and notifies listeners; React reads it through `useSyncExternalStore`. */
import type { PageState } from "./state.ts";

export type Store = ReturnType<typeof createStore>;

export function createStore(initial: PageState) {
  const listeners = new Set<() => void>();
  let state = initial;
  /** `next` returns the given state if nothing changes. */
  const change = (next: (state: PageState) => PageState): void => {
    const before = state;
    state = next(before);
    if (state !== before) for (const listener of listeners) listener();
  };
  return {
    get: () => state,
    change,
    set: (part: Partial<PageState>) => change((before) => ({ ...before, ...part })),
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Holds the state and notifies listeners; React reads it through `useSyncExternalStore`. */
import { reduce } from "./reduce.ts";
import type { PageState, Action } from "./state.ts";

export interface Store {
  get(): PageState;
  dispatch(action: Action): void;
  subscribe: (listener: () => void) => () => void;
}

export function createStore(initial: PageState): Store {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    get: () => state,
    dispatch: (action) => {
      const next = reduce(state, action);
      if (next === state) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

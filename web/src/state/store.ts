/** Holds the state and tells of changes; React reads it through `useSyncExternalStore`. */
import type { Action } from "./action.ts";
import { reduce } from "./reduce.ts";
import type { PageState } from "./state.ts";

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

/** Gives components access to the state and the controller. */
import { createContext, use, useSyncExternalStore } from "react";
import type { Controller } from "./controller/controller.ts";
import type { PageState } from "./state/state.ts";
import type { Store } from "./state/store.ts";

export interface Page {
  store: Store;
  controller: Controller;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function useController(): Controller {
  return usePage().controller;
}

/** `select` must return the same value while nothing relevant changes. */
export function usePageState<Part>(select: (state: PageState) => Part): Part {
  const { store } = usePage();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}

function usePage(): Page {
  const page = use(PageContext);
  if (page === undefined) throw new Error("usePage needs a PageContext");
  return page;
}

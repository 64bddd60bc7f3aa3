/** Calls the search. */
import type { searchMethods } from "../contract/search.ts";
import type { HandlersOf } from "../rpc-parts.ts";

export const searchHandlers: HandlersOf<keyof typeof searchMethods> = {
  "search.query": async (query, { parts }) => await parts.search.query(query),
  "search.status": async (_, { parts }) => await parts.search.status(),
};

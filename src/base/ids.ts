/** Ids. Code creates them through `Ids`, so that tests can repeat a run. */
import { nodeCrypto } from "./builtin.ts";

export interface Ids {
  /** A version 4 UUID. */
  uuid(): string;
}

export const randomIds: Ids = { uuid: () => nodeCrypto().randomUUID() };

/** Enough of an id to tell sessions apart. Commands accept it wherever they take an id. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

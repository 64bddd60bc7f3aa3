/** Randomness comes in through this interface, so that tests can repeat a run. */
import { nodeCrypto } from "./builtin.ts";

export interface Ids {
  /** A version 4 UUID. */
  uuid(): string;
}

export const randomIds: Ids = { uuid: () => nodeCrypto().randomUUID() };

/** Randomness comes in through this interface, so that tests can repeat a run. */
import { randomUUID } from "node:crypto";

export interface Ids {
  /** A version 4 UUID. */
  uuid(): string;
}

export const randomIds: Ids = { uuid: () => randomUUID() };

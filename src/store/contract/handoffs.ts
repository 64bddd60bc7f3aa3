/**
 * What a session leaves for the next, one state per key; opaque to the store. It needs no entry, and outlives one
 * unless that is deleted with it (`DeleteOptions`). One whose text was damaged comes as that text, a string: it is
 * listed, replaced and deleted as any other.
 */
export interface Handoffs {
  get(key: string): Promise<unknown>;
  /** Newest first. */
  list(options?: { limit?: number }): Promise<KeptHandoff[]>;
  /**
   * One atomic read-modify-write, as `Store.update`: gives `mutate` the state, or undefined when there is
   * none, and keeps what it returns; undefined leaves everything as it is. Resolves to the state afterwards.
   */
  update(key: string, mutate: (state: unknown) => unknown, options?: HandoffUpdateOptions): Promise<unknown>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
}

export interface HandoffUpdateOptions {
  /**
   * Keeps nothing once the key has no such window any more: `mutate` is not called then. For whoever is still reading
   * about a session that may be deleted meanwhile. Left out: anything is kept.
   */
  ofWindow?: string;
}

export interface KeptHandoff {
  key: string;
  /** Last change (ms). */
  updatedAt: number;
  state: unknown;
}

/** What a session leaves for the next, one state per key; opaque to the store. It outlives the session's entry. */
export interface Handoffs {
  get(key: string): Promise<unknown>;
  /** Newest first. */
  list(options?: { limit?: number }): Promise<KeptHandoff[]>;
  /**
   * One atomic read-modify-write, as `Store.update`: gives `mutate` the state, or undefined when there is
   * none, and keeps what it returns; undefined leaves everything as it is. Resolves to the state afterwards.
   */
  update(key: string, mutate: (state: unknown) => unknown): Promise<unknown>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
}

export interface KeptHandoff {
  key: string;
  /** Last change (ms). */
  updatedAt: number;
  state: unknown;
}

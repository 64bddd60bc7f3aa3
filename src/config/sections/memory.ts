/** What the agent writes down before a conversation is shortened. */

export interface MemoryConfig {
  /** Whether the agent is asked to write down what matters before a compaction or a reset. */
  flush: boolean;
  /** The person waits so long for it at most. */
  flushTimeoutSeconds: number;
}

export const DEFAULT_MEMORY: MemoryConfig = { flush: true, flushTimeoutSeconds: 60 };

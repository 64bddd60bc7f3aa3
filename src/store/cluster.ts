/** The part of the store contract for a database that several machines share. Stores of one machine have none. */

export interface Cluster {
  describe(): Promise<ClusterState>;
  /** Figures of this process. Reads nothing. */
  metrics(): ClusterMetrics;
  /** Tells those who watch on other nodes what is going on. Not kept: a node that is cut off misses it. */
  broadcast(event: unknown): void;
  /** Calls the listener for broadcasts of other nodes. Returns a function that stops it. One listener at a time. */
  onBroadcast(listener: (event: unknown) => void): () => void;
}

export interface ClusterState {
  /** Living nodes first, the longest running first. */
  nodes: ClusterNode[];
  /** How long the oldest queued message of any agent waits (ms). Undefined if there is none. */
  oldestQueuedMs?: number | undefined;
  /** Sessions and accounts that were taken over from another node in the last 24 hours. */
  takeOvers: number;
  /** What an administrator should know, one sentence each. */
  problems: string[];
}

export interface ClusterNode {
  host: string;
  pid: number;
  version: string;
  isAlive: boolean;
  /** Time since the node was last seen (ms). */
  seenMs: number;
  uptimeMs: number;
  /** How many sessions it works on. */
  running: number;
  /** Accounts that it is connected to, such as `telegram default`. */
  connections: string[];
}

export interface ClusterMetrics {
  /** Connections of the pool, and statements that wait for one. */
  connections: { total: number; idle: number; waiting: number };
  /** Milliseconds since the database last answered while it cannot be reached. Undefined while it can. */
  unreachableMs?: number | undefined;
}

/** Where sessions and what was said are kept, how safely, and for how long. */

export interface StoreConfig {
  kind: "sqlite" | "json";
  /** Keep `sessions.json` up to date for other tools (store `sqlite` only). */
  view: boolean;
}

/** When what was appended to a transcript is forced to disk. */
export type Durability = "turn" | "entry" | "none";

export interface TranscriptConfig {
  durability: Durability;
}

/** Everything here is off until it is set, and moves to the archive instead of deleting. */
export interface MaintenanceConfig {
  /** Archive sessions that were not used for this many days. */
  archiveAfterDays?: number;
  /** Archive the least recently used sessions beyond this number. */
  maxSessions?: number;
  /** Archive the oldest closed windows while transcripts take more than this many megabytes. */
  maxMegabytes?: number;
}

export const DEFAULT_STORE: StoreConfig = { kind: "sqlite", view: true };

export const DEFAULT_TRANSCRIPT: TranscriptConfig = { durability: "turn" };

import type { Appender } from "./appender.ts";
import type { KeptEntries } from "./context.ts";
import type { TranscriptHeader } from "./entries.ts";
import type { EntryIds } from "./entry-ids.ts";

/** What an open log knows of its file. */
export interface LogState {
  header: TranscriptHeader;
  appender: Appender;
  ids: EntryIds;
  leafId: string | undefined;
  /** The highest that the newest lines carry; -Infinity when none does. */
  newestEpoch: number;
  /** What is read of the way from the leaf, once somebody asked for it. */
  kept: KeptEntries | undefined;
}

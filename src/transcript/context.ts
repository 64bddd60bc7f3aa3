/**
 * What a model is given of a transcript: the messages on the way from the leaf to the root, in order.
 * A compaction on the way stands for everything before the entry that it names as the first kept.
 */
import { compactionAttachments } from "./attachments.ts";
import type { CompactionEntry, CompactionSummaryMessage, TranscriptEntry, TranscriptMessage } from "./entries.ts";
import { isDeliveryMirror } from "./mirror.ts";
import { type OnProblem, type TranscriptProblem, addProblem, createProblemList } from "./problems.ts";
import { walkPath } from "./walk.ts";

export interface TranscriptContext {
  messages: TranscriptMessage[];
  /** Undefined when no entry that was read sets it; what a compaction replaced is not read for it. */
  thinkingLevel: string | undefined;
  model: { provider: string; modelId: string } | undefined;
  /** The entries behind the messages and settings, from the oldest to the leaf. */
  entries: TranscriptEntry[];
  problems: TranscriptProblem[];
}

export interface ReadContextOptions {
  /** Left out: the newest entry. */
  leafId?: string | undefined;
  /** Entries that are not for this reader; they say nothing in the context. Left out: all are. */
  omit?: (entry: TranscriptEntry) => boolean;
}

export async function readContext(path: string, options: ReadContextOptions = {}): Promise<TranscriptContext> {
  return contextOf(await readKeptEntries(path, options.leafId), options);
}

/** What a context is made of; shared by everybody who makes one, so nobody may change it. */
export interface KeptEntries {
  entries: TranscriptEntry[];
  /** The newest compaction on the way. */
  compaction: CompactionEntry | undefined;
  problems: TranscriptProblem[];
}

export async function readKeptEntries(path: string, leafId: string | undefined): Promise<KeptEntries> {
  const list = createProblemList();
  const collected = await collect(path, leafId, (problem) => addProblem(list, problem));
  return { ...collected, problems: list.problems };
}

/** What follows them in the file; undefined when everything has to be read again. */
export function withFollowing(kept: KeptEntries, following: readonly TranscriptEntry[]): KeptEntries | undefined {
  if (following.some(({ type }) => type === "compaction")) return undefined;
  kept.entries.push(...following);
  return kept;
}

export function contextOf(kept: KeptEntries, { omit }: Pick<ReadContextOptions, "omit"> = {}): TranscriptContext {
  const { compaction, problems } = kept;
  const entries = kept.entries.filter((entry) => omit?.(entry) !== true);
  return {
    messages: [
      ...(compaction === undefined ? [] : [summaryMessage(compaction)]),
      ...entries.flatMap((entry) => messageOf(entry) ?? []),
    ],
    ...settingsOf(entries),
    entries,
    problems,
  };
}

async function collect(
  path: string,
  leafId: string | undefined,
  onProblem: OnProblem,
): Promise<Omit<KeptEntries, "problems">> {
  const newestFirst: TranscriptEntry[] = [];
  let compaction: CompactionEntry | undefined;
  let firstKeptSeen = false;
  for await (const { entry } of walkPath(path, { leafId, onProblem })) {
    newestFirst.push(entry);
    if (compaction === undefined && entry.type === "compaction") {
      compaction = entry;
      // A compaction that was carried over into a shortened file keeps only what follows it.
      firstKeptSeen = newestFirst.some(({ id }) => id === entry.firstKeptEntryId);
    } else if (entry.id === compaction?.firstKeptEntryId) {
      firstKeptSeen = true;
    }
    if (firstKeptSeen) break;
  }
  if (compaction !== undefined && !firstKeptSeen) {
    const { id, firstKeptEntryId } = compaction;
    onProblem({ reason: `entry ${firstKeptEntryId}, the first that compaction ${id} keeps, is not before it` });
    newestFirst.length = newestFirst.indexOf(compaction) + 1;
  }
  return { entries: newestFirst.reverse(), compaction };
}

function settingsOf(entries: readonly TranscriptEntry[]): Pick<TranscriptContext, "thinkingLevel" | "model"> {
  let thinkingLevel: string | undefined;
  let model: TranscriptContext["model"];
  for (const entry of entries) {
    if (entry.type === "thinking_level_change") thinkingLevel = entry.thinkingLevel;
    else if (entry.type === "model_change") model = { provider: entry.provider, modelId: entry.modelId };
    else if (entry.type === "message" && entry.message.role === "assistant" && !isDeliveryMirror(entry.message)) {
      const { provider, model: modelId } = entry.message;
      if (provider !== undefined && modelId !== undefined) model = { provider, modelId };
    }
  }
  return { thinkingLevel, model };
}

/** The message that an entry contributes in its place. A compaction's summary comes first of all instead. */
export function messageOf(entry: TranscriptEntry): TranscriptMessage | undefined {
  if (entry.type === "message") return entry.message;
  const timestamp = Date.parse(entry.timestamp);
  if (entry.type === "custom_message") {
    const { customType, content, display, details } = entry;
    return { role: "custom", customType, content, display, ...(details === undefined ? {} : { details }), timestamp };
  }
  if (entry.type === "branch_summary" && entry.summary !== "") {
    return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
  }
  return undefined;
}

function summaryMessage(entry: CompactionEntry): CompactionSummaryMessage {
  const { summary, tokensBefore, timestamp } = entry;
  const attachments = compactionAttachments(entry);
  const carried = attachments.length === 0 ? {} : { attachments };
  return { role: "compactionSummary", summary, tokensBefore, ...carried, timestamp: Date.parse(timestamp) };
}

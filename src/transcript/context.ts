/**
 * The context for a model: the messages on the path from the root to the leaf. A compaction replaces everything before
 * its first kept entry.
 */
import type { CompactionEntry, CompactionSummaryMessage, TranscriptEntry, TranscriptMessage } from "./entries.ts";
import { compactionAttachments, isDeliveryMirror } from "./messages.ts";
import { type OnProblem, type TranscriptProblem, addProblem, createProblemList } from "./scan.ts";
import { walkPath } from "./walk.ts";

export interface TranscriptContext {
  messages: TranscriptMessage[];
  /** Undefined if no entry sets it. Entries before a compaction are not read. */
  thinkingLevel: string | undefined;
  model: { provider: string; modelId: string } | undefined;
  /** The entries of these messages and settings, oldest first. */
  entries: TranscriptEntry[];
  problems: TranscriptProblem[];
}

export interface ReadContextOptions {
  /** Default: the newest entry. */
  leafId?: string | undefined;
  /** Entries to leave out of the context. Optional. */
  omit?: ((entry: TranscriptEntry) => boolean) | undefined;
}

export async function readContext(path: string, options: ReadContextOptions = {}): Promise<TranscriptContext> {
  return contextOf(await readKeptEntries(path, options.leafId), options);
}

/** The entries of a context. Shared; do not change them. With a gap, the parent of the oldest is not in the file. */
export type KeptEntries = Awaited<ReturnType<typeof readKeptEntries>>;

export async function readKeptEntries(path: string, leafId: string | undefined) {
  const list = createProblemList();
  const onProblem: OnProblem = (problem) => addProblem(list, problem);
  const newestFirst: TranscriptEntry[] = [];
  let compaction: CompactionEntry | undefined;
  let firstKeptSeen = false;
  let hasGap = false;
  for await (const { entry, file } of walkPath(path, { leafId, onProblem })) {
    newestFirst.push(entry);
    hasGap = file === path && entry.parentId !== null;
    if (compaction === undefined && entry.type === "compaction") {
      compaction = entry;
      // A compaction that was carried over into a shortened file keeps only later entries.
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
  return { entries: newestFirst.reverse(), compaction, hasGap: hasGap && !firstKeptSeen, problems: list.problems };
}

/** Adds entries that follow in the file. Undefined if everything must be read again. */
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

/** The message of an entry. A compaction has none here; its summary comes first in the context. */
export function messageOf(entry: TranscriptEntry): TranscriptMessage | undefined {
  if (entry.type === "message") return entry.message;
  const timestamp = Date.parse(entry.timestamp);
  if (entry.type === "custom_message") {
    const { customType, content, display, details } = entry;
    return { role: "custom", customType, content, display, details, timestamp };
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

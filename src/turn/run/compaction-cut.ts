/**
 * Where a conversation is cut when its older part becomes a summary: so that as much is kept as may be,
 * before a question rather than before its answer, never between a tool call and its result, and never
 * inside the turn that is running.
 */
import { messageOf } from "../../transcript/context.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { turnIdOf } from "../../transcript/turn-mark.ts";
import { messageTokens } from "../../transcript/estimate-tokens.ts";

export interface CompactionCut {
  firstKeptEntryId: string;
  /** What the summary stands for, oldest first. */
  older: TranscriptMessage[];
  keptTokens: number;
}

export interface CutOptions {
  keepTokens: number;
  /** The turn that is running; it stays whole. Left out: none is. */
  turnId?: string | undefined;
}

/** Undefined when there is nothing older to summarise. */
export function findCut(
  entries: readonly TranscriptEntry[],
  { keepTokens, turnId }: CutOptions,
): CompactionCut | undefined {
  const calls = new Set(entries.flatMap((entry) => callsOf(entry)));
  const turnStart = turnId === undefined ? -1 : entries.findIndex((entry) => turnIdOf(entry) === turnId);
  const openResults = new Set<string>();
  let kept = 0;
  let atQuestion: Place | undefined;
  let anywhere: Place | undefined;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    const message = entry === undefined ? undefined : messageOf(entry);
    if (entry === undefined || message === undefined) continue;
    kept += messageTokens(message);
    if (message.role === "toolResult" && calls.has(message.toolCallId)) openResults.add(message.toolCallId);
    for (const id of callsOf(entry)) openResults.delete(id);
    const isInsideTurn = turnStart !== -1 && at > turnStart;
    if (openResults.size > 0 || isInsideTurn) continue;
    // The first place that is allowed is taken even if it keeps too much: something has to be kept.
    if (anywhere !== undefined && kept > keepTokens) break;
    anywhere = { at, keptTokens: kept };
    if (message.role === "user") atQuestion = anywhere;
  }
  const cut = atQuestion ?? anywhere;
  const first = cut === undefined ? undefined : entries[cut.at];
  if (cut === undefined || first === undefined) return undefined;
  const older = entries.slice(0, cut.at).flatMap((entry) => messageOf(entry) ?? []);
  return older.length === 0 ? undefined : { firstKeptEntryId: first.id, older, keptTokens: cut.keptTokens };
}

interface Place {
  at: number;
  keptTokens: number;
}

function callsOf(entry: TranscriptEntry): string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  const { content } = entry.message;
  return typeof content === "string" ? [] : content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

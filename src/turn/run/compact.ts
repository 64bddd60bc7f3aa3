/**
 * Compaction: shortens a conversation for an engine that does not keep it itself. The older part becomes a
 * summary, the newer part stays as it is, and nothing is removed from the transcript. `answer-turn.ts` decides when.
 * Engines that keep their conversation compact it on their own; Holdfast only counts those compactions.
 */
import { HoldfastError, hasCode } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Engine, SummaryRequest } from "../../engine/engine.ts";
import { ensureTranscript, sessionNotFound } from "../../session/window.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { appendCompaction } from "../../transcript/compact.ts";
import { messageOf } from "../../transcript/context.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { TurnRequest } from "../pipeline.ts";
import { flushMemory } from "./flush-memory.ts";
import { type HookMessages, createHookMessages } from "./hooks-and-handoff.ts";
import { ABANDONED, createEngineStop } from "./run-engine.ts";
import {
  type TurnWatch,
  contextWindowOf,
  createTurnWatch,
  modelOf,
  openTurnLog,
  updateOwnEntry,
} from "./turn-record.ts";
import { recordedEnd } from "../../session/agent-handle.ts";
import {
  CHARACTERS_PER_TOKEN,
  estimateTokens,
  messageTokens,
  textTokens,
  withoutHandoff,
  isFlushEntry,
  turnIdOf,
} from "../../transcript/messages.ts";

export interface CompactRequest extends Pick<TurnRequest, "parts" | "held" | "signal" | "emit"> {
  sessionKey: string;
  /** What the summary must keep. */
  instructions?: string | undefined;
}

export type CompactOutcome =
  | {
      compacted: true;
      tokensBefore: number;
      tokensAfter: number;
      entry: SessionEntry | undefined;
      told?: string[] | undefined;
    }
  /** `reason` is a sentence for a person. */
  | { compacted: false; reason: string };

/** `/compact`: the agent saves its memory, then the conversation is shortened by half or more. */
export async function compactNow(request: CompactRequest): Promise<CompactOutcome> {
  const { parts, held, sessionKey, emit } = request;
  const { agent, engine } = parts;
  if (!canCompact(engine)) {
    return { compacted: false, reason: `The engine ${engine.name} compacts its conversations itself.` };
  }
  const entry = await agent.store.get(sessionKey);
  if (entry === undefined) throw sessionNotFound(sessionKey);
  await ensureTranscript(agent, sessionKey, entry);
  await using log = await openTurnLog(parts, held, entry);
  const watch = createTurnWatch({ agentId: agent.agentId, sessionKey, itemId: 0 }, emit);
  if (entry.memoryFlushCompactionCount !== (entry.compactionCount ?? 0) && (entry.totalTokens ?? 0) > 0) {
    const payloads = await flushMemory({ ...request, entry, occasion: "compaction", log });
    for (const { text } of payloads) if (text !== undefined) watch.notice(text);
  }
  const hooks = createHookMessages();
  const outcome = await compactWindow({ ...request, entry, log, watch, hooks, shorten: "by-half" });
  return outcome.compacted ? { ...outcome, told: await hooks.take() } : outcome;
}

export interface WindowCompaction extends Omit<CompactRequest, "emit"> {
  entry: SessionEntry;
  log: TranscriptLog;
  watch: TurnWatch;
  /** `by-half`: by half or more, even if the conversation fits. */
  shorten: "to-fit" | "by-half";
  turnId?: string | undefined;
  /** Called before the compaction. The caller shows their messages. */
  hooks: HookMessages;
}

export async function compactWindow(request: WindowCompaction): Promise<CompactOutcome> {
  const { parts, held, sessionKey, entry, log, watch } = request;
  const cut = await findWindowCut(request);
  if (cut === undefined) return { compacted: false, reason: "There is nothing older to summarize." };

  const reason = request.turnId === undefined ? "asked" : "full";
  await request.hooks.before({ parts, sessionKey, event: "session:compact", entry, reason });
  watch.compaction("start");
  try {
    const summary = await summarize(request, cut.older.map(withoutHandoff));
    const { tokensBefore } = cut;
    const tokensAfter = Math.ceil((cut.keptTokens + textTokens(summary)) * cut.countedPerEstimated);
    const window = { agent: parts.agent, held, sessionKey, sessionId: entry.sessionId };
    // Counted first: a crash in between offers the hand-off too early, but does not lose it.
    await updateOwnEntry(window, ({ compactionCount = 0 }) => ({ compactionCount: compactionCount + 1 }));
    faultPoint("turn.shortening");
    await appendCompaction(log, { summary, firstKeptEntryId: cut.firstKeptEntryId, tokensBefore });
    await log.sync();
    const updated = await updateOwnEntry(window, () => ({
      totalTokens: tokensAfter,
      ...recordedEnd(entry.sessionId, log.end),
    }));
    return { compacted: true, tokensBefore, tokensAfter, entry: updated };
  } finally {
    watch.compaction("end");
  }
}

const MAX_KEPT_TOKENS = 20_000;

/** Undefined when there is nothing older to summarize. An earlier summary is summarized again. */
export async function findWindowCut(request: Pick<WindowCompaction, "parts" | "entry" | "log" | "shorten" | "turnId">) {
  const { parts, entry, log, turnId } = request;
  const { entries, messages } = await log.context({ omit: isFlushEntry });
  const estimate = estimateTokens(messages);
  const tokensBefore = entry.totalTokens ?? estimate;
  // Tokens that the model counts per estimated token, at most one per character: it also counts its tools, for example, which no cut removes.
  const countedPerEstimated = Math.min(Math.max(1, tokensBefore / Math.max(1, estimate)), CHARACTERS_PER_TOKEN);
  const room = Math.min(MAX_KEPT_TOKENS, contextWindowOf(entry, parts.config, parts.agent.agentId) / 4);
  const keepTokens = Math.floor(
    Math.min(room / countedPerEstimated, request.shorten === "by-half" ? estimate / 2 : room),
  );
  const cut = findCut(entries, { keepTokens, turnId });
  if (cut === undefined) return undefined;
  const earlier = messages.slice(0, 1).filter(({ role }) => role === "compactionSummary");
  return { ...cut, older: [...earlier, ...cut.older], tokensBefore, countedPerEstimated };
}

/** Has the time limit of a turn. An engine that does not end in time is abandoned. */
async function summarize(request: WindowCompaction, messages: TranscriptMessage[]): Promise<string> {
  const { parts, entry, held, instructions } = request;
  const { engine, config, agent } = parts;
  const seconds = config.turns.timeoutSeconds;
  const tooSlow = (): HoldfastError =>
    new HoldfastError("timeout", "compaction-timeout", `Summarizing the conversation took longer than ${seconds} s`, {
      hint: "Try again, use a faster model, or start a new window with /new.",
    });
  const signal = AbortSignal.any([request.signal, held.signal]);
  using stop = createEngineStop({ signal, timeLimit: { ms: seconds * 1000, error: tooSlow } });
  const question: SummaryRequest = { model: modelOf(entry, config, agent.agentId), instructions, messages };
  const summary = await stop.orAbandoned(summarizeInParts(engine, question, stop.signal, MAX_HALVINGS));
  if (summary === ABANDONED && stop.cause !== undefined) throw stop.cause;
  if (summary === ABANDONED) {
    throw new HoldfastError("interrupted", "compaction-interrupted", "Summarizing the conversation was interrupted", {
      hint: "Nothing was changed. Try again at any time.",
    });
  }
  if (summary.trim() === "") throw noSummary(engine);
  return summary;
}

const MAX_HALVINGS = 4;

/** A conversation that is too long is summarized in halves; the summary of the first precedes the second. */
async function summarizeInParts(engine: Engine, request: SummaryRequest, signal: AbortSignal, depth: number) {
  if (engine.summarize === undefined) throw noSummary(engine);
  const { messages } = request;
  try {
    return await engine.summarize(request, signal);
  } catch (error) {
    if (!isContextTooLong(error) || depth === 0 || messages.length < 2) throw error;
    const middle = Math.ceil(messages.length / 2);
    const half = { ...request, messages: messages.slice(0, middle) };
    const first = await summarizeInParts(engine, half, signal, depth - 1);
    const summary = { role: "compactionSummary", summary: first, tokensBefore: 0, timestamp: 0 } as const;
    const rest = { ...request, messages: [summary, ...messages.slice(middle)] };
    return await summarizeInParts(engine, rest, signal, depth - 1);
  }
}

export function canCompact(engine: Engine): boolean {
  return engine.summarize !== undefined && !engine.keepsConversation;
}

/** Engines report with this code that the conversation does not fit. */
export function isContextTooLong(error: unknown): boolean {
  return hasCode(error, "context-too-long");
}

function noSummary(engine: Engine): HoldfastError {
  return new HoldfastError("unavailable", "compaction-empty", `The engine ${engine.name} gave no summary`, {
    hint: "Try again, use another model, or start a new window with /new.",
  });
}

/**
 * Finds the cut that keeps the most: preferably before a question, never between a tool call and its result,
 * and never inside the running turn. Undefined when there is nothing older.
 */
export function findCut(
  entries: readonly TranscriptEntry[],
  { keepTokens, turnId }: { keepTokens: number; turnId?: string | undefined },
) {
  const calls = new Set(entries.flatMap((entry) => callsOf(entry)));
  const turnStart = turnId === undefined ? -1 : entries.findIndex((entry) => turnIdOf(entry) === turnId);
  const openResults = new Set<string>();
  let kept = 0;
  let atQuestion: { at: number; keptTokens: number } | undefined;
  let anywhere: typeof atQuestion;
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at];
    const message = entry === undefined ? undefined : messageOf(entry);
    if (entry === undefined || message === undefined) continue;
    kept += messageTokens(message);
    if (message.role === "toolResult" && calls.has(message.toolCallId)) openResults.add(message.toolCallId);
    for (const id of callsOf(entry)) openResults.delete(id);
    const isInsideTurn = turnStart !== -1 && at > turnStart;
    if (openResults.size > 0 || isInsideTurn) continue;
    // The first possible place is used even if it keeps too much, because something must be kept.
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

function callsOf(entry: TranscriptEntry): string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  const { content } = entry.message;
  return typeof content === "string" ? [] : content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

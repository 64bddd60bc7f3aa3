/**
 * Shortening a conversation for an engine that does not keep it itself: the older part becomes a
 * summary, the newer part stays as it was, and nothing is removed from the transcript. Engines that
 * keep their conversation do this on their own; their compactions are only counted.
 */
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { Engine, SummaryRequest } from "../engine/engine.ts";
import type { HeldLease } from "../session/lease.ts";
import { ensureTranscript, sessionNotFound } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { appendCompaction } from "../transcript/compact.ts";
import type { CompactionSummaryMessage, TranscriptMessage } from "../transcript/entries.ts";
import { CHARACTERS_PER_TOKEN, estimateTokens, textTokens } from "../transcript/estimate-tokens.ts";
import type { TranscriptLog } from "../transcript/log.ts";
import { withoutHandoff } from "../transcript/text.ts";
import { isFlushEntry } from "../transcript/turn-mark.ts";
import { flushMemory } from "./flush-memory.ts";
import { type CompactionCut, findCut } from "./run/compaction-cut.ts";
import { createEngineStop, LEAVE_AFTER_MS, LEFT } from "./run/engine-stop.ts";
import { type HookWords, createHookWords } from "./run/hook-calls.ts";
import { openTurnLog } from "./run/open-log.ts";
import { contextWindowOf, modelOf, updateOwnEntry } from "./run/own-entry.ts";
import { type TurnWatch, createTurnWatch } from "./run/turn-watch.ts";
import type { TurnEvent } from "./turn-events.ts";
import type { AgentParts } from "./turn.ts";

export interface CompactRequest {
  parts: AgentParts;
  held: HeldLease;
  sessionKey: string;
  /** What the person wants kept above all. */
  instructions?: string;
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
}

export type CompactOutcome =
  | {
      compacted: true;
      tokensBefore: number;
      tokensAfter: number;
      entry: SessionEntry | undefined;
      /** What hooks want the person to know. Left out: nothing. */
      told?: string[];
    }
  /** One sentence for a person. */
  | { compacted: false; reason: string };

/** For `/compact`: the agent saves its memory first, then the conversation is shortened by half at least. */
export async function compactNow(request: CompactRequest): Promise<CompactOutcome> {
  const { parts, held, sessionKey, signal, emit } = request;
  const { agent, engine } = parts;
  if (!canCompact(engine)) {
    return { compacted: false, reason: `The engine ${engine.name} shortens its conversations itself.` };
  }
  const entry = await agent.store.get(sessionKey);
  if (entry === undefined) throw sessionNotFound(sessionKey);
  await using log = await openTurnLog(parts, held, await ensureTranscript(agent, sessionKey, entry));
  const watch = createTurnWatch({ agentId: agent.agentId, sessionKey, itemId: 0 }, emit);
  if (entry.memoryFlushCompactionCount !== (entry.compactionCount ?? 0) && (entry.totalTokens ?? 0) > 0) {
    const saved = await flushMemory({ parts, held, sessionKey, entry, occasion: "compaction", signal, emit, log });
    for (const { text } of saved.payloads) if (text !== undefined) watch.notice(text);
  }
  const hooks = createHookWords();
  const outcome = await compactWindow({ ...request, entry, log, watch, hooks, shorten: "by-half" });
  return outcome.compacted ? { ...outcome, told: await hooks.take() } : outcome;
}

export interface WindowCompaction extends Omit<CompactRequest, "emit"> {
  entry: SessionEntry;
  log: TranscriptLog;
  watch: TurnWatch;
  /** `by-half`: at least, whatever the window would hold. */
  shorten: "to-fit" | "by-half";
  /** The turn that is running: its message stays. */
  turnId?: string;
  /** Who listens is told before; what they say is the caller's to tell. */
  hooks: HookWords;
}

export async function compactWindow(request: WindowCompaction): Promise<CompactOutcome> {
  const { parts, held, sessionKey, entry, log, watch } = request;
  const cut = await findWindowCut(request);
  if (cut === undefined) return { compacted: false, reason: "There is nothing older to sum up." };

  const reason = request.turnId === undefined ? "asked" : "full";
  await request.hooks.before({ parts, sessionKey, event: "session:compact", entry, reason });
  watch.compaction("start");
  try {
    const summary = await summarize(request, cut.older.map(withoutHandoff));
    const { tokensBefore } = cut;
    const tokensAfter = Math.ceil((cut.keptTokens + textTokens(summary)) * cut.countedPerEstimated);
    const window = { agent: parts.agent, held, sessionKey, sessionId: entry.sessionId };
    // Before it is done: a process that dies between the two leaves a hand-off that is told too early, not one
    // that nobody is told.
    await updateOwnEntry(window, ({ compactionCount = 0 }) => ({ compactionCount: compactionCount + 1 }));
    faultPoint("turn.shortening");
    await appendCompaction(log, { summary, firstKeptEntryId: cut.firstKeptEntryId, tokensBefore });
    await log.sync();
    const updated = await updateOwnEntry(window, () => ({ totalTokens: tokensAfter }));
    return { compacted: true, tokensBefore, tokensAfter, entry: updated };
  } finally {
    watch.compaction("end");
  }
}

interface WindowCut extends CompactionCut {
  tokensBefore: number;
  /** How many tokens the model counts where one is estimated. */
  countedPerEstimated: number;
}

type WindowCutRequest = Pick<WindowCompaction, "parts" | "entry" | "log" | "shorten" | "turnId">;

/** Undefined when there is nothing older to sum up. What an earlier summary stands for is summed up again. */
export async function findWindowCut(request: WindowCutRequest): Promise<WindowCut | undefined> {
  const { parts, entry, log, turnId } = request;
  const { entries, messages } = await log.context({ omit: isFlushEntry });
  const estimate = estimateTokens(messages);
  const tokensBefore = entry.totalTokens ?? estimate;
  // No more than one for each character: what else a model counts, its tools for instance, no cut makes shorter.
  const countedPerEstimated = Math.min(Math.max(1, tokensBefore / Math.max(1, estimate)), CHARACTERS_PER_TOKEN);
  const room = Math.min(MOST_KEPT_TOKENS, contextWindowOf(entry, parts.config, parts.agent.agentId) / 4);
  const keepTokens = Math.floor(
    Math.min(room / countedPerEstimated, request.shorten === "by-half" ? estimate / 2 : room),
  );
  const cut = findCut(entries, { keepTokens, turnId });
  if (cut === undefined) return undefined;
  const earlier = messages.slice(0, 1).filter(({ role }) => role === "compactionSummary");
  return { ...cut, older: [...earlier, ...cut.older], tokensBefore, countedPerEstimated };
}

const MOST_KEPT_TOKENS = 20_000;

/** Within the time of a turn; an engine that does not answer is left behind. */
async function summarize(request: WindowCompaction, messages: TranscriptMessage[]): Promise<string> {
  const { parts, entry, held, instructions } = request;
  const { engine, config, agent } = parts;
  const seconds = config.turns.timeoutSeconds;
  using stop = createEngineStop({
    signal: AbortSignal.any([request.signal, held.signal]),
    timeLimit: { ms: seconds * 1000, error: () => tooSlow(seconds) },
    leaveAfterMs: LEAVE_AFTER_MS,
  });
  const model = modelOf(entry, config, agent.agentId);
  const asked = { model, ...(instructions === undefined ? {} : { instructions }) };
  const summary = await stop.orLeft(inParts(engine, { ...asked, messages }, stop.signal, MOST_PARTS));
  if (summary === LEFT) throw stop.cause ?? interrupted();
  if (summary.trim() === "") throw noSummary(engine);
  return summary;
}

/** What is too long for one summary is summed up in halves, the first half leading into the second. */
async function inParts(engine: Engine, request: SummaryRequest, signal: AbortSignal, depth: number): Promise<string> {
  if (engine.summarize === undefined) throw noSummary(engine);
  const { messages } = request;
  try {
    return await engine.summarize(request, signal);
  } catch (error) {
    if (!isContextTooLong(error) || depth === 0 || messages.length < 2) throw error;
    const middle = Math.ceil(messages.length / 2);
    const first = await inParts(engine, { ...request, messages: messages.slice(0, middle) }, signal, depth - 1);
    const rest = [summaryMessage(first), ...messages.slice(middle)];
    return await inParts(engine, { ...request, messages: rest }, signal, depth - 1);
  }
}

const MOST_PARTS = 4;

/** Whether Holdfast shortens the conversations of this engine. */
export function canCompact(engine: Engine): boolean {
  return engine.summarize !== undefined && !engine.keepsConversation;
}

/** The code by which engines say that the conversation no longer fits. */
export function isContextTooLong(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "context-too-long";
}

function summaryMessage(summary: string): CompactionSummaryMessage {
  return { role: "compactionSummary", summary, tokensBefore: 0, timestamp: 0 };
}

function tooSlow(seconds: number): HoldfastError {
  return new HoldfastError(
    "timeout",
    "compaction-timeout",
    `Summing up the conversation took longer than ${seconds} s`,
    {
      hint: "Try again, take a faster model, or start afresh with /new.",
    },
  );
}

function interrupted(): HoldfastError {
  return new HoldfastError("interrupted", "compaction-interrupted", "Summing up the conversation was interrupted", {
    hint: "Nothing was changed; ask again when you want it.",
  });
}

function noSummary(engine: Engine): HoldfastError {
  return new HoldfastError("unavailable", "compaction-empty", `The engine ${engine.name} gave no summary`, {
    hint: "Try again, take another model, or start afresh with /new.",
  });
}

/**
 * The turn in which an agent saves what it must not forget, before its conversation is shortened or
 * ends. Nobody asked for it and nobody may wait for it for long: it has a time limit of its own, and
 * whatever goes wrong in it is told and holds nothing up. It stands in the transcript of the window that
 * it is about, under a turn id of its own, and is not part of what later turns read.
 */
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { fileExists } from "../base/files.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import type { HeldLease } from "../session/lease.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { TranscriptLog } from "../transcript/log.ts";
import { contentText } from "../transcript/text.ts";
import { FLUSH_TURN_PREFIX, isFlushEntry, turnIdOf } from "../transcript/turn-mark.ts";
import { type MemoryFlushOccasion, memoryFlushPrompts, shouldFlushBeforeReset } from "./memory-flush.ts";
import { buildReplyPayloads } from "./reply/build-payloads.ts";
import type { ReplyPayload } from "./reply/payload.ts";
import { failureText } from "./run/failure-text.ts";
import { openTurnLog } from "./run/open-log.ts";
import { type OwnWindow, modelOf, rememberEngineSession, updateOwnEntry } from "./run/own-entry.ts";
import { type EngineRunResult, runEngine } from "./run/run-engine.ts";
import { type EngineMessage, createTurnRecord, isAnswered } from "./run/turn-record.ts";
import type { FlushTrace } from "./run/turn-trace.ts";
import { type TurnWatch, createQuietWatch } from "./run/turn-watch.ts";
import type { TurnEvent } from "./turn-events.ts";
import type { AgentParts } from "./turn.ts";

export interface FlushRequest {
  parts: AgentParts;
  held: HeldLease;
  sessionKey: string;
  /** The window that it is about; the key still points at it. */
  entry: SessionEntry;
  occasion: MemoryFlushOccasion;
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /** The turn that it comes before. Left out: it comes for its own sake, as before `sessions.reset`. */
  before?: { turnId: string; itemId: number; trace?: FlushTrace | undefined };
  /** The open log of the window. Left out: it is opened and closed here. */
  log?: TranscriptLog;
}

export interface FlushResult {
  flushed: boolean;
  /** What the agent wants the person to know, if anything. */
  payloads: ReplyPayload[];
}

/**
 * Does nothing where memory flush is turned off, or before a reset that loses nothing. Rejects only when
 * the session cannot be written at all.
 */
export async function flushMemory(request: FlushRequest): Promise<FlushResult> {
  const { parts, held, entry, sessionKey, before } = request;
  const { agent } = parts;
  if (!parts.config.memory.flush) return NOTHING;
  if (request.occasion === "reset" && !shouldFlushBeforeReset(entry)) return NOTHING;
  const name = { agentId: agent.agentId, sessionKey, itemId: before?.itemId ?? 0 };
  const watch = createQuietWatch(name, request.emit);
  const window: OwnWindow = { agent, held, sessionKey, sessionId: entry.sessionId };
  const known = before?.trace?.messages ?? [];
  const saved = isAnswered({ messages: known, notices: [], sent: [] })
    ? { kind: "saved" as const, payloads: flushWords(known), compactions: 0 }
    : await tryToSave(request, window, watch);
  if (saved.kind === "not-asked") return NOTHING;
  if (saved.kind === "failed") {
    // Tried once per compaction: a flush that fails every time must not delay every message.
    await updateOwnEntry(window, ({ compactionCount = 0 }) => ({ memoryFlushCompactionCount: compactionCount }));
    return NOTHING;
  }
  faultPoint("turn.flushed");
  await markFlushed(window, saved.compactions);
  return { flushed: true, payloads: saved.payloads };
}

const NOTHING: FlushResult = { flushed: false, payloads: [] };

type Saved =
  | { kind: "saved"; payloads: ReplyPayload[]; compactions: number }
  | { kind: "failed" }
  /** Somebody stopped it, or there is nothing to save. */
  | { kind: "not-asked" };

async function tryToSave(request: FlushRequest, window: OwnWindow, watch: TurnWatch): Promise<Saved> {
  const { held, occasion, sessionKey } = request;
  try {
    return request.log === undefined
      ? await inOwnLog(request, window, watch)
      : await save(request, request.log, window, watch);
  } catch (error) {
    if (held.signal.aborted || (error instanceof HoldfastError && error.kind === "fenced")) throw error;
    window.agent.logger.warn("the agent could not save its memory", { key: sessionKey, occasion, error });
    watch.notice(`The agent could not save its memory: ${failureText(error)}`);
    return { kind: "failed" };
  }
}

async function inOwnLog(request: FlushRequest, window: OwnWindow, watch: TurnWatch): Promise<Saved> {
  const { parts, held, entry } = request;
  const path = transcriptPath(parts.agent, entry);
  // There is nothing to remember of a window whose transcript is gone.
  if (!(await fileExists(path))) return { kind: "not-asked" };
  await using log = await openTurnLog(parts, held, path);
  return await save(request, log, window, watch);
}

async function save(request: FlushRequest, log: TranscriptLog, window: OwnWindow, watch: TurnWatch): Promise<Saved> {
  const { before } = request;
  const turnId = FLUSH_TURN_PREFIX + (before?.turnId ?? window.agent.ids.uuid());
  const known = before?.trace?.messages ?? [];
  const record = createTurnRecord(log, turnId, { messages: known, notices: [], sent: [] });
  const { ending, compactions } = await askToSave(request, { log, turnId, record, watch, window });
  if (request.held.signal.aborted) throw request.held.signal.reason;
  if (ending.kind === "failed") throw ending.error;
  await log.sync();
  if (ending.kind === "aborted") return { kind: "not-asked" };
  const notices = record.words.notices.map((text) => ({ text }));
  return { kind: "saved", payloads: [...notices, ...flushWords(record.words.messages)], compactions };
}

interface FlushTurn {
  log: TranscriptLog;
  turnId: string;
  record: ReturnType<typeof createTurnRecord>;
  watch: TurnWatch;
  window: OwnWindow;
}

async function askToSave(
  request: FlushRequest,
  { log, turnId, record, watch, window }: FlushTurn,
): Promise<EngineRunResult> {
  const { parts, entry, sessionKey, before } = request;
  const { agent, config, engine } = parts;
  const { system, prompt } = memoryFlushPrompts(request.occasion, agent.clock.now());
  const workspace = await parts.describeWorkspace();
  if (before?.trace?.asked !== true) {
    const message = {
      role: "user" as const,
      content: [{ type: "text" as const, text: prompt }],
      timestamp: agent.clock.now(),
    };
    await log.append([{ type: "message", turnId, message }]);
  }
  // The message that waits is not part of what is saved; other flushes are part of nothing.
  const { messages } = await log.context({
    omit: (line) =>
      turnIdOf(line) !== turnId && (isFlushEntry(line) || (before !== undefined && turnIdOf(line) === before.turnId)),
  });
  const seconds = config.memory.flushTimeoutSeconds;
  return await runEngine({
    engine,
    turn: {
      agentId: agent.agentId,
      sessionKey,
      sessionId: entry.sessionId,
      kind: "flush",
      text: prompt,
      context: messages,
      system: [workspace.system, system].filter((part) => part !== "").join("\n\n"),
      model: modelOf(entry, config, agent.agentId),
      thinking: entry.thinkingLevel,
      workspace: agent.workspace,
      engineSessionId: entry.sdkSessionId,
    },
    record,
    watch,
    now: () => agent.clock.now(),
    signal: AbortSignal.any([request.signal, request.held.signal]),
    timeLimit: { ms: seconds * 1000, error: () => tooSlow(seconds) },
    onSession: async (id) => await rememberEngineSession(window, entry.sdkSessionId, id),
  });
}

async function markFlushed(window: OwnWindow, compactions: number): Promise<void> {
  await updateOwnEntry(window, ({ compactionCount = 0 }) => ({
    memoryFlushAt: window.agent.clock.now(),
    memoryFlushCompactionCount: compactionCount + compactions,
    ...(compactions === 0 ? {} : { compactionCount: compactionCount + compactions }),
  }));
}

/** What it says while it works is nobody's business; its answer is, unless it is silent. */
export function flushWords(messages: readonly EngineMessage[]): ReplyPayload[] {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last === undefined ? [] : buildReplyPayloads({ payloads: [{ text: contentText(last.content) }] }).payloads;
}

function tooSlow(seconds: number): HoldfastError {
  return new HoldfastError("timeout", "flush-timeout", `Saving the memory took longer than ${seconds} s`, {
    hint: "Raise memory.flushTimeoutSeconds, or turn memory.flush off.",
  });
}

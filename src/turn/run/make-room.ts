/**
 * Before the context window is full: first the agent saves its memory, then Holdfast shortens what it
 * sends to an engine that does not do so itself, and tells it what must not get lost by that. None of it
 * may keep the person from an answer.
 */
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Offer } from "../../handoff/handoff.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import { type CompactOutcome, canCompact, compactWindow, findWindowCut } from "../compact-session.ts";
import { flushMemory } from "../flush-memory.ts";
import { memoryFlushMargins, shouldRunMemoryFlush } from "../memory-flush.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import type { AgentParts, TurnRequest } from "../turn.ts";
import { estimateTokens, textTokens } from "../../transcript/estimate-tokens.ts";
import { failureText } from "./failure-text.ts";
import { offerInTurn } from "./hand-over.ts";
import type { HookWords } from "./hook-calls.ts";
import { contextWindowOf } from "./own-entry.ts";
import type { TurnTrace } from "./turn-trace.ts";
import type { TurnWatch } from "./turn-watch.ts";

export interface RoomRequest {
  request: TurnRequest;
  sessionKey: string;
  entry: SessionEntry;
  log: TranscriptLog;
  watch: TurnWatch;
  trace: TurnTrace | undefined;
  hooks: HookWords;
  /** What is to be told when the conversation is shortened, as it was before the message. Left out: asked for then. */
  spare: Offer | undefined;
}

export interface Room {
  entry: SessionEntry;
  /** What the agent said when it saved its memory; undefined when it was not asked to. */
  flushed?: ReplyPayload[];
  compacted: boolean;
}

export async function makeRoom(room: RoomRequest, context: readonly TranscriptMessage[]): Promise<Room> {
  const { entry, request, sessionKey } = room;
  const { agent, config, engine } = request.parts;
  const contextWindowTokens = contextWindowOf(entry, config, agent.agentId);
  const margins = memoryFlushMargins(contextWindowTokens);
  const totalTokens = contextTokens(entry, context);

  const mayFlush = shouldRunMemoryFlush({ entry: { ...entry, totalTokens }, contextWindowTokens, ...margins });
  const flushed = mayFlush ? await flushFirst(room) : undefined;
  const isFull = isTooMuch(totalTokens, contextWindowTokens);
  const compacted = isFull && canCompact(engine) ? await shorten(room, "to-fit") : false;
  if (flushed === undefined && !compacted) return { entry, compacted };
  const current = await agent.store.get(sessionKey);
  return {
    entry: current?.sessionId === entry.sessionId ? current : entry,
    compacted,
    ...(flushed === undefined ? {} : { flushed }),
  };
}

function isTooMuch(tokens: number, contextWindowTokens: number): boolean {
  return tokens > contextWindowTokens - memoryFlushMargins(contextWindowTokens).reserveTokensFloor;
}

/** Whether this message will make Holdfast shorten the conversation, as far as that is known before it is written. */
export async function willShorten(
  parts: AgentParts,
  { entry, log }: Pick<RoomRequest, "entry" | "log">,
  text: string,
): Promise<boolean> {
  const { totalTokens = 0 } = entry;
  if (totalTokens === 0 || !canCompact(parts.engine)) return false;
  const contextWindowTokens = contextWindowOf(entry, parts.config, parts.agent.agentId);
  if (!isTooMuch(totalTokens + textTokens(text), contextWindowTokens)) return false;
  return (await findWindowCut({ parts, entry, log, shorten: "to-fit" })) !== undefined;
}

/** What the model counted last time and the new message, or an estimate of everything. */
function contextTokens({ totalTokens = 0 }: SessionEntry, context: readonly TranscriptMessage[]): number {
  return totalTokens > 0 ? totalTokens + estimateTokens(context.slice(-1)) : estimateTokens(context);
}

async function flushFirst({ request, sessionKey, entry, log, trace }: RoomRequest): Promise<ReplyPayload[]> {
  const { parts, held, signal, emit, turnId, itemId } = request;
  const before = { turnId, itemId, trace: trace?.flush };
  const saved = await flushMemory({
    parts,
    held,
    sessionKey,
    entry,
    occasion: "compaction",
    signal,
    emit,
    log,
    before,
  });
  return saved.payloads;
}

/** Whether the conversation is shorter now. */
export async function shorten(room: RoomRequest, how: "to-fit" | "by-half"): Promise<boolean> {
  const { request, sessionKey, log } = room;
  const outcome = await tryToCompact(room, how);
  if (outcome?.compacted !== true) return false;
  faultPoint("turn.shortened");
  if (outcome.entry !== undefined && request.isHeartbeat !== true) {
    await offerInTurn(request.parts, log, { sessionKey, entry: outcome.entry }, room.spare);
  }
  return true;
}

/** A failure is told; the engine says itself if it cannot go on. */
async function tryToCompact(room: RoomRequest, how: "to-fit" | "by-half"): Promise<CompactOutcome | undefined> {
  const { request, sessionKey, entry, log, watch, hooks } = room;
  const { parts, held, signal, turnId } = request;
  try {
    const place = { parts, held, sessionKey, entry, log, watch, hooks };
    return await compactWindow({ ...place, signal, turnId, shorten: how });
  } catch (error) {
    if (held.signal.aborted || (error instanceof HoldfastError && error.kind === "fenced")) throw error;
    parts.agent.logger.warn("the conversation could not be shortened", { key: sessionKey, error });
    if (!signal.aborted) watch.notice(`The conversation could not be shortened: ${failureText(error)}`);
    return undefined;
  }
}

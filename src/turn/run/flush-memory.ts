/**
 * Memory flush: a turn in which the agent saves its memories, before its conversation is shortened
 * or its window is closed. It has its own time limit, and a failure of it delays nothing. It is written to
 * the transcript of the window under a turn id of its own, and later turns do not read it.
 */
import { memoryFile } from "../../engine/workspace/workspace-description.ts";
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { fileExists } from "../../base/files.ts";
import { recordedEnd, transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptEnd } from "../../transcript/damage.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { TurnRequest } from "../pipeline.ts";
import { type ReplyPayload, buildReplyPayloads } from "../reply/payloads.ts";
import { failureText, isFenced } from "../turn-errors.ts";
import { runInSession } from "./run-engine.ts";
import {
  type EngineMessage,
  type TurnWatch,
  createTurnRecord,
  createTurnWatch,
  isAnswered,
  openTurnLog,
  updateOwnEntry,
} from "./turn-record.ts";
import type { FlushTrace } from "./turn-trace.ts";
import { SILENT_REPLY_TOKEN } from "../reply/tokens.ts";
import { contentText, isFlushEntry, turnIdOf } from "../../transcript/messages.ts";
import { FLUSH_TURN_PREFIX } from "../../transcript/entries.ts";

export interface FlushRequest extends Pick<TurnRequest, "parts" | "held" | "signal" | "emit"> {
  sessionKey: string;
  /** The entry with the window to flush, while the key still points at it. */
  entry: SessionEntry;
  occasion: MemoryFlushOccasion;
  /** The turn that waits for the flush. Default: none, as before `sessions.reset`. */
  before?: { turnId: string; itemId: number; trace?: { flush: FlushTrace } | undefined } | undefined;
  /** The open log of the window. Default: opened and closed here. */
  log?: TranscriptLog | undefined;
}

/** Resolves to the messages of the agent. Rejects only when the session cannot be written. */
export async function flushMemory(request: FlushRequest): Promise<ReplyPayload[]> {
  const { parts, held, entry, sessionKey, before } = request;
  const { agent } = parts;
  if (!parts.config.memory.flush) return [];
  if (request.occasion === "reset" && !shouldFlushBeforeReset(entry)) return [];
  const name = { agentId: agent.agentId, sessionKey, itemId: before?.itemId ?? 0 };
  // Only notices are emitted: the words of a flush are not part of the answer.
  const watch = { ...createTurnWatch(name, request.emit), text: () => undefined, tool: () => undefined };
  const window = { agent, held, sessionKey, sessionId: entry.sessionId };
  const known = before?.trace?.flush.messages ?? [];
  const saved = isAnswered({ messages: known, notices: [], sent: [] })
    ? { payloads: flushWords(known), compactions: 0, end: request.log?.end }
    : await tryToSave(request, watch);
  if (saved === undefined) return [];
  if (saved === "failed") {
    // Once per compaction, because a flush that always fails must not delay every message.
    await updateOwnEntry(window, ({ compactionCount = 0 }) => ({ memoryFlushCompactionCount: compactionCount }));
    return [];
  }
  faultPoint("turn.flushed");
  const { payloads, compactions, end } = saved;
  await updateOwnEntry(window, ({ compactionCount = 0 }) => ({
    ...recordedEnd(entry.sessionId, end),
    memoryFlushAt: agent.clock.now(),
    memoryFlushCompactionCount: compactionCount + compactions,
    ...(compactions === 0 ? {} : { compactionCount: compactionCount + compactions }),
  }));
  return payloads;
}

interface Saved {
  payloads: ReplyPayload[];
  compactions: number;
  /** The end of the transcript. Undefined: unknown. */
  end: TranscriptEnd | undefined;
}

/** Undefined when it was aborted, or when there is nothing to save. */
async function tryToSave(request: FlushRequest, watch: TurnWatch): Promise<Saved | "failed" | undefined> {
  const { parts, held, entry, occasion, sessionKey } = request;
  const { agent } = parts;
  try {
    if (request.log !== undefined) return await save(request, request.log, watch);
    if (!(await fileExists(await transcriptPath(agent, entry)))) return undefined;
    await using log = await openTurnLog(parts, held, entry);
    return await save(request, log, watch);
  } catch (error) {
    if (held.signal.aborted || isFenced(error)) throw error;
    agent.logger.warn("the agent could not save its memory", { key: sessionKey, occasion, error });
    watch.notice(`The agent could not save its memory: ${failureText(error)}`);
    return "failed";
  }
}

async function save(request: FlushRequest, log: TranscriptLog, watch: TurnWatch): Promise<Saved | undefined> {
  const { parts, held, before } = request;
  const { agent, config } = parts;
  const turnId = FLUSH_TURN_PREFIX + (before?.turnId ?? agent.ids.uuid());
  const known = before?.trace?.flush.messages ?? [];
  const record = createTurnRecord(log, turnId, { messages: known, notices: [], sent: [] });
  const { system, prompt } = memoryFlushPrompts(request.occasion, agent.clock.now());
  const workspace = await parts.describeWorkspace();
  if (before?.trace?.flush.asked !== true) {
    const content = [{ type: "text" as const, text: prompt }];
    const message = { role: "user" as const, content, timestamp: agent.clock.now() };
    await log.append([{ type: "message", turnId, message }]);
  }
  // The engine sees neither the message that waits for the flush nor earlier flushes.
  const { messages } = await log.context({
    omit: (line) =>
      turnIdOf(line) !== turnId && (isFlushEntry(line) || (before !== undefined && turnIdOf(line) === before.turnId)),
  });
  const seconds = config.memory.flushTimeoutSeconds;
  const { ending, compactions } = await runInSession({
    ...request,
    question: {
      kind: "flush",
      text: prompt,
      context: messages,
      system: [workspace.system, system].filter((part) => part !== "").join("\n\n"),
    },
    record,
    watch,
    timeLimit: { ms: seconds * 1000, error: () => flushTooSlow(seconds) },
  });
  if (held.signal.aborted) throw held.signal.reason;
  if (ending.kind === "failed") throw ending.error;
  await log.sync();
  if (ending.kind === "aborted") return undefined;
  const notices = record.words.notices.map((text) => ({ text }));
  return { payloads: [...notices, ...flushWords(record.words.messages)], compactions, end: log.end };
}

/** Only the last message is for the person, unless it is silent. */
export function flushWords(messages: readonly EngineMessage[]): ReplyPayload[] {
  const last = messages.findLast(({ role }) => role === "assistant");
  return last === undefined ? [] : buildReplyPayloads({ payloads: [{ text: contentText(last.content) }] }).payloads;
}

function flushTooSlow(seconds: number): HoldfastError {
  return new HoldfastError("timeout", "flush-timeout", `Saving the memory took longer than ${seconds} s`, {
    hint: "Raise memory.flushTimeoutSeconds, or turn memory.flush off.",
  });
}

export interface MemoryFlushCheck {
  entry?: Pick<SessionEntry, "totalTokens" | "compactionCount" | "memoryFlushCompactionCount"> | undefined;
  contextWindowTokens: number;
  reserveTokensFloor: number;
  softThresholdTokens: number;
}

/** Whether a flush is due before a compaction. It runs once per compaction. */
export function shouldRunMemoryFlush(check: MemoryFlushCheck): boolean {
  const { entry } = check;
  const total = entry?.totalTokens;
  if (entry === undefined || total === undefined || !(total > 0)) return false;

  const window = Math.max(1, Math.floor(check.contextWindowTokens));
  const threshold = window - wholeTokens(check.reserveTokensFloor) - wholeTokens(check.softThresholdTokens);
  if (!(threshold > 0) || total < threshold) return false;
  return entry.memoryFlushCompactionCount !== (entry.compactionCount ?? 0);
}

function wholeTokens(tokens: number): number {
  return Math.max(0, Math.floor(tokens));
}

/** Whether the window has had messages since its last flush. */
export function shouldFlushBeforeReset(
  entry: Pick<SessionEntry, "totalTokens" | "memoryFlushAt" | "lastInteractionAt" | "updatedAt"> | undefined,
): boolean {
  if (entry === undefined || !((entry.totalTokens ?? 0) > 0)) return false;
  const lastSaid = entry.lastInteractionAt ?? entry.updatedAt;
  return entry.memoryFlushAt === undefined || entry.memoryFlushAt < lastSaid;
}

/** OpenClaw's numbers, reduced for small windows, which they would fill. */
export function memoryFlushMargins(contextWindowTokens: number) {
  return {
    reserveTokensFloor: Math.min(20_000, Math.floor(contextWindowTokens / 4)),
    softThresholdTokens: Math.min(4000, Math.floor(contextWindowTokens / 10)),
  };
}

export type MemoryFlushOccasion = "compaction" | "reset";

export function memoryFlushPrompts(occasion: MemoryFlushOccasion, now: number): { system: string; prompt: string } {
  const why =
    occasion === "compaction"
      ? "Older parts of this conversation are about to be replaced by a summary."
      : "This conversation is about to end, and the next one begins without it.";
  return {
    system: `${why} This turn is for saving memories to files; no person sent it. Unless somebody has to know something now, answer ${SILENT_REPLY_TOKEN} and nothing else.`,
    prompt: [
      `${why} Write down what you will need and could not find out again: decisions and their reasons, what the person prefers, promises, unfinished work, names and facts.`,
      `Add it to ${memoryFile(now)} in your workspace. Create the folder and the file if they are missing; if the file exists, read it first and keep what is in it.`,
      `No secrets, no word-for-word transcript, nothing that is already there. When you are done, or if there is nothing to keep, answer ${SILENT_REPLY_TOKEN}.`,
    ].join("\n"),
  };
}

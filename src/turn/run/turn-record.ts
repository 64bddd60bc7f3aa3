/**
 * What a turn writes and reports: its transcript, its session entry, and the events for watchers. Messages
 * are in the transcript before the engine continues, and carry the id of the turn, so that a repeated turn
 * finds them. The entry is changed only while its key points at the window of the turn.
 */
import { isRecord } from "../../base/json-record.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import type { EngineUsage, SteerMark } from "../../engine/engine.ts";
import { type AgentHandle, expectedTranscript, transcriptName } from "../../session/agent-handle.ts";
import type { HeldLease } from "../../session/lease.ts";
import type { SessionEntry, Mutate } from "../../store/session-entry.ts";
import {
  type AssistantMessage,
  type DraftEntry,
  type ToolResultMessage,
  type TranscriptEntry,
  NO_USAGE,
} from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { AgentParts, TurnEvent, TurnName } from "../pipeline.ts";
import type { ReplyPayload } from "../reply/payloads.ts";
import { resolveContextWindow } from "../../models/model-info.ts";

export async function openTurnLog(
  { agent, transcripts: parked }: Pick<AgentParts, "agent" | "transcripts">,
  held: HeldLease,
  entry: SessionEntry,
): Promise<TranscriptLog> {
  const expected = expectedTranscript(entry);
  return await agent.store.transcripts.open(transcriptName(entry), { held, expected, isRead: true, parked });
}

export type EngineMessage = AssistantMessage | ToolResultMessage;

/** The output of a turn so far, in order. */
export interface TurnWords {
  messages: EngineMessage[];
  notices: string[];
  /** Messages that a tool sent to the chat of the reply. */
  sent: ReplyPayload[];
}

export type TurnRecord = ReturnType<typeof createTurnRecord>;

/** `before`: the output of earlier attempts. */
export function createTurnRecord(log: TranscriptLog, turnId: string, before?: TurnWords) {
  const words: TurnWords = {
    messages: [...(before?.messages ?? [])],
    notices: [...(before?.notices ?? [])],
    sent: [...(before?.sent ?? [])],
  };
  const note = async (data: Omit<TurnNote, "turnId">): Promise<void> => {
    await log.append([noteDraft({ turnId, ...data })]);
  };
  return {
    words,
    async say(message: EngineMessage): Promise<void> {
      await log.append([{ type: "message", turnId, message }]);
      words.messages.push(message);
    },
    async steered(text: string, timestamp: number, mark?: SteerMark): Promise<void> {
      const message = { role: "user" as const, content: [{ type: "text" as const, text }], timestamp };
      const said = mark?.said === text ? undefined : mark?.said;
      await log.append([{ type: "message", turnId, said, steered: true, steeredAs: mark?.turnId, message }]);
    },
    async notice(text: string): Promise<void> {
      await note({ notice: text });
      words.notices.push(text);
    },
    async sent(payload: ReplyPayload): Promise<void> {
      await note({ sent: payload });
      words.sent.push(payload);
    },
    /** Marks the turn as given up: the engine is not asked again. */
    givenUp: async (): Promise<void> => await note({ givenUp: true }),
  };
}

/** `customType` of entries about a turn that are not messages. */
const TURN_NOTE_TYPE = "holdfast.turn";

interface TurnNote {
  turnId: string;
  notice?: string | undefined;
  sent?: ReplyPayload | undefined;
  givenUp?: true | undefined;
}

export function noteDraft(data: TurnNote): DraftEntry {
  return { type: "custom", customType: TURN_NOTE_TYPE, data };
}

export function turnNoteOf(entry: TranscriptEntry): TurnNote | undefined {
  if (entry.type !== "custom" || entry.customType !== TURN_NOTE_TYPE || !isRecord(entry.data)) return undefined;
  const { turnId, notice, sent, givenUp } = entry.data;
  if (typeof turnId !== "string") return undefined;
  return {
    turnId,
    notice: typeof notice === "string" ? notice : undefined,
    sent: isRecord(sent) ? sent : undefined,
    givenUp: givenUp === true ? true : undefined,
  };
}

/** The last message is an answer, and no tool call waits for its result. */
export function isAnswered({ messages }: TurnWords): boolean {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return false;
  const { stopReason, content } = last;
  if (stopReason !== "stop" && stopReason !== "length" && stopReason !== "error") return false;
  return typeof content === "string" || content.every(({ type }) => type !== "toolCall");
}

export function usageOf({ messages }: TurnWords): EngineUsage | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant" || message.usage === undefined || !(message.usage.totalTokens > 0)) continue;
    const { provider = "unknown", model = "unknown", usage } = message;
    const { input, output, cacheRead, cacheWrite } = usage;
    return { provider, model, input, output, cacheRead, cacheWrite };
  }
  return undefined;
}

/** A message that the engine did not complete itself. `model` is `provider/model`, if known. */
export function createAssistantMessage(
  words: Pick<AssistantMessage, "model" | "stopReason" | "errorMessage" | "timestamp"> & { text: string },
): AssistantMessage {
  const { text, model = "", stopReason, errorMessage, timestamp } = words;
  const slash = model.indexOf("/");
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    api: "holdfast",
    provider: slash > 0 ? model.slice(0, slash) : "holdfast",
    model: model.slice(slash + 1) || "unknown",
    usage: NO_USAGE,
    stopReason,
    errorMessage,
    timestamp,
  };
}

export interface OwnWindow {
  agent: AgentHandle;
  held: HeldLease;
  sessionKey: string;
  sessionId: string;
}

/** Resolves to the updated entry; undefined when the session is in another window. */
export async function updateOwnEntry(window: OwnWindow, change: EntryChange): Promise<SessionEntry | undefined> {
  const { agent, held, sessionKey, sessionId } = window;
  const updated = await agent.store.update(sessionKey, changeOwnEntry(agent, sessionId, change), { lease: held.lease });
  return updated?.sessionId === sessionId ? updated : undefined;
}

type EntryChange = (entry: SessionEntry) => Partial<SessionEntry>;

/** Changes nothing when the session is in another window. */
export function changeOwnEntry(agent: AgentHandle, sessionId: string, change: EntryChange): Mutate {
  return (entry) =>
    entry?.sessionId === sessionId
      ? { ...entry, ...change(entry), updatedAt: Math.max(entry.updatedAt, agent.clock.now()) }
      : undefined;
}

export function modelOf(entry: SessionEntry, config: HoldfastConfig, agentId: string): string | undefined {
  const { providerOverride, modelOverride } = entry;
  if (modelOverride === undefined) return config.agents[agentId]?.model;
  return providerOverride === undefined ? modelOverride : `${providerOverride}/${modelOverride}`;
}

/** How many tokens fit into one request. Without a configured model, the last one that answered counts. */
export function contextWindowOf(entry: SessionEntry, config: HoldfastConfig, agentId: string): number {
  const used = entry.model === undefined ? undefined : `${entry.modelProvider ?? ""}/${entry.model}`;
  return resolveContextWindow(modelOf(entry, config, agentId) ?? used, config.models).tokens;
}

export type TurnWatch = ReturnType<typeof createTurnWatch>;

const PACE_MS = 50;

/** Emits the progress of a running turn. Text comes in small pieces and is emitted about 20 times a second. */
export function createTurnWatch(turn: TurnName, emit: (event: TurnEvent) => void) {
  let collected = "";
  let emittedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (collected === "") return;
    const text = collected;
    collected = "";
    emittedAt = performance.now();
    emit({ type: "turn.text", ...turn, text });
  };
  return {
    text: (piece: string): void => {
      collected += piece;
      const wait = emittedAt + PACE_MS - performance.now();
      if (wait <= 0) flush();
      else timer ??= setTimeout(flush, wait).unref();
    },
    tool: (phase: "start" | "end", { id, name, isError, line }: Tool): void => {
      flush();
      emit({ type: "turn.tool", ...turn, phase, id, name, isError, line });
    },
    notice: (text: string): void => {
      flush();
      emit({ type: "turn.notice", ...turn, text });
    },
    compaction: (phase: "start" | "end"): void => {
      flush();
      emit({ type: "turn.compaction", ...turn, phase });
    },
    flush,
  };
}

type Tool = Pick<TurnEvent & { type: "turn.tool" }, "id" | "name" | "isError" | "line">;

/**
 * What one turn has said, in the transcript and at hand. Everything is in the file before the engine is
 * asked to go on; everything carries the turn's id, so that a turn that is begun again finds it.
 */
import { isRecord } from "../../base/json-record.ts";
import type { SteerMark } from "../../engine/engine.ts";
import type { AssistantMessage, ToolResultMessage, TranscriptEntry } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { ReplyPayload } from "../reply/payload.ts";

export type EngineMessage = AssistantMessage | ToolResultMessage;

/** What a turn has left so far, in order. */
export interface TurnWords {
  messages: EngineMessage[];
  notices: string[];
  /** What a tool sent to the conversation that gets the answer. */
  sent: ReplyPayload[];
}

export interface TurnRecord {
  readonly words: TurnWords;
  say(message: EngineMessage): Promise<void>;
  /** What a person put into the running turn. */
  steered(text: string, timestamp: number, mark?: SteerMark): Promise<void>;
  notice(text: string): Promise<void>;
  sent(payload: ReplyPayload): Promise<void>;
  /** The engine is about to be asked once more, after a process died. */
  repeated(): Promise<void>;
}

/** `customType` of what a turn did besides speaking. */
const TURN_NOTE_TYPE = "holdfast.turn";

interface TurnNote {
  turnId: string;
  notice?: string;
  sent?: ReplyPayload;
  repeated?: true;
}

export function createTurnRecord(log: TranscriptLog, turnId: string, before?: TurnWords): TurnRecord {
  const words: TurnWords = {
    messages: [...(before?.messages ?? [])],
    notices: [...(before?.notices ?? [])],
    sent: [...(before?.sent ?? [])],
  };
  const note = async (data: TurnNote): Promise<void> => {
    await log.append([{ type: "custom", customType: TURN_NOTE_TYPE, data }]);
  };
  return {
    words,
    async say(message) {
      await log.append([{ type: "message", turnId, message }]);
      words.messages.push(message);
    },
    async steered(text, timestamp, mark) {
      const message = { role: "user" as const, content: [{ type: "text" as const, text }], timestamp };
      const said = mark === undefined || mark.said === text ? {} : { said: mark.said };
      const steeredAs = mark === undefined ? {} : { steeredAs: mark.turnId };
      await log.append([{ type: "message", turnId, ...said, steered: true, ...steeredAs, message }]);
    },
    async notice(text) {
      await note({ turnId, notice: text });
      words.notices.push(text);
    },
    async sent(payload) {
      await note({ turnId, sent: payload });
      words.sent.push(payload);
    },
    repeated: async () => await note({ turnId, repeated: true }),
  };
}

/** Undefined for entries that are no note, or another turn's. */
export function turnNoteOf(entry: TranscriptEntry, turnId: string): TurnNote | undefined {
  if (entry.type !== "custom" || entry.customType !== TURN_NOTE_TYPE || !isRecord(entry.data)) return undefined;
  const { notice, sent, repeated } = entry.data;
  if (entry.data["turnId"] !== turnId) return undefined;
  return {
    turnId,
    ...(typeof notice === "string" ? { notice } : {}),
    ...(isRecord(sent) ? { sent } : {}),
    ...(repeated === true ? { repeated } : {}),
  };
}

/** The last thing said is an answer, and nothing waits for a tool. */
export function isAnswered({ messages }: TurnWords): boolean {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return false;
  const { stopReason, content } = last;
  if (stopReason !== "stop" && stopReason !== "length" && stopReason !== "error") return false;
  return typeof content === "string" || content.every(({ type }) => type !== "toolCall");
}

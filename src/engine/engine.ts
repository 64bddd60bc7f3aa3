/**
 * The contract of every engine. An engine reads the conversation it is given and yields events until the
 * turn is over. It does not write transcripts and does not deliver replies.
 *
 * - `message` events hold complete messages in order. Each is on disk before the engine is asked for the
 *   next event. `text` events carry the same words earlier, for live display.
 * - A failure is a HoldfastError whose kind says whether a retry can help.
 * - After an abort the engine ends soon, without an error. If it had said anything, the last `message`
 *   has the stop reason `aborted`.
 * - A turn may run again after a crash, with its earlier messages in the context. A tool call that has no
 *   result there was interrupted.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { AssistantMessage, ToolResultMessage, TranscriptMessage } from "../transcript/entries.ts";

export interface Engine {
  readonly name: string;
  /**
   * The engine stores and compacts the conversation itself (Claude Code). `context` then holds Holdfast's
   * copy, which is used only when the engine has lost its own.
   */
  readonly keepsConversation: boolean;
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Summarizes messages for a compaction. Absent if the engine compacts on its own. */
  summarize?(request: SummaryRequest, signal: AbortSignal): Promise<string>;
  /**
   * Adds a message to the session's running turn. False: too late, or the turn is a `flush`. The mark comes
   * back with the `steered` event. Optional.
   */
  steer?(sessionKey: string, text: string, mark?: SteerMark): Promise<boolean>;
  close(): Promise<void>;
}

/** Opens the engine of one agent, with its first message. It is closed with the agent. */
export type OpenEngine = (context: EngineContext) => Engine | Promise<Engine>;

export interface EngineContext {
  agentId: string;
  workspace: string;
  config: HoldfastConfig;
  logger: Logger;
  clock: Clock;
}

/** Stored in the transcript next to the text of a steered message. */
export interface SteerMark {
  /** The turn that this message would otherwise have started. */
  turnId: string;
  /** The part that the person wrote. */
  said: string;
}

export interface EngineTurn {
  agentId: string;
  sessionKey: string;
  sessionId: string;
  /** `flush`: the agent saves its memory; no person asked for this turn. */
  kind: "message" | "heartbeat" | "flush";
  /** The message to answer. It is also the last message of role `user` in `context`. */
  text: string;
  /** The conversation so far, oldest first. Starts with a summary if there was a compaction. */
  context: readonly TranscriptMessage[];
  system: string;
  /** `provider/model`, if the session or the configuration chose one. */
  model: string | undefined;
  /** `off`, `minimal`, `low`, `medium`, `high` or `xhigh`. Undefined: the engine's default. */
  thinking: string | undefined;
  /** The agent's folder. Its tools cannot leave it. */
  workspace: string;
  /** The engine's own id of the conversation, from its last `session` event. */
  engineSessionId: string | undefined;
}

export type EngineEvent =
  | { type: "text"; text: string }
  | { type: "message"; message: AssistantMessage | ToolResultMessage }
  /** A message from `steer`, at its place in the conversation. */
  | { type: "steered"; text: string; mark?: SteerMark | undefined }
  | { type: "tool-start"; id: string; name: string; input: unknown }
  | { type: "tool-end"; id: string; name: string; isError: boolean }
  /** Tokens of the latest request to the model. The last event counts. */
  | { type: "usage"; usage: EngineUsage }
  | { type: "compaction"; phase: "start" }
  | { type: "compaction"; phase: "end"; tokensBefore?: number | undefined; tokensAfter?: number | undefined }
  | { type: "session"; id: string }
  /** A messaging tool sent this to the conversation that gets the answer. */
  | { type: "sent"; text?: string | undefined; mediaUrls?: string[] | undefined }
  /** A message to the person beside the answer. */
  | { type: "notice"; text: string };

export interface EngineUsage {
  provider: string;
  model: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars for the whole turn. Undefined: unknown. */
  costUsd?: number | undefined;
}

export interface SummaryRequest {
  messages: readonly TranscriptMessage[];
  model: string | undefined;
  instructions?: string | undefined;
}

/**
 * The contract of everything that can answer a turn. An engine reads the conversation it is given
 * and yields events until it is done; it does not write transcripts and does not deliver replies.
 *
 * - `message` events are what was said, whole and in order: each is on disk before the engine is asked
 *   for the next event. Texts in `text` events are the same words earlier, for whoever watches.
 * - A failure is a HoldfastError whose kind says whether trying again can help. Nothing else is thrown
 *   on purpose.
 * - When the signal is aborted the engine ends soon and without an error; what it had said by then
 *   comes as a last `message` with stop reason `aborted`, if it was anything.
 * - A turn may be run again after a crash, with what it had said in the context. A tool call without a
 *   result in the context was cut short there.
 */
import type { EngineName } from "../config/config.ts";
import type { AssistantMessage, ToolResultMessage, TranscriptMessage } from "../transcript/entries.ts";

export interface Engine {
  readonly name: EngineName;
  /**
   * The engine has the conversation in a place of its own and shortens it itself (Claude Code). Then
   * `context` is what Holdfast knows of it, used only where the engine's own copy is gone.
   */
  readonly keepsConversation: boolean;
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** A summary that can stand for the messages. Left out: the engine shortens by itself. */
  summarize?(request: SummaryRequest, signal: AbortSignal): Promise<string>;
  /**
   * Puts a message into the turn that runs for the session; false: too late for it, or nobody is answered by
   * that turn (`flush`). The mark comes back with the message's event. Left out: it cannot.
   */
  steer?(sessionKey: string, text: string, mark?: SteerMark): Promise<boolean>;
  /** Ends whatever the engine keeps running between turns. */
  close(): Promise<void>;
}

/** What the transcript keeps of a message beside its text. */
export interface SteerMark {
  /** The turn that it would have been. */
  turnId: string;
  /** What the person wrote of it. */
  said: string;
}

export interface EngineTurn {
  agentId: string;
  sessionKey: string;
  sessionId: string;
  /** `flush`: nobody asked; the agent saves what it must not forget. */
  kind: "message" | "heartbeat" | "flush";
  /** What the person said, already in `context` as its last message of role `user`. */
  text: string;
  /** The conversation so far, oldest first: a summary if there was a compaction, then what was kept. */
  context: readonly TranscriptMessage[];
  /** What the agent is told about itself: bootstrap files, skills, the occasion. */
  system: string;
  /** `provider/model`, if the session or the configuration chose one. */
  model: string | undefined;
  /** `off`, `minimal`, `low`, `medium`, `high`, `xhigh`; undefined: the engine's own. */
  thinking: string | undefined;
  /** The folder that the agent works in and that its tools are confined to. */
  workspace: string;
  /** The conversation's id in the engine's own place, as its last `session` event said. */
  engineSessionId: string | undefined;
}

export type EngineEvent =
  /** The next piece of the answer. */
  | { type: "text"; text: string }
  /** Something complete was said: an answer, a tool call, or a tool's result. */
  | { type: "message"; message: AssistantMessage | ToolResultMessage }
  /** A message that `steer` put into the turn stands here in the conversation, as a person's. */
  | { type: "steered"; text: string; mark?: SteerMark }
  | { type: "tool-start"; id: string; name: string; input: unknown }
  | { type: "tool-end"; id: string; name: string; isError: boolean }
  /** Tokens of the newest request to the model, for what fills the context; the last one counts. */
  | { type: "usage"; usage: EngineUsage }
  | { type: "compaction"; phase: "start" }
  | { type: "compaction"; phase: "end"; tokensBefore?: number; tokensAfter?: number }
  /** Where the engine keeps this conversation. */
  | { type: "session"; id: string }
  /** A messaging tool sent this to the conversation that gets the answer. */
  | { type: "sent"; text?: string; mediaUrls?: string[] }
  /** Something the person has to know besides the answer. */
  | { type: "notice"; text: string };

export interface EngineUsage {
  provider: string;
  model: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars, for the whole turn. Left out: unknown. */
  costUsd?: number;
}

export interface SummaryRequest {
  messages: readonly TranscriptMessage[];
  model: string | undefined;
  /** What the person wants kept above all. */
  instructions?: string;
}

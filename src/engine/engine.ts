/**
 * The contract of everything that can answer a turn. An engine reads the conversation it is given
 * and yields events until it is done; it does not write transcripts and does not deliver replies.
 */
import type { TranscriptMessage } from "../transcript/entries.ts";

export type EngineName = "echo";

export interface Engine {
  readonly name: EngineName;
  /** Ends early, without an error, when the signal is aborted. */
  run(turn: EngineTurn, signal: AbortSignal): AsyncIterable<EngineEvent>;
}

export interface EngineTurn {
  sessionKey: string;
  sessionId: string;
  /** What the person said, already in `context` as its last message. */
  text: string;
  /** The conversation so far, oldest first: a summary if there was a compaction, then what was kept. */
  context: readonly TranscriptMessage[];
  /** `provider/model`, if the session or the configuration chose one. */
  model: string | undefined;
}

export type EngineEvent =
  /** The next piece of the answer. */
  | { type: "text"; text: string }
  /** Tokens that the turn used; the last one counts. */
  | { type: "usage"; usage: EngineUsage };

export interface EngineUsage {
  provider: string;
  model: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

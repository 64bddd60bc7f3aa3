/**
 * The contract of the commands that a person can type into any conversation. Resets are not here: they
 * belong to the session and are found by `initSessionState`.
 */
import type { HeldLease } from "../../session/lease.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import type { CompactOutcome, CompactRequest } from "../compact-session.ts";
import type { TurnEvent } from "../turn-events.ts";
import type { AgentParts } from "../turn.ts";

export interface ChatCommand {
  name: string;
  /** For /help, e.g. `/label <name>`. */
  usage: string;
  summary: string;
  /**
   * `now`: answered at once, also while a turn of the session runs, and without its lease. `in-order`: in
   * the lane, under the lease, after the messages before it.
   */
  when: "now" | "in-order";
  /** Only those who may reset the session. */
  needsAuthorization: boolean;
  /** Answers what the person did wrong; throws what is not their fault. */
  run(request: CommandRequest): Promise<CommandAnswer>;
}

/** All commands of a process; `createChatCommands` makes them. */
export interface ChatCommands {
  /** In the order of /help. Each refuses those who may not give it. */
  readonly all: readonly ChatCommand[];
  /**
   * `text` as `commandText` gives it. A command for another agent (`/status@other`) is none; one for
   * `botUsername` is.
   */
  find(text: string, botUsername?: string): FoundCommand | undefined;
  /** What to say to a single word that is almost a command; undefined when the text is none. */
  answerMistyped(text: string): string | undefined;
}

export interface FoundCommand {
  command: ChatCommand;
  argument: string;
}

export interface CommandRequest {
  parts: AgentParts;
  sessionKey: string;
  ctx: MessageContext;
  /** What follows the name, trimmed. */
  argument: string;
  /** For `in-order` commands. */
  held?: HeldLease;
  /** Names the command for ever: the same when it is begun again after a crash. Left out: it never is. */
  turnId?: string;
  lane: LaneControl;
  signal: AbortSignal;
  /** For what a command takes time for. Left out: nobody watches. */
  emit?: (event: TurnEvent) => void;
}

/** What a command may do to the lane of its session. */
export interface LaneControl {
  /** Aborts the turn that runs and gives up what waits; tells how much that was. */
  stop(): Promise<{ aborted: boolean; dropped: number }>;
  /** Messages that wait, and since when the running turn runs. */
  state(): { queued: number; runningSince?: number };
}

export interface CommandAnswer {
  /** Left out: nothing to say. */
  text?: string;
}

/** Shortens the conversation of a session because a person asked for it. */
export type CompactNow = (request: CompactRequest) => Promise<CompactOutcome>;

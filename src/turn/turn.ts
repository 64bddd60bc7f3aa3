/**
 * What lies between the lanes, which decide when a turn runs, and the turn itself. A turn runs under
 * its session's lease and never delivers: it returns payloads, and whoever called it puts them into the
 * outbox together with the end of the inbox items.
 */
import type { HoldfastConfig } from "../config/config.ts";
import type { Engine, EngineUsage } from "../engine/engine.ts";
import type { WorkspacePrompt } from "../engine/workspace/workspace-description.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { HookRunner } from "../hooks/hook.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { SessionInitResult } from "../session/init.ts";
import type { HeldLease } from "../session/lease.ts";
import type { ModelSelection } from "../session/model-hint.ts";
import type { Mutate, Window } from "../store/store.ts";
import type { ParkedTranscripts } from "../transcript/parked-transcripts.ts";
import type { GroupHistory } from "./body/group-history.ts";
import type { SystemEvents } from "./body/system-events.ts";
import type { ReplyToMode } from "./reply/build-payloads.ts";
import type { ReplyPayload } from "./reply/payload.ts";
import type { TurnEvent, TurnOutcome } from "./turn-events.ts";

export type { WorkspacePrompt };

/** Everything a turn of one agent needs; built once per process. */
export interface AgentParts {
  agent: AgentHandle;
  config: HoldfastConfig;
  engine: Engine;
  history: GroupHistory;
  systemEvents: SystemEvents;
  /** Keeps transcripts open between turns. Left out: each turn opens its own. */
  transcripts?: ParkedTranscripts;
  /** What the agent is told about itself: bootstrap files and skills of its workspace, as they are now. */
  describeWorkspace(): Promise<WorkspacePrompt>;
  /** Left out: nothing is handed from one window to the next. */
  handoff?: Handoff;
  /**
   * What a deleted session with these windows has left is forgotten, also where nothing is handed over any more. Left
   * out: nothing is.
   */
  forgetDeleted?(windows: readonly Window[]): Promise<void>;
  /** Left out: nobody is called when something happens. */
  hooks?: HookRunner;
}

export interface TurnRequest {
  parts: AgentParts;
  held: HeldLease;
  /** Names the turn for ever: the same when it is begun again after a crash. */
  turnId: string;
  /** The newest inbox item that it answers. */
  itemId: number;
  /** 1 for the first time. */
  attempt: number;
  /** In order; more than one where a queue collects. The last one says where the reply goes. */
  messages: readonly MessageContext[];
  /** Whether answers quote the message that they answer, on this channel. Left out: `off`. */
  replyToMode?: ReplyToMode;
  /** A heartbeat neither keeps a session fresh nor ends it. */
  isHeartbeat?: boolean;
  /** Aborted by a person (`/stop`), by a message that interrupts, or at the end of the grace period. */
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
}

export interface TurnResult {
  outcome: TurnOutcome;
  session: SessionInitResult;
  /** What is to be delivered, in order; not yet split for a channel. */
  payloads: ReplyPayload[];
  /** The same as one text. */
  text?: string;
  /** What it leaves in the session's entry; written by whoever ends its messages. Left out: nothing. */
  settle?: Mutate;
  usage?: EngineUsage;
  /** Set when the message named a model for the new window. */
  model?: ModelSelection;
  error?: unknown;
}

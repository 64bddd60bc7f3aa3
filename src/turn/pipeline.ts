/**
 * The contracts of message handling: the pipeline, the agents and channels that it serves, one turn, and
 * the events that report progress. One pipeline per process serves all agents. Several processes may share
 * a store; the lease of a session decides which one answers.
 *
 * - `admit` resolves when the message is durable. The same address twice is one turn in any process.
 * - Order per session key, parallel across keys, within the configured limits.
 * - Each turn reports its end once, through `ended` and an event. The sender learns of a failed turn.
 */
import type { ErrorReport } from "../base/errors.ts";
import type { Channel, ChannelStatus, InboundMessage } from "../channels/channel.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Engine, EngineUsage } from "../engine/engine.ts";
import type { WorkspacePrompt } from "../engine/workspace/workspace-description.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { HookRunner } from "../hooks/hook.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { SessionInitResult } from "../session/init.ts";
import type { HeldLease } from "../session/lease.ts";
import type { Window } from "../store/store.ts";
import type { ParkedTranscripts } from "../transcript/parked-transcripts.ts";
import type { ChatBlocks, StreamedAnswer } from "./reply/chat-blocks.ts";
import type { ReplyPayload, ReplyToMode } from "./reply/payloads.ts";
import type { ModelSelection } from "../session/model-choice.ts";
import type { AgentTool } from "../engine/tools/agent-tool.ts";
import type { SpawnTask } from "../engine/tools/session-tools.ts";
import type { TaskDesk } from "../tasks/task.ts";
import type { InboxItem } from "../store/queues.ts";
import type { Mutate } from "../store/session-entry.ts";

export interface Pipeline {
  readonly events: TurnEvents;
  /** Continues with pending messages, now and whenever another process leaves some. */
  start(): Promise<void>;
  admit(message: AddressedMessage): Promise<Admitted>;
  /** Aborts the running turn of the session. False when this process runs none. */
  abort(sessionKey: string, reason: string): Promise<boolean>;
  status(): PipelineStatus;
  /** Starts no new turns. Running turns get the grace period before they are aborted. No message is lost. */
  drain(): Promise<void>;
}

export interface AddressedMessage extends InboundMessage {
  /** Default: the agent of the channel's account, else the default agent. */
  agentId?: string | undefined;
  /** Whether the answer is sent to the chat of the message. False: only the caller gets it. Default: true. */
  deliver?: boolean | undefined;
  /** The answer is stored, so that `ended` has it even if another process answers. Default: true without `deliver`. */
  awaited?: boolean | undefined;
}

export interface InboxPayload {
  ctx: MessageContext;
  deliver: boolean;
  awaited: boolean;
}

export interface Admitted {
  /** False for a message that was admitted before. */
  admitted: boolean;
  item: InboxItem;
  agentId: string;
  sessionKey: string;
  /** Never rejects. Also resolves when another process ends the turn; its text is known if `awaited`. */
  ended: Promise<TurnEnd>;
}

export interface PipelineStatus {
  running: { agentId: string; sessionKey: string; itemId: number; startedAt: number }[];
  queued: number;
  draining: boolean;
  /** Since the process started. */
  counts: {
    admitted: number;
    duplicates: number;
    turns: number;
    failed: number;
    dropped: number;
    delivered: number;
    /** Deliveries that may repeat an earlier attempt whose outcome is unknown. */
    mayRepeat?: number | undefined;
  };
}

/** The agents of this process. An agent is opened when it is first needed. */
export interface AgentPool {
  /** Configured agents and agents with a folder, in alphabetical order. */
  list(): Promise<string[]>;
  opened(): AgentParts[];
  /** Opens the agent once and shares it. Rejects with kind `not-found` for an unknown agent. */
  open(agentId: string): Promise<AgentParts>;
  close(): Promise<void>;
}

export interface ChannelPool {
  /** Starts all accounts in parallel. An account that fails is reported and does not delay the others. */
  start(admit: (message: AddressedMessage) => Promise<unknown>): Promise<void>;
  accounts(): readonly ChannelAccount[];
  failures(): readonly { channel: string; accountId: string; status: ChannelStatus }[];
  /** Default account: the only one of the channel, else `default`. */
  find(channel: string, accountId?: string): ChannelAccount | undefined;
  stop(): Promise<void>;
}

export interface ChannelAccount {
  channel: Channel;
  agentId: string;
  replyTo: ReplyToMode;
  blockStreaming: boolean;
  readonly status: ChannelStatus;
}

/** Everything that a turn of one agent needs. Built once per process. */
export interface AgentParts {
  agent: AgentHandle;
  config: HoldfastConfig;
  engine: Engine;
  /** Keeps transcripts open between turns. Default: each turn opens its transcript. */
  transcripts?: ParkedTranscripts | undefined;
  /** The system prompt from the bootstrap files and skills of the workspace, as they are now. */
  describeWorkspace(): Promise<WorkspacePrompt>;
  /** The agent's channels with their states, such as `telegram connected`. Optional. */
  describeChannels?(): string[];
  handoff?: Handoff | undefined;
  /** Deletes the hand-offs of a deleted session, even when hand-off is turned off. Optional. */
  forgetDeleted?(windows: readonly Window[]): Promise<void>;
  hooks?: HookRunner | undefined;
  /** Tools over the agent's sessions, for an engine outside this process. Optional. */
  sessionTools?: (() => Promise<readonly AgentTool[]>) | undefined;
  /** Tasks for Claude Code. Optional. */
  tasks?: AgentTasks | undefined;
}

export interface AgentTasks {
  open(): Promise<TaskDesk>;
  /** False without loading anything if the agent never had a task. */
  hasAny(): Promise<boolean>;
  /** Starts a task for a tool call. */
  spawn: SpawnTask;
  /** Continues what an earlier process left. */
  recover(): Promise<void>;
  /** Stops the tasks of this process; their conversations get a message. */
  stop(): Promise<void>;
  /** The command that a message of an authorized person stands for: a reply to a task, or a word for an open question. */
  readAsCommand(sessionKey: string, ctx: MessageContext): Promise<string | undefined>;
}

/**
 * One turn, as the lane asks for it. A turn runs under its session's lease and delivers nothing: the lane
 * puts the returned payloads into the outbox in the commit that ends the inbox items.
 */
export interface TurnRequest {
  parts: AgentParts;
  held: HeldLease;
  /** Stays the same when the turn is repeated after a crash. */
  turnId: string;
  /** The newest inbox item that the turn answers. */
  itemId: number;
  /** 1 for the first attempt. */
  attempt: number;
  /** In order, as `finalizeInboundContext` returns them. The reply goes to the chat of the last one. */
  messages: readonly MessageContext[];
  replyToMode?: ReplyToMode | undefined;
  /** A heartbeat neither keeps a session fresh nor ends it. */
  isHeartbeat?: boolean | undefined;
  /** Aborted by `/stop`, by an interrupting message, or at the end of the grace period. */
  signal: AbortSignal;
  emit: (event: TurnEvent) => void;
  /** Sends a message to the chat while the turn runs; the same name twice is the same message. Optional. */
  tell?: ((name: string, text: string) => Promise<void>) | undefined;
  /** The messages that show the answer in the chat while it grows. Undefined: the answer is not sent to a chat. */
  blocks?: BlockSource | undefined;
}

export interface BlockSource {
  /** The chat can show them, and the account wants that. */
  readonly canShow: boolean;
  /** Undefined: the answer has no recipient. */
  open(): Promise<ChatBlocks | undefined>;
  /** False: this attempt has not opened them. */
  readonly isOpen: boolean;
}

export interface TurnResult {
  outcome: TurnOutcome;
  session: SessionInitResult;
  /** The replies in order, not yet split for a channel. */
  payloads: ReplyPayload[];
  /** The same as one text. */
  text?: string | undefined;
  /** The part of the answer that the chat shows already. */
  streamed?: StreamedAnswer | undefined;
  /** Why `payloads` is empty although there was an answer. */
  withheld?: "send-policy" | undefined;
  /** The change of the session's entry; committed together with the end of the messages. */
  settle?: Mutate | undefined;
  usage?: EngineUsage | undefined;
  /** Set when the message named a model for the new window. */
  model?: ModelSelection | undefined;
  error?: unknown;
}

/** Progress of messages and turns, for clients, logs and `health`. Nothing depends on these events. */
export type TurnEvent =
  /** `messageId`: the platform's id of the message, or its idempotency key. */
  | ({ type: "message.admitted"; messageId: string; queued: number } & TurnName)
  /** Dropped from a full queue, or by `/stop`. The sender is informed. */
  | { type: "message.dropped"; agentId: string; sessionKey: string; itemIds: number[]; reason: string }
  | ({ type: "turn.started"; sessionId?: string | undefined; attempt: number } & TurnName)
  | ({ type: "turn.text"; text: string } & TurnName)
  | ({ type: "turn.tool"; phase: "start" | "end"; id: string; name: string } & ToolDetails & TurnName)
  | ({ type: "turn.notice"; text: string } & TurnName)
  | ({ type: "turn.compaction"; phase: "start" | "end" } & TurnName)
  | ({ type: "turn.ended" } & TurnEnd)
  | { type: "session.changed"; agentId: string; sessionKey: string }
  | { type: "handoff.changed"; agentId: string; sessionKey: string }
  /** `text`: a message of the task to the conversation. */
  | { type: "task.changed"; agentId: string; sessionKey: string; text?: string | undefined }
  | { type: "delivery.sent"; agentId: string; sessionKey: string; outboxId: number; deliveredId?: string | undefined }
  /** `mayRepeat`: an earlier attempt may have reached the platform. */
  | { type: "delivery.started"; agentId: string; sessionKey: string; outboxId: number; mayRepeat: boolean }
  | { type: "delivery.delayed"; agentId: string; sessionKey: string; outboxId: number; dueAt: number; reason: string }
  | { type: "delivery.failed"; agentId: string; sessionKey: string; outboxId: number; reason: string }
  | { type: "channel.status"; channel: string; accountId: string; status: ChannelStatus };

interface ToolDetails {
  isError?: boolean | undefined;
  /** `→ read_file notes.md`, at the start. Only if the session is verbose. */
  line?: string | undefined;
}

export interface TurnName {
  agentId: string;
  sessionKey: string;
  itemId: number;
}

export type TurnOutcome =
  | "answered"
  /** The engine chose not to reply. */
  | "silent"
  /** A chat command, or a reset without a message. */
  | "command"
  /** A group message that did not address the agent. Kept as context for later turns. */
  | "noted"
  /** Stopped by a person, or by a message that interrupts. */
  | "aborted"
  | "failed"
  | "dropped";

export interface TurnEnd extends TurnName, Pick<TurnResult, "outcome" | "text" | "withheld" | "usage"> {
  sessionId?: string | undefined;
  media?: string[] | undefined;
  error?: ErrorReport | undefined;
  durationMs: number;
}

export type TurnEvents = ReturnType<typeof createTurnEvents>;

export function createTurnEvents(onListenerError: (error: unknown) => void) {
  const listeners = new Set<(event: TurnEvent) => void>();
  return {
    emit: (event: TurnEvent): void => {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          onListenerError(error);
        }
      }
    },
    /** Returns a function that unsubscribes. A listener that throws does not affect the others. */
    subscribe: (listener: (event: TurnEvent) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

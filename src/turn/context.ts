/**
 * The context of each level. `createPipeline` builds one pipeline context per process; lanes and delivery
 * share it. Each session with pending messages has one lane context. A turn has the `TurnRequest`.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { HeldLease, TakenLease } from "../session/lease.ts";
import type { ChatCommand, ChatCommands } from "./commands/command.ts";
import type { Slots, SlotTicket } from "./lanes/waiting.ts";
import type { AgentParts, AgentPool, ChannelPool, TurnEnd, TurnEvents, TurnRequest, TurnResult } from "./pipeline.ts";
import type { DeliveryRoute, InboxItem, OutboxItem } from "../store/queues.ts";
import type { SessionEntry } from "../store/session-entry.ts";

export interface PipelineOptions {
  config: HoldfastConfig;
  agents: AgentPool;
  channels: ChannelPool;
  commands: ChatCommands;
  runTurn: (request: TurnRequest) => Promise<TurnResult>;
  clock: Clock;
  logger: Logger;
  events?: TurnEvents | undefined;
  /** How long a channel may take to send. Default: 60 s. */
  sendTimeoutMs?: number | undefined;
}

export interface PipelineContext extends PipelineOptions {
  events: TurnEvents;
  slots: Slots;
  mentionPatterns: readonly RegExp[];
  deliveries: { delivered: number; mayRepeat: number };
  /** Unexpected errors while sending, by idempotency key. In memory, so that deaths of a process do not count. */
  sendErrors: Map<string, number>;
  /** See `createDelivery`. */
  reserveDelivery(parts: AgentParts, key: string, route: DeliveryRoute | undefined): SendStarted | undefined;
  /** Other processes may have ended messages of this session. */
  onOthersDone(parts: AgentParts, key: string): void;
  /** Called once for the items of each turn that ended in this process. */
  onEnded(itemIds: readonly number[], end: TurnEnd): void;
}

/** Sends the replies of a committed turn. The commit may have started the first one. */
export type SendStarted = (replies: readonly OutboxItem[]) => void;

export interface LaneContext {
  readonly pipeline: PipelineContext;
  readonly parts: AgentParts;
  readonly key: string;
  taken: TakenLease | undefined;
  ticket: SlotTicket | undefined;
  running: RunningStep | undefined;
  isDraining: boolean;
  /** Items that this lane has claimed or is dropping, until it has reported their end. */
  readonly mine: Set<number>;
  /** Why items were put off through no fault of their own, until they are queued again. */
  readonly excuses: Map<number, string>;
  /** Work beside the running turn. It must end before the lease is released. */
  readonly quickWork: Set<Promise<void>>;
  /** Messages that waited for a turn at the last look. */
  waiting: number;
  /** Whether messages were queued when the last turn ended. */
  isMore: boolean;
  failures: number;
  /** Waits after the n-th consecutive failure, and reports the failure. */
  pause(failures: number, error: unknown, itemId?: number): Promise<void>;
}

/** A turn, or a command that runs in order. */
export interface RunningStep {
  /** Claimed, in order. Messages that steer the turn are added. */
  readonly items: WaitingItem[];
  readonly held: HeldLease;
  readonly startedAt: number;
  readonly abort: AbortController;
  /** Work for messages that arrived during the turn. The end of the turn waits for it. */
  attending: Promise<void>;
  isAttendDue: boolean;
  isEnding: boolean;
}

/** How the work on some items ended, before that is committed. */
export interface StepResult extends Omit<TurnResult, "session" | "model"> {
  /** The session's entry, if the step has read it. */
  entry?: SessionEntry | undefined;
  givenUp?: boolean | undefined;
  /** The messages did not end; each is tried on its own. */
  apart?: boolean | undefined;
}

export interface WaitingItem {
  item: InboxItem;
  ctx: MessageContext;
  deliver: boolean;
  awaited: boolean;
  need: Need;
}

export type Need =
  /** A group message that does not address the agent: kept as context. */
  | { what: "note" }
  | { what: "command"; command: ChatCommand; argument: string }
  | { what: "answer"; text: string }
  /** `alone`: never in one turn with other messages, because it opens a new window. */
  | { what: "turn"; alone: boolean };

/**
 * The contract of the way of a message, from admission to the delivered reply. One pipeline per process
 * serves all agents; several processes may share a store, and the lease of a session decides who answers.
 *
 * - `admit` resolves when the message is durable. The same address twice is one turn, whoever admits it.
 * - Order per session key, parallel across keys, within the configured limits.
 * - Every end of a turn is told once, by `ended` and by an event; a turn that fails tells the person.
 */
import type { InboundMessage } from "../channels/channel.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { InboxItem } from "../store/store.ts";
import type { TurnEnd, TurnEvents } from "./turn-events.ts";

export interface Pipeline {
  readonly events: TurnEvents;
  admit(message: AddressedMessage): Promise<Admitted>;
  /** Aborts the turn that runs for the session; false when none does in this process. */
  abort(sessionKey: string, reason: string): Promise<boolean>;
  status(): PipelineStatus;
  /** No new turns; running ones get the grace period and are aborted then. Nothing admitted is lost. */
  drain(): Promise<void>;
}

export interface AddressedMessage extends InboundMessage {
  /** Left out: the agent of the channel's account, else the default agent. */
  agentId?: string;
  /** Left out: yes, to where the message came from. False: the answer is for the caller alone. */
  deliver?: boolean;
  /**
   * True: somebody waits for the answer, which is kept with the message: `ended` then has its words also from
   * another process. Left out: when it is delivered to nobody.
   */
  awaited?: boolean;
}

/** What an inbox item carries. */
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
  /** Never rejects. Resolves also when another process ends the turn; what was said there is known if `awaited`. */
  ended: Promise<TurnEnd>;
}

export interface PipelineStatus {
  running: { agentId: string; sessionKey: string; itemId: number; startedAt: number }[];
  /** Messages that wait for their turn in this process. */
  queued: number;
  draining: boolean;
  /** Since the process started. */
  counts: PipelineCounts;
}

export interface PipelineCounts {
  admitted: number;
  duplicates: number;
  turns: number;
  failed: number;
  dropped: number;
  delivered: number;
  /** Deliveries of which nobody knew whether an earlier attempt had arrived. */
  mayRepeat?: number;
}

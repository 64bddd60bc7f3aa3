/**
 * The contract of a channel: a way for people to reach an agent. A channel knows its platform and
 * nothing of sessions, stores or engines.
 *
 * - Inbound: a channel hands every message to `host.admit` and tells its platform that it has it only
 *   after that has resolved. The same message may come again at any time; admission is idempotent.
 * - Outbound: `send` delivers one chunk, once per call. It never retries by itself: whoever calls it
 *   knows whether a second delivery is harmless. It throws a HoldfastError whose kind says whether trying
 *   again can help (`unavailable`, with `data.retryAfterMs` if the platform said so) or not.
 * - A misconfigured channel fails in `start` with an error that says how to mend it. What fails later and
 *   may pass (network, rate limit) is handled inside, with growing pauses, and told through `host.report`.
 */
import type { MessageContext } from "../keys/message-context.ts";
import type { DeliveryTarget, MessageAddress } from "../store/store.ts";

export interface Channel {
  /** `telegram`, `discord`, `whatsapp`, `web`. */
  readonly name: string;
  /** Of several accounts on one platform; `default` when there is one. */
  readonly accountId: string;
  readonly capabilities: ChannelCapabilities;
  /** Resolves when messages can arrive. */
  start(host: ChannelHost): Promise<void>;
  /** Takes no new messages; resolves when `admit` calls under way have ended. */
  stop(): Promise<void>;
  send(message: OutboundMessage): Promise<SentMessage>;
  /** Throws, with advice, when this can be no address of the platform. Does not ask the platform. Left out: any can. */
  checkTarget?(target: DeliveryTarget): void;
  /** Shows that an answer is being written. Left out: the platform has no such thing. */
  showTyping?(target: DeliveryTarget): Promise<void>;
}

export interface ChannelCapabilities {
  /** Longest text of one message, in UTF-16 units. Left out: no limit. */
  textLimit?: number;
  /** Files can be sent. */
  media: boolean;
  /** An answer can refer to the message it answers. */
  replies: boolean;
  threads: boolean;
  /** The platform drops a second message with the same idempotency key. */
  deduplicates: boolean;
}

export interface ChannelHost {
  /** Durable once resolved. Rejects when the message cannot be kept: then the platform must not be told. */
  admit(message: InboundMessage): Promise<void>;
  /** What a person should know about the state of the channel. */
  report(status: ChannelStatus): void;
}

export interface InboundMessage {
  address: MessageAddress;
  ctx: MessageContext;
  /** In ms. */
  receivedAt: number;
}

export interface ChannelStatus {
  state: "starting" | "connected" | "retrying" | "stopped" | "failed";
  /** One line for a person. */
  text: string;
  /** A code to be scanned, as text, while the platform waits for one. */
  loginCode?: string;
}

export interface OutboundMessage {
  target: DeliveryTarget;
  /** The same key twice is the same delivery; given to platforms that know such a thing. */
  idempotencyKey: string;
  text?: string;
  media?: OutboundMedia[];
  replyToId?: string;
  /** Audio as a voice message. */
  asVoice?: boolean;
}

export type OutboundMedia = { kind: "url"; url: string } | { kind: "file"; path: string };

export interface SentMessage {
  /** The platform's id of the (first) message. */
  messageId: string;
}

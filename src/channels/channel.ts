/**
 * The contract of a channel: a way for people to reach an agent. A channel knows its platform, but not
 * sessions, stores or engines.
 *
 * - Inbound: a channel passes every message to `host.admit` and acknowledges it to the platform only after
 *   that has resolved. The same message may arrive twice; admission is idempotent.
 * - Outbound: `send` delivers one chunk, once per call, without retrying. Its HoldfastError says by its kind
 *   whether a retry can help (`unavailable`, with `data.retryAfterMs` if the platform asks for a pause).
 * - A misconfigured channel fails in `start` with an error that says how to fix it. The channel retries
 *   later failures that may pass (network, rate limit) with growing pauses and calls `host.report`.
 */
import { type Clock, backOffMs } from "../base/clock.ts";
import { HoldfastError, messageWithHint } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { AccessOptions } from "./access.ts";
import type { DeliveryTarget, MessageAddress } from "../store/queues.ts";

export interface Channel {
  /** `telegram`, `discord`, `whatsapp`, `web`. */
  readonly name: string;
  /** Distinguishes several accounts on one platform; `default` when there is one. */
  readonly accountId: string;
  readonly capabilities: ChannelCapabilities;
  /** The platform serves one connection of the account at a time, so one gateway has it. Default: false. */
  readonly isExclusive?: boolean | undefined;
  /** Resolves when messages can arrive. */
  start(host: ChannelHost): Promise<void>;
  /** Accepts no new messages; resolves when all pending `admit` calls have ended. */
  stop(): Promise<void>;
  send(message: OutboundMessage): Promise<SentMessage>;
  /** Optional. Throws for an address that the platform cannot have. Makes no request. */
  checkTarget?(target: DeliveryTarget): void;
  showTyping?(target: DeliveryTarget): Promise<void>;
  /** Replaces the text and the buttons of a sent message. Optional. */
  edit?(target: DeliveryTarget, messageId: string, message: MessageEdit): Promise<void>;
  /** Deletes a sent message. Optional: it stays. */
  remove?(target: DeliveryTarget, messageId: string): Promise<void>;
}

export interface MessageEdit {
  text: string;
  buttons?: readonly MessageButton[] | undefined;
}

/**
 * A press is admitted as a message of the presser with this command as its text, so it is durable, authorized and
 * answered like any other command.
 */
export interface MessageButton {
  label: string;
  /** At most 60 characters. */
  command: string;
}

export interface ChannelCapabilities {
  /** Longest text of one message, in UTF-16 units. Default: no limit. */
  textLimit?: number | undefined;
  media: boolean;
  /** An answer can refer to the message it answers. */
  replies: boolean;
  /** Messages can have buttons. Default: false; the text then lists the commands. */
  buttons?: boolean | undefined;
}

export interface ChannelHost {
  /** Durable once resolved. Rejects when the message cannot be stored; do not acknowledge it then. */
  admit(message: InboundMessage): Promise<void>;
  report(status: ChannelStatus): void;
}

export interface InboundMessage {
  address: MessageAddress;
  ctx: MessageContext;
  receivedAt: number;
}

export interface ChannelStatus {
  state: "starting" | "connected" | "retrying" | "stopped" | "failed";
  /** One line for a person. */
  text: string;
  /** Text of the QR code to scan, while the platform waits for one. */
  loginCode?: string | undefined;
}

export interface OutboundMessage {
  target: DeliveryTarget;
  /** The same key twice is the same delivery; passed to platforms that support it. */
  idempotencyKey: string;
  text?: string | undefined;
  media?: OutboundMedia[] | undefined;
  replyToId?: string | undefined;
  asVoice?: boolean | undefined;
  /** Only for channels with the capability `buttons`. */
  buttons?: readonly MessageButton[] | undefined;
}

export type OutboundMedia = { kind: "url"; url: string } | { kind: "file"; path: string };

export interface SentMessage {
  messageId: string;
}

export interface MessageSender {
  send: (message: OutboundMessage) => Promise<SentMessage>;
  showTyping: (target: DeliveryTarget) => Promise<void>;
}

export interface AccountOptions extends AccessOptions {
  accountId: string;
  mediaFolder: string;
  /** Default: 20 MB. */
  maxMediaBytes?: number | undefined;
  clock: Clock;
  logger: Logger;
}

export interface ChannelRun {
  host: ChannelHost;
  signal: AbortSignal;
  /** Closed by `stop`, after `start` has ended, or when `start` fails. */
  closing: AsyncDisposableStack;
}

/** `start` and `stop` of a channel that runs once at a time. */
export function singleRun(
  platform: string,
  accountId: string,
  open: (run: ChannelRun) => Promise<void>,
): Pick<Channel, "start" | "stop"> {
  let running: { stopping: AbortController; started: Promise<void>; run: ChannelRun } | undefined;
  return {
    start: async (host) => {
      if (running !== undefined) {
        const message = `${platform} account ${accountId} is already running.`;
        const hint = "Stop it before starting it again.";
        throw new HoldfastError("conflict", "channel-started", message, { hint, data: { accountId } });
      }
      const stopping = new AbortController();
      let isFailed = false;
      const report = (status: ChannelStatus): void => {
        isFailed = status.state === "failed";
        host.report(status);
      };
      const admit: ChannelHost["admit"] = async (message) => await host.admit(message);
      const run = { host: { admit, report }, signal: stopping.signal, closing: new AsyncDisposableStack() };
      const starting = open(run);
      const mine = (running = { stopping, run, started: starting.catch(() => undefined) });
      try {
        await starting;
      } catch (error) {
        const text = `${platform}: ${messageWithHint(error)}`;
        if (!stopping.signal.aborted && !isFailed) host.report({ state: "failed", text });
        stopping.abort();
        if (running === mine) {
          running = undefined;
          await run.closing.disposeAsync().catch(() => undefined);
        }
        throw error;
      }
    },
    stop: async () => {
      if (running === undefined) return;
      const { stopping, started, run } = running;
      running = undefined;
      stopping.abort();
      await started;
      await run.closing.disposeAsync();
      run.host.report({ state: "stopped", text: `${platform}: stopped.` });
    },
  };
}

export function notConnected(platform: string): HoldfastError {
  return new HoldfastError("unavailable", "channel-not-connected", `${platform} is not connected.`, {
    hint: "Wait until the channel has started; `holdfast channels status` shows its state.",
  });
}

export function stoppedWhileConnecting(platform: string): HoldfastError {
  return new HoldfastError("interrupted", "channel-stopped", `The ${platform} channel was stopped while connecting.`, {
    hint: "Start it again.",
  });
}

export function emptyMessage(): HoldfastError {
  return new HoldfastError("usage", "empty-message", "The message has neither text nor a file.", {
    hint: "Add a text or a file.",
  });
}

/** The pause that the platform asks for, else growing ones. `attempt` counts from 0. */
export function pauseAfter(error: unknown, attempt: number): number {
  const requested = error instanceof HoldfastError ? error.data["retryAfterMs"] : undefined;
  return typeof requested === "number" ? requested : backOffMs(attempt + 1, { firstMs: 1000, maxMs: 60_000 });
}

/**
 * From a platform's message to admission, the same for every channel: the sender is checked, then files are fetched,
 * then the message is described in OpenClaw's field names. A message of a stranger causes no requests.
 */
import { createKeyedMutex } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { errorMessage, hasCode } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/text.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { type AccessSender, screenSender } from "./access.ts";
import {
  type AccountOptions,
  type ChannelHost,
  type InboundMessage,
  type OutboundMessage,
  pauseAfter,
} from "./channel.ts";
import { type ReceivedFiles, mediaPlaceholder, tooLarge } from "./files.ts";

export interface IncomingMessage {
  chatId: string;
  messageId: string;
  /** Where a reply goes, as in a delivery target. */
  to: string;
  threadId?: string | number | undefined;
  sender: AccessSender;
  /** Ids of the group that the allow list may name. Undefined: a direct chat. */
  groupIds?: readonly string[] | undefined;
  files: readonly IncomingFile[];
  /** The fields that only the platform knows. Called once the sender is admitted. */
  describe(): MessageContext | Promise<MessageContext>;
}

export interface IncomingFile {
  /** Names it in notes to the agent. */
  label: string;
  type: string;
  /** As announced by the sender. Undefined: unknown. */
  bytes?: number | undefined;
  /** Resolves to the path of the saved file. */
  save(files: ReceivedFiles): Promise<string>;
}

export interface InboundParts extends AccountOptions {
  channel: string;
  host: ChannelHost;
  files: ReceivedFiles;
  signal: AbortSignal;
  send(message: OutboundMessage): Promise<unknown>;
  /** The platform sends a message again that was not admitted. */
  repeats: boolean;
}

/** Undefined if the message is not for the agent. */
export async function prepareInbound(
  message: IncomingMessage,
  parts: InboundParts,
): Promise<InboundMessage | undefined> {
  const { channel, accountId } = parts;
  const { chatId, messageId, to, threadId, sender, groupIds } = message;
  const target = { channel, accountId, to, threadId };
  const allowed = await screenSender({ channel, sender, groupIds }, parts, async (text, code) => {
    await parts.send({ target, text, idempotencyKey: `pairing:${code}:${messageId}` });
  });
  if (allowed === undefined) return undefined;
  const { paths, types, notes } = await receiveFiles(message.files, parts);
  const described = await message.describe();
  const text = described.Body || (types.length === 0 ? "" : mediaPlaceholder(types));
  const untrusted = [...(described.UntrustedContext ?? []), ...notes];
  const ctx: MessageContext = {
    Provider: channel,
    Surface: channel,
    OriginatingChannel: channel,
    AccountId: accountId,
    MessageSid: messageId,
    ...described,
    Body: text,
    RawBody: text,
    CommandBody: described.CommandBody ?? text,
    CommandAuthorized: allowed.commandAuthorized,
    ...(paths.length === 0 ? {} : { MediaPaths: paths, MediaTypes: types }),
    UntrustedContext: untrusted.length === 0 ? undefined : untrusted,
  };
  return { address: { channel, accountId, chatId, messageId }, ctx, receivedAt: parts.clock.now() };
}

/** A file that cannot be fetched becomes a note; its message is admitted without it. */
async function receiveFiles(sent: readonly IncomingFile[], { files, signal, logger, channel, repeats }: InboundParts) {
  const received = { paths: [] as string[], types: [] as string[], notes: [] as string[] };
  for (const file of sent) {
    try {
      if ((file.bytes ?? 0) > files.maxBytes) throw tooLarge(files.maxBytes);
      received.paths.push(await file.save(files));
      received.types.push(file.type);
    } catch (error) {
      // With a full disk the message could not be stored either, so the platform keeps it.
      const isDiskFull = hasCode(error, "disk-full");
      if (repeats && (isDiskFull || signal.aborted)) throw error;
      logger.warn("cannot fetch the file of a message", { channel, error });
      received.notes.push(`A file (${printableLine(file.label, 100)}) could not be fetched: ${errorMessage(error)}`);
    }
  }
  return received;
}

/** Messages of one chat one after the other, of other chats in parallel. */
export function createInboundLanes() {
  const lanes = createKeyedMutex();
  const running = new Set<Promise<void>>();
  return {
    run: (chat: string, task: () => Promise<void>, onFailure: (error: unknown) => void): void => {
      const work = lanes.run(chat, task).catch(onFailure);
      running.add(work);
      void work.then(() => running.delete(work));
    },
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** Retries until the task succeeds or the channel stops. `signal` ends the pause; the next failure is then thrown. */
export async function keepTrying<T>(
  task: () => Promise<T>,
  { host, clock, logger, signal }: { host: ChannelHost; clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await task();
      if (attempt > 0) host.report({ state: "connected", text: "Receiving messages again." });
      return result;
    } catch (error) {
      if (signal.aborted) throw error;
      const pause = pauseAfter(error, attempt);
      logger.warn("cannot accept a message yet", { error, retryInMs: pause });
      host.report({ state: "retrying", text: `Cannot accept a message yet: ${errorMessage(error)}` });
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }
}

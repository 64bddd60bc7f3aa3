/**
 * Block streaming: an answer that takes longer is shown in the chat while it grows. Each message of the platform is a
 * block. A block is sent once through the outbox and edited afterwards; a text that outgrows the channel's limit
 * continues in the next block.
 *
 * What the person reads in the end is what the transcript has: the commit that ends the turn holds, for each block, an
 * outbox item that replaces its text. An edit can be repeated, so a crash at any point neither doubles nor loses the
 * answer. Blocks are named by turn and position, so a repeated turn finds and reuses those of an earlier attempt.
 */
import { within } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Channel, ChannelCapabilities } from "../../channels/channel.ts";
import type { Logger } from "../../base/log.ts";
import type { DeliveryTarget, Lease, Outbox, OutboxDraft } from "../../store/queues.ts";
import { type DraftRequest, type OutboxPayload, draftReplies } from "./draft-replies.ts";
import type { ReplyPayload } from "./payloads.ts";
import { splitReplyText } from "./split-text.ts";

/** A message of the chat that shows a part of the answer. */
export interface ShownBlock {
  outboxId: number;
  /** The text that the platform has confirmed. Undefined: unknown. */
  text: string | undefined;
}

/** What the end of a turn needs to know of its blocks. */
export interface StreamedAnswer {
  target: DeliveryTarget;
  blocks: readonly ShownBlock[];
  /** How many payloads, from the first one, are the answer that the blocks show. */
  payloads: number;
  /** Blocks that the answer does not need are removed. False: they stay, as after a failure. */
  isWhole: boolean;
}

export interface ChatBlocksOptions {
  turnId: string;
  sessionKey: string;
  target: DeliveryTarget;
  /** Undefined: this process cannot reach the chat. */
  channel: Channel | undefined;
  outbox: Outbox;
  lease: Lease;
  logger: Logger;
}

export type ChatBlocks = ReturnType<typeof createChatBlocks>;

/** Longer answers wait for their end. */
const MAX_BLOCKS = 8;

export function createChatBlocks(options: ChatBlocksOptions) {
  const { turnId, sessionKey, target, channel, outbox, lease, logger } = options;
  const blocks: ShownBlock[] = [];
  let isBroken = channel?.edit === undefined;

  const keyOf = (at: number): string => `${turnId}:block:${at}`;

  const open = async (at: number, payload: OutboxPayload): Promise<void> => {
    const [item] = await outbox.enqueue(sessionKey, [{ idempotencyKey: keyOf(at), target, payload }], { lease });
    if (item !== undefined) blocks.push({ outboxId: item.id, text: undefined });
    faultPoint("block.queued");
  };

  /** A block that is not delivered yet is edited later. */
  const edit = async (block: ShownBlock, text: string): Promise<void> => {
    const deliveredId = (await outbox.get(block.outboxId))?.deliveredId;
    if (deliveredId === undefined) return;
    await channel?.edit?.(target, deliveredId, { text });
    block.text = text;
    faultPoint("block.edited");
  };

  return {
    target,
    /** Makes the chat show these payloads. After a failure the chat waits for the end of the turn. */
    async show(payloads: readonly ReplyPayload[]): Promise<void> {
      if (isBroken) return;
      try {
        for (const [at, piece] of piecesOf(payloads, channel?.capabilities).entries()) {
          const block = blocks[at];
          if (block === undefined) await open(at, piece);
          else if (block.text !== piece.text) await edit(block, piece.text ?? "");
        }
      } catch (error) {
        isBroken = true;
        logger.warn("An answer cannot be shown while it grows", { key: sessionKey, error });
      }
    },
    /** All blocks of the turn, with those of earlier attempts. */
    async shown(): Promise<readonly ShownBlock[]> {
      for (let at = blocks.length; at < MAX_BLOCKS; at++) {
        const item = await outbox.find(keyOf(at));
        if (item === undefined) break;
        blocks.push({ outboxId: item.id, text: undefined });
      }
      return blocks;
    },
  };
}

function piecesOf(payloads: readonly ReplyPayload[], capabilities: ChannelCapabilities | undefined): OutboxPayload[] {
  const pieces = payloads.flatMap(({ text = "", replyToId }) =>
    splitReplyText(text, capabilities?.textLimit).map((piece, at) =>
      at === 0 && capabilities?.replies === true ? { text: piece, replyToId } : { text: piece },
    ),
  );
  return pieces.slice(0, MAX_BLOCKS);
}

/** Telegram allows about one message a second in a chat, and twenty a minute in a group. Edits count. */
const EDIT_EVERY_MS = { direct: 1500, group: 3500 };
/** A notification with less says little. */
const MIN_FIRST_TEXT = 40;
const STOP_PATIENCE_MS = 10_000;

/** Shows what `payloads` returns until it is disposed. */
export function streamAnswer(blocks: ChatBlocks, payloads: () => ReplyPayload[], clock: Clock): AsyncDisposable {
  const ending = new AbortController();
  const { signal } = ending;
  const everyMs = blocks.target.chatType === "direct" ? EDIT_EVERY_MS.direct : EDIT_EVERY_MS.group;
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const now = payloads();
      const length = now.reduce((total, { text = "" }) => total + text.length, 0);
      if (length >= MIN_FIRST_TEXT) await blocks.show(now);
      await clock.sleep(everyMs, signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    // A late edit must not follow the final one.
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await within(STOP_PATIENCE_MS, running);
    },
  };
}

/** A line that is being written may be half a directive, and half a sentence reads badly. */
export function completePart(text: string): string {
  const line = text.lastIndexOf("\n") + 1;
  const last = text.slice(line);
  const sentence = /^\s*MEDIA:/i.test(last) ? null : /^.*[.!?:;。！？](?=\s)/.exec(last);
  return text.slice(0, line + (sentence?.[0].length ?? 0)).trimEnd();
}

/** The drafts of a turn whose answer the chat shows already. */
export async function draftStreamed(
  request: DraftRequest,
  { target, blocks, payloads: count, isWhole }: StreamedAnswer,
): Promise<OutboxDraft[]> {
  const { payloads, turnId } = request;
  const answer = await draftReplies({ ...request, payloads: payloads.slice(0, count) });
  const beside = await draftReplies({ ...request, payloads: payloads.slice(count), turnId: `${turnId}:beside` });
  // A later message of the turn may have come from elsewhere, and the answer follows it.
  if (!isSameChat(target, request.target)) return [...answer, ...beside];
  const needless = isWhole ? blocks.slice(answer.length) : [];
  return [
    ...answer.flatMap((draft, at) => replacing(draft, blocks[at])),
    ...needless.map(({ outboxId }) => ({
      idempotencyKey: `${turnId}:needless:${outboxId}`,
      target,
      payload: { replaces: outboxId },
    })),
    ...beside,
  ];
}

function isSameChat(one: DeliveryTarget, other: DeliveryTarget): boolean {
  return (["channel", "accountId", "to", "threadId"] as const).every((field) => one[field] === other[field]);
}

/** A file cannot be put into a block, so it is a message of its own. */
function replacing(draft: OutboxDraft, block: ShownBlock | undefined): OutboxDraft[] {
  if (block === undefined) return [draft];
  const { text, media, replyToId, ...rest } = draft.payload as OutboxPayload;
  const files = media === undefined ? [] : [{ ...draft, payload: { ...rest, media } }];
  const key = `${draft.idempotencyKey}:text`;
  const isShown = text === block.text;
  const written = { ...draft, idempotencyKey: key, payload: { text, replyToId, replaces: block.outboxId } };
  return [...(isShown ? [] : [written]), ...files];
}

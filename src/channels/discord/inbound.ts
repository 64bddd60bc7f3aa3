/**
 * From a Discord message, live or missed, to admission. Invariants:
 * - One message per channel at a time, in order. Live messages wait until the missed ones are known, so
 *   that no cursor skips a gap.
 * - A message that cannot be stored is retried with growing pauses. Its cursor stays before it, so a
 *   restart finds it again.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { screenSender } from "../access.ts";
import {
  type AccountOptions,
  type ChannelHost,
  type OutboundMessage,
  createInboundLanes,
  keepTrying,
} from "../channel.ts";
import { type ReceivedFiles, tooLarge } from "../files.ts";
import type { DiscordConnection } from "./connection.ts";
import {
  type DiscordMessage,
  type GuildPlace,
  type Place,
  type ReceivedMedia,
  buildDiscordContext,
} from "./context.ts";
import { type Cursors, planCatchUp } from "./cursors.ts";
import { createKeyedMutex } from "../../base/async.ts";
import { printableLine } from "../../base/text.ts";

export type Inbound = ReturnType<typeof createInbound>;

export interface InboundOptions extends AccountOptions {
  host: ChannelHost;
  cursors: Cursors;
  files: ReceivedFiles;
  send: (message: OutboundMessage) => Promise<unknown>;
  signal: AbortSignal;
}

const PAGE = 100;
const MAX_PAGES = 5;
const PARALLEL_FETCHES = 4;
const REMEMBERED_IDS = 2000;

export function createInbound(options: InboundOptions) {
  const { cursors, host, logger, signal } = options;
  const lanes = createInboundLanes();
  const slots = createKeyedMutex();
  const taken = new Set<string>();
  let waiting: DiscordMessage[] | undefined = [];
  let connection: DiscordConnection | undefined;

  const run = (channelId: string, task: () => Promise<void>): void => {
    lanes.run(channelId, task, (error) => {
      if (!signal.aborted) logger.error("Discord message not accepted", { error, channelId });
    });
  };

  const takeIn = async (from: DiscordConnection, message: DiscordMessage): Promise<void> => {
    if (taken.has(message.id)) return;
    const inbound = await keepTrying(async () => await prepare(from, message, options), options);
    if (inbound !== undefined) {
      await keepTrying(async () => {
        await cursors.know(message.channel_id, message.id);
        await host.admit(inbound);
      }, options);
    }
    remember(taken, message.id);
    // Only admission makes a channel known, so strangers' chats are not fetched later.
    if (cursors.get(message.channel_id) !== undefined) cursors.advance(message.channel_id, message.id);
  };

  const catchUp = async (from: DiscordConnection, channelId: string, after: string): Promise<void> => {
    let cursor = after;
    for (let page = 0; page < MAX_PAGES; page++) {
      const since = cursor;
      const messages = await keepTrying(async () => {
        const missed = await unlessGone(from.messagesAfter(channelId, since, PAGE));
        if (missed === undefined) cursors.forget(channelId);
        return missed ?? [];
      }, options);
      for (const message of messages) {
        // The next start fetches the rest.
        signal.throwIfAborted();
        await takeIn(from, message);
      }
      cursor = messages.at(-1)?.id ?? cursor;
      if (messages.length < PAGE) return;
    }
    const text = `More than ${PAGE * MAX_PAGES} messages were missed in channel ${channelId}; the later ones are skipped.`;
    logger.warn(text, { channelId });
    host.report({ state: "connected", text });
  };

  return {
    hold: (): void => {
      waiting ??= [];
    },
    open: (opened: DiscordConnection): void => {
      connection = opened;
      const plan = planCatchUp(cursors.all(), opened.visibleChannels());
      for (const { channelId, at } of plan.seeds) cursors.advance(channelId, at);
      if (plan.skipped > 0) logger.warn("too many private chats to fetch missed messages", { skipped: plan.skipped });
      for (const [index, { channelId, after }] of plan.fetch.entries()) {
        const slot = String(index % PARALLEL_FETCHES);
        run(channelId, async () => await slots.run(slot, async () => await catchUp(opened, channelId, after)));
      }
      const held = waiting ?? [];
      waiting = undefined;
      for (const message of held) run(message.channel_id, async () => await takeIn(opened, message));
    },
    take: (message: DiscordMessage): void => {
      const from = connection;
      if (waiting !== undefined || from === undefined) (waiting ??= []).push(message);
      else run(message.channel_id, async () => await takeIn(from, message));
    },
    idle: lanes.idle,
  };
}

const DIRECT: Place = { kind: "direct" };

async function prepare(connection: DiscordConnection, message: DiscordMessage, options: InboundOptions) {
  const { accountId, files, clock, signal, send } = options;
  if (!isFromPerson(message)) return undefined;
  const isDirect = message.guild_id === undefined;
  const place = isDirect ? DIRECT : await unlessGone(connection.place(message.channel_id));
  if (place === undefined) return undefined;
  const { author, channel_id: chatId, id: messageId } = message;
  const target = { channel: "discord", accountId, to: `channel:${chatId}` };
  const allowed = await screenSender(
    {
      channel: "discord",
      sender: { ids: [author.id], username: author.username, name: author.global_name ?? author.username },
      chatType: place.kind === "direct" ? "direct" : "channel",
      groupIds: place.kind === "direct" ? [] : groupIds(chatId, place),
    },
    options,
    async (text, code) => await send({ target, text, idempotencyKey: `pairing:${code}:${messageId}` }),
  );
  if (allowed === undefined) return undefined;
  const attachments = await fetchAttachments(message, files, signal);
  const ctx = buildDiscordContext({ message, place, bot: connection.bot, accountId, ...allowed, ...attachments });
  return { address: { channel: "discord", accountId, chatId, messageId }, ctx, receivedAt: clock.now() };
}

/** Plain messages and replies; other types are system messages. */
const PERSONAL_TYPES: ReadonlySet<number> = new Set([0, 19]);

/** False for bots: two bots would answer each other for ever. */
function isFromPerson({ author, type, webhook_id: webhook }: DiscordMessage): boolean {
  return author.bot !== true && webhook === undefined && PERSONAL_TYPES.has(type);
}

function groupIds(channelId: string, { guildId, thread }: GuildPlace): string[] {
  return [channelId, guildId, ...(thread?.parentId === undefined ? [] : [thread.parentId])];
}

/** Undefined if the channel does not exist any more, or the bot may not see it. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HoldfastError && (error.kind === "not-found" || error.kind === "forbidden")) return undefined;
    throw error;
  }
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > REMEMBERED_IDS && oldest !== undefined) ids.delete(oldest);
}

const MAX_FILES = 10;

/** A failed download never delays its message. */
async function fetchAttachments(message: DiscordMessage, files: ReceivedFiles, signal: AbortSignal) {
  const media: ReceivedMedia[] = [];
  const missingMedia: string[] = [];
  for (const attachment of message.attachments.slice(0, MAX_FILES)) {
    try {
      const path = await fetchAttachment(attachment, files, signal);
      const type = attachment.content_type ?? "application/octet-stream";
      media.push({ path, url: attachment.url, type });
    } catch (error) {
      signal.throwIfAborted();
      const name = printableLine(attachment.filename, 100);
      missingMedia.push(`Attachment ${name} could not be fetched: ${errorMessage(error)}`);
    }
  }
  return { media, missingMedia };
}

type Attachment = DiscordMessage["attachments"][number];

async function fetchAttachment(attachment: Attachment, files: ReceivedFiles, signal: AbortSignal): Promise<string> {
  const { id, url, size, filename: name, content_type: type } = attachment;
  if (size > files.maxBytes) throw tooLarge(files.maxBytes);
  return await files.fetch(url, { id, name, type }, signal, (status) => {
    const message = `Discord answered ${status}.`;
    return new HoldfastError("unavailable", "media-download-failed", message, { hint: "Send the file again." });
  });
}

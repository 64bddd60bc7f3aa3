/**
 * From a Discord message, live or missed, to admission. Invariants:
 * - One message per channel at a time, in order. Live messages wait until the missed ones are known, so
 *   that no cursor skips a gap.
 * - A message that cannot be stored is retried with growing pauses. Its cursor stays before it, so a
 *   restart finds it again.
 */
import { createKeyedMutex } from "../../base/async.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type InboundParts, type IncomingFile, createInboundLanes, keepTrying, prepareInbound } from "../inbound.ts";
import type { DiscordConnection } from "./connection.ts";
import { type DiscordMessage, type DiscordPress, type GuildPlace, type Place, buildDiscordContext } from "./context.ts";
import { type Cursors, planCatchUp } from "./cursors.ts";

export type Inbound = ReturnType<typeof createInbound>;

export interface InboundOptions extends Omit<InboundParts, "channel" | "repeats"> {
  cursors: Cursors;
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

  /** A press is a message of the presser with the button's command. Discord sends it once. */
  const takeInPress = async (from: DiscordConnection, press: DiscordPress): Promise<void> => {
    const message = messageOf(press, from, options.clock.now());
    if (message === undefined) return;
    const inbound = await keepTrying(async () => await prepare(from, message, options), options);
    if (inbound !== undefined) await keepTrying(async () => await host.admit(inbound), options);
    await from.acknowledge(press).catch((error: unknown) => logger.debug("cannot acknowledge a button", { error }));
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
    takePress: (press: DiscordPress): void => {
      const from = connection;
      if (from !== undefined) run(press.channel_id, async () => await takeInPress(from, press));
    },
    idle: lanes.idle,
  };
}

const COMPONENT_PRESS = 3;

/** Undefined for other interactions. Buttons belong to the agent's own messages, so the press mentions it. */
function messageOf(press: DiscordPress, { bot }: DiscordConnection, now: number): DiscordMessage | undefined {
  const author = press.member?.user ?? press.user;
  const content = press.data?.custom_id;
  if (press.type !== COMPONENT_PRESS || author === undefined || content === undefined) return undefined;
  const { channel_id, guild_id, member } = press;
  const place = { id: `press:${press.id}`, channel_id, guild_id, member };
  const said = { author, content, timestamp: new Date(now).toISOString(), type: 0 };
  return { ...place, ...said, mentions: [bot], mention_roles: [], attachments: [] } as unknown as DiscordMessage;
}

const DIRECT: Place = { kind: "direct" };

async function prepare(connection: DiscordConnection, message: DiscordMessage, options: InboundOptions) {
  if (!isFromPerson(message)) return undefined;
  const isDirect = message.guild_id === undefined;
  const place = isDirect ? DIRECT : await unlessGone(connection.place(message.channel_id));
  if (place === undefined) return undefined;
  const { author, channel_id: chatId, id: messageId } = message;
  const incoming = {
    chatId,
    messageId,
    to: `channel:${chatId}`,
    sender: { ids: [author.id] as const, username: author.username, name: author.global_name ?? author.username },
    groupIds: place.kind === "direct" ? undefined : groupIds(chatId, place),
    files: message.attachments.slice(0, MAX_FILES).map((attachment) => toFile(attachment, options.signal)),
    describe: () => buildDiscordContext({ message, place, bot: connection.bot }),
  };
  return await prepareInbound(incoming, { ...options, channel: "discord", repeats: true });
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

function toFile(attachment: DiscordMessage["attachments"][number], signal: AbortSignal): IncomingFile {
  const { id, url, size: bytes, filename: name, content_type: type = "application/octet-stream" } = attachment;
  return {
    label: name,
    type,
    bytes,
    save: async (files) => await files.fetch(url, { id, name, type }, signal, onRefusal),
  };
}

function onRefusal(status: number): HoldfastError {
  const message = `Discord answered ${status}.`;
  return new HoldfastError("unavailable", "media-download-failed", message, { hint: "Send the file again." });
}

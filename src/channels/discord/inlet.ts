/**
 * The way in: from the gateway, or from asking what was missed, to admission. Invariants:
 * - One message of a channel at a time, in order. Until a new session has told what was missed, live
 *   messages wait, so that no cursor jumps over a gap.
 * - What cannot be kept now is tried again with growing pauses; its cursor stays behind it meanwhile, so
 *   that a restart finds it again.
 */
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createKeyedMutex } from "../../base/mutex.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import { type AccessOptions, checkAccess } from "../access.ts";
import type { ChannelHost, InboundMessage } from "../channel.ts";
import { createInboundLanes } from "../inbound-lanes.ts";
import { keepTrying } from "../keep-trying.ts";
import type { ReceivedFiles } from "../received-files.ts";
import { fetchAttachments } from "./attachments.ts";
import type { DiscordConnection } from "./connect.ts";
import type { Cursors } from "./cursors.ts";
import { type DiscordMessage, type Place, buildDiscordContext } from "./inbound-context.ts";
import { planCatchUp } from "./plan-catch-up.ts";

export interface Inlet {
  /** From here on messages wait. */
  hold: () => void;
  /** First what was missed, then what has waited, then whatever comes. */
  open(connection: DiscordConnection): void;
  take: (message: DiscordMessage) => void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export interface InletOptions {
  accountId: string;
  access: AccessOptions;
  host: ChannelHost;
  cursors: Cursors;
  files: ReceivedFiles;
  /** Says something to a stranger. */
  tell(target: DeliveryTarget, text: string, idempotencyKey: string): Promise<unknown>;
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
}

const PAGE = 100;
const MOST_PAGES = 5;
const FETCHES_AT_ONCE = 4;
const REMEMBERED_IDS = 2000;

export function createInlet(options: InletOptions): Inlet {
  const { cursors, host, logger, signal } = options;
  const lanes = createInboundLanes();
  const slots = createKeyedMutex();
  const taken = new Set<string>();
  let waiting: DiscordMessage[] | undefined = [];
  let connection: DiscordConnection | undefined;

  const run = (channelId: string, task: () => Promise<void>): void => {
    lanes.run(channelId, task, (error) => {
      if (!signal.aborted) logger.error("A message from Discord was not taken in.", { error, channelId });
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
    // A stranger's chat is none of those that are asked for later.
    if (cursors.get(message.channel_id) !== undefined) cursors.advance(message.channel_id, message.id);
  };

  const catchUp = async (from: DiscordConnection, channelId: string, after: string): Promise<void> => {
    let cursor = after;
    for (let page = 0; page < MOST_PAGES; page++) {
      const since = cursor;
      const messages = await keepTrying(async () => await missedAfter(from, channelId, since, cursors), options);
      for (const message of messages) {
        // What is left can be asked for again.
        signal.throwIfAborted();
        await takeIn(from, message);
      }
      cursor = messages.at(-1)?.id ?? cursor;
      if (messages.length < PAGE) return;
    }
    const text = `More than ${PAGE * MOST_PAGES} messages were missed in channel ${channelId}; the later ones were left out.`;
    logger.warn(text, { channelId });
    host.report({ state: "connected", text });
  };

  return {
    hold: () => {
      waiting ??= [];
    },
    open: (opened) => {
      connection = opened;
      const plan = planCatchUp(cursors.all(), opened.visibleChannels());
      for (const { channelId, at } of plan.seeds) cursors.advance(channelId, at);
      if (plan.skipped > 0) logger.warn("Too many private chats to ask what was missed.", { skipped: plan.skipped });
      for (const [index, { channelId, after }] of plan.fetch.entries()) {
        const slot = String(index % FETCHES_AT_ONCE);
        run(channelId, async () => {
          await slots.run(slot, async () => {
            await catchUp(opened, channelId, after);
          });
        });
      }
      const held = waiting ?? [];
      waiting = undefined;
      for (const message of held) run(message.channel_id, async () => await takeIn(opened, message));
    },
    take: (message) => {
      const from = connection;
      if (waiting !== undefined || from === undefined) (waiting ??= []).push(message);
      else run(message.channel_id, async () => await takeIn(from, message));
    },
    idle: lanes.idle,
  };
}

/** Undefined for what is not for the agent. */
async function prepare(
  connection: DiscordConnection,
  message: DiscordMessage,
  options: InletOptions,
): Promise<InboundMessage | undefined> {
  const { accountId, access, files, clock, logger, signal } = options;
  const { bot } = connection;
  if (!isSaidByPerson(message)) return undefined;
  const place = await placeOf(connection, message);
  if (place === undefined) return undefined;
  const { author, channel_id: chatId, id: messageId } = message;
  const verdict = await checkAccess(
    {
      channel: "discord",
      sender: { ids: [author.id], username: author.username, name: author.global_name ?? author.username },
      chatType: place.kind === "direct" ? "direct" : "channel",
      groupIds: place.kind === "direct" ? [] : groupIds(chatId, place),
    },
    access,
  );
  if (verdict.kind === "ignored") {
    logger.debug("A Discord message was ignored.", { reason: verdict.reason, chatId, messageId });
    return undefined;
  }
  if (verdict.kind === "offered") {
    const target = { channel: "discord", accountId, to: `channel:${chatId}` };
    await options.tell(target, verdict.text, `pairing:${verdict.code}:${messageId}`).catch((error: unknown) => {
      logger.warn("A stranger on Discord could not be told the pairing code.", { error });
    });
    return undefined;
  }
  const { media, missing } = await fetchAttachments(message, files, signal);
  const { commandAuthorized } = verdict;
  const ctx = buildDiscordContext({ message, place, bot, accountId, commandAuthorized, media, missingMedia: missing });
  return { address: { channel: "discord", accountId, chatId, messageId }, ctx, receivedAt: clock.now() };
}

/** Plain messages and replies; the others are Discord's own news. */
const SAID: ReadonlySet<number> = new Set([0, 19]);

/** Not by a bot, this one or another: two of them would never stop. */
function isSaidByPerson({ author, type, webhook_id: webhook }: DiscordMessage): boolean {
  return author.bot !== true && webhook === undefined && SAID.has(type);
}

async function placeOf(connection: DiscordConnection, message: DiscordMessage): Promise<Place | undefined> {
  if (message.guild_id === undefined) return { kind: "direct" };
  try {
    return await connection.place(message.channel_id);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function groupIds(channelId: string, { guildId, thread }: Extract<Place, { kind: "guild" }>): string[] {
  return [channelId, guildId, ...(thread?.parentId === undefined ? [] : [thread.parentId])];
}

async function missedAfter(
  connection: DiscordConnection,
  channelId: string,
  after: string,
  cursors: Cursors,
): Promise<DiscordMessage[]> {
  try {
    return await connection.messagesAfter(channelId, after, PAGE);
  } catch (error) {
    if (!isGone(error)) throw error;
    cursors.forget(channelId);
    return [];
  }
}

function isGone(error: unknown): boolean {
  return error instanceof HoldfastError && (error.kind === "not-found" || error.kind === "forbidden");
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > REMEMBERED_IDS && oldest !== undefined) ids.delete(oldest);
}

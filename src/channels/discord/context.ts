/** Reads a Discord message into OpenClaw's field names. Pure. */
import type { APIMessage, APIUser } from "discord.js";
import type { MessageContext } from "../../keys/message-context.ts";
import { mediaPlaceholder } from "../files.ts";

export type Place = { kind: "direct" } | GuildPlace;

export interface GuildPlace {
  kind: "guild";
  guildId: string;
  guildName: string;
  /** In a thread, the name of its parent channel. */
  channelName: string;
  thread?: { id: string; name: string; parentId: string | undefined } | undefined;
  /** The role that Discord created for the bot; people mention it to address the bot. */
  botRoleId?: string | undefined;
}

interface InboundFacts {
  message: DiscordMessage;
  place: Place;
  bot: { id: string; username: string };
}

/** From the gateway or the message list; only the gateway sends `guild_id` and the nickname. */
export type DiscordMessage = APIMessage & {
  guild_id?: string | undefined;
  member?: { nick?: string | null | undefined } | undefined;
};

/** A press of a button, as the gateway sends it. In a server the person is in `member`. */
export interface DiscordPress {
  id: string;
  token: string;
  type: number;
  channel_id: string;
  guild_id?: string | undefined;
  data?: { custom_id?: string | undefined } | undefined;
  user?: APIUser | undefined;
  member?: { user: APIUser; nick?: string | null | undefined } | undefined;
}

export function buildDiscordContext(facts: InboundFacts): MessageContext {
  const { message, place, bot } = facts;
  const { author } = message;
  const isDirect = place.kind === "direct";
  const to = isDirect ? `user:${author.id}` : `channel:${message.channel_id}`;
  const stickers = (message.sticker_items ?? []).map(({ name }) => `Sticker: ${name}`);
  return {
    Body: message.content,
    Timestamp: Date.parse(message.timestamp),
    From: isDirect ? `discord:${author.id}` : `discord:channel:${message.channel_id}`,
    To: to,
    OriginatingTo: to,
    ChatType: isDirect ? "direct" : "channel",
    SenderId: author.id,
    SenderName: senderName(message),
    SenderUsername: author.username,
    SenderTag: userTag(author),
    BotId: bot.id,
    BotUsername: bot.username,
    ...(isDirect ? { ConversationLabel: senderName(message) } : guildFields(facts, place)),
    ...replyFields(message, bot.id),
    UntrustedContext: [...forwardedTexts(message), ...stickers],
  };
}

function guildFields({ message, bot }: InboundFacts, place: GuildPlace): MessageContext {
  const { thread, channelName, guildName } = place;
  const channel = `#${channelName}`;
  return {
    WasMentioned: mentionsBot(message, place, bot.id),
    GroupSubject: channel,
    GroupChannel: channel,
    GroupSpace: guildName,
    ConversationLabel: `${guildName} ${channel}${thread === undefined ? "" : ` › ${thread.name}`}`,
    MessageThreadId: thread?.id,
    ThreadLabel: thread && `${channel} › ${thread.name}`,
    // A thread is a separate channel; its conversation branches off from the parent's.
    ParentSessionKey: thread?.parentId && `discord:channel:${thread.parentId}`,
  };
}

/** True for a mention of the bot or its role, or a reply to it; not for @everyone. */
function mentionsBot(message: DiscordMessage, { botRoleId }: GuildPlace, botId: string): boolean {
  return (
    message.mentions.some(({ id }) => id === botId) ||
    (botRoleId !== undefined && message.mention_roles.includes(botRoleId)) ||
    message.referenced_message?.author.id === botId
  );
}

const FORWARD = 1;

function replyFields({ message_reference: reference, referenced_message: original }: DiscordMessage, botId: string) {
  if (reference?.message_id === undefined || Number(reference.type) === FORWARD) return {};
  return {
    ReplyToId: reference.message_id,
    ReplyToBody: original ? original.content || describeContent(original) : undefined,
    ReplyToSender: original ? senderName(original) : undefined,
    ReplyToIsOwn: original?.author.id === botId,
  };
}

/** Describes a message without text. */
function describeContent({ attachments, sticker_items: stickers = [] }: DiscordMessage): string | undefined {
  const [sticker] = stickers;
  if (sticker !== undefined) return `<sticker ${sticker.name}>`;
  const types = attachments.map(({ content_type: type }) => type ?? "");
  return types.length === 0 ? undefined : mediaPlaceholder(types);
}

function forwardedTexts({ message_snapshots: snapshots = [] }: DiscordMessage): string[] {
  return snapshots
    .map(({ message }) => message.content)
    .filter((content) => content !== "")
    .map((content) => `Forwarded message:\n${content}`);
}

function senderName({ author, member }: DiscordMessage): string {
  return member?.nick ?? author.global_name ?? author.username;
}

/** Old accounts and bots have a number after their name. */
function userTag({ username, discriminator }: APIUser): string {
  return discriminator === "0" || discriminator === "" ? username : `${username}#${discriminator}`;
}

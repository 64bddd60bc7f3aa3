/** Discord's API objects with every field that discord.js reads. */

export interface FakeUser {
  id: string;
  username: string;
  global_name: string | null;
  discriminator: string;
  avatar: null;
  bot?: boolean;
}

export interface FakeChannel {
  id: string;
  /** 0 text, 1 private chat, 11 public thread. */
  type: 0 | 1 | 11;
  name?: string;
  guild_id?: string;
  parent_id?: string | null;
  last_message_id: string | null;
  [field: string]: unknown;
}

export interface FakeGuild {
  id: string;
  name: string;
  channels: FakeChannel[];
  threads: FakeChannel[];
  botRoleId: string;
}

export interface FakeMessage {
  id: string;
  channel_id: string;
  author: FakeUser;
  content: string;
  nonce?: string;
  type: number;
  [field: string]: unknown;
}

export function fakeUser(id: string, username: string, extra: Partial<FakeUser> = {}): FakeUser {
  return { id, username, global_name: null, discriminator: "0", avatar: null, ...extra };
}

/** Default timestamp: now. */
export function fakeMessage<T extends Pick<FakeMessage, "id" | "channel_id" | "author" | "content">>(said: T) {
  return {
    timestamp: new Date().toISOString(),
    edited_timestamp: null,
    tts: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    pinned: false,
    type: 0 as const,
    ...said,
  };
}

export function textChannel(
  id: string,
  guildId: string,
  name: string,
  extra: Record<string, unknown> = {},
): FakeChannel {
  return {
    id,
    type: 0,
    guild_id: guildId,
    name,
    position: 0,
    permission_overwrites: [],
    parent_id: null,
    topic: null,
    nsfw: false,
    rate_limit_per_user: 0,
    last_message_id: null,
    ...extra,
  };
}

export function threadChannel(id: string, parent: FakeChannel, name: string): FakeChannel {
  return {
    id,
    type: 11,
    guild_id: parent.guild_id ?? "",
    parent_id: parent.id,
    name,
    owner_id: "1",
    last_message_id: null,
    message_count: 0,
    member_count: 1,
    rate_limit_per_user: 0,
    thread_metadata: {
      archived: false,
      auto_archive_duration: 1440,
      archive_timestamp: "2026-11-15T12:00:00.000000+00:00",
      locked: false,
    },
  };
}

export function privateChannel(id: string, recipient: FakeUser): FakeChannel {
  return { id, type: 1, recipients: [recipient], last_message_id: null };
}

const ALL_PERMISSIONS = String((1n << 50n) - 1n);

/** The payload of GUILD_CREATE. */
export function guildCreate(guild: FakeGuild, bot: FakeUser): Record<string, unknown> {
  return {
    id: guild.id,
    name: guild.name,
    owner_id: "1",
    icon: null,
    features: [],
    emojis: [],
    stickers: [],
    roles: [role(guild.id, "@everyone"), role(guild.botRoleId, bot.username, { bot_id: bot.id })],
    channels: guild.channels,
    threads: guild.threads,
    members: [
      {
        user: bot,
        roles: [guild.botRoleId],
        joined_at: "2026-11-01T12:00:00.000000+00:00",
        deaf: false,
        mute: false,
        flags: 0,
      },
    ],
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    member_count: 1,
    large: false,
    unavailable: false,
    joined_at: "2026-11-01T12:00:00.000000+00:00",
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    mfa_level: 0,
    premium_tier: 0,
    nsfw_level: 0,
    system_channel_flags: 0,
    preferred_locale: "en-US",
    afk_timeout: 300,
    afk_channel_id: null,
    system_channel_id: null,
    rules_channel_id: null,
    public_updates_channel_id: null,
    application_id: null,
    vanity_url_code: null,
    description: null,
    banner: null,
    splash: null,
    discovery_splash: null,
  };
}

function role(id: string, name: string, tags?: Record<string, string>): Record<string, unknown> {
  return {
    id,
    name,
    permissions: ALL_PERMISSIONS,
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    managed: tags !== undefined,
    mentionable: false,
    position: 0,
    flags: 0,
    tags,
  };
}

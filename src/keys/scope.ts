/** Who shares a conversation in direct messages. */
export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** `global` puts everything that anybody says into one session. */
export type SessionScope = "per-sender" | "global";

/** One person under several addresses: name → `channel:id` list. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

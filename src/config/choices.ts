/** Values that settings and commands choose from. Loads nothing. */
export const ENGINE_NAMES = ["claude-code", "model", "echo"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export function isOwnEngine(name: string): name is EngineName {
  return (ENGINE_NAMES as readonly string[]).includes(name);
}

export const CHANNEL_NAMES = ["telegram", "discord", "whatsapp"] as const;
export type ChannelName = (typeof CHANNEL_NAMES)[number];

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;
export const VERBOSE_LEVELS = ["on", "off", "full"] as const;

export const QUEUE_DROPS = ["old", "new", "summarize"] as const;
export type QueueDrop = (typeof QUEUE_DROPS)[number];

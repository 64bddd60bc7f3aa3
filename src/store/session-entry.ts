/**
 * The metadata record that a session key points at, in OpenClaw's field names. Fields that are not
 * listed here are kept as they are: other tools and later versions own them.
 */

import type { ChatType } from "../keys/chat-type.ts";

/** Where a reply to this session goes. */
export interface DeliveryContext {
  channel?: string;
  to?: string;
  accountId?: string;
  threadId?: string | number;
}

/** Where the session's first message came from. */
export interface SessionOrigin {
  label?: string;
  provider?: string;
  surface?: string;
  chatType?: ChatType;
  from?: string;
  to?: string;
  accountId?: string;
  threadId?: string | number;
}

export interface SkillsSnapshot {
  prompt: string;
  skills: { name: string; primaryEnv?: string }[];
  resolvedSkills?: unknown[];
  version?: number;
}

export interface SessionEntry {
  // Identity
  sessionId: string;
  /** Last change of any kind, in ms. */
  updatedAt: number;
  /** Last message of a person or of the agent, in ms: what freshness is judged by. */
  lastInteractionAt?: number;
  sessionFile?: string;
  /** The turn that opened this window: begun again after a crash, it does not open another. */
  openedByTurn?: string;
  spawnedBy?: string;

  // Sessions of other programs that this one continues in
  sdkSessionId?: string;
  cliSessionIds?: Record<string, string>;
  claudeCliSessionId?: string;

  // Delivery
  channel?: string;
  lastChannel?: string;
  lastTo?: string;
  lastAccountId?: string;
  lastThreadId?: string | number;
  deliveryContext?: DeliveryContext;

  // Group
  chatType?: ChatType;
  groupId?: string;
  subject?: string;
  groupChannel?: string;
  space?: string;
  displayName?: string;

  // Configuration
  sendPolicy?: "allow" | "deny";
  groupActivation?: "mention" | "always";
  groupActivationNeedsSystemIntro?: boolean;

  // Model and authorisation overrides
  providerOverride?: string;
  modelOverride?: string;
  authProfileOverride?: string;
  authProfileOverrideSource?: "auto" | "user";
  authProfileOverrideCompactionCount?: number;

  // Execution
  execHost?: string;
  execSecurity?: string;
  execAsk?: string;
  execNode?: string;

  // Levels shown to the person
  thinkingLevel?: string;
  verboseLevel?: string;
  reasoningLevel?: string;
  elevatedLevel?: string;
  responseUsage?: "on" | "off" | "tokens" | "full";
  ttsAuto?: string;

  // Queue
  queueMode?: string;
  queueDebounceMs?: number;
  queueCap?: number;
  queueDrop?: "old" | "new" | "summarize";

  // Tokens
  inputTokens?: number;
  outputTokens?: number;
  totalTokens?: number;
  contextTokens?: number;
  modelProvider?: string;
  model?: string;

  // Compaction and memory
  compactionCount?: number;
  memoryFlushAt?: number;
  memoryFlushCompactionCount?: number;

  // State
  systemSent?: boolean;
  abortedLastRun?: boolean;
  lastHeartbeatText?: string;
  lastHeartbeatSentAt?: number;

  // Hand-off
  /** What is worked on, as the person named it. Left out: the repo or folder tells. */
  project?: string;
  /** The folder of that project, where facts about it can be looked up. */
  projectFolder?: string;
  /** `off`: nothing of this session is handed over. */
  handoff?: "on" | "off";

  // Origin and name
  origin?: SessionOrigin;
  label?: string;

  // Snapshots: large and the same in many entries
  skillsSnapshot?: SkillsSnapshot;
  systemPromptReport?: Record<string, unknown>;
}

/**
 * What belongs to one window and not to the person. A reset clears it; the store keeps it with the
 * closed window, so that going back to that window brings it back.
 */
export const WINDOW_STATE_FIELDS = [
  "openedByTurn",
  "sdkSessionId",
  "cliSessionIds",
  "claudeCliSessionId",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "contextTokens",
  "compactionCount",
  "memoryFlushAt",
  "memoryFlushCompactionCount",
  "authProfileOverrideCompactionCount",
  "systemSent",
  "abortedLastRun",
] as const satisfies readonly (keyof SessionEntry)[];

export type WindowState = Partial<Pick<SessionEntry, (typeof WINDOW_STATE_FIELDS)[number]>>;

/** Undefined when the entry holds nothing of its window. */
export function windowStateOf(entry: SessionEntry): WindowState | undefined {
  const fields = WINDOW_STATE_FIELDS.filter((field) => entry[field] !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields.map((field) => [field, entry[field]]));
}

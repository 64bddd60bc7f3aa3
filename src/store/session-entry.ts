/**
 * The metadata record of a session key, in OpenClaw's field names. Fields that are not listed here belong to other
 * tools or later versions and are kept unchanged.
 */

/** Where a reply to this session goes. */
import type { ChatType } from "../keys/message-context.ts";
export interface DeliveryContext {
  channel?: string | undefined;
  to?: string | undefined;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

/** Where the session's first message came from. */
export interface SessionOrigin {
  label?: string | undefined;
  provider?: string | undefined;
  surface?: string | undefined;
  chatType?: ChatType | undefined;
  from?: string | undefined;
  to?: string | undefined;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

export interface SkillsSnapshot {
  prompt: string;
  skills: { name: string; primaryEnv?: string | undefined }[];
  resolvedSkills?: unknown[] | undefined;
  version?: number | undefined;
}

export interface TranscriptEndMark {
  /** The window that the mark is about. Another tool may switch the entry to another window and keep the mark. */
  sessionId: string;
  /** Id of the transcript entry. */
  id: string;
  /** End of its line in the file, in bytes. */
  bytes: number;
}

export interface SessionEntry {
  // Identity
  sessionId: string;
  /** Last change of any kind, in ms. */
  updatedAt: number;
  /** Last message of a person or of the agent, in ms. Decides whether the session is fresh. */
  lastInteractionAt?: number | undefined;
  sessionFile?: string | undefined;
  /** The turn that opened this window. If it is repeated after a crash, it does not open another one. */
  openedByTurn?: string | undefined;
  /** The last transcript entry at the end of the last turn. If it is missing later, data was lost. */
  transcriptEnd?: TranscriptEndMark | undefined;
  spawnedBy?: string | undefined;

  // Sessions of other programs in which this one continues
  sdkSessionId?: string | undefined;
  cliSessionIds?: Record<string, string> | undefined;
  claudeCliSessionId?: string | undefined;

  // Delivery
  channel?: string | undefined;
  lastChannel?: string | undefined;
  lastTo?: string | undefined;
  lastAccountId?: string | undefined;
  lastThreadId?: string | number | undefined;
  deliveryContext?: DeliveryContext | undefined;

  // Group
  chatType?: ChatType | undefined;
  groupId?: string | undefined;
  subject?: string | undefined;
  groupChannel?: string | undefined;
  space?: string | undefined;
  displayName?: string | undefined;

  // Configuration
  sendPolicy?: "allow" | "deny" | undefined;
  groupActivation?: "mention" | "always" | undefined;
  groupActivationNeedsSystemIntro?: boolean | undefined;

  // Model and authorisation overrides
  providerOverride?: string | undefined;
  modelOverride?: string | undefined;
  authProfileOverride?: string | undefined;
  authProfileOverrideSource?: "auto" | "user" | undefined;
  authProfileOverrideCompactionCount?: number | undefined;

  // Execution
  execHost?: string | undefined;
  execSecurity?: string | undefined;
  execAsk?: string | undefined;
  execNode?: string | undefined;

  // Levels shown to the person
  thinkingLevel?: string | undefined;
  verboseLevel?: string | undefined;
  reasoningLevel?: string | undefined;
  elevatedLevel?: string | undefined;
  responseUsage?: "on" | "off" | "tokens" | "full" | undefined;
  ttsAuto?: string | undefined;

  // Queue
  queueMode?: string | undefined;
  queueDebounceMs?: number | undefined;
  queueCap?: number | undefined;
  queueDrop?: "old" | "new" | "summarize" | undefined;

  // Tokens
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  totalTokens?: number | undefined;
  contextTokens?: number | undefined;
  modelProvider?: string | undefined;
  model?: string | undefined;

  // Compaction and memory
  compactionCount?: number | undefined;
  memoryFlushAt?: number | undefined;
  memoryFlushCompactionCount?: number | undefined;

  // State
  systemSent?: boolean | undefined;
  abortedLastRun?: boolean | undefined;
  lastHeartbeatText?: string | undefined;
  lastHeartbeatSentAt?: number | undefined;

  // Hand-off
  /** The project as the person named it. Default: taken from the repo or folder. */
  project?: string | undefined;
  /** The project's folder, for looking up facts. */
  projectFolder?: string | undefined;
  /** `off`: this session leaves no hand-off. Default: `on`. */
  handoff?: "on" | "off" | undefined;

  // Origin and name
  origin?: SessionOrigin | undefined;
  label?: string | undefined;

  // Snapshots: large and the same in many entries
  skillsSnapshot?: SkillsSnapshot | undefined;
  systemPromptReport?: Record<string, unknown> | undefined;
}

/**
 * The fields that belong to one window. A reset clears them; the store keeps them with the closed window and restores
 * them when a session switches back to it.
 */
export const WINDOW_STATE_FIELDS = [
  "openedByTurn",
  "transcriptEnd",
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

/** Ids of the sessions of other programs, such as Claude Code, in which a window continues. Accepts unchecked data. */
export function programSessions(state: object): string[] {
  const { sdkSessionId, claudeCliSessionId, cliSessionIds } = state as Record<keyof WindowState, unknown>;
  const named = typeof cliSessionIds === "object" && cliSessionIds !== null ? Object.values(cliSessionIds) : [];
  return [sdkSessionId, claudeCliSessionId, ...named].filter((id) => typeof id === "string" && id !== "") as string[];
}

/** Undefined if the entry has no such fields. */
export function windowStateOf(entry: SessionEntry): WindowState | undefined {
  const fields = WINDOW_STATE_FIELDS.filter((field) => entry[field] !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields.map((field) => [field, entry[field]]));
}

/** Maps the current entry, undefined for a new key, to the next one. Returning undefined changes nothing. */
export type Mutate = (entry: SessionEntry | undefined) => SessionEntry | undefined;

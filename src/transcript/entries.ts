/**
 * The lines of a transcript, version 3: one header, then entries that form a tree through `parentId`. Unknown fields
 * are kept. A line of an unknown type, or with unexpected fields, becomes an `OtherEntry` and keeps its place in the
 * tree.
 */
import type { JsonRecord } from "../base/json-record.ts";

export const TRANSCRIPT_VERSION = 3;

/** `customType` of the entry that names the session of a transcript. */
export const SESSION_MARK_TYPE = "holdfast.session";

export interface TranscriptHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  /** Path of the transcript from which this one was forked. */
  parentSession?: string | undefined;
}

export interface EntryBase {
  /** Eight hexadecimal digits, unique within the file. Other tools may use longer ids. */
  id: string;
  /** `null` for a root. A parent comes before its children in the file. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  /** Epoch of the writer's lease. Missing if there was none. */
  leaseEpoch?: number | undefined;
}

/** The turn that wrote the message. A repeated turn finds its messages by it. */
export interface TurnMark {
  turnId?: string | undefined;
  /** The person's own text, if the message contains more: senders, history, events. Default: the whole text. */
  said?: string | undefined;
  /** True if the message came during the turn, after the message that started it. */
  steered?: boolean | undefined;
  /** For such a message: the turn that it would have started, to tell whether it was handled. */
  steeredAs?: string | undefined;
  /** True for the message of a heartbeat, which no person wrote. */
  heartbeat?: boolean | undefined;
}

export interface MessageEntry extends EntryBase, TurnMark {
  type: "message";
  message: TranscriptMessage;
}

export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider: string;
  modelId: string;
}

export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string;
}

export interface CompactionEntry extends EntryBase {
  type: "compaction";
  summary: string;
  /** The first entry that still counts. The summary replaces older ones. */
  firstKeptEntryId: string;
  tokensBefore: number;
  /** In Holdfast's entries: `{attachments?}`, the files of the summarized messages. */
  details?: unknown;
  fromHook?: boolean | undefined;
}

export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  details?: unknown;
  fromHook?: boolean | undefined;
}

/** State of a program. Not part of the context. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: unknown;
}

/** A message added by a program. Part of the context. */
export interface CustomMessageEntry extends EntryBase {
  type: "custom_message";
  customType: string;
  content: MessageContent;
  display: boolean;
  details?: unknown;
}

export interface LabelEntry extends EntryBase {
  type: "label";
  targetId: string;
  /** Missing: the label is removed. */
  label?: string | undefined;
}

export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string | undefined;
}

export interface OtherEntry extends EntryBase {
  type: "other";
  original: JsonRecord;
}

export type TranscriptEntry =
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry
  | OtherEntry;

type WithoutPlace<Entry> = Entry extends EntryBase ? Omit<Entry, keyof EntryBase> : never;

/** An entry to append. The log adds id, parent and time. */
export type DraftEntry = WithoutPlace<Exclude<TranscriptEntry, OtherEntry>>;

export interface UserMessage {
  role: "user";
  content: MessageContent;
  attachments?: Attachment[] | undefined;
  /** When the person sent it (ms), if it waited for a minute or more. */
  sentAt?: number | undefined;
  /** Milliseconds since the epoch, as in every message. */
  timestamp: number;
}

/** A file sent with a message. It stays in the channel's folder, so that the transcript does not grow by megabytes. */
export interface Attachment {
  /** Absolute. Engines may read this file although it is outside the workspace. */
  path: string;
  /** As reported by the platform. */
  mimeType?: string | undefined;
}

/** Everything except the content may be missing in older formats. */
export interface AssistantMessage {
  role: "assistant";
  content: MessageContent;
  api?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  usage?: MessageUsage | undefined;
  stopReason?: "stop" | "length" | "toolUse" | "error" | "aborted" | undefined;
  errorMessage?: string | undefined;
  timestamp: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: MessageContent;
  details?: unknown;
  isError: boolean;
  timestamp: number;
}

export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | undefined;
  excludeFromContext?: boolean | undefined;
  timestamp: number;
}

export interface CustomMessage {
  role: "custom";
  customType: string;
  content: MessageContent;
  display: boolean;
  details?: unknown;
  timestamp: number;
}

export interface BranchSummaryMessage {
  role: "branchSummary";
  summary: string;
  fromId: string;
  timestamp: number;
}

export interface CompactionSummaryMessage {
  role: "compactionSummary";
  summary: string;
  tokensBefore: number;
  attachments?: Attachment[] | undefined;
  timestamp: number;
}

export type TranscriptMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

export type MessageContent = string | ContentBlock[];

/** Blocks of other types are kept; readers skip them. */
export type ContentBlock = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock;

export interface TextBlock {
  type: "text";
  text: string;
  /** True for the hand-off of an earlier conversation, which comes before a person's message. No one said it here. */
  handoff?: true | undefined;
}

export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
}

export interface ImageBlock {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

export interface ToolCallBlock {
  type: "toolCall";
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

export interface MessageUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens: number;
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export const NO_COST: MessageUsage["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export const NO_USAGE: MessageUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: NO_COST,
};

/** Prefix of turns in which the agent saved its memory. No one asked for them, and they are hidden. */
export const FLUSH_TURN_PREFIX = "flush:";

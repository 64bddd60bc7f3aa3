/**
 * The lines of a transcript, version 3: one header, then entries that form a tree through `parentId`.
 * Fields that are not listed here are kept as they are; a line of another type, or one whose fields
 * do not fit its type, becomes an `OtherEntry` and so keeps its place in the tree.
 */
import type { JsonRecord } from "../base/json-record.ts";

export const TRANSCRIPT_VERSION = 3;

/** `customType` of the entry that says which session a transcript is a window of. */
export const SESSION_MARK_TYPE = "holdfast.session";

export interface TranscriptHeader {
  type: "session";
  version: number;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  /** Path of the transcript that this one branched off from. */
  parentSession?: string;
}

export interface EntryBase {
  /** Eight hexadecimal digits, unique within the file; other tools may use longer ids. */
  id: string;
  /** `null` for a root. A parent always stands before its children in the file. */
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  /** Epoch of the lease under which the line was written. Left out: written without a lease. */
  leaseEpoch?: number;
}

/** Which turn wrote a message: a turn that is begun again finds what it had written. */
export interface TurnMark {
  turnId?: string;
  /** What the person wrote, where the message holds more: senders, history, events. Left out: the same. */
  said?: string;
  /** A person said it while the turn was running; the message that began the turn stands before it. */
  steered?: boolean;
  /** Of such a message: the turn that it would have been, for whoever looks whether it was dealt with. */
  steeredAs?: string;
  /** Nobody said it: the message of a heartbeat. */
  heartbeat?: boolean;
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
  /** The first entry before this one that still counts; what is older is in the summary. */
  firstKeptEntryId: string;
  tokensBefore: number;
  /** Of ours: `{attachments?}`, the files that came with what it stands for. */
  details?: unknown;
  fromHook?: boolean;
}

export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  fromId: string;
  summary: string;
  details?: unknown;
  fromHook?: boolean;
}

/** State of a program; not part of the context. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: unknown;
}

/** A message put in by a program; part of the context. */
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
  /** Left out: the label is removed. */
  label?: string;
}

export interface SessionInfoEntry extends EntryBase {
  type: "session_info";
  name?: string;
}

export interface OtherEntry extends EntryBase {
  type: "other";
  /** The line as it stands in the file. */
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

/** What a caller hands over to be appended; the log adds id, parent and time. */
export type DraftEntry = WithoutPlace<Exclude<TranscriptEntry, OtherEntry>>;

export interface UserMessage {
  role: "user";
  content: MessageContent;
  /** Files that came with it. Left out: none. */
  attachments?: Attachment[];
  /** Milliseconds since the epoch, as in every message. */
  timestamp: number;
}

/** A file that came with a message. It stays where its channel put it: a transcript does not grow by megabytes. */
export interface Attachment {
  /** Absolute. Engines may read this file, and no other outside of the workspace. */
  path: string;
  /** As the platform said. */
  mimeType?: string;
}

/** Everything but the content may be missing in lines of older formats. */
export interface AssistantMessage {
  role: "assistant";
  content: MessageContent;
  api?: string;
  provider?: string;
  model?: string;
  usage?: MessageUsage;
  stopReason?: "stop" | "length" | "toolUse" | "error" | "aborted";
  errorMessage?: string;
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
  exitCode?: number;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
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
  /** Files that came with the messages it stands for. Left out: none. */
  attachments?: Attachment[];
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

/** Blocks of other types are kept as they are; readers pass over what they do not know. */
export type ContentBlock = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock;

export interface TextBlock {
  type: "text";
  text: string;
  /** What an earlier conversation left, put before a person's words for the engine: nobody said it here. */
  handoff?: true;
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

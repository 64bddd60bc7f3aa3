/**
 * The state that one session leaves for the next. It is kept in the store and, for people and other tools, in
 * `session-state.json`. Field names are OpenClaw's; additions are marked "Ours". Every text is one clean, redacted line.
 */
import { type PatternNote, SECTIONS } from "./patterns/note.ts";

export const STATE_VERSION = 2;

/** Why the state was captured last. */
export const CAPTURE_REASONS = [
  "new",
  "reset",
  "daily",
  "idle",
  "compaction",
  "messages",
  "tool-result",
  "asked",
  "signal",
  "timeout",
  "ended",
  "found",
] as const;

export type CaptureReason = (typeof CAPTURE_REASONS)[number];

export type SessionMode = "work" | "chat" | "deep";

export interface SessionState {
  version: typeof STATE_VERSION;
  agentId: string;
  sessionKey: string;
  /** The window that the state describes. For a native session: Claude Code's id. */
  previousSessionId: string;

  /** ISO 8601, like all instants here. */
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  /** Ours: why it was captured last, and the time of the last message. */
  reason: CaptureReason;
  lastMessageAt: string;

  project: string;
  /** Ours: the working folder, where facts can be checked. */
  cwd?: string | undefined;
  /** Ours: the git branch, if the transcript names one. */
  branch?: string | undefined;
  mode: SessionMode;

  patterns: StateNote[];
  /** The lines of the summary, each with its source entry. */
  items: SummaryItem[];
  summary: StateSummary;
  /** Ours: digests of earlier messages for the next capture. */
  carried: CarriedState;
  /** Ours: window ids by entry id, for lines from earlier windows. */
  earlier?: Readonly<Record<string, string>> | undefined;

  /** Number of messages read. */
  lastMessageIndex: number;
  /** Hash of the transcript up to `transcript.offset`. */
  transcriptHash: string;
  transcript: TranscriptPlace;
  /** Checksum of the other fields. An edited state is not used. */
  checksum: string;

  resumeAvailable: boolean;
  /** When the lines of `project` were last offered. */
  resumeOfferedAt: string | null;
  /** Ours: the same for each project. */
  offeredFor?: { project: string; at: string }[] | undefined;
  /** Ours: the window and its number of compactions for which an offer was last decided. */
  decidedFor?: { sessionId: string; compactions: number } | undefined;
  /** Requested by a person (`/resume`): the next turn gets it in any case. */
  forced?: boolean | undefined;
  /** Ours: the last request to a model about this window. */
  model?: ModelWork | undefined;
  /** Ours: earlier messages are never noted again (`/handoff clear`). */
  clearedAt?: string | undefined;
}

/** Makes capturing in pieces equal to capturing in one go. Bounded: old messages are condensed. */
export interface CarriedState {
  counts: { user: number; assistant: number; tools: number };
  /** People's messages and the agent's answers, oldest first. */
  digests: Digest[];
  todos?: { items: TodoItem[]; entryId: string; timestamp: string; project: string } | undefined;
  /** Open lines and valid decisions of earlier windows. */
  inherited: InheritedLine[];
  /** A person asked to continue with the open items. */
  goesOn?: true;
  /** The conversation has a subject: a telling sentence, a tool call or a report. */
  isAbout?: true;
  /** Projects with something to hand over, latest first. */
  open: string[];
}

/** A person's message, or the agent's whole turn that answers it. */
export interface Digest {
  role: "user" | "assistant";
  /** The entry of the text. For a turn: of its last text. */
  entryId: string;
  timestamp: string;
  /** Number of the message. */
  index: number;
  project: string;
  /** A few sentences of the text. */
  said: Said[];
  /** Number of sentences. 0: nothing readable. */
  sentences: number;
  /** Aborted, timed out, failed or interrupted. */
  isCut?: boolean;
  /** A turn with tool calls and no text after them. */
  isOpen?: boolean;
  isEcho?: boolean;
  /** Calls without a result yet. */
  calls?: ToolCall[];
  runs?: Run[];
  edits?: string[];
  commits?: Commit[];
  pullRequest?: string;
  /** A person refused a call. */
  isDenied?: boolean;
}

/** One sentence of a message: clean, redacted, at most 200 characters. */
export interface Said {
  text: string;
  /** Its place in the message. */
  at: number;
  isQuestion?: boolean;
  isItem?: boolean;
  /** The check box before it. */
  checked?: boolean;
  /** Log-odds for blocker, decision, accomplishment and task_created. Undefined in other languages. */
  scores?: number[];
  /** What its words add to the log-odds of each section. */
  words?: number[];
}

/** A command and its outcome. */
export interface Run {
  command: string;
  failed: boolean;
  entryId: string;
  timestamp: string;
}

export interface Commit {
  hash: string;
  branch: string;
  subject: string;
  entryId: string;
  timestamp: string;
}

export interface InheritedLine {
  kind: SummaryKind;
  text: string;
  entryId: string;
  timestamp: string;
  project: string;
}

/** Where the next capture continues to read. */
export interface TranscriptPlace {
  /** The file name. For a native session: the whole path. */
  file: string;
  /** In bytes; always after a newline. */
  offset: number;
}

export interface StateNote extends PatternNote {
  /** Unique within the state, and the same in every capture. */
  id: string;
  sourceMessageIndex: number;
  /** The active project at the time. */
  project: string;
}

export interface StateSummary {
  lastTopic: string;
  inProgress: string[];
  blockers: string[];
  decisions: string[];
  nextStep: string;
}

export const SUMMARY_KINDS = ["topic", ...SECTIONS] as const;
/** Facts, which need no reading of sentences. */
export const FACT_KINDS = ["request", "todo", "failure", "commit", "edited", "branch", "pull-request"] as const;

export type SummaryKind = (typeof SUMMARY_KINDS)[number] | (typeof FACT_KINDS)[number];

export interface SummaryItem {
  kind: SummaryKind;
  text: string;
  /** The entry that it came from. */
  entryId: string;
  /** A second entry, of a line that joins two sentences. */
  alsoFrom?: string | undefined;
  /** The earlier window that the entry is in. Left out: the one that the state tells about. */
  sessionId?: string;
  timestamp: string;
  /** `model`: written by a model. Undefined: in the words of the entry. */
  by?: "model";
  /** The sentence that supports a model's line. */
  said?: string;
}

/** The lines of a model and their cost. */
export interface ModelWork {
  /** `provider/model`. */
  name: string;
  /** US dollars. Undefined if the price is unknown. */
  costUsd?: number | undefined;
  /** The last message that the model read, and its project. */
  lastMessageIndex: number;
  project: string;
  /** Empty: its answer was unusable. */
  items: SummaryItem[];
}

/** A message of a transcript, Holdfast's own or Claude Code's. */
export interface ReadMessage {
  entryId: string;
  /** ISO 8601. */
  timestamp: string;
  role: "user" | "assistant" | "tool";
  /** A person's own words, without senders, history and events. */
  text: string;
  /** A tool's result that is an error. */
  isError?: boolean | undefined;
  /** The turn was aborted, timed out or failed. */
  isCut?: boolean | undefined;
  /** The agent called tools, so its turn continues. */
  callsTools?: boolean | undefined;
  /** The agent only repeats the person, as the echo engine does. */
  isEcho?: boolean | undefined;
  /** The project at the time, if the transcript says that it was another one. */
  project?: string | undefined;
  /** The agent's whole to-do list (Claude Code's to-do tool). */
  todos?: readonly TodoItem[] | undefined;
  /** Changes to that list, by its own ids. */
  todoChanges?: readonly TodoChange[] | undefined;
  /** The agent's calls that run a command or write a file. */
  calls?: readonly ToolCall[] | undefined;
  /** The outcomes of calls. */
  results?: readonly ToolResult[] | undefined;
}

export interface ToolCall {
  id: string;
  command?: string;
  file?: string;
}

export interface ToolResult {
  /** The id of the call. */
  id: string;
  isError?: boolean;
  isDenied?: boolean;
  commit?: Pick<Commit, "hash" | "branch" | "subject">;
  pullRequest?: string;
}

export interface TodoItem {
  /** Undefined if the tool always gives the whole list. */
  id?: string;
  text: string;
  status: "pending" | "in_progress" | "completed";
}

export interface TodoChange {
  id: string;
  text?: string;
  status?: TodoItem["status"] | "deleted";
}

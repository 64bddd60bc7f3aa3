/**
 * What one session leaves for the next: contract of the hand-off's state, which is kept in the store and,
 * for people and other tools, in `session-state.json`. Field names are those of OpenClaw's hand-off; what
 * it has not is marked. Every text in it is one clean, redacted line.
 */
import type { PatternNote } from "./patterns/note.ts";

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
  /** The window that it tells about; of a native session, Claude Code's id. */
  previousSessionId: string;

  /** ISO 8601, as all instants here. */
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  /** Beside OpenClaw's fields: why it was captured last, and when something was said last. */
  reason: CaptureReason;
  lastMessageAt: string;

  project: string;
  /** Beside OpenClaw's fields: the folder that was worked in, where facts can be looked up. */
  cwd?: string;
  /** Beside OpenClaw's fields: the git branch that was worked on, where the transcript tells. */
  branch?: string;
  mode: SessionMode;

  patterns: StateNote[];
  /** What the summary was made of, each with the entry it came from. */
  items: SummaryItem[];
  summary: StateSummary;
  /** Beside OpenClaw's fields: what the next capture must know of what was read before. */
  carried: CarriedState;
  /** Beside OpenClaw's fields: entries of earlier windows that something in here comes from, with their windows. */
  earlier?: Readonly<Record<string, string>>;

  /** How many messages of the window were read. */
  lastMessageIndex: number;
  /** Of the transcript as far as it was read: a state does not speak for another text. */
  transcriptHash: string;
  transcript: TranscriptPlace;
  /** Of the rest of the state: one that somebody changed is not believed. */
  checksum: string;

  resumeAvailable: boolean;
  /** When the lines of `project` were told last. */
  resumeOfferedAt: string | null;
  /** Beside OpenClaw's fields: the same of every project whose lines were told. Left out: of none. */
  offeredFor?: { project: string; at: string }[];
  /** Beside OpenClaw's fields: for which window, after how many compactions, it was last decided whether to offer it. */
  decidedFor?: { sessionId: string; compactions: number };
  /** A person asked for it (`/resume`): the next turn gets it whatever else holds. */
  forced?: boolean;
  /** Beside OpenClaw's fields: the last request to a model about this window. */
  model?: ModelWork;
  /** Beside OpenClaw's fields: nothing that was said up to here is ever noted again (`/handoff clear`). */
  clearedAt?: string;
}

/**
 * What a capture remembers of the messages it has read, so that capturing in pieces gives the same as capturing in
 * one go. Bounded: of old messages only what may still matter is kept.
 */
export interface CarriedState {
  counts: { user: number; assistant: number; tools: number };
  /** People's messages and the agent's answers, oldest first. */
  digests: Digest[];
  todos?: { items: TodoItem[]; entryId: string; timestamp: string; project: string } | undefined;
  /** Lines of earlier windows that are still open, and decisions that still stand. */
  inherited: InheritedLine[];
  /** A person said to go on with what was open, whatever that was. */
  goesOn?: true;
  /** A person said something that is about something, tools were used, or something was reported done. */
  isAbout?: true;
  /** Projects that have something to hand over, the one that was worked on last first. */
  open: string[];
}

/** A person's message, or all of an agent's turn that answers it. */
export interface Digest {
  role: "user" | "assistant";
  /** The entry of the text; of a turn, of its last text. */
  entryId: string;
  timestamp: string;
  /** Of the message among all that were read. */
  index: number;
  project: string;
  /** What it says, at most a few sentences. */
  said: Said[];
  /** How many sentences it has; 0: nothing that can be read. */
  sentences: number;
  /** Aborted, timed out, failed or interrupted. */
  isCut?: boolean;
  /** Of a turn: tools were called and nothing was said since. */
  isOpen?: boolean;
  isEcho?: boolean;
  /** Calls whose results have not come. */
  calls?: ToolCall[];
  runs?: Run[];
  edits?: string[];
  commits?: Commit[];
  pullRequest?: string;
  /** A person refused a call. */
  isDenied?: boolean;
}

/** One sentence of a message, clean, redacted, at most 200 characters. */
export interface Said {
  text: string;
  /** Its place among the message's sentences. */
  at: number;
  isQuestion?: boolean;
  isItem?: boolean;
  /** The check box before it. */
  checked?: boolean;
  /** The scorer's log-odds for blocker, decision, accomplishment and task_created; left out in other languages. */
  scores?: number[];
}

/** A command and how it ended. */
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

/** How far the transcript was read, so that the next capture reads only what came since. */
export interface TranscriptPlace {
  /** Its file name, or the whole path of one that is Claude Code's. */
  file: string;
  /** In bytes; always after a newline. */
  offset: number;
}

export interface StateNote extends PatternNote {
  /** Unique within the state and stable: a capture that is repeated gives the same one. */
  id: string;
  sourceMessageIndex: number;
  /** The project that was active when it was said. */
  project: string;
}

export interface StateSummary {
  lastTopic: string;
  inProgress: string[];
  blockers: string[];
  decisions: string[];
  nextStep: string;
}

export const SUMMARY_KINDS = ["topic", "in-progress", "blocker", "decision", "accomplishment", "next-step"] as const;
/** Facts, which need no reading of sentences. */
export const FACT_KINDS = ["request", "todo", "failure", "commit", "edited", "branch", "pull-request"] as const;

export type SummaryKind = (typeof SUMMARY_KINDS)[number] | (typeof FACT_KINDS)[number];

export interface SummaryItem {
  kind: SummaryKind;
  text: string;
  /** The entry that it came from. */
  entryId: string;
  /** The earlier window that the entry is in. Left out: the one that the state tells about. */
  sessionId?: string;
  timestamp: string;
  /** Left out: as it was said. `model`: in the words of a model. */
  by?: "model";
  /** The sentence that the model's line comes from. */
  said?: string;
}

/** What a model wrote, and what it cost. */
export interface ModelWork {
  /** `provider/model`. */
  name: string;
  /** US dollars. Undefined if the price is unknown. */
  costUsd?: number | undefined;
  /** It has read up to this message, and only what belongs to this project. */
  lastMessageIndex: number;
  project: string;
  /** Empty: nothing of its answer could be used. */
  items: SummaryItem[];
}

/** A message as the hand-off reads it, of Holdfast's own transcripts and Claude Code's alike. */
export interface ReadMessage {
  entryId: string;
  /** ISO 8601. */
  timestamp: string;
  role: "user" | "assistant" | "tool";
  /** Of a person's message: what the person wrote, without senders, history and events. */
  text: string;
  /** A tool's result that is an error. */
  isError?: boolean;
  /** The turn was cut short: aborted, timed out or failed. */
  isCut?: boolean;
  /** Of the agent: it called tools in it, so its turn goes on. */
  callsTools?: boolean;
  /** Of the agent: it only repeats what it was told, as the echo engine does. */
  isEcho?: boolean;
  /** What was worked on when it was said, where the transcript tells that it was something else than now. */
  project?: string;
  /** The agent's own list of what is to be done, where it keeps one (Claude Code's to-do tool), as it is now. */
  todos?: readonly TodoItem[];
  /** The same, where it says only what changes; ids are the list's own. */
  todoChanges?: readonly TodoChange[];
  /** Of the agent: calls that run a command or write a file. */
  calls?: readonly ToolCall[];
  /** Of tools: how the calls ended. */
  results?: readonly ToolResult[];
}

export interface ToolCall {
  id: string;
  command?: string;
  file?: string;
}

export interface ToolResult {
  /** Of the call. */
  id: string;
  isError?: boolean;
  isDenied?: boolean;
  commit?: Pick<Commit, "hash" | "branch" | "subject">;
  pullRequest?: string;
}

export interface TodoItem {
  /** Left out: the list is always given as a whole. */
  id?: string;
  text: string;
  status: "pending" | "in_progress" | "completed";
}

export interface TodoChange {
  id: string;
  text?: string;
  status?: TodoItem["status"] | "deleted";
}

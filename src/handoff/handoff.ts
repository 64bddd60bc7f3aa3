/**
 * The contract of the hand-off of one agent: captured from transcripts, kept per session key, offered to the
 * window after. The deterministic part is always there; nothing here needs a model, a hook or a process
 * that ended well. Nothing here may keep a person from an answer: what happens in the background is logged when it
 * fails, and whoever asks for something on the way of a turn waits for a limited time only.
 */
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { Remarks } from "./render.ts";
import type { CaptureReason, SessionState } from "./state.ts";

export interface Handoff {
  /**
   * Reads what was said since the last capture and brings the state up to date. Undefined when there is
   * nothing to hand over: nothing was said, or the person turned it off for this session.
   */
  capture(target: CaptureTarget, reason: CaptureReason): Promise<SessionState | undefined>;
  /** As it is kept, expired or not; a state that is damaged is rebuilt first. */
  get(sessionKey: string): Promise<SessionState | undefined>;
  /** Newest first. With `cleared` also what a person wanted forgotten: of that only the place is left. */
  list(options?: { cleared?: boolean }): Promise<SessionState[]>;
  /** What the repo says now about the lines of a state; none for most. Never fails, and takes 1.5 s at most. */
  verify(state: SessionState): Promise<Remarks>;
  /** What is worked on in a session, as it is now. */
  projectOf(entry: SessionEntry): Promise<string>;
  /**
   * Runs what takes the beginning of a session's transcript away, and knows afterwards what it knew before. Nothing
   * of the hand-off keeps it from being run.
   */
  keepThrough: <T>(sessionKey: string, shorten: () => Promise<T>) => Promise<T>;
  /** Forgets what was captured up to now, for good. False when there was nothing. */
  clear(sessionKey: string): Promise<boolean>;
  /** A session with these windows was deleted, and its state with it: the files forget them as well, soon. */
  forgetDeleted(windows: readonly Window[]): void;

  /** False for nearly every turn, at once: what it is told was decided, and nobody has to wait for `offer`. */
  mayOffer(request: OfferRequest): boolean;
  /**
   * What a turn of this session is to be told; undefined for most turns. It is offered once per window and
   * once after a compaction. Captures the window before, if nobody has.
   */
  offer(request: OfferRequest): Promise<Offer | undefined>;
  /**
   * What a turn is to be told once its conversation has been shortened, asked for before it is. Nothing is decided by
   * that: the conversation may not be shortened after all.
   */
  offerAhead(request: Pick<OfferRequest, "sessionKey" | "entry">): Promise<Offer | undefined>;
  /**
   * What a session of Claude Code is to be told as it begins: what the newest one that has ended in the same repo
   * left, captured now if nobody has; after a compaction or a resume what it left itself.
   */
  offerNative(request: NativeOfferRequest): Promise<Offer | undefined>;
  /** The offer is on disk where the engine reads it, or was handed to Claude Code. */
  markOffered(offer: Offer): Promise<void>;
  /**
   * The next turn gets the state of the session, offered before or not. An expired one only by its name: its
   * project, or the first characters of its session id.
   */
  resume(sessionKey: string, name?: string): Promise<ResumeAnswer>;

  /** Counts; captures in the background when it is time. Never throws. */
  turnEnded(turn: EndedTurn): void;
  /** What turns left uncaptured, for a process that ends: within the time given. */
  captureOpen(reason: CaptureReason, withinMs: number): Promise<number>;
  /**
   * After the fact: sessions that were used since their last capture, and native ones that have ended; and whatever
   * deleted ones have left is forgotten. For the start of a process; never fails, and takes no longer than a few seconds.
   */
  recover(): Promise<number>;
  /** Background work that has begun is done. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export type CaptureTarget =
  /**
   * One of Holdfast's sessions. The entry decides the window; left out: the newest. With `sessionId` only
   * while that is the session's window.
   */
  | { kind: "session"; sessionKey: string; entry?: SessionEntry | undefined; sessionId?: string | undefined }
  /** One of Claude Code's. Its key is `nativeSessionKey(agentId, sessionId)`. */
  | { kind: "native"; sessionId: string; transcriptPath: string; cwd: string };

export interface OfferRequest {
  sessionKey: string;
  /** As the turn begins; its window may just have been opened. */
  entry: SessionEntry;
  /** The session began with this turn: there was no window before. Left out: it is looked up. */
  isFirst?: boolean;
}

export interface NativeOfferRequest {
  /** The session that begins, as Claude Code tells its hooks. */
  sessionId: string;
  cwd: string;
  source: "startup" | "resume" | "clear" | "compact";
  /** Its own transcript, if it has one. */
  transcriptPath?: string;
  /** How long looking things up in the repo may take. Default 1,500. */
  budgetMs?: number;
}

/** Of a native session, `sessionKey` is that of the state, and `sessionId` the session that is told. */
export interface Offer {
  sessionKey: string;
  sessionId: string;
  compactions: number;
  state: SessionState;
  /** For the engine: at most 1,500 tokens and 9,000 characters, delimited, disarmed. */
  text: string;
}

export type ResumeAnswer =
  | { kind: "ready"; state: SessionState }
  | { kind: "expired"; state: SessionState }
  | { kind: "none" };

export interface EndedTurn {
  sessionKey: string;
  /** Messages that the turn added to the transcript. */
  messages: number;
  /** Characters of the largest tool result. */
  largestToolResult: number;
  timedOut: boolean;
}

/** The key under which the state of a native session is kept. */
export function nativeSessionKey(agentId: string, sessionId: string): string {
  return `agent:${agentId}:claude-code:${sessionId}`;
}

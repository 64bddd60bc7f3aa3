/**
 * The hand-off of one agent: captured from transcripts, stored per session key, offered to the next window. It needs no
 * model, no hook and no clean end of a process, and it never keeps a person from an answer: failures in the background
 * are only logged, and a turn waits for a limited time.
 */
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { Remarks } from "./render.ts";
import type { CaptureReason, SessionState } from "./state.ts";

export interface Handoff {
  /** Reads new messages and updates the state. Undefined if there is nothing to hand over, or it is off. */
  capture(target: CaptureTarget, reason: CaptureReason): Promise<SessionState | undefined>;
  /** The stored state, expired or not. A damaged one is made again first. */
  get(sessionKey: string): Promise<SessionState | undefined>;
  /** Newest first. `cleared` includes cleared ones, which have no content. */
  list(options?: { cleared?: boolean }): Promise<SessionState[]>;
  /** Compares the lines of a state with the repo. Never fails, and takes at most 1.5 s. */
  verify(state: SessionState): Promise<Remarks>;
  /** The current project of a session. */
  projectOf(entry: SessionEntry): Promise<string>;
  /** Runs `shorten`, which removes the beginning of a transcript, and keeps the state valid. */
  keepThrough: <T>(sessionKey: string, shorten: () => Promise<T>) => Promise<T>;
  /** Clears everything up to now, for good. False if there was nothing. */
  clear(sessionKey: string): Promise<boolean>;
  /** Removes these windows of a deleted session from the files, in the background. */
  forgetDeleted(windows: readonly Window[]): void;

  /** False for nearly every turn: `offer` would have nothing. */
  mayOffer(request: OfferRequest): boolean;
  /** The hand-off for a turn: once per window, and once after each compaction. Captures the previous window if needed. */
  offer(request: OfferRequest): Promise<Offer | undefined>;
  /** The hand-off for a turn whose conversation may be compacted. Decides nothing. */
  offerAhead(request: Pick<OfferRequest, "sessionKey" | "entry">): Promise<Offer | undefined>;
  /** The hand-off of the newest ended Claude Code session in the repo, for a new one. Captures it if needed. */
  offerNative(request: NativeOfferRequest): Promise<Offer | undefined>;
  /** The engine or Claude Code has received the offer. */
  markOffered(offer: Offer): Promise<void>;
  /** Gives the state to the next turn. An expired one needs a name: its project, or a prefix of its session id. */
  resume(sessionKey: string, name?: string): Promise<ResumeAnswer>;

  /** Counts messages and captures in the background. Never throws. */
  turnEnded(turn: EndedTurn): void;
  /** Captures sessions with uncaptured turns, at the end of a process. Returns how many were captured in time. */
  captureOpen(reason: CaptureReason, withinMs: number): Promise<number>;
  /** Captures sessions and ended native ones that no process captured, and forgets deleted ones. Never fails. */
  recover(): Promise<number>;
  /** Waits for background work. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export type CaptureTarget =
  /** `entry` selects the window. Default: the newest. `sessionId`: only if that is the session's window. */
  | { kind: "session"; sessionKey: string; entry?: SessionEntry | undefined; sessionId?: string | undefined }
  /** A session of Claude Code. Its key is `nativeSessionKey(agentId, sessionId)`. */
  | { kind: "native"; sessionId: string; transcriptPath: string; cwd: string };

export interface OfferRequest {
  sessionKey: string;
  /** At the beginning of the turn, which may have opened a new window. */
  entry: SessionEntry;
  /** This turn began the session. Default: looked up. */
  isFirst?: boolean;
}

export interface NativeOfferRequest {
  /** The new session. */
  sessionId: string;
  cwd: string;
}

/** For a native session, `sessionKey` is that of the state, and `sessionId` the session that receives it. */
export interface Offer {
  sessionKey: string;
  sessionId: string;
  compactions: number;
  state: SessionState;
  /** For the engine: delimited, at most 1,500 tokens and 9,000 characters. */
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

/** The key of a native session's state. */
export function nativeSessionKey(agentId: string, sessionId: string): string {
  return `agent:${agentId}:claude-code:${sessionId}`;
}

export function isNativeState({ agentId, sessionKey }: Pick<SessionState, "agentId" | "sessionKey">): boolean {
  return sessionKey.startsWith(nativeSessionKey(agentId, ""));
}

/**
 * A hand-off as people and programs are shown it, the same by RPC, on the command line and on the page: what
 * becomes of it, and what it says with the entry behind each line. Instants are milliseconds, as in all of RPC.
 */
import { earlierWindow } from "./inherit.ts";
import { isExpired, isTellable } from "./kept-state.ts";
import { type Remarks, endingOf } from "./render.ts";
import type { CaptureReason, SessionMode, SessionState, SummaryItem, SummaryKind } from "./state.ts";

export const HANDOFF_STATUSES = ["waiting", "offered", "expired", "cleared"] as const;

/**
 * `waiting`: nobody was told yet. `offered`: a window was. `expired`: only who asks for it gets it.
 * `cleared`: a person wanted it forgotten.
 */
export type HandoffStatus = (typeof HANDOFF_STATUSES)[number];

export interface HandoffView {
  agentId: string;
  sessionKey: string;
  /** The window that it tells about; of a native session, Claude Code's id. */
  sessionId: string;
  /** It is about a session of Claude Code. */
  isNative: boolean;
  status: HandoffStatus;
  /** The next window is told, or the next turn where somebody asked for it. */
  willBeOffered: boolean;
  /** Somebody asked for it (`/resume`), and it was not told since. */
  isAsked: boolean;
  project: string;
  mode: SessionMode;
  cwd?: string;
  branch?: string;
  reason: CaptureReason;
  /** The same in words. */
  ending: string;
  lastMessageAt: number;
  capturedAt: number;
  expiresAt: number;
  offeredAt?: number;
  clearedAt?: number;
  /** How many messages of the window were read. */
  messages: number;
  items: HandoffItem[];
}

export interface HandoffItem {
  kind: SummaryKind;
  text: string;
  /** Where it was said. */
  entryId: string;
  /** The earlier window of that entry. Left out: the one that the hand-off tells about. */
  sessionId?: string;
  at: number;
  /** What the repo says about it now. */
  remark?: string;
  /** Of a blocker that is over: the entry that said so. */
  resolvedBy?: string;
  /** The sentence that a line of a model comes from. */
  said?: string;
}

export function handoffView(state: SessionState, now: number, remarks: Remarks = new Map()): HandoffView {
  const { agentId, sessionKey, project, mode, cwd, branch, reason, resumeOfferedAt, clearedAt } = state;
  const status = statusOf(state, now);
  const isAsked = state.forced === true;
  return {
    agentId,
    sessionKey,
    sessionId: state.previousSessionId,
    isNative: isNativeState(state),
    status,
    willBeOffered: status === "waiting",
    isAsked,
    project,
    mode,
    ...(cwd === undefined ? {} : { cwd }),
    ...(branch === undefined ? {} : { branch }),
    reason,
    ending: endingOf(reason),
    lastMessageAt: instant(state.lastMessageAt),
    capturedAt: instant(state.updatedAt),
    expiresAt: instant(state.expiresAt),
    ...(resumeOfferedAt === null ? {} : { offeredAt: instant(resumeOfferedAt) }),
    ...(clearedAt === undefined ? {} : { clearedAt: instant(clearedAt) }),
    messages: state.lastMessageIndex,
    items: [...state.items.map((item) => itemView(item, remarks.get(item))), ...resolvedBlockers(state)],
  };
}

function statusOf(state: SessionState, now: number): HandoffStatus {
  if (!isTellable(state)) return state.clearedAt === undefined ? "expired" : "cleared";
  if (state.forced === true) return "waiting";
  if (isExpired(state, now)) return "expired";
  return state.resumeOfferedAt === null ? "waiting" : "offered";
}

export function isNativeState({ agentId, sessionKey }: Pick<SessionState, "agentId" | "sessionKey">): boolean {
  return sessionKey.startsWith(`agent:${agentId}:claude-code:`);
}

function itemView(
  { kind, text, entryId, sessionId, timestamp, said }: SummaryItem,
  remark: string | undefined,
): HandoffItem {
  return {
    kind,
    text,
    entryId,
    ...(sessionId === undefined ? {} : { sessionId }),
    at: instant(timestamp),
    ...(remark === undefined ? {} : { remark }),
    ...(said === undefined ? {} : { said }),
  };
}

const MOST_RESOLVED = 3;

/** Not told to an agent any more, and still worth a look: somebody may know better. */
function resolvedBlockers({ patterns, project, earlier }: SessionState): HandoffItem[] {
  const resolved = patterns.filter((note) => {
    return note.type === "blocker" && note.resolved === true && note.project === project;
  });
  return resolved.slice(-MOST_RESOLVED).map(({ content, sourceEntryId: entryId, timestamp, resolvedBy = entryId }) => {
    const sessionId = earlierWindow(earlier, entryId);
    const item = { kind: "blocker" as const, text: content, entryId, timestamp };
    return { ...itemView(sessionId === undefined ? item : { ...item, sessionId }, undefined), resolvedBy };
  });
}

/** Transcripts of other tools may hold times that are none. */
function instant(iso: string): number {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? 0 : at;
}

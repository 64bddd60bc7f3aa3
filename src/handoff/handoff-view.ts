/**
 * A hand-off for people and programs, the same by RPC, on the command line and on the page. `rpc/contract/handoff.ts`
 * describes the fields. Instants are milliseconds, as everywhere in RPC.
 */
import { isNativeState } from "./handoff.ts";
import { earlierWindow } from "./items.ts";
import { isExpired, isTellable } from "./kept-state.ts";
import { type Remarks, endingOf } from "./render.ts";
import type { SessionState, SummaryItem } from "./state.ts";

export const HANDOFF_STATUSES = ["waiting", "offered", "expired", "cleared"] as const;

/** `waiting`: not offered yet. `offered`: a window has it. `expired`: only on request. `cleared`: by a person. */
export type HandoffStatus = (typeof HANDOFF_STATUSES)[number];

export type HandoffView = ReturnType<typeof handoffView>;

export interface HandoffItem extends Pick<SummaryItem, "kind" | "text" | "entryId"> {
  /** The window of the entry, if it is an earlier one. */
  sessionId?: string | undefined;
  at: number;
  /** From the comparison with the repo. */
  remark?: string | undefined;
  /** For a resolved blocker: the entry that says so. */
  resolvedBy?: string | undefined;
  /** The sentence that a line of a model comes from. */
  said?: string | undefined;
}

export function handoffView(state: SessionState, now: number, remarks: Remarks = new Map()) {
  const { agentId, sessionKey, project, mode, cwd, branch, reason, resumeOfferedAt, clearedAt } = state;
  const status = statusOf(state, now);
  return {
    agentId,
    sessionKey,
    sessionId: state.previousSessionId,
    isNative: isNativeState(state),
    status,
    willBeOffered: status === "waiting",
    isAsked: state.forced === true,
    project,
    mode,
    cwd,
    branch,
    reason,
    ending: endingOf(reason),
    lastMessageAt: instant(state.lastMessageAt),
    capturedAt: instant(state.updatedAt),
    expiresAt: instant(state.expiresAt),
    offeredAt: resumeOfferedAt === null ? undefined : instant(resumeOfferedAt),
    clearedAt: clearedAt === undefined ? undefined : instant(clearedAt),
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

function itemView(item: SummaryItem, remark: string | undefined): HandoffItem {
  const { kind, text, entryId, sessionId, timestamp, said } = item;
  return { kind, text, entryId, sessionId, at: instant(timestamp), remark, said };
}

const MAX_RESOLVED = 3;

/** Agents do not get them any more, but a person may know better. */
function resolvedBlockers({ patterns, project, earlier }: SessionState): HandoffItem[] {
  const resolved = patterns.filter((note) => {
    return note.type === "blocker" && note.resolved === true && note.project === project;
  });
  return resolved.slice(-MAX_RESOLVED).map(({ content, sourceEntryId: entryId, timestamp, resolvedBy = entryId }) => {
    const sessionId = earlierWindow(earlier, entryId);
    return { kind: "blocker", text: content, entryId, sessionId, at: instant(timestamp), resolvedBy };
  });
}

/** Transcripts of other tools may contain invalid times. */
function instant(iso: string): number {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? 0 : at;
}

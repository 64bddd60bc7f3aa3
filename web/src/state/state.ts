/** Everything that the page knows. Changed by `reduce` alone; shown by the components. */
import type { HistoryMessage } from "../../../src/rpc/contract/shapes.ts";
import type { ResultOf } from "../../../src/rpc/contract.ts";
import type { Place } from "../address.ts";
import type { Link } from "../connection.ts";

export type { HistoryMessage };
export type SessionRow = ResultOf<"sessions.list">["sessions"][number];
export type SessionWindow = ResultOf<"sessions.windows">["windows"][number];
export type HistoryPage = ResultOf<"chat.history">;
export type HandoffAnswer = ResultOf<"handoff.status">;
export type Handoff = NonNullable<HandoffAnswer["handoff"]>;

export interface PageState {
  link: Link | { state: "signed-out"; reason?: string };
  agents: { defaultId: string; mainKey: string; ids: readonly string[] } | undefined;
  sessions: SessionList;
  place: Place;
  /** The transcript at `place`. Left out while nothing of it was read. */
  view: View | undefined;
  windows: { key: string; windows: readonly SessionWindow[] } | undefined;
  /** What the session at `place` leaves for its next window. Left out until somebody looks at it. */
  handoff: HandoffState | undefined;
  /** Turns under way, by session key, as far as events told of them. */
  live: Readonly<Record<string, LiveTurn>>;
  /** The turns that ended last, by `turnName`: whatever was asked for before may still call them running. */
  ended: readonly string[];
  /** Messages of this tab that are not in a transcript yet. */
  pending: readonly PendingMessage[];
  /** What is told to the person and stands in no transcript: answers to commands, failures. */
  notes: readonly Note[];
  /** When each session was looked at last. What is not in here is compared with `seenSince`. */
  seen: Readonly<Record<string, number>>;
  seenSince: number;
}

export interface SessionList {
  query: SessionQuery;
  /** Newest first. Left out until the first page is there. */
  rows: readonly SessionRow[] | undefined;
  total: number;
  isLoading: boolean;
  problem?: string;
}

export interface SessionQuery {
  search: string;
  channel: string | undefined;
}

export interface View {
  key: string;
  /** Missing for a conversation in which nothing was said yet. */
  sessionId?: string;
  isCurrent: boolean;
  /** Oldest first. */
  messages: readonly HistoryMessage[];
  /** There is more before the first message. */
  before?: string;
  isLoadingOlder: boolean;
  problem?: string;
}

export interface HandoffState {
  key: string;
  /** Left out until it was read. */
  answer?: HandoffAnswer;
  /** What the person asked for and is being done. */
  doing?: HandoffDeed;
  /** What came of it. */
  told?: string;
  problem?: string;
}

export type HandoffDeed = "capture" | "clear" | "resume";

export interface LiveTurn {
  itemId: number;
  parts: readonly LivePart[];
  /** False: it was under way when the page came to it, and its first words are missing here. */
  isWhole: boolean;
  isStopping: boolean;
  hasEnded: boolean;
  /** The last turn in the view when this one began: what is newer on disk is this turn's. */
  turnBefore?: number;
}

export type LivePart =
  | { kind: "text"; text: string }
  | { kind: "tool"; id: string; name: string; state: "running" | "done" | "failed" }
  | { kind: "notice"; text: string }
  | { kind: "compaction"; isOver: boolean };

export interface PendingMessage {
  /** The idempotency key: sent again with it, a message is still admitted once. */
  id: string;
  key: string;
  text: string;
  createdAt: number;
  /** Known once the gateway has the message for good. */
  itemId?: number;
  /** The turn is over; the message leaves this list when the history was read. */
  hasEnded?: boolean;
  /** Refused; it will not be tried again by itself. */
  problem?: string;
}

export interface Note {
  key: string;
  sessionId: string;
  itemId: number;
  /** The message that it stands behind; the start of the window if left out. */
  after?: string;
  question?: string;
  text: string;
  kind: "answer" | "failed" | "stopped";
}

export function initialState(place: Place): PageState {
  return {
    link: { state: "signed-out" },
    agents: undefined,
    sessions: { query: { search: "", channel: undefined }, rows: undefined, total: 0, isLoading: false },
    place,
    view: undefined,
    windows: undefined,
    handoff: undefined,
    live: {},
    ended: [],
    pending: [],
    notes: [],
    seen: {},
    seenSince: 0,
  };
}

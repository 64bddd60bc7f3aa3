/** The state of the page. `changes.ts` and the files beside it compute the next one. */
import type { ResultOf } from "../../../src/rpc/contract.ts";
import type { HistoryMessage } from "../../../src/rpc/contract/shapes.ts";
import type { Place } from "../address.ts";
import type { Link } from "../connection.ts";

export type { HistoryMessage };
export type SessionRow = ResultOf<"sessions.list">["sessions"][number];
export type SessionWindow = ResultOf<"sessions.windows">["windows"][number];
export type HistoryPage = ResultOf<"chat.history">;
export type SearchAnswer = ResultOf<"search.query">;
export type FoundSession = SearchAnswer["results"][number];
export type HandoffAnswer = ResultOf<"handoff.status">;
export type Handoff = NonNullable<HandoffAnswer["handoff"]>;

export interface PageState {
  link: Link | { state: "signed-out"; reason?: string | undefined };
  agents: { defaultId: string; mainKey: string; ids: readonly string[] } | undefined;
  sessions: SessionList;
  /** What the search field finds in transcripts and memory. Undefined without a search. */
  found: SearchAnswer | { problem: string } | undefined;
  place: Place;
  /** The transcript at `place`. Undefined until it is read. */
  view: View | undefined;
  windows: { key: string; windows: readonly SessionWindow[] } | undefined;
  /** The hand-off of the session at `place`. Undefined until its panel is opened. */
  handoff: HandoffState | undefined;
  /** The tasks of the session at `place` that have not ended. Undefined until they are read. */
  tasks: { key: string; tasks: readonly OpenTask[] } | undefined;
  /** Running turns by session key, from events. */
  live: Readonly<Record<string, LiveTurn>>;
  /** Recently ended turns, by `turnName`: an answer to an earlier request may still list them as running. */
  ended: readonly string[];
  /** Messages of this tab that are not in a transcript yet. */
  pending: readonly PendingMessage[];
  /** Messages to the person that are in no transcript: answers to commands, failures. */
  notes: readonly Note[];
  /** When each session was last viewed. For others `seenSince` counts. */
  seen: Readonly<Record<string, number>>;
  seenSince: number;
}

export interface SessionList {
  query: SessionQuery;
  /** Newest first. Undefined until the first page is read. */
  rows: readonly SessionRow[] | undefined;
  total: number;
  isLoading: boolean;
  problem?: string | undefined;
}

export interface SessionQuery {
  search: string;
  channel: string | undefined;
}

export interface View {
  key: string;
  /** Undefined for a conversation without messages. */
  sessionId?: string | undefined;
  isCurrent: boolean;
  /** Oldest first. */
  messages: readonly HistoryMessage[];
  /** Set if there are older messages. */
  before?: string | undefined;
  isLoadingOlder: boolean;
  problem?: string | undefined;
}

export interface HandoffState {
  key: string;
  /** Undefined until it is read. */
  answer?: HandoffAnswer | undefined;
  /** The action in progress. */
  doing?: HandoffDeed | undefined;
  /** The result of the last action. */
  result?: string | undefined;
  problem?: string | undefined;
}

/** A task that has not ended. */
export type OpenTask = ResultOf<"tasks.list">["tasks"][number];

export type HandoffDeed = "capture" | "clear" | "resume";

export interface LiveTurn {
  itemId: number;
  parts: readonly LivePart[];
  /** False: the page joined late, so the beginning is missing. */
  isWhole: boolean;
  isStopping: boolean;
  hasEnded: boolean;
  /** The last turn in the view when this one began; newer messages on disk belong to this one. */
  turnBefore?: number | undefined;
}

export type LivePart =
  | { kind: "text"; text: string }
  | { kind: "tool"; id: string; name: string; state: "running" | "done" | "failed" }
  | { kind: "notice"; text: string }
  | { kind: "compaction"; isOver: boolean };

export interface PendingMessage {
  /** The idempotency key, so that a resent message is admitted once. */
  id: string;
  key: string;
  text: string;
  createdAt: number;
  /** Set once the gateway has stored the message. */
  itemId?: number | undefined;
  /** The turn has ended; the message leaves this list when the history is read. */
  hasEnded?: boolean | undefined;
  /** Refused; not retried automatically. */
  problem?: string | undefined;
}

export interface Note {
  key: string;
  /** Undefined until the conversation has a window. */
  sessionId?: string | undefined;
  itemId: number;
  /** The entry before it. Default: the start of the window. */
  after?: string | undefined;
  question?: string | undefined;
  text: string;
  kind: "answer" | "failed" | "stopped";
}

export function initialState(place: Place): PageState {
  return {
    link: { state: "signed-out" },
    agents: undefined,
    sessions: { query: { search: "", channel: undefined }, rows: undefined, total: 0, isLoading: false },
    found: undefined,
    place,
    view: undefined,
    windows: undefined,
    handoff: undefined,
    tasks: undefined,
    live: {},
    ended: [],
    pending: [],
    notes: [],
    seen: {},
    seenSince: 0,
  };
}

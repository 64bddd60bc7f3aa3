/** Computes the state after an action of the person or an answer of the gateway. */
import { joinedTurn } from "./history-changes.ts";
import type { PageState, PendingMessage, SessionQuery, SessionRow } from "./state.ts";
import { rememberEnded, turnName } from "./turn-number.ts";

export function placeChanged(state: PageState, place: PageState["place"]): PageState {
  const { key } = place;
  if (state.place.key === key && state.place.windowId === place.windowId) {
    // A repeated request for an entry scrolls to it again.
    return place.entryId === state.place.entryId && place.entryId === undefined ? state : { ...state, place };
  }
  return {
    ...state,
    place,
    view: undefined,
    windows: state.windows?.key === key ? state.windows : undefined,
    handoff: state.handoff?.key === key ? state.handoff : undefined,
    seen: key === undefined ? state.seen : { ...state.seen, [key]: Date.now() },
  };
}

/** A new query starts with an empty list; a repeated one keeps the rows until the answer arrives. */
export function sessionsAsked(state: PageState, query: SessionQuery): PageState {
  const { sessions, found } = state;
  const isSame = isSameQuery(sessions.query, query);
  return {
    ...state,
    sessions: { ...sessions, query, isLoading: true, rows: isSame ? sessions.rows : undefined, problem: undefined },
    // While typing, the last results stay until the next ones arrive.
    found: searchedText(query) === "" ? undefined : found,
  };
}

export function isSameQuery(one: SessionQuery, other: SessionQuery): boolean {
  return one.search === other.search && one.channel === other.channel;
}

/** Empty without a search. */
export function searchedText({ search }: SessionQuery): string {
  return search.trim();
}

/** The turn may have ended before `chat.send` was answered; its note then gets its question here. */
export function accepted(
  state: PageState,
  { id, itemId, hasEnded }: { id: string; itemId: number; hasEnded: boolean },
): PageState {
  const message = state.pending.find((known) => known.id === id);
  if (message === undefined) return state;
  const changed = changePending(state, id, { itemId, hasEnded: hasEnded || message.hasEnded });
  return {
    ...changed,
    ended: hasEnded ? rememberEnded(state.ended, message.key, itemId) : state.ended,
    notes: state.notes.map((note) =>
      note.key === message.key && note.itemId === itemId ? { ...note, question: message.text } : note,
    ),
  };
}

export function changePending(state: PageState, id: string, part: Partial<PendingMessage>): PageState {
  return {
    ...state,
    pending: state.pending.map((message) => (message.id === id ? { ...message, ...part } : message)),
  };
}

/** Replaces the turns known from events, because events were missed. */
export function runningRead(state: PageState, running: readonly { sessionKey: string; itemId: number }[]): PageState {
  const turns = running
    .filter(({ sessionKey, itemId }) => !state.ended.includes(turnName(sessionKey, itemId)))
    .map(({ sessionKey, itemId }) => [sessionKey, joinedTurn(itemId)] as const);
  return { ...state, live: Object.fromEntries(turns) };
}

export function stopping(state: PageState, key: string): PageState {
  const live = state.live[key];
  return live === undefined ? state : { ...state, live: { ...state.live, [key]: { ...live, isStopping: true } } };
}

export interface SessionsRead {
  query: SessionQuery;
  rows: readonly SessionRow[];
  total: number;
  /** 0 replaces the beginning of the list; other pages are appended. */
  offset: number;
}

export function sessionsRead(state: PageState, read: SessionsRead): PageState {
  const { sessions } = state;
  if (!isSameQuery(sessions.query, read.query)) return state;
  const rows = merge(sessions.rows ?? [], read);
  const shown = rows.find(({ key }) => key === state.place.key);
  return {
    ...state,
    sessions: { query: sessions.query, rows, total: read.total, isLoading: false },
    // The visible session counts as seen.
    seen:
      shown === undefined || document.visibilityState !== "visible"
        ? state.seen
        : { ...state.seen, [shown.key]: Math.max(shown.updatedAt, state.seen[shown.key] ?? 0) },
  };
}

function merge(known: readonly SessionRow[], { rows, offset, total }: SessionsRead): SessionRow[] {
  const read = new Set(rows.map(({ key }) => key));
  const others = known.filter(({ key }) => !read.has(key));
  const oldest = rows.at(-1)?.updatedAt ?? 0;
  // A session that should be among the newest but is not there was deleted.
  const kept = offset > 0 ? others : rows.length >= total ? [] : others.filter(({ updatedAt }) => updatedAt <= oldest);
  return [...kept, ...rows].toSorted((a, b) => b.updatedAt - a.updatedAt);
}

export function isUnread(
  { seen, seenSince, place }: Pick<PageState, "seen" | "seenSince" | "place">,
  { key, updatedAt }: SessionRow,
): boolean {
  return key !== place.key && updatedAt > (seen[key] ?? seenSince);
}

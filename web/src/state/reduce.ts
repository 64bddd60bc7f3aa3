import { reduceEvent } from "./reduce-event.ts";
import { historyRead, joinedTurn, olderRead } from "./reduce-history.ts";
import type { PageState, PendingMessage, Action, SessionQuery, SessionRow } from "./state.ts";
import { rememberEnded, turnName } from "./turn-number.ts";

export function reduce(state: PageState, action: Action): PageState {
  switch (action.type) {
    case "link.changed":
      return { ...state, link: action.link };
    case "kept.restored":
      return {
        ...state,
        pending: action.pending,
        notes: action.notes,
        seen: action.seen,
        seenSince: action.seenSince,
      };
    case "agents.read":
      return { ...state, agents: action.agents };
    case "place.changed":
      return placeChanged(state, action.place);
    case "sessions.asked":
      return sessionsAsked(state, action.query);
    case "sessions.read":
      return sessionsRead(state, action);
    case "sessions.failed":
      return { ...state, sessions: { ...state.sessions, isLoading: false, problem: action.problem } };
    case "search.answered":
      return isSameQuery(state.sessions.query, action.query) ? { ...state, found: action.found } : state;
    case "windows.read":
      return { ...state, windows: { key: action.key, windows: action.windows } };
    case "history.read":
      return historyRead(state, action);
    case "history.older-asked":
      return state.view === undefined ? state : { ...state, view: { ...state.view, isLoadingOlder: true } };
    case "history.older-read":
      return olderRead(state, action);
    case "history.failed":
      return historyFailed(state, action);
    case "handoff.changed": {
      const { type: _, ...handoff } = action;
      return handoff.key === state.place.key ? { ...state, handoff } : state;
    }
    case "tasks.read":
      return action.key === state.place.key ? { ...state, tasks: { key: action.key, tasks: action.tasks } } : state;
    case "message.written":
      return { ...state, pending: [...state.pending, action.message] };
    case "message.accepted":
      return accepted(state, action);
    case "message.refused":
      return changePending(state, action.id, (message) => ({ ...message, problem: action.problem }));
    case "message.retried":
      return changePending(state, action.id, (message) => ({ ...message, problem: undefined }));
    case "message.discarded":
      return { ...state, pending: state.pending.filter(({ id }) => id !== action.id) };
    case "turn.stopping":
      return stopping(state, action.key);
    case "running.read":
      return runningRead(state, action.running);
    case "event":
      return reduceEvent(state, action.event);
    default:
      return action satisfies never;
  }
}

function placeChanged(state: PageState, place: PageState["place"]): PageState {
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
function sessionsAsked(state: PageState, query: SessionQuery): PageState {
  const { sessions, found } = state;
  const isSame = isSameQuery(sessions.query, query);
  return {
    ...state,
    sessions: { ...sessions, query, isLoading: true, rows: isSame ? sessions.rows : undefined, problem: undefined },
    // While typing, the last results stay until the next ones arrive.
    found: searchedText(query) === "" ? undefined : found,
  };
}

function isSameQuery(one: SessionQuery, other: SessionQuery): boolean {
  return one.search === other.search && one.channel === other.channel;
}

/** Empty without a search. */
export function searchedText({ search }: SessionQuery): string {
  return search.trim();
}

function historyFailed(state: PageState, action: Extract<Action, { type: "history.failed" }>): PageState {
  const { key, windowId } = state.place;
  if (key === undefined || action.place.key !== key || action.place.windowId !== windowId) return state;
  if (state.view === undefined && action.problem === undefined) return state;
  const view = state.view ?? { key, isCurrent: windowId === undefined, messages: [], isLoadingOlder: false };
  return { ...state, view: { ...view, isLoadingOlder: false, problem: action.problem } };
}

/** The turn may have ended before `chat.send` was answered; its note then gets its question here. */
function accepted(state: PageState, action: Extract<Action, { type: "message.accepted" }>): PageState {
  const { id, itemId, hasEnded } = action;
  const message = state.pending.find((known) => known.id === id);
  if (message === undefined) return state;
  const changed = changePending(state, id, (known) => ({ ...known, itemId, hasEnded: hasEnded || known.hasEnded }));
  return {
    ...changed,
    ended: hasEnded ? rememberEnded(state.ended, message.key, itemId) : state.ended,
    notes: state.notes.map((note) =>
      note.key === message.key && note.itemId === itemId ? { ...note, question: message.text } : note,
    ),
  };
}

function changePending(state: PageState, id: string, change: (message: PendingMessage) => PendingMessage): PageState {
  return { ...state, pending: state.pending.map((message) => (message.id === id ? change(message) : message)) };
}

function runningRead(state: PageState, running: readonly { sessionKey: string; itemId: number }[]): PageState {
  const turns = running
    .filter(({ sessionKey, itemId }) => !state.ended.includes(turnName(sessionKey, itemId)))
    .map(({ sessionKey, itemId }) => [sessionKey, joinedTurn(itemId)] as const);
  return { ...state, live: Object.fromEntries(turns) };
}

function stopping(state: PageState, key: string): PageState {
  const live = state.live[key];
  return live === undefined ? state : { ...state, live: { ...state.live, [key]: { ...live, isStopping: true } } };
}

function sessionsRead(state: PageState, read: Extract<Action, { type: "sessions.read" }>): PageState {
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

function merge(
  known: readonly SessionRow[],
  { rows, offset, total }: { rows: readonly SessionRow[]; offset: number; total: number },
): SessionRow[] {
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

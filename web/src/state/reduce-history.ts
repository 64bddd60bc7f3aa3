/**
 * The visible transcript. Entries never change, so a new read of the end adds new entries and keeps the rest; if
 * the two do not overlap, the new page replaces the old.
 */
import type { HistoryMessage, LiveTurn, Note, PageState, View, Action } from "./state.ts";
import { turnName } from "./turn-number.ts";

export function historyRead(state: PageState, read: Extract<Action, { type: "history.read" }>): PageState {
  const { page, place, settled } = read;
  if (!isShown(state, place)) return state;
  const key = page.sessionKey;
  const isSettled = (itemId = -1): boolean => settled.includes(turnName(key, itemId));
  return {
    ...state,
    view: joinEnd(state.view, page),
    notes: adoptNotes(state.notes, page),
    live: settleLive(state, read, isSettled),
    pending: state.pending.filter(
      (message) => message.key !== key || message.hasEnded !== true || !isSettled(message.itemId),
    ),
  };
}

/** Notes of a conversation that had no window yet belong to its first one. */
function adoptNotes(notes: PageState["notes"], { sessionKey, sessionId }: HistoryPage): PageState["notes"] {
  const isOpen = ({ key, sessionId: known }: Note): boolean => key === sessionKey && known === undefined;
  if (sessionId === undefined || !notes.some(isOpen)) return notes;
  return notes.map((note) => (isOpen(note) ? { ...note, sessionId } : note));
}

export function olderRead(state: PageState, read: Extract<Action, { type: "history.older-read" }>): PageState {
  const { view } = state;
  if (view === undefined || !isShown(state, read.place) || view.sessionId !== read.page.sessionId) return state;
  const known = new Set(view.messages.map(({ entryId }) => entryId));
  const older = read.page.messages.filter(({ entryId }) => !known.has(entryId));
  return {
    ...state,
    view: {
      ...view,
      isLoadingOlder: false,
      messages: [...older, ...view.messages],
      before: read.page.before,
    },
  };
}

function isShown({ place }: PageState, { key, windowId }: PageState["place"]): boolean {
  return key !== undefined && key === place.key && windowId === place.windowId;
}

type HistoryPage = Extract<Action, { type: "history.read" }>["page"];

function joinEnd(view: View | undefined, page: HistoryPage): View {
  const { sessionKey: key, sessionId, isCurrent, messages, before } = page;
  const place = { key, isCurrent, sessionId };
  const alone: View = {
    ...place,
    messages,
    isLoadingOlder: false,
    ...(before === undefined ? {} : { before }),
  };
  if (view === undefined || view.key !== key || view.sessionId !== sessionId) return alone;
  const known = new Map(view.messages.map((message, index) => [message.entryId, index]));
  const first = messages[0];
  const meeting = first === undefined ? undefined : known.get(first.entryId);
  if (meeting === undefined) return alone;
  const kept = messages.map((message): HistoryMessage => view.messages[known.get(message.entryId) ?? -1] ?? message);
  return {
    ...place,
    messages: [...view.messages.slice(0, meeting), ...kept],
    isLoadingOlder: view.isLoadingOlder,
    // The part before the first message is unchanged.
    ...(meeting === 0
      ? before === undefined
        ? {}
        : { before }
      : view.before === undefined
        ? {}
        : { before: view.before }),
  };
}

/** Removes a turn that is in the history or no longer runs; adds one that no event has announced. */
function settleLive(
  { live, ended }: PageState,
  { page, running }: Extract<Action, { type: "history.read" }>,
  isSettled: (itemId: number) => boolean,
): PageState["live"] {
  const { sessionKey: key } = page;
  const known: LiveTurn | undefined = live[key];
  const runs = page.running?.itemId;
  if (known === undefined) {
    const isOver = runs === undefined || ended.includes(turnName(key, runs));
    return isOver ? live : { ...live, [key]: joinedTurn(runs) };
  }
  const isGone = runs === undefined && known.itemId === running;
  if (!isGone && !(known.hasEnded && isSettled(known.itemId))) return live;
  const { [key]: _, ...others } = live;
  return others;
}

/** A turn that was already running when the page learned of it. */
export function joinedTurn(itemId: number): LiveTurn {
  return { itemId, parts: [], isWhole: false, isStopping: false, hasEnded: false };
}

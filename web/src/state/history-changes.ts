/**
 * The visible transcript. Entries never change, so a new read of the end adds new entries and keeps the rest; if
 * the two do not overlap, the new page replaces the old.
 */
import type { HistoryMessage, HistoryPage, LiveTurn, Note, PageState, View } from "./state.ts";
import { turnName } from "./turn-number.ts";

export interface HistoryRead {
  place: PageState["place"];
  page: HistoryPage;
  /** The ended turns and the running one when the history was requested. */
  settled: readonly string[];
  running: number | undefined;
}

export function historyRead(state: PageState, read: HistoryRead): PageState {
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

export function olderRead(state: PageState, place: PageState["place"], page: HistoryPage): PageState {
  const { view } = state;
  if (view === undefined || !isShown(state, place) || view.sessionId !== page.sessionId) return state;
  const known = new Set(view.messages.map(({ entryId }) => entryId));
  const older = page.messages.filter(({ entryId }) => !known.has(entryId));
  return {
    ...state,
    view: { ...view, isLoadingOlder: false, messages: [...older, ...view.messages], before: page.before },
  };
}

export function historyFailed(state: PageState, failed: PageState["place"], problem: string | undefined): PageState {
  const { key, windowId } = state.place;
  if (key === undefined || !isShown(state, failed)) return state;
  if (state.view === undefined && problem === undefined) return state;
  const view = state.view ?? { key, isCurrent: windowId === undefined, messages: [], isLoadingOlder: false };
  return { ...state, view: { ...view, isLoadingOlder: false, problem } };
}

function isShown({ place }: PageState, { key, windowId }: PageState["place"]): boolean {
  return key !== undefined && key === place.key && windowId === place.windowId;
}

function joinEnd(view: View | undefined, page: HistoryPage): View {
  const { sessionKey: key, sessionId, isCurrent, messages, before } = page;
  const alone: View = { key, isCurrent, sessionId, messages, isLoadingOlder: false, before };
  if (view === undefined || view.key !== key || view.sessionId !== sessionId) return alone;
  const known = new Map(view.messages.map((message, index) => [message.entryId, index]));
  const first = messages[0];
  const meeting = first === undefined ? undefined : known.get(first.entryId);
  if (meeting === undefined) return alone;
  const kept = messages.map((message): HistoryMessage => view.messages[known.get(message.entryId) ?? -1] ?? message);
  return {
    ...alone,
    messages: [...view.messages.slice(0, meeting), ...kept],
    isLoadingOlder: view.isLoadingOlder,
    // The part before the first message is unchanged.
    before: meeting === 0 ? before : view.before,
  };
}

/** Removes a turn that is in the history or no longer runs; adds one that no event has announced. */
function settleLive(
  { live, ended }: PageState,
  { page, running }: HistoryRead,
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

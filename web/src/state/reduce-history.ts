/**
 * The transcript that is shown. Entries never change, so reading its end again adds what is new and keeps
 * the rest; where the two do not meet, the page that was read now stands alone.
 */
import type { Action } from "./action.ts";
import type { HistoryMessage, LiveTurn, PageState, View } from "./state.ts";
import { turnName } from "./turn-number.ts";

export function historyRead(state: PageState, read: Extract<Action, { type: "history.read" }>): PageState {
  const { page, place, settled } = read;
  if (!isShown(state, place)) return state;
  const key = page.sessionKey;
  const isSettled = (itemId = -1): boolean => settled.includes(turnName(key, itemId));
  return {
    ...state,
    view: joinEnd(state.view, page),
    live: settleLive(state, read, isSettled),
    pending: state.pending.filter(
      (message) => message.key !== key || message.hasEnded !== true || !isSettled(message.itemId),
    ),
  };
}

export function olderRead(state: PageState, read: Extract<Action, { type: "history.older-read" }>): PageState {
  const { view } = state;
  if (view === undefined || !isShown(state, read.place) || view.sessionId !== read.page.sessionId) return state;
  const known = new Set(view.messages.map(({ entryId }) => entryId));
  const older = read.page.messages.filter(({ entryId }) => !known.has(entryId));
  const { before: _, ...rest } = view;
  const { before } = read.page;
  return {
    ...state,
    view: {
      ...rest,
      isLoadingOlder: false,
      messages: [...older, ...view.messages],
      ...(before === undefined ? {} : { before }),
    },
  };
}

function isShown({ place }: PageState, { key, windowId }: PageState["place"]): boolean {
  return key !== undefined && key === place.key && windowId === place.windowId;
}

function joinEnd(view: View | undefined, page: Extract<Action, { type: "history.read" }>["page"]): View {
  const { sessionKey: key, sessionId, isCurrent, messages, before } = page;
  const place = { key, isCurrent, ...(sessionId === undefined ? {} : { sessionId }) };
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
    // What lies before the first message is as it was.
    ...(meeting === 0
      ? before === undefined
        ? {}
        : { before }
      : view.before === undefined
        ? {}
        : { before: view.before }),
  };
}

/** A turn that the history has whole, or that runs no more, leaves; one that nobody told of yet is joined. */
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

/** A turn that was under way when the page came to it. */
export function joinedTurn(itemId: number): LiveTurn {
  return { itemId, parts: [], isWhole: false, isStopping: false, hasEnded: false };
}

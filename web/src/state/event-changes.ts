/** Applies the gateway's events. */
import type { LivePart, LiveTurn, Note, PageState } from "./state.ts";
import { joinedTurn } from "./history-changes.ts";
import { rememberEnded, turnNumber } from "./turn-number.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

type EventOf<Type extends RpcEvent["type"]> = Extract<RpcEvent, { type: Type }>;

export function applyEvent(state: PageState, event: RpcEvent): PageState {
  switch (event.type) {
    case "turn.started":
      return turnStarted(state, event);
    case "turn.text":
      return changeParts(state, event, (parts) => appendText(parts, event.text));
    case "turn.tool":
      return changeParts(state, event, (parts) => showTool(parts, event));
    case "turn.notice":
      return changeParts(state, event, (parts) => [...parts, { kind: "notice", text: event.text }]);
    case "turn.compaction":
      return changeParts(state, event, (parts) => [
        ...parts.filter(({ kind }) => kind !== "compaction"),
        { kind: "compaction", isOver: event.phase === "end" },
      ]);
    case "turn.ended":
      return turnEnded(state, event);
    case "message.dropped":
      return dropped(state, event);
    default:
      return state;
  }
}

function turnStarted(state: PageState, { sessionKey, itemId }: EventOf<"turn.started">): PageState {
  const numbers = state.view?.key === sessionKey ? state.view.messages.flatMap((shown) => turnNumber(shown) ?? []) : [];
  const turnBefore = numbers.length === 0 ? undefined : Math.max(...numbers.slice(-50));
  const turn: LiveTurn = { ...joinedTurn(itemId), isWhole: true, turnBefore };
  return { ...state, live: { ...state.live, [sessionKey]: turn } };
}

function changeParts(
  state: PageState,
  { sessionKey, itemId }: { sessionKey: string; itemId: number },
  change: (parts: readonly LivePart[]) => readonly LivePart[],
): PageState {
  const known = state.live[sessionKey];
  const turn = known?.itemId === itemId ? known : joinedTurn(itemId);
  return { ...state, live: { ...state.live, [sessionKey]: { ...turn, parts: change(turn.parts) } } };
}

function appendText(parts: readonly LivePart[], text: string): readonly LivePart[] {
  const last = parts.at(-1);
  if (last?.kind !== "text") return [...parts, { kind: "text", text }];
  return [...parts.slice(0, -1), { kind: "text", text: last.text + text }];
}

function showTool(parts: readonly LivePart[], { phase, id, name, isError }: EventOf<"turn.tool">): readonly LivePart[] {
  const state = phase === "start" ? "running" : isError === true ? "failed" : "done";
  const isKnown = parts.some((part) => part.kind === "tool" && part.id === id);
  if (!isKnown) return [...parts, { kind: "tool", id, name, state }];
  return parts.map((part) => (part.kind === "tool" && part.id === id ? { ...part, state } : part));
}

/** The turn stays visible until the history that contains it is read. */
function turnEnded(state: PageState, event: EventOf<"turn.ended">): PageState {
  const { sessionKey: key, itemId } = event;
  const isShown = state.view?.key === key && state.place.windowId === undefined;
  const live = state.live[key];
  const { [key]: _, ...others } = state.live;
  const note = noteOf(state, event);
  return {
    ...state,
    ended: rememberEnded(state.ended, key, itemId),
    live: live?.itemId !== itemId ? state.live : isShown ? { ...others, [key]: { ...live, hasEnded: true } } : others,
    pending: state.pending
      .map((message) => (message.key === key && message.itemId === itemId ? { ...message, hasEnded: true } : message))
      .filter((message) => isShown || message.key !== key || message.hasEnded !== true),
    notes: note === undefined ? state.notes : [...state.notes, note],
  };
}

function noteOf({ view, pending }: PageState, event: EventOf<"turn.ended">): Note | undefined {
  const { sessionKey: key, itemId, outcome } = event;
  const sessionId = event.sessionId ?? (view?.key === key && view.isCurrent ? view.sessionId : undefined);
  const kind = outcome === "command" ? "answer" : outcome === "failed" ? "failed" : "stopped";
  const isNoted = outcome === "command" || outcome === "failed" || outcome === "aborted";
  const isNew = view?.key === key && view.sessionId === undefined;
  if (!isNoted || (sessionId === undefined && !isNew)) return undefined;
  const text = kind === "answer" ? event.text : (event.error?.message ?? event.text ?? "The turn was stopped.");
  const question = pending.find((message) => message.key === key && message.itemId === itemId)?.text;
  const after = view?.key === key && view.sessionId === sessionId ? view.messages.at(-1)?.entryId : undefined;
  return { key, sessionId, itemId, kind, text: text ?? "", after, question };
}

function dropped(state: PageState, { sessionKey, itemIds, reason }: EventOf<"message.dropped">): PageState {
  return {
    ...state,
    pending: state.pending.map((message) =>
      message.key === sessionKey && message.itemId !== undefined && itemIds.includes(message.itemId)
        ? { ...message, problem: `Not answered: ${reason}` }
        : message,
    ),
  };
}

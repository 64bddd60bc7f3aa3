/**
 * What of the transcript and of this tab's messages is shown while a turn runs, so that nothing is missing
 * and nothing stands there twice: the words of a turn that is seen from its beginning come from events,
 * everything else from disk.
 */
import type { HistoryMessage, LiveTurn, Note, PendingMessage } from "../state/state.ts";
import { turnNumber } from "../state/turn-number.ts";

export function shownMessages(
  messages: readonly HistoryMessage[],
  live: LiveTurn | undefined,
): readonly HistoryMessage[] {
  if (live === undefined || !live.isWhole) return messages;
  return messages.filter((message) => message.role === "user" || !isOfTurn(message, live));
}

function isOfTurn(message: HistoryMessage, { itemId, turnBefore }: LiveTurn): boolean {
  const number = turnNumber(message);
  if (number === undefined) return false;
  return number === itemId || (turnBefore !== undefined && number > turnBefore && number < itemId);
}

export function shownPending(
  pending: readonly PendingMessage[],
  messages: readonly HistoryMessage[],
  notes: readonly Note[],
  live: LiveTurn | undefined,
): PendingMessage[] {
  const asked = messages.filter(({ role }) => role === "user").slice(-20);
  const last = asked.at(-1);
  const lastNumber = last === undefined ? undefined : turnNumber(last);
  const lastText = JSON.stringify(last);
  const numbers = new Set(asked.map(turnNumber));
  return pending.filter(({ itemId, text }) => {
    if (itemId === undefined) return true;
    if (numbers.has(itemId) || notes.some((note) => note.itemId === itemId && note.question !== undefined))
      return false;
    // Several messages that waited were put to the agent as one.
    const isCollected = live !== undefined && lastNumber !== undefined && lastNumber < itemId && itemId <= live.itemId;
    return !isCollected || !lastText.includes(JSON.stringify(text).slice(1, -1));
  });
}

/** A failure that stands in the transcript is not told twice. */
export function shownNotes(notes: readonly Note[], messages: readonly HistoryMessage[]): Note[] {
  const ends = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted")
        ? (turnNumber(message) ?? [])
        : [],
    ),
  );
  const asked = new Set(messages.flatMap((message) => (message.role === "user" ? (turnNumber(message) ?? []) : [])));
  return notes
    .filter(({ kind, itemId }) => kind === "answer" || !ends.has(itemId))
    .map(({ question, ...note }) => (question === undefined || asked.has(note.itemId) ? note : { ...note, question }));
}

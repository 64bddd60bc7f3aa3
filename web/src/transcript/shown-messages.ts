/**
 * Selects the messages to show while a turn runs, so that nothing is missing or shown twice: a turn seen from
 * its beginning is shown from events, everything else from disk.
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
    // Queued messages may have been combined into one.
    const isCollected = live !== undefined && lastNumber !== undefined && lastNumber < itemId && itemId <= live.itemId;
    return !isCollected || !lastText.includes(JSON.stringify(text).slice(1, -1));
  });
}

/** Without failures and questions that are in the transcript. The answer to such a question follows it. */
export function shownNotes(notes: readonly Note[], messages: readonly HistoryMessage[]): Note[] {
  const ends = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted")
        ? (turnNumber(message) ?? [])
        : [],
    ),
  );
  const asked = new Map(
    messages.flatMap((message) => {
      const number = message.role === "user" ? turnNumber(message) : undefined;
      return number === undefined ? [] : [[number, message.entryId] as const];
    }),
  );
  return notes
    .filter(({ kind, itemId }) => kind === "answer" || !ends.has(itemId))
    .map((note) => {
      const entryId = asked.get(note.itemId);
      return entryId === undefined ? note : { ...note, question: undefined, after: note.after ?? entryId };
    });
}

/** The end of a turn as it stands with its messages in the store: all that those in other processes learn of it. */
import { isRecord } from "../../base/json-record.ts";
import type { InboxItem } from "../../store/store.ts";
import type { TurnEnd, TurnOutcome } from "../turn-events.ts";

/** What the item says itself, its outcome included, is not said twice. */
export type KeptEnd = Omit<TurnEnd, "agentId" | "sessionKey" | "outcome">;

export function keepEnd(end: TurnEnd): KeptEnd {
  const { agentId: _agentId, sessionKey: _sessionKey, outcome: _outcome, ...kept } = end;
  return kept;
}

/** Undefined for a message that has not ended. One for which nobody kept the words ends without them. */
export function endOfItem(agentId: string, { id, key, state, note, ending }: InboxItem): TurnEnd | undefined {
  if (state !== "done" && state !== "dropped") return undefined;
  const noted = OUTCOMES.find((outcome) => outcome === note) ?? "answered";
  const kept: KeptEnd = isKeptEnd(ending) ? ending : { itemId: id, durationMs: 0 };
  return { agentId, sessionKey: key, ...kept, outcome: state === "dropped" ? "dropped" : noted };
}

const OUTCOMES: readonly TurnOutcome[] = ["answered", "silent", "command", "noted", "aborted", "failed", "dropped"];

function isKeptEnd(ending: unknown): ending is KeptEnd {
  return isRecord(ending) && typeof ending["itemId"] === "number" && typeof ending["durationMs"] === "number";
}

/**
 * What a child says on its standard output, one JSON object a line: an intention before each
 * operation, an acknowledgement after it. The operation that was begun and not ended when the child
 * was killed is the one in flight: it may have happened or not.
 */
import type { Operation, OperationResult } from "./operations.ts";

export type JournalLine =
  | { say: "ready" }
  | { say: "begin"; operation: Operation }
  /** A lease was granted for the operation that is under way. */
  | { say: "leased"; key: string; epoch: number }
  | { say: "end"; number: number; result: OperationResult }
  | { say: "failed"; number: number; error: string };

export interface Journal {
  acknowledged: { operation: Operation; result: OperationResult }[];
  inFlight: Operation | undefined;
  leases: { key: string; epoch: number }[];
  /** Operations that were refused although nothing was wrong. */
  failed: string[];
}

export function parseJournal(text: string): Journal {
  const journal: Journal = { acknowledged: [], inFlight: undefined, leases: [], failed: [] };
  // What follows the last newline was cut off by the kill.
  for (const line of text.split("\n").slice(0, -1)) note(journal, JSON.parse(line) as JournalLine);
  return journal;
}

function note(journal: Journal, line: JournalLine): void {
  switch (line.say) {
    case "ready":
      return;
    case "begin":
      journal.inFlight = line.operation;
      return;
    case "leased":
      journal.leases.push({ key: line.key, epoch: line.epoch });
      return;
    case "end":
      if (journal.inFlight?.number !== line.number)
        throw new Error(`Operation ${line.number} ended without a beginning`);
      journal.acknowledged.push({ operation: journal.inFlight, result: line.result });
      journal.inFlight = undefined;
      return;
    case "failed":
      journal.failed.push(`operation ${line.number} (${journal.inFlight?.name ?? "unknown"}) failed: ${line.error}`);
  }
}

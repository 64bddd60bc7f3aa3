/**
 * What a home must contain, from the journal of the child processes. A child writes one JSON object a line: an intention
 * before each operation and an acknowledgement after it. The operation in flight at the kill may have happened or not;
 * the checker adds its results.
 */
import { type Counter, type Operation, type OperationResult, SESSION_KEYS, textsOf } from "./operations.ts";

export interface ExpectedSession {
  readonly key: string;
  state: "absent" | "live" | "archived";
  /** The counter in the session's entry. */
  counted: Counter;
  /** The current session id. */
  current: string | undefined;
  /** Texts of the transcript by session id. */
  readonly windows: Map<string, string[]>;
  /** Windows of interrupted resets: they may be listed, but never became current. */
  readonly strays: Set<string>;
  /** The counter in the session's hand-off. */
  handedOver: Counter;
  /** The highest epoch that was granted. */
  epoch: number;
}

export interface ExpectedItem {
  readonly number: number;
  readonly key: string;
  /** The outbox item that answers it; undefined while it waits. */
  replyId?: number | undefined;
  delivered: boolean;
}

export interface Expectation {
  readonly sessions: ReadonlyMap<string, ExpectedSession>;
  /** By id of the inbox item. */
  readonly items: Map<number, ExpectedItem>;
  nextNumber: number;
}

export function createExpectation(): Expectation {
  const sessions = SESSION_KEYS.map((key): [string, ExpectedSession] => [
    key,
    {
      key,
      state: "absent",
      counted: { count: 0, lastNumber: 0 },
      current: undefined,
      windows: new Map(),
      strays: new Set(),
      handedOver: { count: 0, lastNumber: 0 },
      epoch: 0,
    },
  ]);
  return { sessions: new Map(sessions), items: new Map(), nextNumber: 1 };
}

/** Adds what a child has acknowledged. */
export function expectJournal(expectation: Expectation, journal: Journal): void {
  for (const { operation, result } of journal.acknowledged) expectOperation(expectation, operation, result);
  for (const { key, epoch } of journal.leases) {
    const session = sessionOf(expectation, key);
    session.epoch = Math.max(session.epoch, epoch);
  }
  if (journal.inFlight !== undefined) expectation.nextNumber = journal.inFlight.number + 1;
}

export function sessionOf(expectation: Expectation, key: string): ExpectedSession {
  const session = expectation.sessions.get(key);
  if (session === undefined) throw new Error(`No operation works on ${key}`);
  return session;
}

function expectOperation(expectation: Expectation, operation: Operation, result: OperationResult): void {
  const session = sessionOf(expectation, operation.key);
  expectation.nextNumber = operation.number + 1;
  switch (operation.name) {
    case "open":
    case "reset":
      if (result.sessionId !== undefined) expectWindow(session, result.sessionId);
      break;
    case "count":
      session.counted = { count: session.counted.count + 1, lastNumber: operation.number };
      break;
    case "append":
      session.windows.get(session.current ?? "")?.push(...textsOf(operation));
      break;
    case "archive":
      session.state = "archived";
      break;
    case "restore":
      session.state = "live";
      break;
    case "admit":
      if (result.itemId !== undefined) expectItem(expectation, operation, result.itemId);
      break;
    case "answer":
      for (const { itemId, replyId } of result.answered ?? []) expectReply(expectation, itemId, replyId);
      break;
    case "deliver":
      for (const item of expectation.items.values()) {
        if (item.replyId !== undefined && result.delivered?.includes(item.replyId)) item.delivered = true;
      }
      break;
    case "hand-over":
      session.handedOver = { count: session.handedOver.count + 1, lastNumber: operation.number };
      break;
    case "compact":
    case "reopen":
      break;
  }
}

export function expectWindow(session: ExpectedSession, sessionId: string): void {
  session.state = "live";
  session.current = sessionId;
  session.strays.delete(sessionId);
  session.windows.set(sessionId, []);
}

export function expectItem(expectation: Expectation, { number, key }: Operation, itemId: number): void {
  expectation.items.set(itemId, { number, key, delivered: false });
}

function expectReply(expectation: Expectation, itemId: number, replyId: number): void {
  const item = expectation.items.get(itemId);
  if (item === undefined) throw new Error(`Inbox item ${itemId} was answered and never admitted`);
  item.replyId = replyId;
}

export type JournalLine =
  | { say: "ready" }
  | { say: "begin"; operation: Operation }
  /** A lease was granted for the current operation. */
  | { say: "leased"; key: string; epoch: number }
  | { say: "end"; number: number; result: OperationResult }
  | { say: "failed"; number: number; error: string };

export interface Journal {
  acknowledged: { operation: Operation; result: OperationResult }[];
  inFlight: Operation | undefined;
  leases: { key: string; epoch: number }[];
  /** Operations that failed without a reason. */
  failed: string[];
}

export function parseJournal(text: string): Journal {
  const journal: Journal = { acknowledged: [], inFlight: undefined, leases: [], failed: [] };
  // The last line may be cut off by the kill.
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
